package file

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A matcher finds the matching lines of a file. It checks the whole file first, because most files
// have no match.
type matcher struct {
	literal []byte         // the pattern, if it is a text; else nil
	fold    bool           // the literal is in lower case, and case is ignored
	re      *regexp.Regexp // matches within one line
	whole   *regexp.Regexp // matches a file if re may match one of its lines; nil: unknown
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
		if in.IgnoreCase {
			pattern = strings.ToLower(pattern)
		}
		return &matcher{literal: []byte(pattern), fold: in.IgnoreCase}, nil
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
	if !strings.Contains(in.Pattern, `\A`) && !strings.Contains(in.Pattern, `\z`) &&
		!strings.Contains(in.Pattern, "(?") {
		m.whole, _ = regexp.Compile("(?m)" + pattern) // with m, ^ and $ match at line ends
	}
	return m, nil
}

// any reports whether a line of a file may match. The result false is certain.
func (m *matcher) any(data []byte) bool {
	switch {
	case m.literal != nil:
		return m.contains(data)
	case m.whole == nil || bytes.IndexByte(data, '\r') >= 0: // $ doesn't match before a \r
		return true
	}
	return m.whole.Match(data)
}

// line reports whether a line matches.
func (m *matcher) line(line []byte) bool {
	if m.literal != nil {
		return m.contains(line)
	}
	return m.re.Match(line)
}

func (m *matcher) contains(data []byte) bool {
	if m.fold {
		data = bytes.ToLower(data)
	}
	return bytes.Contains(data, m.literal)
}
