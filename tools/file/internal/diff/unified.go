package diff

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Binary reports whether data isn't text: it has a zero byte. Text in UTF-16 has zero bytes, too.
func Binary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 }

// contextLines is the number of unchanged lines that a unified diff shows around changed ones.
const contextLines = 3

// Unified returns the difference of two texts in the unified format, or "" if they are equal. The
// names are those in its header.
func Unified(from, to string, a, b []byte) string {
	if bytes.Equal(a, b) {
		return ""
	}
	head := "--- " + from + "\n+++ " + to + "\n"
	if Binary(a) || Binary(b) {
		return head + fmt.Sprintf("Binary files differ: %d bytes, then %d\n", len(a), len(b))
	}
	la, lb := splitLines(a), splitLines(b)
	var d differ
	var out strings.Builder
	out.WriteString(head)
	ends := append(common(d.number(la), d.number(lb)), run{len(la), len(lb), 0})
	var open *hunk
	i, j := 0, 0 // after the last run
	for _, r := range ends {
		if r.a > i || r.b > j { // changed lines before this run
			if open == nil {
				open = &hunk{a: max(i-contextLines, 0), b: max(j-contextLines, 0)}
				open.keep(la[open.a:i])
			}
			open.change(la[i:r.a], lb[j:r.b])
		}
		i, j = r.a+r.n, r.b+r.n
		if open == nil {
			continue
		}
		if last := r.a+r.n == len(la) && r.b+r.n == len(lb); last || r.n > 2*contextLines {
			open.keep(la[r.a : r.a+min(r.n, contextLines)])
			open.write(&out)
			open = nil
		} else {
			open.keep(la[r.a : r.a+r.n])
		}
	}
	return out.String()
}

// A hunk is a part of a unified diff.
type hunk struct {
	a, b   int // first lines, from 0
	na, nb int // numbers of lines
	text   strings.Builder
}

func (h *hunk) line(sign byte, line []byte) {
	h.text.WriteByte(sign)
	h.text.WriteString(strings.ToValidUTF8(string(line), "\uFFFD"))
	if !bytes.HasSuffix(line, []byte("\n")) {
		h.text.WriteString("\n\\ No newline at end of file\n")
	}
}

func (h *hunk) keep(lines [][]byte) {
	for _, l := range lines {
		h.line(' ', l)
	}
	h.na, h.nb = h.na+len(lines), h.nb+len(lines)
}

func (h *hunk) change(old, now [][]byte) {
	for _, l := range old {
		h.line('-', l)
	}
	for _, l := range now {
		h.line('+', l)
	}
	h.na, h.nb = h.na+len(old), h.nb+len(now)
}

// write writes the hunk. For an empty side, the format wants the number of the line before it.
func (h *hunk) write(out *strings.Builder) {
	side := func(at, n int) string {
		if n == 0 {
			return strconv.Itoa(at) + ",0"
		}
		if n == 1 {
			return strconv.Itoa(at + 1)
		}
		return strconv.Itoa(at+1) + "," + strconv.Itoa(n)
	}
	out.WriteString("@@ -" + side(h.a, h.na) + " +" + side(h.b, h.nb) + " @@\n" + h.text.String())
}
