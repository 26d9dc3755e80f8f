package process

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"
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
// after a carriage return or the like. The result doesn't depend on how the bytes are split among
// writes.
type cleaner struct {
	piece int // the approximate size of the pieces of a long line, in bytes
	emit  func(text []byte, end ending)

	line    []byte // as it came
	again   bool   // after a carriage return: the next text overwrites the line
	started bool   // a part of the current line has been emitted
}

var (
	// sequences are escape sequences, also such that are cut off by the end of the line.
	sequences = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?` +
		`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
		`|\x1b[ -/]*[0-~]?`)
	// rewinds are a move to the first column and an erased line, which progress bars use instead of
	// a carriage return.
	rewinds = regexp.MustCompile(`\x1b\[(?:1?G|2K)`)
)

// write processes the next bytes.
func (c *cleaner) write(p []byte) {
	for len(p) > 0 {
		switch p[0] {
		case '\n', '\v', '\f':
			c.hand(len(c.line), lineEnd)
			p = p[1:]
			continue
		case '\r':
			c.again = true
			p = p[1:]
			continue
		}
		if c.again {
			c.hand(len(c.line), overwrote)
		}
		n := bytes.IndexAny(p, "\n\v\f\r")
		if n < 0 {
			n = len(p)
		}
		n = min(n, c.piece-len(c.line))
		from := max(len(c.line)-3, 0) // where a sequence may have begun
		c.line = append(c.line, p[:n]...)
		p = p[n:]
		for at := rewinds.FindIndex(c.line[from:]); at != nil; at = rewinds.FindIndex(c.line) {
			c.hand(from+at[0], overwrote)
			c.line = c.line[:copy(c.line, c.line[at[1]-at[0]:])]
			from = 0
		}
		if len(c.line) >= c.piece {
			n := whole(c.line)
			if i := bytes.LastIndexByte(c.line, 0x1b); i > 0 && n-i < 32 { // perhaps an incomplete sequence
				n = i
			}
			c.hand(n, unended)
		}
	}
}

// whole returns the length of text without a last character that isn't complete.
func whole(text []byte) int {
	for i := len(text) - 1; i > max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			return i
		}
	}
	return len(text)
}

// hand emits the first n bytes of the line.
func (c *cleaner) hand(n int, end ending) {
	if n > 0 || end != overwrote {
		c.emit(readable(c.line[:n]), end)
	}
	c.line = c.line[:copy(c.line, c.line[n:])]
	c.again = false
	c.started = end == unended || end == overwrote && c.started
}

// flush ends the output: the remaining text is the last line.
func (c *cleaner) flush() {
	if len(readable(c.line)) > 0 || c.started {
		c.hand(len(c.line), lineEnd)
	}
}

// readable returns what a person would see of a line.
func readable(line []byte) []byte {
	if !slices.ContainsFunc(line, func(b byte) bool { return b < ' ' && b != '\t' || b >= 0x7f }) {
		return line
	}
	out := make([]byte, 0, len(line))
	for rest := sequences.ReplaceAll(line, nil); len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		rest = rest[n:]
		switch {
		case r == '\b' && len(out) > 0:
			_, n := utf8.DecodeLastRune(out)
			out = out[:len(out)-n]
		case r == '\t' || !unicode.IsControl(r):
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
