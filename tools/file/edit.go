package file

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// replace returns data with old replaced by text, at its only occurrence or at all of them, and the
// line numbers of the occurrences, from 1. If all lines of the file end in the same way, the lines
// of old and text are taken to end so, too. The byte order mark of the file stays.
func replace(name string, data []byte, old, text string, all bool) ([]byte, []int, error) {
	if old == "" {
		return nil, nil, newError(name, fault.Invalid, nil, "the text to replace is empty; use write for a whole file")
	}
	if old == text {
		return nil, nil, newError(name, fault.Invalid, nil, "the old and the new text are the same")
	}
	f, head := formOf(data), 0
	if f.mark {
		head = len(mark)
		old, text = strings.TrimPrefix(old, mark), strings.TrimPrefix(text, mark)
	}
	was, now := f.lines(old), f.lines(text)
	if was == now {
		return nil, nil, newError(name, fault.Invalid, nil,
			"the old and the new text are the same, except for line ends or the byte order mark, which the file keeps")
	}
	places := find(data[head:], was)
	for i := range places {
		places[i] += head
	}
	lines := linesOf(data, places)
	switch {
	case len(places) == 0:
		return nil, nil,
			newError(name, fault.Invalid, nil, "the file doesn't contain the text to replace%s", almost(data, was))
	case len(places) > 1 && !all:
		return nil, nil,
			newError(name, fault.Invalid, nil,
				"the file contains the text to replace %d times, at lines %s; include more of the surrounding text, "+
					"or set all",
				len(places), some(lines))
	}
	out := make([]byte, 0, len(data)+len(places)*(len(now)-len(was)))
	from := 0
	for _, at := range places {
		out = append(append(out, data[from:at]...), now...)
		from = at + len(was)
	}
	return append(out, data[from:]...), lines, nil
}

var newline = []byte("\n")

// find returns the positions of old in data, without overlaps. A CRLF is found as a whole or not at
// all, so that nothing of it is left.
func find(data []byte, old string) []int {
	var out []int
	what := []byte(old)
	half := func(at int) bool {
		return at > 0 && at < len(data) && data[at-1] == '\r' && data[at] == '\n'
	}
	for from := 0; len(what) > 0; {
		i := bytes.Index(data[from:], what)
		if i < 0 {
			break
		}
		if at := from + i; half(at) || half(at+len(what)) {
			from = at + 1
			continue
		}
		out = append(out, from+i)
		from += i + len(what)
	}
	return out
}

// linesOf returns the numbers of the lines at positions of data, from 1.
func linesOf(data []byte, places []int) []int {
	lines := make([]int, len(places))
	end := newline
	if formOf(data).ends == cr {
		end = []byte(cr)
	}
	line, from := 1, 0
	for i, at := range places {
		line += bytes.Count(data[from:at], end)
		lines[i], from = line, at
	}
	return lines
}

// almost returns a hint where data contains old except for line ends or white space, or at least
// its first line.
func almost(data []byte, old string) string {
	if hint := otherEnds(data, old); hint != "" {
		return hint
	}
	want := strings.Fields(firstLine(old))
	if len(want) == 0 {
		return "; read the file again and copy the text exactly"
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		got := bytes.Fields(line)
		if len(got) != len(want) {
			continue
		}
		same := true
		for i := range got {
			same = same && string(got[i]) == want[i]
		}
		if same {
			return fmt.Sprintf(
				"; line %d is similar to its first line: read from there and copy the text exactly, with its spaces "+
					"and tabs", n)
		}
	}
	return "; read the file again and copy the text exactly"
}

// otherEnds returns a hint where data contains old except for line ends.
func otherEnds(data []byte, old string) string {
	plain := form{ends: lf}
	text, want := []byte(plain.lines(string(data))), plain.lines(old)
	places := find(text, want)
	if short := strings.TrimSuffix(want, lf); len(places) == 0 && short != "" && bytes.HasSuffix(text, []byte(short)) {
		return "; its last line has no line end: leave out the one at the end of the text to replace"
	}
	if len(places) == 0 {
		return ""
	}
	n := linesOf(text, places[:1])[0]
	return fmt.Sprintf("; the text at line %d differs from it only in line ends: in this file some lines end in CRLF "+
		"(\\r\\n) and others don't, so give each line end as it is in the file, or replace parts of single lines", n)
}

// firstLine returns the first line of s that isn't blank.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}

// some formats at most ten numbers.
func some(list []int) string {
	var b strings.Builder
	for i, n := range list {
		if i == 10 {
			b.WriteString(" …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}
