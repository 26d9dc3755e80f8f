package erase

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// segment is a part of an address that is escaped.
var segment = regexp.MustCompile(`[^&=?/#\s"]*[%+][^&=?/#\s"]*`)

// escaped returns a text with what addresses in it escape replaced.
func (w *Walk) escaped(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	return segment.ReplaceAllStringFunc(s, func(part string) string {
		d, err := url.QueryUnescape(part)
		if err != nil || d == part {
			return part
		}
		if t := w.Text(d); t != d {
			return url.QueryEscape(t)
		}
		return part
	})
}

var (
	// quoted is a string of JSON within a text that isn't JSON as a whole.
	quoted = regexp.MustCompile(`"(?:[^"\\\n]|\\[^\n])*"`)
	// between is what separates the pieces of such strings where their quotes don't say where they
	// are, because the text was cut.
	between = regexp.MustCompile(`["\n]|\\+[nrt]`)
	coded   = regexp.MustCompile(`\\+u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}|\\+u[0-9a-fA-F]{4}`)
)

// unquoted returns a text with what strings of JSON in it escape replaced.
func (w *Walk) unquoted(s string, depth int) string {
	if depth >= maxDepth || !strings.Contains(s, `\`) {
		return s
	}
	s = quoted.ReplaceAllStringFunc(s, func(lit string) string {
		if !strings.Contains(lit, `\`) || !json.Valid([]byte(lit)) {
			return lit
		}
		d := unquote([]byte(lit))
		if t := w.text(d, depth+1); t != d {
			return string(quote(t))
		}
		return lit
	})
	var out strings.Builder
	at := 0
	for _, sep := range append(between.FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		piece := s[at:sep[0]]
		if d := coded.ReplaceAllStringFunc(piece, decoded); d != s {
			if t := w.Text(d); t != d {
				piece = t
			}
		}
		out.WriteString(piece)
		out.WriteString(s[sep[0]:sep[1]])
		at = sep[1]
	}
	return out.String()
}

// decoded returns the character of \uXXXX, unless JSON has to escape it.
func decoded(code string) string {
	for strings.Contains(code, `\\`) { // JSON in a string
		code = strings.ReplaceAll(code, `\\`, `\`)
	}
	d := unquote([]byte(`"` + code + `"`))
	if d < " " || d == `"` || d == `\` || d == "\uFFFD" {
		return code
	}
	return d
}
