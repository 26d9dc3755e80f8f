package agent

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mapStrings returns a JSON value with every string in it, keys excepted, replaced by what fn makes of it. Everything else
// stays to the byte, so numbers keep their form and keys their order. It reports false if raw is no JSON.
func mapStrings(raw []byte, fn func(string) string) (json.RawMessage, bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := i + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		end++
		lit := raw[i:end]
		i = end
		if isKey(raw[end:]) {
			out = append(out, lit...)
			continue
		}
		var s string
		if json.Unmarshal(lit, &s) != nil {
			return nil, false
		}
		if t := fn(s); t != s {
			lit, _ = marshal(t)
		}
		out = append(out, lit...)
	}
	return out, true
}

// isKey reports whether the string before rest is the key of a member.
func isKey(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\n', '\r':
		case ':':
			return true
		default:
			return false
		}
	}
	return false
}

// clean returns s as a journal takes titles: at most 512 bytes of valid UTF-8 without control characters.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	for len(s) > 512 {
		_, size := utf8.DecodeLastRuneInString(s[:512])
		if size == 1 && s[511] >= utf8.RuneSelf { // within a character
			i := 511
			for i > 0 && !utf8.RuneStart(s[i]) {
				i--
			}
			s = s[:i]
			continue
		}
		s = s[:512]
	}
	return s
}
