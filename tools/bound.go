package tools

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// How text is cut: see [Cut].
const (
	headLines = 50
	tailLines = 100
	noteRoom  = 64 // enough for a note
)

// important marks lines that are worth keeping when the middle of an output is left out.
var important = []string{"error", "fail", "panic", "fatal", "warn", "exception", "denied", "not found"}

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
	room, cut := limit, 0
	kept := parts[:0]
	for i, p := range parts {
		later -= len(p.Text)
		short, left := shorten(p.Text, max(room-later, room/(len(parts)-i)))
		room, cut = room-len(short), cut+left
		p.Text = short
		if left == 0 || short != "" || p.Kind != provider.PartText {
			kept = append(kept, p)
		}
	}
	return kept, cut
}

// Cut shortens text to at most limit bytes. It keeps the first 50 lines, the last 100, and, of the
// rest, the lines that look important (errors, failures, warnings), as far as they fit; a line says
// how much was left out. If the first and last lines don't fit, or there are no others, it keeps
// the first third and the end. With a limit of 128 bytes or less it keeps only the start. The
// result is valid UTF-8 if text is.
func Cut(text string, limit int) string {
	short, _ := shorten(text, limit)
	return short
}

// shorten is Cut. It also returns how many bytes of text were left out.
func shorten(text string, limit int) (string, int) {
	if len(text) <= limit {
		return text, 0
	}
	if limit <= 2*noteRoom {
		short := clipEnd(text, limit)
		return short, len(text) - len(short)
	}
	room := limit - noteRoom
	head, tail := headEnd(text), 0
	if head < len(text) {
		tail = tailStart(text)
	}
	if free := room - head - (len(text) - tail); head < tail && free >= 0 {
		middle := pick(text[head:tail], free)
		left := tail - head - len(middle)
		return text[:head] + cutNote(left) + middle + text[tail:], left
	}
	start := clipEnd(text, room/3)
	end := clipStart(text, room-len(start))
	left := len(text) - len(start) - len(end)
	return start + "\n" + cutNote(left) + end, left
}

func cutNote(left int) string { return fmt.Sprintf("[… %d bytes left out …]\n", left) }

// headEnd returns where the first headLines lines of text end.
func headEnd(text string) int {
	end := 0
	for range headLines {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			return len(text)
		}
		end += n + 1
	}
	return end
}

// tailStart returns where the last tailLines lines of text start.
func tailStart(text string) int {
	start := len(strings.TrimSuffix(text, "\n"))
	for range tailLines {
		n := strings.LastIndexByte(text[:start], '\n')
		if n < 0 {
			return 0
		}
		start = n
	}
	return start + 1
}

// pick returns the important lines that fit into room bytes.
func pick(text string, room int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if b.Len()+len(line) > room {
			continue
		}
		lower := strings.ToLower(line)
		if slices.ContainsFunc(important, func(word string) bool { return strings.Contains(lower, word) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// clipEnd returns the longest start of s that has at most n bytes and doesn't split a character.
func clipEnd(s string, n int) string {
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

// clipStart returns the longest end of s that has at most n bytes and doesn't split a character.
func clipStart(s string, n int) string {
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
