package tools

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// CutParts shortens the text of parts to at most limit bytes in total, as [Cut] does: each part has
// at least its share of the limit, and more if later parts need less. It returns the parts, and how
// many bytes were left out. It doesn't change its argument.
func CutParts(parts []provider.Part, limit int) ([]provider.Part, int) {
	return bound(slices.Clone(parts), max(limit, 0))
}

// bound makes the text of parts valid UTF-8 and cuts it to limit bytes in total, in place. Each
// part has at least its share of the limit, and more if later parts need less. Empty parts are
// dropped, because providers reject empty text. It returns how many bytes were left out.
func bound(parts []provider.Part, limit int) ([]provider.Part, int) {
	later := 0
	for i := range parts {
		if p := &parts[i]; !utf8.ValidString(p.Text) {
			p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
		}
		later += len(parts[i].Text)
	}
	if later <= limit {
		return parts, 0
	}
	room, missing := limit, 0
	kept := parts[:0]
	for i, p := range parts {
		later -= len(p.Text)
		short, left := cut.Lines(p.Text, max(room-later, room/(len(parts)-i)))
		room, missing = room-len(short), missing+left
		p.Text = short
		if left == 0 || short != "" || p.Kind != provider.PartText {
			kept = append(kept, p)
		}
	}
	return kept, missing
}

// Cut shortens text to at most limit bytes. It keeps the first 50 lines, the last 100, and, of the
// rest, the lines that look important (errors, failures, warnings), as far as they fit; a line says
// how much was left out. If the first and last lines don't fit, or there are no others, it keeps
// the first third and the end. With a limit of 128 bytes or less it keeps only the start. The
// result is valid UTF-8 if text is.
func Cut(text string, limit int) string {
	short, _ := cut.Lines(text, limit)
	return short
}
