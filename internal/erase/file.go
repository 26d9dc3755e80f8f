package erase

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// leastBinary is how long a text is, in bytes, that is taken for base64 of something that isn't in
// UTF-8. Shorter ones may be words.
const leastBinary = 64

// fromBase64 returns what s encodes.
func fromBase64(s string) (string, bool) {
	if len(s) < 8 || len(s)%4 != 0 {
		return "", false
	}
	d, err := base64.StdEncoding.DecodeString(s)
	return string(d), err == nil
}

// file returns the content of a text file, in base64, with its texts replaced.
func (w *Walk) file(s string, depth int) string {
	d, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return w.text(s, depth)
	}
	text, encode := charset(string(d), true)
	if t := w.text(text, depth+1); t != text {
		return base64.StdEncoding.EncodeToString([]byte(encode(t)))
	}
	return s
}

// charset returns a text as UTF-8, and the function that returns one like it in the charset that it
// has: UTF-8, UTF-16, or any that has a character in each byte and begins as ASCII does, which is
// read as Latin-1. What doesn't fit there becomes UTF-8. Data with control characters, as an image
// has, are no text, unless they are known to be.
func charset(data string, known bool) (text string, encode func(string) string) {
	if text, encode = fromUTF16(data, known); encode != nil {
		return text, encode
	}
	if utf8.ValidString(data) {
		return data, func(s string) string { return s }
	}
	if !known && slices.ContainsFunc([]byte(data), func(b byte) bool { return isControl(rune(b)) }) {
		return "", nil
	}
	runes := make([]rune, len(data))
	for i := range len(data) {
		runes[i] = rune(data[i])
	}
	return string(runes), func(s string) string {
		var out []byte
		for _, r := range s {
			if r > 0xFF {
				return s
			}
			out = append(out, byte(r))
		}
		return string(out)
	}
}

// fromUTF16 is charset for UTF-16, with a byte order mark, or with characters of ASCII.
func fromUTF16(data string, known bool) (text string, encode func(string) string) {
	var order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	} = binary.BigEndian
	zero, from := strings.IndexByte(data, 0), 0
	switch {
	case strings.HasPrefix(data, "\xFF\xFE"):
		order, from = binary.LittleEndian, 2
	case strings.HasPrefix(data, "\xFE\xFF"):
		from = 2
	case zero < 0 || len(data)%2 != 0:
		return "", nil
	case zero%2 == 1:
		order = binary.LittleEndian
	}
	end := len(data) &^ 1
	known = known && from > 0
	var units []uint16
	for at := from; at < end; at += 2 {
		unit := order.Uint16([]byte(data[at : at+2]))
		if !known && isControl(rune(unit)) {
			return "", nil
		}
		units = append(units, unit)
	}
	text = string(utf16.Decode(units))
	if !known && strings.ContainsRune(text, utf8.RuneError) {
		return "", nil
	}
	return text, func(s string) string {
		out := []byte(data[:from])
		for _, unit := range utf16.Encode([]rune(s)) {
			out = order.AppendUint16(out, unit)
		}
		return string(append(out, data[end:]...))
	}
}

// isControl reports a character that texts don't have.
func isControl(r rune) bool {
	return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) || r == 0x7F
}
