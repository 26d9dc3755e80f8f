package visible

import (
	"strconv"
	"strings"
	"unicode"
)

// Text removes characters that nobody sees but a model reads, or that reorder what a person sees:
// control characters except line feeds and tabs, bidirectional controls, zero-width spaces, tags,
// fillers, and variation selectors of the supplementary planes. Lines end in one line feed, also
// where Unicode has separators of lines and paragraphs. Zero-width joiners stay, which emoji and
// some scripts need.
func Text(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, text)
}

// Blank reports whether a person sees nothing of a text: it has only white space and characters
// that nobody sees by themselves, such as zero-width spaces, joiners, fillers and combining marks.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !invisible(r) &&
			!unicode.In(r, unicode.Cf, unicode.Mn, unicode.Variation_Selector,
				unicode.Other_Default_Ignorable_Code_Point)
	})
}

// Name returns a name as it can stand in a list for people: as it is, or in quotes and with escapes
// if it has characters that nobody sees, that reorder others, that look like a space and are none,
// or that could be part of the list. So "photo\u202egnp.exe" doesn't look like a picture, and no
// two names look the same because of what nobody sees.
func Name(name string) string {
	odd := func(r rune) bool {
		return invisible(r) || r == blankBraille || !unicode.IsPrint(r) || r == '"' || r == '\uFFFD' ||
			unicode.Is(unicode.Cf, r)
	}
	if name != "" && !strings.ContainsFunc(name, odd) && strings.TrimSpace(name) == name {
		return name
	}
	var b strings.Builder
	for _, r := range strconv.Quote(name) { // only the space is left of those that look like one
		if invisible(r) || r == blankBraille { // a letter, a mark or a symbol
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// blankBraille is a symbol of no dots. Texts in Braille need it.
const blankBraille = '\u2800'

func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r == 0x00AD || r == 0x061C || r == 0x180E || r == 0xFEFF:
		// soft hyphen, Arabic letter mark, Mongolian vowel separator, byte order mark
		return true
	case r == 0x034F || r == 0x115F || r == 0x1160 || r == 0x17B4 || r == 0x17B5 || r == 0x3164 || r == 0xFFA0:
		// grapheme joiner, fillers and inherent vowels
		return true
	case r == 0x200B || r == 0x200E || r == 0x200F: // zero-width space, marks of direction
		return true
	case r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x206F:
		// embeddings, overrides, isolates, invisible operators
		return true
	case r >= 0xFFF9 && r <= 0xFFFB: // interlinear annotations
		return true
	}
	return r >= 0xE0000 && r <= 0xE0FFF // tags, variation selectors
}
