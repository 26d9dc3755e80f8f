package erase

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// A Walk visits texts.
type Walk struct {
	// Text returns what takes the place of a text, or the text. It gets texts as they are read: the
	// strings and keys of JSON, also of JSON in a string; the content of text in base64, as that of
	// files; what an address escapes; and the numbers in the inputs and results of tools.
	Text func(text string) string
	// Name is called with the names, which stay as they are: those of sessions, runs, calls, tools,
	// owners, and keys. Nil: nobody is told.
	Name func(member, name string)
}

// names are the members whose strings are names or times, and not texts. A machine compares them,
// or they have a meaning elsewhere: other sessions and stores have them, too.
var names = set("run parent agent trace traceparent session parent_session owner from to ancestors trees tenant " +
	"id call call_id provider_id response_id key keys call_key idempotency_key name tool tools tool_names only " +
	"external_tools path replaces ended used hash hashes preview_hash fingerprint fingerprints " +
	"kind role type status stage " +
	"code class stop final limit limits model mode phase category strategy answered_by provider choice decision " +
	"node nodes after worker check checks asks done partly undone untouched plan expires at since times time")

// free are the members in which each string, key and number is a text, because their form is that
// of a tool or of the host.
var free = set("input value data output note schema external state")

// texts are the members in which each string is a text, also a name.
var texts = set("raw invalid media source context outside")

// labels are the members that are a [provider.LabelSet].
var labels = set("labels own_labels")

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// Record returns the data of a record or an inbox item with its texts replaced; the same data if
// there is nothing to replace. What isn't JSON is a text.
func (w *Walk) Record(kind string, data []byte) []byte {
	if kind == "snapshot" { // its state is a session's, any other is a tool's
		return w.json(data, place{fixed: "state"})
	}
	return w.json(data, place{})
}

// Free returns JSON without names with its texts replaced. What isn't JSON is a text.
func (w *Walk) Free(data []byte) []byte { return w.json(data, place{free: true}) }

// String returns a text with what it contains replaced.
func (w *Walk) String(s string) string { return w.text(s, 0) }

func (w *Walk) json(data []byte, at place) []byte {
	if len(data) == 0 {
		return data
	}
	if !json.Valid(data) {
		return []byte(w.text(string(data), at.depth))
	}
	p := parser{w: w, raw: data}
	out, _ := p.value(at)
	return out
}

// A place is where in the JSON a value is.
type place struct {
	member  string // the name of the member whose value it is, or whose list has it
	free    bool   // everything is a text
	texts   bool   // each string is
	fixed   string // a member of the object that isn't free, although it is elsewhere
	figures bool   // it is in numbers of tokens or in hashes, which have the names "input" and "output", too
	sealed  bool   // it is in the data of a provider
	file    bool   // it is a text file, or its data
	depth   int    // how many texts it is in
}

// in returns the place of a member's value.
func (at place) in(member string) place {
	switch {
	case at.free:
	case at.sealed:
		return place{member: member, sealed: true, free: inputs[member], depth: at.depth}
	case at.figures, at.member == "usage", at.member == "run" && member == "tools":
		return place{member: member, figures: true, depth: at.depth}
	}
	return place{member: member, free: at.free || free[member] && member != at.fixed, texts: at.texts || texts[member],
		file: at.file && member == "data", depth: at.depth}
}

// A parser reads valid JSON once, from its start to its end.
type parser struct {
	w   *Walk
	raw []byte
	at  int

	drop    bool // all data of providers
	dropped bool // some was
}

// value returns the value that follows, with its texts replaced, and whether one was.
func (p *parser) value(at place) ([]byte, bool) {
	p.space()
	from := p.at
	switch c := p.raw[p.at]; {
	case c == '{' && at.member == "opaque" && !at.free:
		return p.opaque(at)
	case c == '{':
		return p.object(at)
	case c == '[' && at.member == "parts" && !at.free:
		return p.parts(at)
	case c == '[':
		return p.list(at)
	case c == '"':
		lit := p.literal()
		s := unquote(lit)
		if t := p.w.member(s, at); t != s {
			return quote(t), true
		}
		return lit, false
	}
	for p.at < len(p.raw) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(p.raw[p.at])) {
		p.at++
	}
	lit := p.raw[from:p.at]
	if at.free && lit[0] != 't' && lit[0] != 'f' && lit[0] != 'n' {
		if t := p.w.Text(string(lit)); t != string(lit) {
			return quote(t), true
		}
	}
	return lit, false
}

func (p *parser) space() {
	for p.at < len(p.raw) && bytes.IndexByte([]byte(" \t\r\n"), p.raw[p.at]) >= 0 {
		p.at++
	}
}

// literal returns the string that follows, with its quotes.
func (p *parser) literal() []byte {
	from := p.at
	for p.at++; p.raw[p.at] != '"'; p.at++ {
		if p.raw[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	return p.raw[from:p.at]
}

// list returns a list, which keeps its bytes if nothing in it is replaced.
func (p *parser) list(at place) (_ []byte, changed bool) {
	from := p.at
	out := []byte{'['}
	p.at++
	for p.space(); p.raw[p.at] != ']'; p.space() {
		if p.raw[p.at] == ',' {
			p.at++
			out = append(out, ',')
		}
		v, c := p.value(at)
		out, changed = append(out, v...), changed || c
	}
	p.at++
	if !changed {
		return p.raw[from:p.at], false
	}
	return append(out, ']'), true
}

// A member is one of an object.
type member struct {
	key            string
	lit, value     []byte
	changed, moved bool
}

// reference is an object in the input of a plan's node that names another node: see package plan.
var reference = regexp.MustCompile(`^\{\s*"\$from"\s*:\s*("(?:[^"\\]|\\.)*")\s*\}`)

// object returns an object, as list does.
func (p *parser) object(at place) (_ []byte, changed bool) {
	from := p.at
	if node := reference.FindSubmatch(p.raw[p.at:]); at.free && node != nil {
		p.at += len(node[0])
		p.w.name("$from", unquote(node[1]))
		return p.raw[from:p.at], false
	}
	var all []member
	keys := make(map[string]bool)
	p.at++
	for p.space(); p.raw[p.at] != '}'; p.space() {
		if p.raw[p.at] == ',' {
			p.at++
			p.space()
		}
		m := member{lit: p.literal()}
		m.key = unquote(m.lit)
		p.space()
		p.at++ // the colon
		if at.free {
			if t := p.w.Text(m.key); t != m.key {
				for n := 2; keys[t]; n++ {
					t = p.w.Text(m.key) + " " + strconv.Itoa(n)
				}
				m.lit, m.moved = quote(t), true
				keys[t] = true
			}
			keys[m.key] = true
		}
		m.value, m.changed = p.value(at.in(m.key))
		at.file = at.file || at.member == "media" && m.key == "type" && bytes.HasPrefix(m.value, []byte(`"text/`))
		changed = changed || m.changed || m.moved
		all = append(all, m)
	}
	p.at++
	if !changed {
		return p.raw[from:p.at], false
	}
	out := []byte{'{'}
	for _, m := range p.unsigned(all, at) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.lit...), ':'), m.value...)
	}
	return append(out, '}'), true
}

func (w *Walk) name(member, name string) {
	if w.Name != nil {
		w.Name(member, name)
	}
}

// member returns the string of a member with its texts replaced.
func (w *Walk) member(s string, at place) string {
	switch {
	case at.file:
		return w.file(s, at.depth)
	case at.free || at.texts:
	case at.sealed:
		if sealed[at.member] || encoded(s) {
			return s
		}
	case labels[at.member]:
		return w.labels(s)
	case names[at.member]:
		w.name(at.member, s)
		return s
	}
	return w.text(s, at.depth)
}

// labels returns a set of labels with their values replaced.
func (w *Walk) labels(s string) string {
	was := provider.LabelSet(s).Map()
	if now := w.Labels(was, nil); !maps.Equal(was, now) {
		return string(provider.LabelsOf(now))
	}
	return s
}

// Labels returns labels with their values replaced, except those that are names: named says, by
// their keys, of what.
func (w *Walk) Labels(labels, named map[string]string) map[string]string {
	labels = maps.Clone(labels)
	for key, value := range labels {
		if what := named[key]; what != "" {
			w.name(what, value)
			continue
		}
		w.name("labels", key)
		labels[key] = w.text(value, 0)
	}
	return labels
}

// maxDepth is how many texts in texts are read.
const maxDepth = 4

// text returns a text with what it contains replaced.
func (w *Walk) text(s string, depth int) string {
	if depth < maxDepth && len(s) >= 2 {
		if c := strings.TrimLeft(s, " \t\r\n"); c != "" && (c[0] == '{' || c[0] == '[') && json.Valid([]byte(s)) {
			return string(w.json([]byte(s), place{free: true, depth: depth + 1}))
		}
		if d, is := fromBase64(s); is && (utf8.ValidString(d) || len(s) >= leastBinary) {
			text, encode := charset(d, false)
			if t := w.text(text, depth+1); t != text {
				return base64.StdEncoding.EncodeToString([]byte(encode(t)))
			}
			if !utf8.ValidString(d) { // an image, or a signature
				return s
			}
		}
	}
	return w.escaped(w.Text(w.unquoted(s, depth)))
}

func unquote(lit []byte) (s string) {
	_ = json.Unmarshal(lit, &s) // it is valid
	return s
}

// quote returns a string as facts have it: see machine.Marshal.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can be encoded
	return provider.EscapeSeparators(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
