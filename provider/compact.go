package provider

import "unicode/utf8"

// compact reports whether raw is certainly compact JSON, the form in which arguments are kept: valid, UTF-8, and without
// spaces between its tokens. It is several times as fast as encoding/json. For values nested deeper than mostNested it
// returns false, and encoding/json decides.
func compact(raw []byte) bool {
	c := compactScan{raw}
	return c.value(0, 0) == len(raw) && utf8.Valid(raw)
}

// mostNested is far below what makes a goroutine's stack large, and far above what models write.
const mostNested = 100

type compactScan struct{ in []byte }

// none is returned as the end if there is no valid value.
const none = -1

// at returns the byte at i, or 0 behind the end, which no token begins with.
func (c compactScan) at(i int) byte {
	if i < len(c.in) {
		return c.in[i]
	}
	return 0
}

// value returns where the value that begins at i ends.
func (c compactScan) value(i, depth int) int {
	switch b := c.at(i); b {
	case '"':
		return c.text(i + 1)
	case '{', '[':
		if depth == mostNested {
			return none
		}
		return c.members(i+1, depth+1, b == '{')
	case 't':
		return c.word(i, "true")
	case 'f':
		return c.word(i, "false")
	case 'n':
		return c.word(i, "null")
	}
	return c.number(i)
}

// members returns where an object or an array ends whose first member is at i.
func (c compactScan) members(i, depth int, keys bool) int {
	end := byte(']')
	if keys {
		end = '}'
	}
	if c.at(i) == end {
		return i + 1
	}
	for {
		if keys {
			if c.at(i) != '"' {
				return none
			}
			if i = c.text(i + 1); i < 0 || c.at(i) != ':' {
				return none
			}
			i++
		}
		if i = c.value(i, depth); i < 0 {
			return none
		}
		switch c.at(i) {
		case end:
			return i + 1
		case ',':
			i++
		default:
			return none
		}
	}
}

// text returns where a string ends whose first character is at i.
func (c compactScan) text(i int) int {
	for i < len(c.in) {
		switch b := c.in[i]; {
		case b == '"':
			return i + 1
		case b < ' ':
			return none
		case b != '\\':
			i++
			continue
		}
		switch c.at(i + 1) {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			for k := i + 2; k < i+6; k++ {
				if b := c.at(k); !(b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F') {
					return none
				}
			}
			i += 6
		default:
			return none
		}
	}
	return none
}

func (c compactScan) word(i int, word string) int {
	if len(c.in)-i < len(word) || string(c.in[i:i+len(word)]) != word {
		return none
	}
	return i + len(word)
}

// number returns where the number that begins at i ends.
func (c compactScan) number(i int) int {
	if c.at(i) == '-' {
		i++
	}
	if c.at(i) == '0' {
		i++
	} else if i = c.digits(i); i < 0 {
		return none
	}
	if c.at(i) == '.' {
		if i = c.digits(i + 1); i < 0 {
			return none
		}
	}
	if b := c.at(i); b == 'e' || b == 'E' {
		i++
		if b := c.at(i); b == '+' || b == '-' {
			i++
		}
		return c.digits(i)
	}
	return i
}

// digits returns where the digits that begin at i end. There is at least one.
func (c compactScan) digits(i int) int {
	start := i
	for b := c.at(i); b >= '0' && b <= '9'; b = c.at(i) {
		i++
	}
	if i == start {
		return none
	}
	return i
}
