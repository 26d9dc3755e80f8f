package file

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// replace returns data with old replaced by text, at its only occurrence or at all of them, and the
// line numbers of the occurrences, from 1. If all lines of the file end in CRLF and old isn't
// found, replace converts the line ends of old and text from LF to CRLF.
func replace(name string, data []byte, old, text string, all bool) ([]byte, []int, error) {
	if old == "" {
		return nil, nil, newError(name, fault.Invalid, nil, "the text to replace is empty; use write for a whole file")
	}
	if old == text {
		return nil, nil, newError(name, fault.Invalid, nil, "the old and the new text are the same")
	}
	places := find(data, old)
	if len(places) == 0 && onlyCRLF(data) && !strings.Contains(old, "\r") {
		old, text = toCRLF(old), toCRLF(strings.ReplaceAll(text, "\r\n", "\n"))
		places = find(data, old)
	}
	lines := make([]int, len(places))
	line, from := 1, 0
	for i, at := range places {
		line += bytes.Count(data[from:at], newline)
		lines[i], from = line, at
	}
	switch {
	case len(places) == 0:
		return nil, nil,
			newError(name, fault.Invalid, nil, "the file doesn't contain the text to replace%s", almost(data, old))
	case len(places) > 1 && !all:
		return nil, nil,
			newError(name, fault.Invalid, nil,
				"the file contains the text to replace %d times, at lines %s; include more of the surrounding text, "+
					"or set all",
				len(places), some(lines))
	}
	out := make([]byte, 0, len(data)+len(places)*(len(text)-len(old)))
	from = 0
	for _, at := range places {
		out = append(append(out, data[from:at]...), text...)
		from = at + len(old)
	}
	return append(out, data[from:]...), lines, nil
}

var newline = []byte("\n")

// find returns the positions of old in data, without overlaps.
func find(data []byte, old string) []int {
	var out []int
	what := []byte(old)
	for from := 0; ; {
		i := bytes.Index(data[from:], what)
		if i < 0 {
			return out
		}
		out = append(out, from+i)
		from += i + len(what)
	}
}

func onlyCRLF(data []byte) bool {
	n := bytes.Count(data, newline)
	return n > 0 && n == bytes.Count(data, []byte("\r\n"))
}

func toCRLF(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// almost returns a hint where data contains old except for white space, or at least its first line.
func almost(data []byte, old string) string {
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
