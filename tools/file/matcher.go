package file

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A matcher finds the matching lines of a file. It checks the whole file first, because most files
// have no match: for a text that every match contains, which takes a fiftieth of the time of a
// regular expression, and then for the expression.
type matcher struct {
	literal []byte         // every matching line contains it; nil: unknown
	lower   bool           // the literal is in lower case, and case is ignored; only if it is ASCII
	re      *regexp.Regexp // matches within one line; nil: the literal is the whole pattern
	whole   *regexp.Regexp // matches a file if re may match one of its lines; nil: unknown
	buf     []byte         // buffer for a file in lower case
}

func newMatcher(in *searchInput) (*matcher, error) {
	pattern := in.Pattern
	if pattern == "" {
		return nil, newError(in.Path, fault.Invalid, nil, "the pattern is empty")
	}
	if !in.Regexp {
		if strings.ContainsAny(pattern, "\r\n") {
			return nil, newError(in.Path, fault.Invalid, nil,
				"the pattern contains a line end; lines are searched one by one, so give a part of one line")
		}
		if !in.IgnoreCase {
			return &matcher{literal: []byte(pattern)}, nil
		}
		if ascii(pattern) {
			return &matcher{literal: []byte(strings.ToLower(pattern)), lower: true}, nil
		}
		pattern = regexp.QuoteMeta(pattern)
	}
	if in.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil,
			newError(in.Path, fault.Invalid, err, "the pattern isn't a valid regular expression: %s", err.Error())
	}
	m := &matcher{re: re}
	if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		if needed := required(tree.Simplify()); needed != "" {
			m.literal = []byte(needed)
		}
	}
	if !strings.Contains(in.Pattern, `\A`) && !strings.Contains(in.Pattern, `\z`) &&
		!strings.Contains(in.Pattern, "(?") {
		m.whole, _ = regexp.Compile("(?m)" + pattern) // with m, ^ and $ match at line ends
	}
	return m, nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// required returns the longest text that every match of an expression contains, as far as it is
// easy to determine.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if text := string(re.Rune); re.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(text, utf8.RuneError) {
			return text
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if text := required(sub); len(text) > len(best) {
				best = text
			}
		}
		return best
	}
	return ""
}

// any reports whether a line of a file may match. The result false is certain.
func (m *matcher) any(data []byte) bool {
	if m.literal != nil && !m.contains(data) {
		return false
	}
	if m.re == nil || m.whole == nil || bytes.IndexByte(data, '\r') >= 0 { // $ doesn't match before a \r
		return true
	}
	return m.whole.Match(data)
}

// line reports whether a line matches.
func (m *matcher) line(line []byte) bool {
	if m.re == nil {
		return m.contains(line)
	}
	return m.re.Match(line)
}

func (m *matcher) contains(data []byte) bool {
	if !m.lower {
		return bytes.Contains(data, m.literal)
	}
	m.buf = append(m.buf[:0], data...)
	for i, c := range m.buf {
		if 'A' <= c && c <= 'Z' {
			m.buf[i] = c + 'a' - 'A'
		}
	}
	return bytes.Contains(m.buf, m.literal)
}
