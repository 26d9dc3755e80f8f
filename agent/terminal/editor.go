package terminal

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// An editor is a line that a person writes. It may have line breaks and tabs. The cursor moves by
// what people see as one character, which may be several of Unicode's.
type editor struct {
	prompt string
	hidden bool // what is written isn't shown
	text   string
	at     int // where the cursor is: at the beginning of a character, or at the end

	older []string // what the arrows bring to the line, the nearest first
	index int      // which of them it is, from 1
	own   string   // what was written before

	drawn shape // what laid was made of
	laid  area
}

// A shape is what the layout of a line depends on.
type shape struct {
	text          string
	at            int
	width, height int
	all           bool
}

// blanks are between words.
const blanks = " \t\n"

// characters returns what people see as characters of a text, each with where it begins.
func characters(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		at, state := 0, -1
		for rest, c := text, ""; rest != ""; at += len(c) {
			if c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state); !yield(at, c) {
				return
			}
		}
	}
}

// around returns where the character before the cursor begins, and where the one after it ends.
func (e *editor) around() (before, after int) {
	for at, c := range characters(e.text) {
		if after = at + len(c); after > e.at {
			return before, after
		}
		before = at
	}
	return before, after
}

// insert puts a text where the cursor is. With what is around it, it may become one character.
func (e *editor) insert(text string) {
	text = clean(text)
	e.text = e.text[:e.at] + text + e.text[e.at:]
	if e.at += len(text); e.at == len(e.text) {
		return
	}
	for at := range characters(e.text) {
		if at >= e.at {
			e.at = at
			return
		}
	}
	e.at = len(e.text)
}

// set replaces the text.
func (e *editor) set(text string) { e.text, e.at = text, len(text) }

// remove removes a part of the text, and leaves the cursor there.
func (e *editor) remove(from, to int) {
	e.text, e.at = e.text[:from]+e.text[to:], from
	e.insert("") // what is around it may be one character now
}

// word returns where the word before the cursor begins, and where the one after the next blanks
// does.
func (e *editor) word() (before, after int) {
	before = 1 + strings.LastIndexAny(strings.TrimRight(e.text[:e.at], blanks), blanks)
	if next := strings.IndexAny(e.text[e.at:], blanks); next >= 0 {
		return before, len(e.text) - len(strings.TrimLeft(e.text[e.at+next:], blanks))
	}
	return before, len(e.text)
}

// bring puts another of the older texts on the line.
func (e *editor) bring(index int) {
	switch {
	case index < 0 || index > len(e.older):
		return
	case e.index == 0:
		e.own = e.text
	}
	e.index = index
	e.set(slices.Concat([]string{e.own}, e.older)[index])
}

// press does what a key says. Enter ends the line, and Ctrl-D in an empty one is the end of the
// input.
func (e *editor) press(s stroke) (ended bool, err error) {
	before, after := e.around()
	switch s.key {
	case keyEnter:
		return true, nil
	case keyCtrlD:
		if e.text == "" {
			return false, io.EOF
		}
		e.remove(e.at, after)
	case keyErase:
		e.remove(e.at, after)
	case keyDelete, '\b':
		e.remove(before, e.at)
	case keyCtrlB:
		e.at = before
	case keyCtrlF:
		e.at = after
	case keyCtrlA:
		e.at = 0
	case keyCtrlE:
		e.at = len(e.text)
	case keyCtrlK:
		e.remove(e.at, len(e.text))
	case keyCtrlU:
		e.remove(0, e.at)
	case keyCtrlW:
		before, _ = e.word()
		e.remove(before, e.at)
	case keyWordLeft:
		e.at, _ = e.word()
	case keyWordRight:
		_, e.at = e.word()
	case keyCtrlP:
		e.bring(e.index + 1)
	case keyCtrlN:
		e.bring(e.index - 1)
	default:
		if s.writes() {
			e.insert(s.text())
		}
	}
	return false, nil
}

// layout returns how the line is drawn: all of it, or the rows around the cursor for which a window
// has room.
func (e *editor) layout(s *screen, all bool) area {
	now := shape{e.text, e.at, s.width, s.height, all}
	if e.drawn == now {
		return e.laid
	}
	width := s.width - 1 // the last column has room for the cursor
	a := area{width: s.width}
	var row strings.Builder
	x := 0
	end := func() {
		a.rows, a.columns = append(a.rows, row.String()), append(a.columns, x)
		row.Reset()
		x = 0
	}
	lines := strings.Split(new(wrapper).add(e.prompt, width), "\n")
	for i, line := range lines {
		row.WriteString(s.paint(bold, line))
		if x = columns(line); i < len(lines)-1 {
			end()
		}
	}
	a.y, a.x = len(a.rows), x
	if !e.hidden {
		for at, c := range characters(e.text) {
			shown := strings.Trim(strings.ReplaceAll(c, "\t", "    "), "\n")
			n := columns(shown)
			if x+n > width {
				end()
			}
			if at == e.at {
				a.y, a.x = len(a.rows), x
			}
			row.WriteString(shown)
			if x += n; c == "\n" {
				end()
			}
		}
		if e.at == len(e.text) {
			a.y, a.x = len(a.rows), x
		}
	}
	end()
	if most := max(s.height-1, 1); !all && len(a.rows) > most {
		first := max(a.y-most+1, 0)
		a.rows, a.columns, a.y = a.rows[first:first+most], a.columns[first:first+most], a.y-first
	}
	e.drawn, e.laid = now, a
	return a
}
