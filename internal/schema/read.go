package schema

import (
	"bytes"
	"fmt"
	"strings"
)

// maxDepth is the number of levels to which objects and lists may nest. Validators and decoders
// recurse; at 10,000 levels jsonschema/v5 takes a quarter of a second.
const maxDepth = 128

// A reader reads a JSON text strictly, converts it to canonical form, and determines whether it is
// certainly valid. It stops at text that isn't JSON. Text that is JSON but not allowed here, such
// as a duplicate key, becomes a problem.
//
// It allocates nothing for canonical text, unless objects have undeclared keys. For other text,
// valid has no meaning: read the output again.
type reader struct {
	in          []byte
	keep        bool            // numbers and nulls stay unchanged, and no defaults are filled in
	keysAreData bool            // keys may differ only in case, everywhere
	settle      func(*property) // called before a default is filled in; may be nil

	pos      int
	fault    string // why the text isn't JSON; the rest isn't read then
	problems InvalidError
	valid    bool // nothing was read so far that may be invalid

	same int    // the length of the output while it is the beginning of the input
	out  []byte // the output once it isn't
}

// A location is the position of the reader in the text.
type location struct {
	outer *location // nil for the value as a whole
	key   []byte    // nil in a list
	index int
	depth int
}

func (p *location) path() []byte {
	switch {
	case p.outer == nil:
		return nil
	case p.key == nil:
		return fmt.Appendf(p.outer.path(), "[%d]", p.index)
	}
	return appendKey(p.outer.path(), p.key)
}

// run reads the whole text.
func (r *reader) run(n *node) error {
	r.valid = true
	r.space()
	r.value(n, &location{})
	r.space()
	if r.pos < len(r.in) {
		r.fail("the value ends after byte %d, but more follows: %s", r.pos, shorten(r.in[r.pos:], 30))
	}
	if r.fault != "" {
		return &InvalidError{Problems: []Problem{{Message: "not valid JSON: " + r.fault}}}
	}
	if len(r.problems.Problems) > 0 {
		return new(r.problems)
	}
	return nil
}

// output returns the canonical text. It shares the input's memory if that was canonical.
func (r *reader) output() []byte {
	if r.out == nil {
		return r.in[:r.same:r.same]
	}
	return r.out
}

func (r *reader) isCanonical() bool { return r.out == nil && r.same == len(r.in) }

// length returns the length of the output so far.
func (r *reader) length() int { return max(r.same, len(r.out)) }

func (r *reader) write(text []byte) {
	if r.out == nil && bytes.HasPrefix(r.in[r.same:], text) {
		r.same += len(text)
		return
	}
	r.diverge()
	r.out = append(r.out, text...)
}

// diverge starts an output that differs from the input.
func (r *reader) diverge() {
	if r.out == nil {
		r.out = append(make([]byte, 0, len(r.in)+16), r.in[:r.same]...)
		r.same = 0
	}
}

func (r *reader) cut(length int) {
	r.diverge()
	r.out = r.out[:length]
}

func (r *reader) peek() byte {
	if r.pos < len(r.in) {
		return r.in[r.pos]
	}
	return 0 // no JSON token begins with it
}

func (r *reader) space() {
	for r.pos < len(r.in) && strings.IndexByte(" \n\t\r", r.in[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *reader) accept(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

// fail stores the first fault and moves to the end of the text.
func (r *reader) fail(format string, args ...any) {
	if r.fault == "" {
		r.fault = fmt.Sprintf(format, args...)
	}
	r.pos = len(r.in)
}

// unexpected fails because of unexpected text at the current position.
func (r *reader) unexpected(wanted string) {
	if r.pos >= len(r.in) {
		r.fail("the text ends after %d bytes where %s should follow", len(r.in), wanted)
		return
	}
	r.fail("at byte %d, expected %s, got %s", r.pos, wanted, shorten(r.in[r.pos:], 20))
}

func (r *reader) value(n *node, at *location) {
	if n == nil {
		n = anything
	}
	if c := r.peek(); (c == '{' || c == '[') && at.depth >= maxDepth {
		r.fail("it nests deeper than %d levels", maxDepth)
		return
	}
	var kind kinds
	switch r.peek() {
	case '{':
		kind = kindObject
		r.object(n, at)
	case '[':
		kind = kindArray
		r.array(n, at)
	case '"':
		kind = kindString
		r.text(n)
	case 't':
		kind = kindBool
		r.write(r.word("true"))
	case 'f':
		kind = kindBool
		r.write(r.word("false"))
	case 'n':
		kind = kindNull
		if word := r.word("null"); n.nilText != "" && !r.keep && !n.allowsNull() {
			r.write([]byte(n.nilText))
		} else {
			r.write(word)
		}
	default:
		kind = r.number(n, at)
	}
	if n.opaque || n.kinds != 0 && n.kinds&kind == 0 || n.enum != nil && kind != kindString {
		r.valid = false
	}
}

func (r *reader) word(word string) []byte {
	rest := r.in[r.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte(word)):
		r.pos += len(word)
		return rest[:len(word)]
	case strings.HasPrefix(word, string(rest)):
		r.fail("the text ends after %d bytes in the middle of %s", len(r.in), word)
	default:
		r.unexpected("a value")
	}
	return nil
}

func (r *reader) array(n *node, outer *location) {
	at := location{outer: outer, depth: outer.depth + 1}
	r.pos++
	r.write([]byte("["))
	r.space()
	for more := !r.accept(']'); more; at.index++ {
		if at.index > 0 {
			r.write([]byte(","))
		}
		r.space()
		r.value(n.items, &at)
		more = r.next(']', "a comma or the ] of a list")
	}
	r.write([]byte("]"))
	if at.index < n.minItems || n.maxItems >= 0 && at.index > n.maxItems {
		r.valid = false
	}
}

// next reads the comma before another item, or the end of a list or an object.
func (r *reader) next(end byte, wanted string) (more bool) {
	r.space()
	if r.accept(',') {
		return true
	}
	if !r.accept(end) {
		r.unexpected(wanted)
	}
	return false
}

// The states of a declared property of one object.
const (
	absent = iota
	present
	leftOut // it was there, and was left out of the output
)

func (r *reader) object(n *node, outer *location) {
	var few [32]uint8
	state := few[:] // of each declared property
	if len(n.properties) > len(few) {
		state = make([]uint8, len(n.properties))
	}
	var others map[string]string // the undeclared keys; folded, unless they are data
	at := location{outer: outer, depth: outer.depth + 1}
	r.pos++
	r.write([]byte("{"))
	first := r.length()
	r.space()
	more := !r.accept('}')
	for hint := 0; more; hint++ {
		r.space()
		token, key := r.key()
		r.space()
		if r.fault == "" && !r.accept(':') {
			r.unexpected("a colon after the key " + quoteShort(string(key)))
		}
		if r.fault != "" {
			return
		}
		r.space()

		at.key = key
		child, mayDrop := n.rest, false
		p := n.find(key, hint)
		if p >= 0 {
			if state[p] != absent {
				r.problem(outer, "the key "+quoteShort(string(key))+" occurs twice")
			}
			hint, state[p], child = p, present, n.properties[p].node
			mayDrop = r.peek() == 'n' && !r.keep && !n.properties[p].required && !child.allowsNull()
		} else {
			r.valid = r.valid && !n.closed
			if others == nil {
				others = map[string]string{}
			}
			r.undeclared(n, key, others, outer)
		}
		before := r.length()
		if before > first {
			r.write([]byte(","))
		}
		r.write(token)
		r.write([]byte(":"))
		r.value(child, &at)
		if mayDrop { // a null for an optional key means that the key is absent
			r.cut(before)
			state[p] = leftOut
		}
		more = r.next('}', "a comma or the } of an object")
	}
	if !r.keep {
		r.fill(n, state, first)
	}
	r.write([]byte("}"))
	for i := range n.properties {
		if n.properties[i].required && state[i] != present {
			r.valid = false
		}
	}
}

// key reads a key. It returns the token in canonical form and its text.
func (r *reader) key() (token, key []byte) {
	if r.peek() != '"' {
		r.unexpected("a key in quotes")
		return nil, nil
	}
	token, plain := r.quoted()
	if r.fault != "" {
		return nil, nil
	}
	if plain {
		return token, token[1 : len(token)-1]
	}
	return token, []byte(textOf(token))
}

// undeclared compares an undeclared key with the declared ones and the others. Decoders treat a key
// that differs from a field's name only in case as that field, and use the last of several;
// validators do neither.
func (r *reader) undeclared(n *node, key []byte, others map[string]string, object *location) {
	if n.resembles(key) {
		r.problem(object, unknownKey(string(key), n.names()))
		return
	}
	name := string(key)
	if !n.dataKeys && !r.keysAreData {
		name = fold(name)
	}
	other, seen := others[name]
	others[name] = string(key)
	switch {
	case !seen:
	case other == string(key):
		r.problem(object, "the key "+quoteShort(other)+" occurs twice")
	default:
		r.problem(object, "the keys "+quoteShort(other)+" and "+quoteShort(string(key))+" differ only in case")
	}
}

// fill adds the defaults of absent properties.
func (r *reader) fill(n *node, state []uint8, first int) {
	for i := range n.properties {
		p := &n.properties[i]
		if p.fallback != nil && state[i] != present && r.settle != nil {
			r.settle(p)
		}
		if p.fallback == nil || state[i] == present {
			continue
		}
		if r.length() > first {
			r.write([]byte(","))
		}
		r.write(appendQuoted(nil, p.name))
		r.write([]byte(":"))
		r.write(p.fallback)
		state[i] = present
	}
}

func (r *reader) problem(at *location, message string) { r.problems.add(at.path(), message) }
