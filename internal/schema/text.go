package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// appendQuoted appends s as a JSON string in canonical form: with only the necessary escapes, in
// their shortest form. Invalid UTF-8 becomes U+FFFD.
func appendQuoted[T string | []byte](out []byte, s T) []byte {
	const hexDigits = "0123456789abcdef"
	out = append(out, '"')
	for _, c := range string(s) {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', byte(c))
		case c >= ' ':
			out = utf8.AppendRune(out, c)
		case strings.ContainsRune(shortEscaped, c):
			out = append(out, '\\', "bfnrt"[strings.IndexRune(shortEscaped, c)])
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(out, '"')
}

// shortEscaped are the control characters with an escape of two characters.
const shortEscaped = "\b\f\n\r\t"

// canonicalEscape reports whether text begins with an escape in the form of appendQuoted.
func canonicalEscape(text []byte) bool {
	if len(text) < 2 {
		return false
	}
	if text[1] != 'u' {
		return strings.IndexByte(`"\bfnrt`, text[1]) >= 0
	}
	if len(text) < 6 || string(text[2:4]) != "00" || text[4] != '0' && text[4] != '1' {
		return false
	}
	low := strings.IndexByte("0123456789abcdef", text[5])
	return low >= 0 && (text[4] == '1' || !strings.ContainsRune(shortEscaped, rune(low)))
}

// text reads a string value.
func (r *reader) text(n *node) {
	token, plain := r.quoted()
	r.write(token)
	if n.enum == nil && n.minLen < 0 && n.maxLen < 0 && !n.dateTime || r.fault != "" {
		return
	}
	text := token[1 : len(token)-1]
	length := utf8.RuneCount(text)
	if !plain || n.enum != nil && !slices.Contains(n.enum, string(text)) || length < n.minLen || n.maxLen >= 0 &&
		length > n.maxLen || n.dateTime && !isTime(text) {
		r.valid = false
	}
}

// quoted reads a string. It returns the token in canonical form, and whether it contains no
// escapes.
func (r *reader) quoted() (token []byte, plain bool) {
	canonical := true
	plain = true
	for i := r.pos + 1; i < len(r.in); i++ {
		switch c := r.in[i]; {
		case c == '"':
			token = r.in[r.pos : i+1]
			if !utf8.Valid(token) {
				r.fail("the string at byte %d isn't valid UTF-8", r.pos)
				return nil, false
			}
			if !canonical {
				token = r.requote(token)
			}
			if r.fault == "" {
				r.pos = i + 1
			}
			return token, plain
		case c == '\\':
			plain, canonical = false, canonical && canonicalEscape(r.in[i:])
			i++
		case c == '\n':
			r.fail(`at byte %d a string holds a line break; write it as \n`, i)
			return nil, false
		case c < ' ':
			r.fail(`at byte %d a string holds the control character %#02x; write it as \u%04x`, i, c, c)
			return nil, false
		}
	}
	r.fail("the text ends after %d bytes in the middle of a string", len(r.in))
	return nil, false
}

// requote returns a string with only the necessary escapes. Half a surrogate pair becomes U+FFFD,
// as in encoding/json.
func (r *reader) requote(token []byte) []byte {
	var text string
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(token, &text), &syntax) {
		escape := bytes.LastIndexByte(token[:syntax.Offset], '\\')
		r.fail("at byte %d, unknown escape: %s", r.pos+escape, shorten(token[escape:], 6))
		return nil
	}
	return appendQuoted(nil, text)
}

func quotedList(words []string) json.RawMessage {
	out := []byte{'['}
	for i, w := range words {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendQuoted(out, w)
	}
	return append(out, ']')
}

// textOf returns the text of a JSON string, otherwise "".
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// fold maps keys that encoding/json treats as equal to one key: those equal under simple case
// folding.
func fold(s string) string {
	return strings.Map(func(c rune) rune {
		least := c
		for next := unicode.SimpleFold(c); next != c; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// isTime reports whether time.Time can be decoded from s.
func isTime(s []byte) bool {
	var t time.Time
	return t.UnmarshalText(s) == nil
}
