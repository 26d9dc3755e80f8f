package process

import (
	"bytes"
	"unicode/utf8"
)

// An ending is how a piece of text from a cleaner ended.
type ending uint8

const (
	lineEnd   ending = iota // a line feed, or the end of the output
	unended                 // the line continues: it is longer than a piece
	overwrote               // the line is overwritten: a terminal would no longer show this text
)

// A cleaner turns the output of a program for a terminal or a pipe into readable lines. It removes
// escape sequences (ECMA-48: CSI, OSC and other control strings) and control characters, replaces
// bytes that aren't UTF-8 by U+FFFD, and keeps only the last version of a line that is overwritten
// after a carriage return. The result doesn't depend on how the bytes are split among writes.
type cleaner struct {
	piece int // the approximate size of the pieces of a long line, in bytes
	emit  func(text []byte, end ending)

	line    []byte
	part    [utf8.UTFMax]byte // the first bytes of an incomplete character
	parts   int
	state   escape
	inside  int  // bytes of the control string so far
	param   byte // parameter of the control sequence: a single digit, 0 if there is none, else 0xff
	again   bool // after a carriage return: the next text overwrites the line
	started bool // a part of the current line has been emitted
}

// An escape is the state of a cleaner within an escape sequence.
type escape uint8

const (
	ground        escape = iota
	escaped              // after ESC
	between              // after ESC and intermediate bytes
	inSequence           // in a control sequence
	inString             // in a control string
	stringEscaped        // in a control string, after ESC
)

// longestString is the longest control string, in bytes. A longer one is treated as a mistake, and
// the rest is shown.
const longestString = 4 << 10

const esc = 0x1b

// plain are the bytes that are kept unchanged.
var plain = func() (t [256]bool) {
	for b := byte(' '); b < 0x7f; b++ {
		t[b] = true
	}
	t['\t'] = true
	return t
}()

// write processes the next bytes.
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

// run returns the number of plain bytes at the start of p that fit in the piece.
func (c *cleaner) run(p []byte) int {
	p = p[:min(len(p), max(c.piece-len(c.line), 1))]
	for i, b := range p {
		if !plain[b] {
			return i
		}
	}
	return len(p)
}

// wide processes one non-ASCII character, or a part of it, and returns the number of bytes of p
// that it used.
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
	// The pending bytes aren't UTF-8: replace the first of them, and process the others again.
	rest := append([]byte(nil), whole[size:had]...)
	c.write(rest)
	return 0
}

// rune processes one character of two bytes or more, or a byte that isn't UTF-8.
func (c *cleaner) rune(r rune, as []byte) {
	switch {
	case c.state == inString || c.state == stringEscaped:
		if r == 0x9c { // the 8-bit string terminator
			c.state = ground
			return
		}
		c.state = inString
		c.swallow(len(as))
		return
	case c.state != ground: // sequences contain only ASCII
		c.state = ground
	}
	switch {
	case r == utf8.RuneError && len(as) == 1:
		c.put([]byte("\uFFFD"))
	case r == 0x9b:
		c.begin(inSequence)
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		c.begin(inString)
	case r >= 0x80 && r < 0xa0: // other 8-bit control characters
	default:
		c.put(as)
	}
}

// narrow processes one ASCII byte.
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
		case b == '\n': // control strings contain no line feed; this one was cut off
			c.leave(b, false)
		default:
			c.swallow(1)
		}
	case stringEscaped:
		c.state = ground
		if b != '\\' { // the start of another sequence
			c.state = escaped
			c.narrow(b)
		}
	}
}

// begin starts a control sequence or string.
func (c *cleaner) begin(s escape) { c.state, c.inside, c.param = s, 0, 0 }

// leave ends a sequence at b. If b doesn't belong to the sequence, it is processed again.
func (c *cleaner) leave(b byte, belongs bool) {
	c.state = ground
	if !belongs {
		c.narrow(b)
	}
}

// swallow counts the bytes of a control string.
func (c *cleaner) swallow(n int) {
	if c.inside += n; c.inside > longestString {
		c.state = ground
	}
}

// sequence processes a byte of a control sequence.
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
			// a move to the first column or an erased line, which progress bars use instead of a
			// carriage return
			c.again = true
		}
	default:
		c.leave(b, false)
	}
}

// ground processes a control character or another byte that isn't plain.
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

// put appends text to the line.
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

// hand emits the current text of the line.
func (c *cleaner) hand(end ending) {
	c.emit(c.line, end)
	c.line, c.again = c.line[:0], false
	c.started = end == unended || end == overwrote && c.started
}

// flush ends the output: the remaining text is the last line.
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
