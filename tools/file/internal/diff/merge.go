package diff

import (
	"bytes"
	"slices"
)

// Merge merges two changes of a text line by line: a change of only one side is taken, and equal
// changes of both are taken once. It also returns the number of places in which both sides changed
// the same or adjacent lines differently; if there are any, merged isn't complete. The algorithm is
// diff3 (Khanna, Kunal, Pierce: "A Formal Investigation of Diff3", 2007).
func Merge(base, ours, theirs []byte) (merged []byte, conflicts int) {
	lb, lo, lt := splitLines(base), splitLines(ours), splitLines(theirs)
	var d differ
	nb, no, nt := d.number(lb), d.number(lo), d.number(lt)
	inOurs, inTheirs := partners(nb, no), partners(nb, nt)
	merged = make([]byte, 0, max(len(ours), len(theirs)))
	b, o, t := 0, 0, 0
	for {
		for b < len(lb) && inOurs[b] == o && inTheirs[b] == t {
			merged = append(merged, lb[b]...)
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
			return merged, conflicts
		}
		switch base, ours, theirs := lb[b:next], lo[o:endO], lt[t:endT]; { // between lines that all three have
		case equal(ours, base):
			merged = append(merged, bytes.Join(theirs, nil)...)
		case equal(theirs, base), equal(ours, theirs):
			merged = append(merged, bytes.Join(ours, nil)...)
		default:
			conflicts++
		}
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

func equal(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
