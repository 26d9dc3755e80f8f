package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted writes s as a JSON string in canonical form: only what must be escaped is, in its shortest form. Bytes that
// aren't UTF-8 become U+FFFD.
func appendQuoted[T string | []byte](out []byte, s T) []byte {
	out = append(out, '"')
	for i := 0; i < len(s); {
		b := s[i]
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b >= utf8.RuneSelf:
			c, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			out = utf8.AppendRune(out, c)
			i += size
			continue
		case b >= ' ':
			out = append(out, b)
		default:
			if short := strings.IndexByte("\b\f\n\r\t", b); short >= 0 {
				out = append(out, '\\', "bfnrt"[short])
			} else {
				out = append(out, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
			}
		}
		i++
	}
	return append(out, '"')
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

// canonicalControl says whether hex begins with the four digits that appendQuoted writes for a control character.
func canonicalControl(hex []byte) bool {
	if len(hex) < 4 || hex[0] != '0' || hex[1] != '0' {
		return false
	}
	high, low := hex[2], strings.IndexByte(hexDigits, hex[3])
	if high != '0' && high != '1' || low < 0 {
		return false
	}
	return high == '1' || strings.IndexByte("\b\f\n\r\t", byte(low)) < 0
}

// unescape resolves the escape that text begins with. A size of 0 means that it is none.
func unescape(text []byte) (c rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	high, ok := hexRune(text)
	if !ok {
		return 0, 0
	}
	if high < 0xD800 || high > 0xDFFF {
		return high, 6
	}
	if low, ok := hexRune(text[6:]); ok && high < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF {
		return (high-0xD800)<<10 | (low - 0xDC00) + 0x10000, 12
	}
	return utf8.RuneError, 6
}

func hexRune(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[2:6]), 16, 32)
	return rune(v), err == nil
}
