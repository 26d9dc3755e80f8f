package secret

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// levels is how often a text may be encoded around a secret: JSON in JSON in a URL, for example.
const levels = 4

// replaceSpelled replaces what is one of the secrets after text was decoded as a URL or as JSON is,
// up to [levels] times. There are many spellings of the same: %2f and %2F, \/ and \u002f.
func replaceSpelled(text string, secrets []string) string {
	if !strings.ContainsAny(text, `%\`) {
		return text
	}
	type span struct{ from, to int }
	var found []span
	d := decoded{text: text, at: make([]int, len(text)+1)}
	for i := range d.at {
		d.at[i] = i
	}
	for range levels {
		next, changed := d.decode()
		if !changed {
			break
		}
		d = next
		for _, s := range secrets {
			for from := 0; ; {
				i := strings.Index(d.text[from:], s)
				if i < 0 {
					break
				}
				from += i + len(s)
				found = append(found, span{d.at[from-len(s)], d.at[from]})
			}
		}
	}
	if len(found) == 0 {
		return text
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for _, f := range found {
		if f.from >= end {
			b.WriteString(text[end:f.from] + Redacted)
		}
		end = max(end, f.to)
	}
	b.WriteString(text[end:])
	return b.String()
}

// decoded is a text after some levels of encoding were removed.
type decoded struct {
	text string
	at   []int // for each byte of text, and for its end, where it is in the original
}

// decode removes one level of encoding.
func (d decoded) decode() (out decoded, changed bool) {
	b, at := make([]byte, 0, len(d.text)), make([]int, 0, len(d.at))
	for i := 0; i < len(d.text); {
		char, n := decodeAt(d.text[i:])
		changed = changed || n > 1
		for range char {
			at = append(at, d.at[i])
		}
		b = append(b, char...)
		i += n
	}
	return decoded{string(b), append(at, d.at[len(d.text)])}, changed
}

// decodeAt returns the bytes that text begins with, decoded, and how many bytes of text they are.
func decodeAt(text string) (char []byte, n int) {
	switch {
	case text[0] == '%' && len(text) >= 3:
		if c, err := strconv.ParseUint(text[1:3], 16, 8); err == nil {
			return []byte{byte(c)}, 3
		}
	case text[0] == '\\' && len(text) >= 2:
		if i := strings.IndexByte(`"\/nrtbf`, text[1]); i >= 0 {
			return []byte{"\"\\/\n\r\t\b\f"[i]}, 2
		}
		if r, ok := escaped(text); ok {
			if low, ok := escaped(text[6:]); ok && utf16.IsSurrogate(r) {
				return utf8.AppendRune(nil, utf16.DecodeRune(r, low)), 12
			}
			return utf8.AppendRune(nil, r), 6
		}
	}
	return []byte{text[0]}, 1
}

// escaped returns the character of an escape of JSON such as \u002f.
func escaped(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	r, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(r), err == nil
}
