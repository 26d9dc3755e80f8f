package cut

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Start returns the longest start of s that has at most n bytes and doesn't split a character.
func Start(s string, n int) string {
	if n = max(n, 0); n >= len(s) {
		return s
	}
	for back := 0; back < utf8.UTFMax && back <= n; back++ { // further back there is no start in text that isn't UTF-8
		if utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n]
}

// End returns the longest end of s that has at most n bytes and doesn't split a character.
func End(s string, n int) string {
	if n = max(n, 0); n >= len(s) {
		return s
	}
	i := len(s) - n
	for on := 0; on < utf8.UTFMax && i+on < len(s); on++ {
		if utf8.RuneStart(s[i+on]) {
			return s[i+on:]
		}
	}
	if i+utf8.UTFMax > len(s) { // only the rest of one character
		return ""
	}
	return s[i:]
}

// Line returns at most n bytes of s, as valid UTF-8 without control characters, which become
// spaces.
func Line(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.ToValidUTF8(s[:min(len(s), n)], "")
}
