package adapter

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// A Text is a piece of a text in JSON. Servers written in languages with UTF-16 strings cut a
// character outside of the basic plane into two pieces: one ends with the escape of its first half,
// and the next one begins with that of its second half. A Text keeps such a half, as the three
// bytes that UTF-8 would have for it, and [Answer.Put] joins the two.
type Text string

// UnmarshalJSON decodes a string, or null as an empty one.
func (t *Text) UnmarshalJSON(b []byte) error {
	if n := len(b); n >= 2 && b[0] == '"' && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		*t = Text(b[1 : n-1]) // most pieces
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	const replaced = "\uFFFD" // what package json makes of a half
	if r, ok := escaped(b, 1); ok && second(r) && len(s) >= len(replaced) {
		s = half(r) + s[len(replaced):]
	}
	if r, ok := escaped(b, len(b)-7); ok && first(r) && len(s) >= len(replaced) {
		s = s[:len(s)-len(replaced)] + half(r)
	}
	*t = Text(s)
	return nil
}

// escaped returns the character of the escape at b[i], such as \ud83d.
func escaped(b []byte, i int) (rune, bool) {
	if i < 1 || i+6 >= len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	for before := i - 1; b[before] == '\\'; before-- { // an odd number of them would escape this one
		if before--; b[before] != '\\' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
	return rune(n), err == nil
}

func first(r rune) bool  { return r >= 0xD800 && r < 0xDC00 }
func second(r rune) bool { return r >= 0xDC00 && r < 0xE000 }

// half returns the bytes of a half of a character.
func half(r rune) string {
	return string([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
}

// halfIn returns the half in three bytes, or 0.
func halfIn(s string) rune {
	if len(s) != 3 || s[0] != 0xED || s[1] < 0xA0 {
		return 0
	}
	return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}

// Join returns text with the halves in it joined; a half whose other half isn't beside it becomes
// U+FFFD. It is for texts that don't go through [Answer.Put] as they come.
func Join(text string) string {
	if !strings.Contains(text, "\xED") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r := halfIn(text[:min(len(text), 3)])
		switch low := halfIn(text[min(len(text), 3):min(len(text), 6)]); {
		case r == 0:
			b.WriteByte(text[0])
			text = text[1:]
		case first(r) && second(low):
			b.WriteRune(utf16.DecodeRune(r, low))
			text = text[6:]
		default:
			b.WriteRune(utf8.RuneError)
			text = text[3:]
		}
	}
	return b.String()
}

// joined returns a chunk of text with the half that was held before it, and without the half that
// it ends with, which is held. It returns false if nothing is left of it.
func (a *Answer) joined(c *provider.Chunk) bool {
	switch c.Kind {
	case provider.KindText, provider.KindReasoning, provider.KindRefusal, provider.KindToolDelta:
	default:
		a.flush()
		return true
	}
	if c.Text == "" {
		return true // it only names its block
	}
	if a.half != 0 && (a.halfOf != c.Kind || a.halfAt != c.Index) {
		a.flush()
	}
	if n := len(c.Text); n >= 3 && second(halfIn(c.Text[:3])) {
		c.Text = string(utf16.DecodeRune(a.half, halfIn(c.Text[:3]))) + c.Text[3:]
		a.half = 0
	}
	a.flush()
	if n := len(c.Text); n >= 3 && first(halfIn(c.Text[n-3:])) {
		a.half, a.halfOf, a.halfAt = halfIn(c.Text[n-3:]), c.Kind, c.Index
		c.Text = c.Text[:n-3]
		return c.Text != ""
	}
	return true
}

// flush yields what is held, of which the other half didn't come.
func (a *Answer) flush() {
	if a.half != 0 {
		a.half = 0
		a.yield(provider.Chunk{Kind: a.halfOf, Index: a.halfAt, Text: "\uFFFD"})
	}
}
