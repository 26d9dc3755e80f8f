package diff

import "bytes"

// Merge merges two changes of a text line by line: a change of only one side is taken, and equal
// changes of both are taken once. If both sides changed the same or adjacent lines differently, it
// marks both versions. It returns the number of these conflicts. The algorithm is diff3 (Khanna,
// Kunal, Pierce: "A Formal Investigation of Diff3", 2007).
func Merge(base, ours, theirs []byte) (merged []byte, conflicts int) {
	lb, lo, lt := splitLines(base), splitLines(ours), splitLines(theirs)
	var d differ
	nb, no, nt := d.number(lb), d.number(lo), d.number(lt)
	inOurs, inTheirs := partners(nb, no), partners(nb, nt)
	m := merger{out: make([]byte, 0, max(len(ours), len(theirs)))}
	b, o, t := 0, 0, 0
	for {
		for b < len(lb) && inOurs[b] == o && inTheirs[b] == t {
			m.out = append(m.out, lb[b]...)
			b, o, t = b+1, o+1, t+1
		}
		next := b // the next line that all three have in common
		for next < len(lb) && (inOurs[next] < 0 || inTheirs[next] < 0) {
			next++
		}
		endO, endT := len(lo), len(lt)
		if next < len(lb) {
			endO, endT = inOurs[next], inTheirs[next]
		}
		if b == next && o == endO && t == endT {
			return m.out, m.conflicts
		}
		m.chunk(lb[b:next], lo[o:endO], lt[t:endT])
		b, o, t = next, endO, endT
	}
}

// partners returns for each line of a the index of its equal in b, or -1.
func partners(a, b []int32) []int {
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	for _, r := range common(a, b) {
		for i := range r.n {
			out[r.a+i] = r.b + i
		}
	}
	return out
}

type merger struct {
	out       []byte
	conflicts int
}

// chunk merges the lines between two lines that all three texts have.
func (m *merger) chunk(base, ours, theirs [][]byte) {
	switch {
	case equal(ours, base):
		m.add(theirs)
	case equal(theirs, base), equal(ours, theirs):
		m.add(ours)
	default:
		m.conflicts++
		m.mark("<<<<<<< ours\n")
		m.add(ours)
		m.mark("||||||| base\n")
		m.add(base)
		m.mark("=======\n")
		m.add(theirs)
		m.mark(">>>>>>> theirs\n")
	}
}

func (m *merger) add(lines [][]byte) {
	for _, l := range lines {
		m.out = append(m.out, l...)
	}
}

// mark writes a marker at the beginning of a line, and adds a missing line end before it.
func (m *merger) mark(line string) {
	if len(m.out) > 0 && m.out[len(m.out)-1] != '\n' {
		m.out = append(m.out, '\n')
	}
	m.out = append(m.out, line...)
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
