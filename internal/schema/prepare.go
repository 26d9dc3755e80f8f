package schema

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth is the number of levels to which objects and lists may nest. Validators and decoders recurse; at 10,000 levels
// jsonschema/v5 takes a quarter of a second.
const maxDepth = 128

// A rewriter reads a JSON text strictly and writes it in canonical form. Text that is no JSON stops it; what JSON allows
// and this package doesn't (a key twice, say) becomes a problem.
type rewriter struct {
	in          []byte
	keep        bool // only judge and compact: no defaults, numbers and nulls as they are
	keysAreData bool // keys may differ in case only, everywhere

	settle func(*property) // nil once all defaults are settled

	out      []byte
	path     []byte
	problems problems
}

// A broken text is where and how JSON ends, thrown by the rewriter's steps and caught in run.
type broken string

// run rewrites the whole text into r.out.
func (r *rewriter) run(n *node) (err error) {
	r.out = make([]byte, 0, len(r.in)+16)
	r.path = make([]byte, 0, 64)
	end, fault := r.value(r.space(0), n, 0)
	if fault == "" {
		if end = r.space(end); end < len(r.in) {
			fault = broken(fmt.Sprintf("something follows after byte %d, where the value is complete: %s", end, shorten(r.in[end:], 30)))
		}
	}
	if fault != "" {
		return &InvalidError{Problems: []Problem{{Message: "not valid JSON: " + string(fault)}}}
	}
	return r.problems.err()
}

func (r *rewriter) at(i int) byte {
	if i < len(r.in) {
		return r.in[i]
	}
	return 0
}

func (r *rewriter) space(i int) int {
	for i < len(r.in) && (r.in[i] == ' ' || r.in[i] == '\n' || r.in[i] == '\t' || r.in[i] == '\r') {
		i++
	}
	return i
}

// unexpected words what stands at i instead of what was wanted.
func (r *rewriter) unexpected(i int, wanted string) broken {
	if i >= len(r.in) {
		return broken(fmt.Sprintf("the text ends after %d bytes where %s should follow", len(r.in), wanted))
	}
	return broken(fmt.Sprintf("at byte %d there should be %s, but there is %s", i, wanted, shorten(r.in[i:], 20)))
}

func (r *rewriter) value(i int, n *node, depth int) (int, broken) {
	switch b := r.at(i); b {
	case '{', '[':
		if depth >= maxDepth {
			return 0, broken(fmt.Sprintf("it nests deeper than %d levels", maxDepth))
		}
		if b == '{' {
			return r.object(i+1, n, depth)
		}
		return r.array(i+1, n, depth)
	case '"':
		text, end, fault := r.text(i)
		if fault == "" {
			r.out = appendQuoted(r.out, text)
		}
		return end, fault
	case 't':
		return r.word(i, "true")
	case 'f':
		return r.word(i, "false")
	case 'n':
		mark := len(r.out)
		end, fault := r.word(i, "null")
		if !r.keep && !n.allowsNull() && n.nilText != "" {
			r.out = append(r.out[:mark], n.nilText...)
		}
		return end, fault
	}
	return r.number(i, n)
}

func (r *rewriter) word(i int, word string) (int, broken) {
	if !bytes.HasPrefix(r.in[i:], []byte(word)) {
		if bytes.HasPrefix([]byte(word), r.in[i:]) {
			return 0, broken(fmt.Sprintf("the text ends after %d bytes in the middle of %s", len(r.in), word))
		}
		return 0, r.unexpected(i, "a value")
	}
	r.out = append(r.out, word...)
	return i + len(word), ""
}

func (r *rewriter) array(i int, n *node, depth int) (int, broken) {
	var items *node
	if n != nil {
		items = n.items
	}
	r.out = append(r.out, '[')
	if i = r.space(i); r.at(i) == ']' {
		r.out = append(r.out, ']')
		return i + 1, ""
	}
	mark := len(r.path)
	for count := 0; ; count++ {
		r.path = append(strconv.AppendInt(append(r.path, '['), int64(count), 10), ']')
		end, fault := r.value(r.space(i), items, depth+1)
		if fault != "" {
			return 0, fault
		}
		r.path = r.path[:mark]
		i = r.space(end)
		switch r.at(i) {
		case ',':
		case ']':
			r.out = append(r.out, ']')
			return i + 1, ""
		default:
			return 0, r.unexpected(i, "a comma or the ] of a list")
		}
		r.out = append(r.out, ',')
		i++
	}
}

// object rewrites the members of an object one by one, and adds the defaults of those that are missing behind them.
func (r *rewriter) object(i int, n *node, depth int) (int, broken) {
	if n == nil {
		n = anything
	}
	keys := keyring{node: n, data: n.dataKeys || r.keysAreData}
	mark := len(r.path)
	r.out = append(r.out, '{')
	first := len(r.out)
	i = r.space(i)
	hint := 0
	for more := r.at(i) != '}'; more; hint++ {
		if i = r.space(i); r.at(i) != '"' {
			return 0, r.unexpected(i, "a key in quotes")
		}
		key, end, fault := r.text(i)
		if fault != "" {
			return 0, fault
		}
		if i = r.space(end); r.at(i) != ':' {
			return 0, r.unexpected(i, "a colon after the key "+quoteShort(string(key)))
		}
		i = r.space(i + 1)

		r.path = appendKey(r.path, key)
		p, problem := keys.add(key, hint)
		if problem != "" {
			r.problems.add(r.path[:mark], problem)
		}
		child := n.rest
		if p >= 0 {
			hint, child = p, n.properties[p].node
		}
		before := len(r.out)
		if before > first {
			r.out = append(r.out, ',')
		}
		r.out = append(appendQuoted(r.out, key), ':')
		start := i
		if end, fault = r.value(i, child, depth+1); fault != "" {
			return 0, fault
		}
		if p >= 0 && !r.keep && !n.properties[p].required && r.at(start) == 'n' && !child.allowsNull() {
			r.out = r.out[:before] // an optional key with null is a key left out
			keys.leave(p)
		}
		r.path = r.path[:mark]

		i = r.space(end)
		switch r.at(i) {
		case ',':
			i++
		case '}':
			more = false
		default:
			return 0, r.unexpected(i, "a comma or the } of an object")
		}
	}
	if !r.keep {
		r.fill(n, &keys, first)
	}
	r.out = append(r.out, '}')
	return i + 1, ""
}

// fill appends the defaults of absent properties.
func (r *rewriter) fill(n *node, keys *keyring, first int) {
	for i := range n.properties {
		p := &n.properties[i]
		if p.fallback == nil || keys.has(i) {
			continue
		}
		if r.settle != nil {
			if r.settle(p); p.fallback == nil {
				continue
			}
		}
		if len(r.out) > first {
			r.out = append(r.out, ',')
		}
		r.out = append(appendQuoted(r.out, p.name), ':')
		r.out = append(r.out, p.fallback...)
	}
}

// text reads a string and returns what it says. Escapes are resolved; half a surrogate pair becomes U+FFFD, as it does in
// encoding/json.
func (r *rewriter) text(i int) ([]byte, int, broken) {
	start := i + 1
	for i = start; i < len(r.in); i++ {
		switch b := r.in[i]; {
		case b == '"':
			if !utf8.Valid(r.in[start:i]) {
				return nil, 0, broken(fmt.Sprintf("the string at byte %d isn't valid UTF-8", start-1))
			}
			return r.in[start:i], i + 1, ""
		case b == '\\':
			return r.escaped(start, i)
		case b < ' ':
			return nil, 0, r.control(i)
		}
	}
	return nil, 0, broken(fmt.Sprintf("the text ends after %d bytes in the middle of a string", len(r.in)))
}

// escaped reads a string whose first escape stands at i.
func (r *rewriter) escaped(start, i int) ([]byte, int, broken) {
	said := append([]byte(nil), r.in[start:i]...)
	for i < len(r.in) {
		switch b := r.in[i]; {
		case b == '"':
			if !utf8.Valid(said) {
				return nil, 0, broken(fmt.Sprintf("the string at byte %d isn't valid UTF-8", start-1))
			}
			return said, i + 1, ""
		case b == '\\':
			c, size := unescape(r.in[i:])
			if size == 0 {
				if len(r.in)-i < 6 && !bytes.ContainsRune(r.in[i:], '"') {
					return nil, 0, broken(fmt.Sprintf("the text ends after %d bytes in the middle of a string", len(r.in)))
				}
				return nil, 0, broken(fmt.Sprintf("at byte %d there is an escape that JSON doesn't know: %s", i, shorten(r.in[i:], 6)))
			}
			said = utf8.AppendRune(said, c)
			i += size
		case b < ' ':
			return nil, 0, r.control(i)
		default:
			said = append(said, b)
			i++
		}
	}
	return nil, 0, broken(fmt.Sprintf("the text ends after %d bytes in the middle of a string", len(r.in)))
}

func (r *rewriter) control(i int) broken {
	if r.in[i] == '\n' {
		return broken(fmt.Sprintf(`at byte %d a string holds a line break; write it as \n`, i))
	}
	return broken(fmt.Sprintf(`at byte %d a string holds the control character %#02x; write it as \u%04x`, i, r.in[i], r.in[i]))
}

func (r *rewriter) number(i int, n *node) (int, broken) {
	num, ok := readNumber(r.in[i:])
	if !ok {
		if len(num.whole) > 1 && num.whole[0] == '0' {
			return 0, broken(fmt.Sprintf("the number at byte %d begins with a zero", i))
		}
		if i += num.length; i == len(r.in) && num.length > 0 {
			return 0, broken(fmt.Sprintf("the text ends after %d bytes in the middle of a number", len(r.in)))
		}
		return 0, r.unexpected(i, "a value")
	}
	text := r.in[i : i+num.length]
	if problem := num.tooLarge(); problem != "" {
		r.problems.add(r.path, problem)
		text = []byte("0")
	} else if n.wantsInteger() && !r.keep {
		r.out = num.appendInteger(r.out, text)
		return i + num.length, ""
	}
	r.out = append(r.out, text...)
	return i + num.length, ""
}
