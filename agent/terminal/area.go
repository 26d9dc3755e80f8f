package terminal

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// An area is what stands below the last line and is drawn again when it changes: the line that a
// person writes, or what is in progress. Each of its rows is narrower than the window, and is ended
// as a line, so that it is known what becomes of it when the window changes.
type area struct {
	rows    []string
	columns []int // of each row
	y, x    int   // where the cursor is
	width   int   // of the window
}

// columns returns how many columns a text without tabs has.
func columns(text string) int { return uniseg.StringWidth(text) }

// above returns how many rows of the window are above the cursor. A window that has become narrower
// has broken the rows that don't fit.
func (a *area) above(width int) int {
	n := 0
	for _, c := range a.columns[:min(a.y, len(a.columns))] {
		n += max(c-1, 0)/width + 1
	}
	if len(a.rows) > 0 && a.x == a.columns[a.y] {
		return n + max(a.x-1, 0)/width
	}
	return n + a.x/width
}

// move returns the sequence that moves the cursor.
func move(n int, where byte) string {
	if n <= 0 {
		return ""
	}
	return "\x1b[" + strconv.Itoa(n) + string(where)
}

// put draws an area in place of the one before. Rows that stay as they were aren't drawn again.
func (s *screen) put(next area) {
	was := s.below
	resized := was.width != next.width && len(was.rows) > 0 && len(next.rows) > 0
	if !resized && next.y == was.y && next.x == was.x && slices.Equal(next.rows, was.rows) {
		return
	}
	s.below = next
	var b strings.Builder
	b.WriteString("\r" + move(was.above(s.width), 'A'))
	if resized || len(next.rows) == 0 {
		b.WriteString("\x1b[J")
		was.rows = nil
	}
	for i, row := range next.rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch last := i == len(next.rows)-1; {
		case last && len(was.rows) > len(next.rows):
			b.WriteString(row + "\x1b[J")
		case i >= len(was.rows):
			b.WriteString(row)
		case row != was.rows[i]:
			b.WriteString(row + "\x1b[K")
		}
	}
	if n := len(next.rows); n > 0 {
		b.WriteString("\r" + move(n-1-next.y, 'A') + move(next.x, 'C'))
	}
	s.write(b.String())
}
