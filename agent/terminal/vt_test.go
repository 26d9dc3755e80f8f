package terminal_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// A vt is what a terminal shows: it draws what is written to it, and keeps the lines that have
// scrolled away. It knows the sequences that this package writes, and reports others.
type vt struct {
	mu    sync.Mutex
	moved chan struct{} // closed at each change
	width int
	lines [][]string // of columns; the second of a wide character is empty
	goes  []bool     // the line goes on in the next one
	x, y  int
	full  bool // the last column was written: the next character begins a line
	rest  []byte
	all   strings.Builder // as it was written
	odd   []string        // sequences that it doesn't know

	onWrite func() // called before each write is drawn
}

func newVT(width int) *vt {
	return &vt{width: width, lines: [][]string{nil}, goes: []bool{false}, moved: make(chan struct{})}
}

// Write draws.
func (v *vt) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onWrite != nil {
		v.onWrite()
	}
	v.all.Write(b)
	data := append(v.rest, b...)
	for len(data) > 0 {
		n := v.next(data)
		if n == 0 {
			break
		}
		data = data[n:]
	}
	v.rest = append([]byte(nil), data...)
	close(v.moved)
	v.moved = make(chan struct{})
	return len(b), nil
}

// next draws one character or sequence, and returns how many bytes it had; 0 if it isn't whole.
func (v *vt) next(b []byte) int {
	switch {
	case b[0] == '\r':
		v.x, v.full = 0, false
		return 1
	case b[0] == '\n':
		v.down()
		return 1
	case b[0] == 0x1b:
		return v.sequence(b)
	case b[0] == '\t':
		v.x = min(v.x/8*8+8, v.width-1)
		return 1
	case b[0] < ' ':
		v.odd = append(v.odd, strconv.Quote(string(b[:1])))
		return 1
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	last := v.x - 1
	if v.full {
		last = v.x
	}
	if uniseg.StringWidth(string(r)) == 0 && last >= 0 && last < len(v.lines[v.y]) {
		if v.lines[v.y][last] == "" { // of a wide one
			last--
		}
		v.lines[v.y][last] += string(r)
		return n
	}
	wide := min(uniseg.StringWidth(string(r)), 2)
	if r >= 0x1f1e6 && r <= 0x1f1ff { // the half of a flag
		wide = 1
	}
	if v.full || v.x+wide > v.width {
		v.x, v.full, v.goes[v.y] = 0, false, true
		v.down()
	}
	line := v.lines[v.y]
	for len(line) < v.x+wide {
		line = append(line, " ")
	}
	if line[v.x] = string(r); wide == 2 {
		line[v.x+1] = ""
	}
	v.lines[v.y] = line
	if v.x += wide; v.x >= v.width {
		v.x, v.full = v.width-1, true
	}
	return n
}

func (v *vt) down() {
	if v.y++; v.y == len(v.lines) {
		v.lines, v.goes = append(v.lines, nil), append(v.goes, false)
	}
}

// reflow makes the window wider or narrower: lines that don't fit are broken, and put together
// again, as most terminals do it. The cursor stays at its character.
func (v *vt) reflow(width int) {
	var lines [][]string
	var goes []bool
	x, y := v.x, v.y
	for at := 0; at < len(v.lines); at++ {
		line, cursor := []string(nil), -1
		for ; ; at++ {
			if at == v.y {
				cursor = len(line) + v.x
			}
			line = append(line, v.lines[at]...)
			if !v.goes[at] {
				break
			}
		}
		if cursor >= 0 {
			x, y = cursor%width, len(lines)+cursor/width
			if cursor == len(line) && cursor > 0 && x == 0 {
				x, y = width-1, y-1
			}
		}
		for len(line) > width {
			lines, goes, line = append(lines, slices.Clone(line[:width])), append(goes, true), line[width:]
		}
		lines, goes = append(lines, slices.Clone(line)), append(goes, false)
	}
	v.lines, v.goes, v.x, v.y, v.width, v.full = lines, goes, x, min(y, len(lines)-1), width, false
}

// sequence obeys a control sequence.
func (v *vt) sequence(b []byte) int {
	if len(b) < 3 {
		return 0
	}
	end := 2
	for end < len(b) && (b[end] < '@' || b[end] > '~') {
		end++
	}
	if b[1] != '[' || end == len(b) {
		if b[1] != '[' {
			v.odd = append(v.odd, strconv.Quote(string(b[:2])))
			return 2
		}
		return 0
	}
	n, err := strconv.Atoi(string(b[2:end]))
	if err != nil {
		n = 1
	}
	v.full = false
	switch b[end] {
	case 'm', 'h', 'l':
	case 'A':
		v.y = max(v.y-n, 0)
	case 'B':
		v.y = min(v.y+n, len(v.lines)-1)
	case 'C':
		v.x = min(v.x+n, v.width-1)
	case 'D':
		v.x = max(v.x-n, 0)
	case 'K':
		v.lines[v.y] = v.lines[v.y][:min(v.x, len(v.lines[v.y]))]
		v.goes[v.y] = false
	case 'J':
		v.lines[v.y] = v.lines[v.y][:min(v.x, len(v.lines[v.y]))]
		v.lines, v.goes = v.lines[:v.y+1], v.goes[:v.y+1]
		v.goes[v.y] = false
	default:
		v.odd = append(v.odd, strconv.Quote(string(b[:end+1])))
	}
	return end + 1
}

// text returns all lines.
func (v *vt) text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var b strings.Builder
	for _, line := range v.lines {
		b.WriteString(strings.TrimRight(strings.Join(line, ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// raw returns what was written, with the control sequences.
func (v *vt) raw() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all.String()
}

// longest is how long a test waits for what the terminal should show. A test that fails then prints
// what the terminal showed instead.
const longest = 2 * time.Minute

// until waits until what is shown is as wanted, and reports whether that has happened. It doesn't
// wait longer than until ended is closed, or than longest.
func (v *vt) until(wanted func(text string) bool, ended chan struct{}) bool {
	late := time.NewTimer(longest)
	defer late.Stop()
	for over := false; ; {
		v.mu.Lock()
		moved := v.moved
		v.mu.Unlock()
		if wanted(v.text()) {
			return true
		}
		if over {
			return false
		}
		select {
		case <-moved:
		case <-ended:
			over = true
		case <-late.C:
			over = true
		}
	}
}

// count returns how often a text is in another.
func count(all, text string) int { return strings.Count(all, text) }
