package file

import "unicode/utf8"

// mostDepth is how deep JSON may be nested to be written as it is.
const mostDepth = 64

// isJSONLine reports whether data is one JSON value without line breaks, so that it may stand in a line as it is. For what is nested
// deeper than mostDepth it says no, which costs base64 and no more. It is encoding/json's Valid at a fraction of the time.
func isJSONLine(data []byte) bool {
	c := checker{b: data}
	if !c.value(0) {
		return false
	}
	c.space()
	return c.at == len(data) && !c.broken && (!c.wide || utf8.Valid(data))
}

type checker struct {
	b      []byte
	at     int
	wide   bool // there are bytes past ASCII
	broken bool // there is a line break between tokens
}

func (c *checker) value(depth int) bool {
	c.space()
	if c.at >= len(c.b) || depth > mostDepth {
		return false
	}
	switch c.b[c.at] {
	case '{':
		return c.list('}', true, depth+1)
	case '[':
		return c.list(']', false, depth+1)
	case '"':
		return c.str()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

// list reads an object or an array.
func (c *checker) list(end byte, keys bool, depth int) bool {
	c.at++
	c.space()
	if c.next(end) {
		return true
	}
	for {
		if keys {
			c.space()
			if c.at >= len(c.b) || c.b[c.at] != '"' || !c.str() {
				return false
			}
			c.space()
			if !c.next(':') {
				return false
			}
		}
		if !c.value(depth) {
			return false
		}
		c.space()
		if c.next(end) {
			return true
		}
		if !c.next(',') {
			return false
		}
	}
}

func (c *checker) next(want byte) bool {
	if c.at < len(c.b) && c.b[c.at] == want {
		c.at++
		return true
	}
	return false
}

func (c *checker) space() {
	for ; c.at < len(c.b); c.at++ {
		switch c.b[c.at] {
		case ' ', '\t':
		case '\n', '\r':
			c.broken = true
		default:
			return
		}
	}
}

func (c *checker) word(want string) bool {
	if len(c.b)-c.at < len(want) || string(c.b[c.at:c.at+len(want)]) != want {
		return false
	}
	c.at += len(want)
	return true
}

// ordinary are the bytes of a string that need no second look.
var ordinary = func() (t [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// str reads a string from its opening quote on.
func (c *checker) str() bool {
	b := c.b
	for i := c.at + 1; i < len(b); i++ {
		for i < len(b) && ordinary[b[i]] {
			i++
		}
		if i == len(b) {
			return false
		}
		switch ch := b[i]; {
		case ch == '"':
			c.at = i + 1
			return true
		case ch == '\\':
			i++
			if i >= len(b) {
				return false
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if len(b)-i < 5 || !hex4(b[i+1:i+5]) {
					return false
				}
				i += 4
			default:
				return false
			}
		case ch < ' ':
			return false
		case ch >= utf8.RuneSelf:
			c.wide = true
		}
	}
	return false
}

func hex4(b []byte) bool {
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

func (c *checker) number() bool {
	c.next('-')
	if !c.next('0') && !c.digits() {
		return false
	}
	if c.next('.') && !c.digits() {
		return false
	}
	if c.next('e') || c.next('E') {
		if !c.next('+') {
			c.next('-')
		}
		return c.digits()
	}
	return true
}

func (c *checker) digits() bool {
	start := c.at
	for c.at < len(c.b) && c.b[c.at] >= '0' && c.b[c.at] <= '9' {
		c.at++
	}
	return c.at > start
}
