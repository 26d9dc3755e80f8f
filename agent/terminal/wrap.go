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
	word  string // the last word so far, with the blanks after it; of a long one, its end
	long  bool   // the last word is wider than the window, and was shown: it isn't moved any more
	line  string // the beginning of the line, without blanks before it; and a later backtick
	fence string // what has begun the block of code; empty: there is none
}

// add returns what a piece adds to a window: of a word that doesn't fit, what is there already is
// taken to the next line. Blanks at the edge are left out.
func (w *wrapper) add(text string, width int) string {
	var b strings.Builder
	for text != "" {
		part, rest, ended := strings.Cut(text, "\n")
		if len(w.line) < 100 {
			w.line = strings.TrimLeft(w.line+part, " ")
		} else if strings.Contains(part, "`") && !strings.HasSuffix(w.line, "`") {
			w.line += "`"
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
	rest := strings.TrimLeft(w.line, (w.line + " ")[:1])
	mark := w.line[:len(w.line)-len(rest)]
	w.start, w.word, w.long, w.line = 0, "", false, ""
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
		if w.start > 0 && !w.long && w.start+columns(whole) > width {
			if shown > 0 {
				b.WriteString("\r" + move(w.start, 'C') + "\x1b[K")
			}
			b.WriteByte('\n')
			w.start, shown = 0, 0
		}
		end, out := w.end(whole, width), w.word
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
			w.start, w.long = end, false
		}
	}
	w.forget(width)
}

// end returns the column where a part of the last word ends that begins where the word does. The
// window breaks what is too wide.
func (w *wrapper) end(part string, width int) int {
	end := w.start + columns(part)
	if end > width {
		end = (end-1)%width + 1
	}
	return end
}

// enough is how many bytes of a long word say how it goes on.
const enough = 32

// forget forgets what has no influence any more on how the last word goes on, so that the work on a
// piece doesn't grow with the word: the beginning of a long word, and blanks past the edge.
func (w *wrapper) forget(width int) {
	whole := strings.TrimRight(w.word, " \t")
	if most := len(whole) + width + 1; len(whole) < len(w.word) {
		w.word = w.word[:min(most, len(w.word))]
		return
	}
	w.long = w.long || w.start == 0 && columns(whole) > width
	if !w.long || len(whole) < 2*enough {
		return
	}
	for at := range characters(whole) {
		if at >= len(whole)-enough {
			w.start, w.word = w.end(whole[:at], width), whole[at:]
			return
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
