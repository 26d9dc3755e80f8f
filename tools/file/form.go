package file

import (
	"bytes"
	"strings"

	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// The ends of a line.
const (
	lf   = "\n"
	crlf = "\r\n"
	cr   = "\r"
)

// mark is the byte order mark of UTF-8.
const mark = "\ufeff"

// A form is what a text file keeps when its text is changed.
type form struct {
	mark bool
	ends string // of all its lines; "" if they differ, or if there is none
}

// formOf returns the form of a file. A binary file has none. A single CR that isn't at its
// end is no line end, but may be that of a progress bar.
func formOf(data []byte) form {
	if diff.Binary(data) {
		return form{}
	}
	f := form{mark: bytes.HasPrefix(data, []byte(mark))}
	n, pairs, returns := bytes.Count(data, []byte(lf)), bytes.Count(data, []byte(crlf)), bytes.Count(data, []byte(cr))
	switch {
	case n > 0 && returns == 0:
		f.ends = lf
	case n > 0 && pairs == n && returns == n:
		f.ends = crlf
	case n == 0 && (returns > 1 || bytes.HasSuffix(data, []byte(cr))):
		f.ends = cr
	}
	return f
}

// lines returns a text with the line ends of the form. A carriage return that ends no line stays.
func (f form) lines(text string) string {
	if f.ends == "" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, crlf, lf), lf, f.ends)
}

// whole returns the text of a whole file in the form, and with the mark.
func (f form) whole(text string) string {
	if text = f.lines(text); f.mark && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	return text
}

// inForm returns a new content in the form of the file that it replaces; old is nil if there is
// none.
func inForm(old, data []byte) []byte {
	if old == nil || diff.Binary(data) {
		return data
	}
	return []byte(formOf(old).whole(string(data)))
}

// about says for a model how the lines of a text end, if it isn't usual.
func (f form) about(data []byte) string {
	switch {
	case f.ends == crlf:
		return ", lines end in CRLF"
	case f.ends == cr:
		return ", lines end in CR"
	case f.ends == "" && bytes.Contains(data, []byte(crlf)):
		return ", some lines end in CRLF and others don't"
	}
	return ""
}
