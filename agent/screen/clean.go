package screen

import (
	"strings"
	"unicode"

	"github.com/pawlkit/pawl/internal/visible"
)

// Clean returns text without what a person doesn't see: control characters except line feeds and
// tabs, bidirectional controls and other invisible characters, spaces at the ends of lines, and
// more than two line feeds in a row. Spaces of all kinds become ordinary ones, except U+3000, which
// is as wide as a Chinese character. Indentation and code stay.
func Clean(text string) string {
	var b strings.Builder
	empty := 0
	for line := range strings.Lines(visibleText(text)) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat("\n", 1+min(empty, 1)))
		}
		empty = 0
		b.WriteString(line)
	}
	return b.String()
}

// visibleText removes invisible characters and makes spaces ordinary ones.
func visibleText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) && r != '\u3000' {
			return ' '
		}
		return r
	}, visible.Text(strings.ToValidUTF8(text, "\uFFFD")))
}

// fold returns text in the form in which patterns are looked for: in lower case, with single
// spaces, without invisible characters, joiners, variation selectors, quotation marks and emphasis,
// and with full-width letters and digits made ordinary ones. An underscore is a space.
func fold(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r >= 0xFF01 && r <= 0xFF5E: // ！ to ～
			r -= 0xFF01 - '!'
		case r == 0x200C || r == 0x200D || r >= 0xFE00 && r <= 0xFE0F:
			return -1
		}
		switch {
		case r == '_':
			return ' '
		case strings.ContainsRune("*`\"“”„«»'’‘~", r):
			return -1
		}
		return unicode.ToLower(r)
	}, visible.Text(text))
	return strings.Join(strings.Fields(text), " ")
}
