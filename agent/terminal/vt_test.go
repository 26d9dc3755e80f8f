package terminal_test

import (
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A vt is what a terminal shows: it draws what is written to it, and keeps the lines that have
// scrolled away. It knows the sequences that golang.org/x/term and this package write, and reports
// others.
type vt struct {
	mu    sync.Mutex
	moved chan struct{} // closed at each change
	width int
	lines [][]rune
	x, y  int
	full  bool // the last column was written: the next character begins a line
	rest  []byte
	all   strings.Builder // as it was written
	odd   []string        // sequences that it doesn't know

	onWrite func() // called before each write is drawn
}

func newVT(width int) *vt {
	return &vt{width: width, lines: [][]rune{nil}, moved: make(chan struct{})}
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
	case b[0] < ' ':
		v.odd = append(v.odd, strconv.Quote(string(b[:1])))
		return 1
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if v.full {
		v.x, v.full = 0, false
		v.down()
	}
	line := v.lines[v.y]
	for len(line) <= v.x {
		line = append(line, ' ')
	}
	line[v.x] = r
	v.lines[v.y] = line
	if v.x++; v.x == v.width {
		v.x, v.full = v.width-1, true
	}
	return n
}

func (v *vt) down() {
	if v.y++; v.y == len(v.lines) {
		v.lines = append(v.lines, nil)
	}
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
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// raw returns what was written, with the control sequences.
func (v *vt) raw() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all.String()
}

// longest is how long a test waits for what is shown, so that one that waits in vain shows what it
// saw.
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
