package schema

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// kinds is a set of JSON types. Zero means that the schema doesn't restrict them.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBool
	kindInteger
	kindFraction // numbers that aren't written as integers
	kindString
	kindArray
	kindObject

	kindNumber = kindInteger | kindFraction
)

var kindNames = map[string]kinds{
	"null": kindNull, "boolean": kindBool, "integer": kindInteger, "number": kindNumber,
	"string": kindString, "array": kindArray, "object": kindObject,
}

// A node is what the scan and the rewriter know of one subschema. It may know less than the schema says, never
// anything else: whatever it doesn't understand makes it opaque. A nil *node knows nothing and restricts nothing.
type node struct {
	opaque bool // the schema says more than the node: nothing is certainly valid
	kinds  kinds

	properties []property     // at most 64 are scanned fast
	index      map[string]int // from 9 properties on
	closed     bool           // other keys aren't allowed
	rest       *node          // the schema of other keys
	dataKeys   bool           // keys are data, not names: they may differ only in case
	required   uint64         // bit i: properties[i] must be there
	defaults   uint64         // bit i: properties[i] has a default

	items              *node
	minItems, maxItems int // -1: none

	enum           []string // nil: any string
	minLen, maxLen int      // in characters; -1: none
	dateTime       bool

	min, max *bound

	nilText string // what null stands for where null isn't allowed; see nilForm
}

type property struct {
	name     string
	node     *node
	required bool
	fallback json.RawMessage // the default in canonical form, nil if there is none; see settler
	pointer  string          // where its schema stands in the document
}

// A bound is a minimum or maximum. exact says that value is the written number and not merely near it.
type bound struct {
	value     float64
	exact     bool
	exclusive bool
}

func (n *node) allowsNull() bool { return n == nil || n.kinds == 0 || n.kinds&kindNull != 0 }

func (n *node) wantsInteger() bool { return n != nil && n.kinds&kindNumber == kindInteger }

// find returns the index of a declared property, or -1. Keys mostly come in the order of the declaration, which hint
// makes use of.
func (n *node) find(key []byte, hint int) int {
	if hint < len(n.properties) && n.properties[hint].name == string(key) {
		return hint
	}
	if n.index != nil {
		if i, ok := n.index[string(key)]; ok {
			return i
		}
		return -1
	}
	for i := range n.properties {
		if n.properties[i].name == string(key) {
			return i
		}
	}
	return -1
}

func (n *node) names() []string {
	names := make([]string, len(n.properties))
	for i := range n.properties {
		names[i] = n.properties[i].name
	}
	return names
}

// nodes builds the graph of nodes of a document.
type nodes struct {
	document json.RawMessage
	inferred bool
	refs     map[string]*node // by JSON pointer
	all      []*node
	noRefs   bool
}

// aside are keywords that never decide about validity.
var aside = map[string]bool{
	"title": true, "description": true, "default": true, "examples": true, "$comment": true, "deprecated": true,
	"readOnly": true, "writeOnly": true, "$schema": true, "$defs": true, "definitions": true,
}

func blank() *node { return &node{minItems: -1, maxItems: -1, minLen: -1, maxLen: -1} }

// newNodes prepares for building the graph of a document. References are left unknown where an identifier below the root
// could make them relative to something else.
func newNodes(document json.RawMessage, inferred bool) *nodes {
	ids := strings.Count(string(document), `"$id"`)
	if ms, _ := members(document); get(ms, "$id") != nil {
		ids--
	}
	draft4 := strings.Contains(string(document), "draft-04") // its "id" is a common key elsewhere
	return &nodes{document: document, inferred: inferred, refs: map[string]*node{}, noRefs: ids > 0 || draft4}
}

func (b *nodes) build(raw json.RawMessage, pointer string) *node {
	n := blank()
	b.all = append(b.all, n)
	ms, ok := members(raw)
	if !ok {
		n.opaque = string(raw) != "true"
		return n
	}
	if alias := b.alias(ms, pointer); alias != nil {
		return alias
	}
	var required []string
	patterns := false
	for _, m := range ms {
		at := pointer + "/" + m.key
		switch m.key {
		case "type":
			b.types(n, m.value)
		case "properties":
			b.properties(n, m.value, at)
		case "required":
			n.opaque = json.Unmarshal(m.value, &required) != nil || n.opaque
		case "additionalProperties":
			n.dataKeys = string(m.value) != "false"
			n.closed = !n.dataKeys
			if n.dataKeys {
				n.rest = b.build(m.value, at)
			}
		case "patternProperties":
			patterns, n.opaque = true, true
		case "items":
			n.items = b.build(m.value, at)
			n.opaque = n.opaque || m.value[0] == '[' // draft 7's list of schemas
		case "minItems":
			n.count(&n.minItems, m.value)
		case "maxItems":
			n.count(&n.maxItems, m.value)
		case "minLength":
			n.count(&n.minLen, m.value)
		case "maxLength":
			n.count(&n.maxLen, m.value)
		case "minimum":
			n.bound(&n.min, m.value, false)
		case "exclusiveMinimum":
			n.bound(&n.min, m.value, true)
		case "maximum":
			n.bound(&n.max, m.value, false)
		case "exclusiveMaximum":
			n.bound(&n.max, m.value, true)
		case "enum":
			n.opaque = json.Unmarshal(m.value, &n.enum) != nil || strings.Contains(string(m.value), "null") || n.opaque
		case "format":
			var name string
			json.Unmarshal(m.value, &name)
			if name == "date-time" {
				n.dateTime = true
			} else if validator.Formats[name] != nil {
				n.opaque = true
			}
		case nilForm:
			if b.inferred {
				json.Unmarshal(m.value, &n.nilText)
			}
		case "$id":
			n.opaque = n.opaque || pointer != ""
		default:
			n.opaque = n.opaque || !aside[m.key] && !strings.HasPrefix(m.key, "x-")
		}
	}
	if patterns {
		n.closed, n.dataKeys = false, true
	}
	n.dataKeys = n.dataKeys && len(n.properties) == 0
	n.finish(required)
	return n
}

// finish sets what follows from the properties as a whole.
func (n *node) finish(required []string) {
	if len(n.properties) > 8 {
		n.index = make(map[string]int, len(n.properties))
		for i, p := range n.properties {
			n.index[p.name] = i
		}
	}
	if len(n.properties) > 64 {
		n.opaque = true
	}
	for _, name := range required {
		i := n.find([]byte(name), 0)
		if i < 0 {
			n.opaque = true
			continue
		}
		n.properties[i].required = true
		n.required |= 1 << uint(i%64)
	}
}

// alias resolves a schema that only refers to another one, or that only adds null to another one: the usual forms of
// shared and of nullable types.
func (b *nodes) alias(ms []member, pointer string) *node {
	var ref, union json.RawMessage
	unionKey := ""
	for _, m := range ms {
		switch {
		case m.key == "$ref":
			ref = m.value
		case m.key == "anyOf" || m.key == "oneOf":
			if union != nil {
				return nil
			}
			union, unionKey = m.value, m.key
		case !aside[m.key]:
			return nil
		}
	}
	switch {
	case ref != nil && union == nil:
		var target string
		json.Unmarshal(ref, &target)
		return b.resolve(target)
	case union != nil && ref == nil:
		var forms []json.RawMessage
		if json.Unmarshal(union, &forms) != nil || len(forms) != 2 {
			return nil
		}
		for i, form := range forms {
			if string(form) != `{"type":"null"}` {
				continue
			}
			other := b.build(forms[1-i], pointer+"/"+unionKey+"/"+strconv.Itoa(1-i))
			if other.kinds == 0 || other.kinds&kindNull != 0 {
				return nil // both forms may take null, which oneOf refuses
			}
			nullable := *other
			nullable.kinds |= kindNull
			if nullable.enum != nil {
				nullable.opaque = true
			}
			b.all = append(b.all, &nullable)
			return &nullable
		}
	}
	return nil
}

// resolve follows a reference within the document, and returns nil for any other.
func (b *nodes) resolve(ref string) *node {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || b.noRefs || pointer != "" && pointer[0] != '/' || strings.Contains(pointer, "%") {
		return nil
	}
	if n, ok := b.refs[pointer]; ok {
		return n // perhaps still being built, if the schema contains itself
	}
	at := b.document
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		ms, _ := members(at)
		if at = get(ms, token); at == nil {
			return nil
		}
	}
	n := blank()
	n.opaque = true
	b.refs[pointer] = n
	*n = *b.build(at, pointer)
	b.all = append(b.all, n)
	return n
}

func (b *nodes) types(n *node, raw json.RawMessage) {
	var names []string
	if raw[0] == '"' {
		names = make([]string, 1)
		json.Unmarshal(raw, &names[0])
	} else if json.Unmarshal(raw, &names) != nil || len(names) == 0 {
		n.opaque = true
	}
	for _, name := range names {
		n.kinds |= kindNames[name]
		n.opaque = n.opaque || kindNames[name] == 0
	}
}

func (b *nodes) properties(n *node, raw json.RawMessage, pointer string) {
	ms, _ := members(raw)
	for _, m := range ms {
		at := pointer + "/" + url.PathEscape(escapeToken(m.key))
		p := property{name: m.key, node: b.build(m.value, at), pointer: at}
		if own, ok := members(m.value); ok {
			p.fallback = get(own, "default")
		}
		n.properties = append(n.properties, p)
	}
}

func (n *node) count(to *int, raw json.RawMessage) {
	i, err := strconv.Atoi(string(raw))
	if err != nil || i < 0 {
		n.opaque = true
		return
	}
	*to = i
}

func (n *node) bound(to **bound, raw json.RawMessage, exclusive bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || *to != nil { // a bool is draft 4's; both kinds of bound at once are too much here
		n.opaque = true
		return
	}
	*to = &bound{value: f, exact: plainInteger(raw), exclusive: exclusive}
}

// plainInteger says whether a number is written in at most 15 digits and a sign: a float64 holds it exactly.
func plainInteger(raw []byte) bool {
	if len(raw) > 0 && raw[0] == '-' {
		raw = raw[1:]
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(raw) > 0 && len(raw) <= 15
}

func escapeToken(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}
