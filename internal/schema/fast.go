package schema

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"
)

// A scan reads a JSON text once, without allocating, and answers two questions: is it in canonical form already, and is
// it certainly valid? A no to either means "don't know": the slower judges decide then. Everything it doesn't
// understand, a mere blank included, ends it with both answers no.
type scan struct {
	in        []byte
	canonical bool
	valid     bool
}

// stopped is the position after which there is nothing more to find out.
const stopped = -1

// openKeys is the number of undeclared keys of one object that a scan compares with each other.
const openKeys = 16

func (s *Schema) scan(in []byte) (canonical, valid bool) {
	c := scan{in: in, canonical: true, valid: true}
	if end := c.value(0, s.root, 0); end != len(in) {
		return false, false
	}
	return c.canonical, c.valid
}

// at returns the byte at i, or 0 behind the end, which no JSON token begins with.
func (c *scan) at(i int) byte {
	if i < len(c.in) {
		return c.in[i]
	}
	return 0
}

func (c *scan) value(i int, n *node, depth int) int {
	if n != nil && n.opaque {
		c.valid = false
	}
	var kind kinds
	var end int
	switch b := c.at(i); b {
	case '"':
		kind, end = kindString, c.text(i, n)
	case '{':
		kind = kindObject
		switch {
		case depth >= maxDepth:
			return stopped
		case n != nil && n.closed:
			end = c.closedObject(i, n, depth)
		default:
			end = c.openObject(i, n, depth)
		}
	case '[':
		if depth >= maxDepth {
			return stopped
		}
		kind, end = kindArray, c.array(i, n, depth)
	case 't':
		kind, end = kindBool, c.word(i, "true")
	case 'f':
		kind, end = kindBool, c.word(i, "false")
	case 'n':
		kind, end = kindNull, c.word(i, "null")
		if !n.allowsNull() {
			return stopped
		}
	default:
		kind, end = c.number(i, n)
	}
	if n != nil {
		if n.kinds != 0 && n.kinds&kind == 0 {
			c.valid = false
		}
		if n.enum != nil && kind != kindString {
			c.valid = false
		}
	}
	return end
}

func (c *scan) word(i int, word string) int {
	if len(c.in)-i < len(word) || string(c.in[i:i+len(word)]) != word {
		return stopped
	}
	return i + len(word)
}

// closedObject scans an object that may have declared keys only.
func (c *scan) closedObject(i int, n *node, depth int) int {
	if len(n.properties) > 64 {
		return stopped
	}
	var seen uint64
	i++
	if c.at(i) == '}' {
		return c.present(i+1, n, seen)
	}
	for next := 0; ; next++ {
		start := i + 1
		if i = c.key(i); i < 0 {
			return stopped
		}
		next = n.find(c.in[start:i-1], next)
		if next < 0 || seen&(1<<next) != 0 || c.at(i) != ':' {
			return stopped
		}
		seen |= 1 << next
		if i = c.value(i+1, n.properties[next].node, depth+1); i < 0 {
			return stopped
		}
		switch c.at(i) {
		case ',':
			i++
		case '}':
			return c.present(i+1, n, seen)
		default:
			return stopped
		}
	}
}

// present notes what is missing at the end of an object.
func (c *scan) present(end int, n *node, seen uint64) int {
	if n.required&^seen != 0 {
		c.valid = false
	}
	if n.defaults&^seen != 0 {
		c.canonical = false
	}
	return end
}

// openObject scans an object that may have other keys than the declared ones, or of which nothing is known.
func (c *scan) openObject(i int, n *node, depth int) int {
	var others [openKeys][2]int32
	count := 0
	var seen uint64
	if n == nil {
		n = anything
	}
	if len(n.properties) > 64 || len(c.in) > 1<<30 {
		return stopped
	}
	i++
	if c.at(i) == '}' {
		return c.present(i+1, n, seen)
	}
	for next := 0; ; next++ {
		start := i + 1
		if i = c.key(i); i < 0 || c.at(i) != ':' {
			return stopped
		}
		key, child := c.in[start:i-1], n.rest
		if p := n.find(key, next); p >= 0 {
			if seen&(1<<p) != 0 {
				return stopped
			}
			seen |= 1 << p
			next, child = p, n.properties[p].node
		} else {
			if count == openKeys || n.resembles(key) {
				return stopped
			}
			for _, o := range others[:count] {
				if n.same(c.in[o[0]:o[1]], key) {
					return stopped
				}
			}
			others[count] = [2]int32{int32(start), int32(i - 1)}
			count++
		}
		if i = c.value(i+1, child, depth+1); i < 0 {
			return stopped
		}
		switch c.at(i) {
		case ',':
			i++
		case '}':
			return c.present(i+1, n, seen)
		default:
			return stopped
		}
	}
}

var anything = blank()

// same says whether two undeclared keys of an object can't stand beside each other.
func (n *node) same(a, b []byte) bool {
	if n.dataKeys {
		return bytes.Equal(a, b)
	}
	return bytes.EqualFold(a, b)
}

func (c *scan) array(i int, n *node, depth int) int {
	var items *node
	if n != nil {
		items = n.items
	}
	i++
	count := 0
	if c.at(i) == ']' {
		i++
	} else {
		for more := true; more; count++ {
			if i = c.value(i, items, depth+1); i < 0 {
				return stopped
			}
			switch c.at(i) {
			case ',':
			case ']':
				more = false
			default:
				return stopped
			}
			i++
		}
	}
	if n != nil && (count < n.minItems || n.maxItems >= 0 && count > n.maxItems) {
		c.valid = false
	}
	return i
}

// key scans a key without escapes and returns the position behind its closing quote.
func (c *scan) key(i int) int {
	if c.at(i) != '"' {
		return stopped
	}
	end, plain := c.quoted(i)
	if !plain {
		return stopped
	}
	return end
}

// quoted scans a string in canonical form and says whether it is written without escapes.
func (c *scan) quoted(i int) (end int, plain bool) {
	plain, ascii := true, true
	start := i
	for i++; i < len(c.in); i++ {
		switch b := c.in[i]; {
		case b == '"':
			if !ascii && !utf8.Valid(c.in[start:i]) {
				return stopped, false
			}
			return i + 1, plain
		case b == '\\':
			plain = false
			i++
			switch c.at(i) {
			case '"', '\\', 'n', 'r', 't', 'b', 'f':
			case 'u':
				if !canonicalControl(c.in[i+1:]) {
					return stopped, false
				}
				i += 4
			default:
				return stopped, false
			}
		case b < ' ':
			return stopped, false
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	return stopped, false
}

func (c *scan) text(i int, n *node) int {
	end, plain := c.quoted(i)
	if end < 0 || n == nil {
		return end
	}
	if n.enum == nil && n.minLen < 0 && n.maxLen < 0 && !n.dateTime {
		return end
	}
	if !plain {
		c.valid = false
		return end
	}
	s := c.in[i+1 : end-1]
	if n.enum != nil && !contains(n.enum, s) {
		c.valid = false
	}
	if n.minLen >= 0 || n.maxLen >= 0 {
		length := utf8.RuneCount(s)
		if length < n.minLen || n.maxLen >= 0 && length > n.maxLen {
			c.valid = false
		}
	}
	if n.dateTime && !isTime(s) {
		c.valid = false
	}
	return end
}

func contains(words []string, s []byte) bool {
	for _, w := range words {
		if w == string(s) {
			return true
		}
	}
	return false
}

// isTime says whether time.Time decodes from s.
func isTime(s []byte) bool {
	var t time.Time
	return t.UnmarshalText(s) == nil
}

// number scans a number and says whether it is written as an integer.
func (c *scan) number(i int, n *node) (kinds, int) {
	start := i
	if c.at(i) == '-' {
		i++
	}
	if c.at(i) == '0' {
		i++
	} else if i = c.digits(i); i < 0 {
		return 0, stopped
	}
	whole := i
	if c.at(i) == '.' {
		if i = c.digits(i + 1); i < 0 {
			return 0, stopped
		}
	}
	if b := c.at(i); b == 'e' || b == 'E' {
		i++
		if b := c.at(i); b == '+' || b == '-' {
			i++
		}
		digits := i
		if i = c.digits(i); i < 0 || i-digits > 2 {
			return 0, stopped
		}
	}
	text := c.in[start:i]
	if len(text) > 40 {
		return 0, stopped
	}
	kind := kindInteger
	if i != whole {
		kind = kindFraction
	}
	if n != nil {
		if n.wantsInteger() && (kind != kindInteger || text[0] == '-' && text[1] == '0') {
			c.canonical, c.valid = false, false
		}
		if c.valid && (n.min != nil || n.max != nil) {
			c.valid = n.within(text, kind)
		}
	}
	return kind, i
}

func (c *scan) digits(i int) int {
	start := i
	for b := c.at(i); b >= '0' && b <= '9'; b = c.at(i) {
		i++
	}
	if i == start {
		return stopped
	}
	return i
}

// within says whether a number is certainly inside the bounds.
func (n *node) within(text []byte, kind kinds) bool {
	var value float64
	exact := kind == kindInteger && plainInteger(text)
	if exact {
		value = float64(small(text))
	} else {
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return false
		}
		value = f
	}
	return (n.min == nil || n.min.clears(value, exact, 1)) && (n.max == nil || n.max.clears(value, exact, -1))
}

// clears says whether value is certainly on the right side of the bound: above it for sign 1, below it for -1. Rounding
// to float64 keeps the order of two numbers unless it makes them equal, so that a strict difference is certain.
func (b *bound) clears(value float64, exact bool, sign float64) bool {
	distance := sign * (value - b.value)
	return distance > 0 || distance == 0 && exact && b.exact && !b.exclusive
}

// small reads an integer that plainInteger holds for.
func small(text []byte) int64 {
	negative := text[0] == '-'
	if negative {
		text = text[1:]
	}
	var v int64
	for _, c := range text {
		v = v*10 + int64(c-'0')
	}
	if negative {
		return -v
	}
	return v
}
