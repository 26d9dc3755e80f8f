package terminal

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// A wrapper breaks the lines of a text that comes in pieces, so that no word is broken by the edge
// of the window: lines of Markdown, but not blocks of code in fences.
type wrapper struct {
	start int    // the column where the last word begins
	word  string // the last word so far, with the blanks after it
	line  string // the beginning of the line
	fence string // what has begun the block of code; empty: there is none
}

// add returns what a piece adds to a window: of a word that doesn't fit, what is there already is
// taken to the next line. Blanks at the edge are left out.
func (w *wrapper) add(text string, width int) string {
	var b strings.Builder
	for text != "" {
		part, rest, ended := strings.Cut(text, "\n")
		if len(w.line) < 100 {
			w.line += part
		}
		if w.fence != "" {
			b.WriteString(part)
		} else {
			w.words(&b, part, width)
		}
		if ended {
			b.WriteByte('\n')
			w.nextLine()
		}
		text = rest
	}
	return b.String()
}

// nextLine ends a line, and with it perhaps the beginning or the end of a block of code.
func (w *wrapper) nextLine() {
	line := strings.TrimLeft(w.line, " ")
	rest := strings.TrimLeft(line, (line + " ")[:1])
	mark := line[:len(line)-len(rest)]
	w.start, w.word, w.line = 0, "", ""
	switch {
	case !strings.HasPrefix(mark, "```") && !strings.HasPrefix(mark, "~~~"):
	case w.fence == "" && !strings.Contains(rest, "`"):
		w.fence = mark
	case w.fence != "" && strings.HasPrefix(mark, w.fence) && strings.TrimSpace(rest) == "":
		w.fence = ""
	}
}

// words adds a part of a line.
func (w *wrapper) words(b *strings.Builder, part string, width int) {
	shown := len(w.word)
	for rest := w.word + part; rest != ""; {
		w.word, rest = firstWord(rest)
		whole := strings.TrimRight(w.word, " \t")
		if w.start > 0 && w.start+columns(whole) > width {
			if shown > 0 {
				b.WriteString("\r" + move(w.start, 'C') + "\x1b[K")
			}
			b.WriteByte('\n')
			w.start, shown = 0, 0
		}
		end, out := w.start+columns(whole), w.word
		for end > width { // the window breaks the word
			end -= width
		}
		for _, blank := range w.word[len(whole):] {
			if end++; blank == '\t' {
				end = (end + 7) / 8 * 8
			}
		}
		if end > width {
			out = whole
		}
		b.WriteString(out[min(shown, len(out)):])
		if shown = max(shown-len(w.word), 0); rest != "" {
			w.start = end
		}
	}
}

// firstWord splits a text after its first word and the blanks after that. In what is written
// without blanks, as Chinese is, Unicode says where a line may end.
func firstWord(text string) (word, rest string) {
	end := len(text)
	if blank := strings.IndexAny(text, " \t"); blank >= 0 {
		end -= len(strings.TrimLeft(text[blank:], " \t"))
	}
	for at, next, rest, state := 0, "", text[:end], -1; rest != ""; {
		next, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		at += len(next)
		if last, _ := utf8.DecodeLastRuneInString(next); columns(string(last)) > 1 {
			return text[:at], text[at:]
		}
	}
	return text[:end], text[end:]
}
