package process

import (
	"bytes"
	"unicode/utf8"
)

// An ending says how a piece of text that a cleaner hands on ended.
type ending uint8

const (
	lineEnd   ending = iota // a line feed, or the end of the output
	unended                 // the line goes on: it is longer than a piece
	overwrote               // the line was begun anew: what a terminal would no longer show
)

// A cleaner makes readable lines of what a program writes to a terminal or a pipe. It drops escape sequences (ECMA-48: CSI,
// OSC and other control strings) and control characters, puts U+FFFD for bytes that aren't UTF-8, and of a line that is
// written again after a carriage return keeps the last version. How the bytes are split among writes makes no difference.
type cleaner struct {
	piece int // a line is handed on in pieces of about so many bytes
	emit  func(text []byte, end ending)

	line    []byte
	part    [utf8.UTFMax]byte // the start of a character whose rest hasn't come
	parts   int
	state   escape
	inside  int  // bytes of the control string so far
	param   byte // of the control sequence: its only parameter if that is one digit, 0 if there is none, else 0xff
	again   bool // after a carriage return: what comes is written over the line
	started bool // the current line has been handed on in part
}

// An escape is where in an escape sequence a cleaner is.
type escape uint8

const (
	ground        escape = iota
	escaped              // after ESC
	between              // after ESC and intermediate bytes
	inSequence           // in a control sequence
	inString             // in a control string
	stringEscaped        // in a control string, after ESC
)

// longestString is after how many bytes a control string that hasn't ended is taken for a mistake: the rest is shown.
const longestString = 4 << 10

const esc = 0x1b

// plain are the bytes that are kept as they are.
var plain = func() (t [256]bool) {
	for b := byte(' '); b < 0x7f; b++ {
		t[b] = true
	}
	t['\t'] = true
	return t
}()

// write takes the next bytes.
func (c *cleaner) write(p []byte) {
	for len(p) > 0 {
		if c.state == ground && c.parts == 0 && plain[p[0]] {
			n := c.run(p)
			c.put(p[:n])
			p = p[n:]
			continue
		}
		if c.parts > 0 || p[0] >= utf8.RuneSelf {
			p = p[c.wide(p):]
			continue
		}
		c.narrow(p[0])
		p = p[1:]
	}
}

// run returns how many plain bytes p starts with, as far as the piece has room.
func (c *cleaner) run(p []byte) int {
	p = p[:min(len(p), max(c.piece-len(c.line), 1))]
	for i, b := range p {
		if !plain[b] {
			return i
		}
	}
	return len(p)
}

// wide takes one character that isn't ASCII, or a part of it, and returns how many bytes of p that were.
func (c *cleaner) wide(p []byte) int {
	had := c.parts
	n := copy(c.part[had:], p)
	whole := c.part[:had+n]
	if !utf8.FullRune(whole) {
		c.parts = len(whole)
		return n
	}
	r, size := utf8.DecodeRune(whole)
	c.parts = 0
	c.rune(r, whole[:size])
	if size >= had {
		return size - had
	}
	// The bytes that were waiting aren't UTF-8: the first of them is dealt with, the others are looked at again.
	rest := append([]byte(nil), whole[size:had]...)
	c.write(rest)
	return 0
}

// rune takes one character of two bytes or more, or a byte that isn't UTF-8.
func (c *cleaner) rune(r rune, as []byte) {
	switch {
	case c.state == inString || c.state == stringEscaped:
		if r == 0x9c { // the 8-bit form of the end of a string
			c.state = ground
			return
		}
		c.state = inString
		c.swallow(len(as))
		return
	case c.state != ground: // a sequence has ASCII only
		c.state = ground
	}
	switch {
	case r == utf8.RuneError && len(as) == 1:
		c.put([]byte("\uFFFD"))
	case r == 0x9b:
		c.begin(inSequence)
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		c.begin(inString)
	case r >= 0x80 && r < 0xa0: // other control characters of 8 bits
	default:
		c.put(as)
	}
}

// narrow takes one byte of ASCII.
func (c *cleaner) narrow(b byte) {
	switch c.state {
	case ground:
		c.ground(b)
	case escaped:
		switch {
		case b == '[':
			c.begin(inSequence)
		case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
			c.begin(inString)
		case b >= 0x20 && b < 0x30:
			c.state = between
		default:
			c.leave(b, b >= 0x30)
		}
	case between:
		if b < 0x20 || b >= 0x30 {
			c.leave(b, b >= 0x30)
		}
	case inSequence:
		c.sequence(b)
	case inString:
		switch {
		case b == esc:
			c.state = stringEscaped
		case b == 0x07:
			c.state = ground
		case b == '\n': // no control string has one; the program that began it was cut short
			c.leave(b, false)
		default:
			c.swallow(1)
		}
	case stringEscaped:
		c.state = ground
		if b != '\\' { // it was the start of another sequence
			c.state = escaped
			c.narrow(b)
		}
	}
}

// begin enters a control sequence or string.
func (c *cleaner) begin(s escape) { c.state, c.inside, c.param = s, 0, 0 }

// leave ends a sequence at b, which belongs to it or else means what it means.
func (c *cleaner) leave(b byte, belongs bool) {
	c.state = ground
	if !belongs {
		c.narrow(b)
	}
}

// swallow counts bytes of a control string.
func (c *cleaner) swallow(n int) {
	if c.inside += n; c.inside > longestString {
		c.state = ground
	}
}

// sequence takes a byte of a control sequence.
func (c *cleaner) sequence(b byte) {
	switch {
	case b >= 0x20 && b < 0x40:
		if c.inside == 0 && b >= '0' && b <= '9' {
			c.param = b
		} else {
			c.param = 0xff
		}
		if c.inside++; c.inside > longestString {
			c.state = ground
		}
	case b >= 0x40 && b < 0x7f:
		c.state = ground
		if b == 'G' && (c.param == 0 || c.param == '1') || b == 'K' && c.param == '2' {
			c.again = true // to the first column, or the line is erased: what progress bars do instead of a carriage return
		}
	default:
		c.leave(b, false)
	}
}

// ground takes a control character, or one that isn't plain.
func (c *cleaner) ground(b byte) {
	switch {
	case plain[b]:
		c.put([]byte{b})
	case b == '\n' || b == '\v' || b == '\f':
		c.hand(lineEnd)
	case b == '\r':
		c.again = true
	case b == '\b':
		if !c.again && len(c.line) > 0 {
			_, n := utf8.DecodeLastRune(c.line)
			c.line = c.line[:len(c.line)-n]
		}
	case b == esc:
		c.state = escaped
	}
}

// put adds text to the line.
func (c *cleaner) put(p []byte) {
	if c.again {
		if len(c.line) > 0 {
			c.hand(overwrote)
		}
		c.again = false
	}
	c.line = append(c.line, p...)
	if len(c.line) >= c.piece {
		c.hand(unended)
	}
}

// hand hands on what there is of the line.
func (c *cleaner) hand(end ending) {
	c.emit(c.line, end)
	c.line, c.again = c.line[:0], false
	c.started = end == unended || end == overwrote && c.started
}

// flush ends the output: what is left is the last line.
func (c *cleaner) flush() {
	if c.parts > 0 {
		n := c.parts
		c.parts = 0
		if c.state == ground {
			c.put(bytes.Repeat([]byte("\uFFFD"), n))
		}
	}
	c.state = ground
	if len(c.line) > 0 || c.started {
		c.hand(lineEnd)
	}
}
