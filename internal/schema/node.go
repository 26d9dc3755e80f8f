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

// A node is what the reader knows about a subschema. It may know less than the schema, but nothing
// that contradicts it: an unknown keyword makes it opaque. A nil *node restricts nothing.
type node struct {
	opaque bool // the schema says more than the node: nothing is certainly valid
	kinds  kinds

	properties []property
	closed     bool  // other keys aren't allowed
	rest       *node // the schema of other keys
	dataKeys   bool  // keys are data, not names: they may differ only in case

	items              *node
	minItems, maxItems int // -1: none

	enum           []string // nil: any string
	minLen, maxLen int      // in characters; -1: none
	dateTime       bool

	min, max *bound

	nilText string // replacement of null if null isn't allowed; see nilForm
}

type property struct {
	name     string
	node     *node
	required bool
	fallback json.RawMessage // the default in canonical form, nil if there is none; see settler
	pointer  string          // location of its schema in the document
}

// A bound is a minimum or maximum. exact says that value is exactly the written number.
type bound struct {
	value     float64
	exact     bool
	exclusive bool
}

func newNode() *node { return &node{minItems: -1, maxItems: -1, minLen: -1, maxLen: -1} }

var anything = newNode()

func (n *node) allowsNull() bool { return n == nil || n.kinds == 0 || n.kinds&kindNull != 0 }

func (n *node) wantsInteger() bool { return n.kinds&kindNumber == kindInteger }

// find returns the index of a declared property, or -1. Keys usually come in the order of the
// declaration: hint is the index to check first.
func (n *node) find(key []byte, hint int) int {
	if hint < len(n.properties) && n.properties[hint].name == string(key) {
		return hint
	}
	for i := range n.properties {
		if n.properties[i].name == string(key) {
			return i
		}
	}
	return -1
}

// resembles reports whether an undeclared key differs from a declared one only in case.
func (n *node) resembles(key []byte) bool {
	for i := range n.properties {
		// Folding changes a character's length by two bytes at most.
		if name := n.properties[i].name; len(name) <= 3*len(key) && strings.EqualFold(name, string(key)) {
			return true
		}
	}
	return false
}

func (n *node) names() []string {
	names := make([]string, len(n.properties))
	for i := range n.properties {
		names[i] = n.properties[i].name
	}
	return names
}

// A graph has the nodes of a document.
type graph struct {
	document json.RawMessage
	inferred bool
	refs     map[string]*node // by JSON pointer
	all      []*node
	noRefs   bool // an identifier below the root could make references relative to something else
}

// annotations are keywords that never affect validity.
var annotations = map[string]bool{
	"title": true, "description": true, "default": true, "examples": true, "$comment": true, "deprecated": true,
	"readOnly": true, "writeOnly": true, "$schema": true, "$defs": true, "definitions": true,
}

func newGraph(document json.RawMessage, inferred bool) *graph {
	ids := strings.Count(string(document), `"$id"`)
	if ms, _ := members(document); get(ms, "$id") != nil {
		ids--
	}
	draft4 := strings.Contains(string(document), "draft-04") // its "id" is a common key elsewhere
	return &graph{document: document, inferred: inferred, refs: map[string]*node{}, noRefs: ids > 0 || draft4}
}

// build adds the node of the schema raw, whose location in the document is pointer.
func (g *graph) build(raw json.RawMessage, pointer string) *node {
	n := newNode()
	g.all = append(g.all, n)
	ms, ok := members(raw)
	if !ok {
		n.opaque = string(raw) != "true"
		return n
	}
	if other := g.alias(ms, pointer); other != nil {
		return other
	}
	understood := true
	for _, m := range ms {
		understood = g.keyword(n, m, pointer) && understood
	}
	n.opaque = !understood
	if get(ms, "patternProperties") != nil {
		n.closed, n.dataKeys = false, true
	}
	n.dataKeys = n.dataKeys && len(n.properties) == 0
	var required []string
	if raw := get(ms, "required"); raw != nil && json.Unmarshal(raw, &required) != nil {
		n.opaque = true
	}
	for _, name := range required {
		if i := n.find([]byte(name), 0); i >= 0 {
			n.properties[i].required = true
		} else {
			n.opaque = true
		}
	}
	return n
}

// keyword adds one keyword to a node. It returns false if the node can't represent it completely.
func (g *graph) keyword(n *node, m member, pointer string) bool {
	at := pointer + "/" + m.key
	switch m.key {
	case "type":
		return n.setKinds(m.value)
	case "properties":
		properties, _ := members(m.value)
		for _, p := range properties {
			at := at + "/" + url.PathEscape(escapeToken(p.key))
			own, _ := members(p.value)
			n.properties = append(n.properties,
				property{name: p.key, node: g.build(p.value, at), fallback: get(own, "default"), pointer: at})
		}
	case "required": // see build
	case "additionalProperties":
		n.closed = string(m.value) == "false"
		n.dataKeys = !n.closed
		if n.dataKeys {
			n.rest = g.build(m.value, at)
		}
	case "items":
		n.items = g.build(m.value, at)
		return m.value[0] != '[' // draft 7's list of schemas
	case "minItems", "maxItems", "minLength", "maxLength":
		count, err := strconv.Atoi(string(m.value))
		if err != nil || count < 0 {
			return false
		}
		*map[string]*int{"minItems": &n.minItems, "maxItems": &n.maxItems, "minLength": &n.minLen,
			"maxLength": &n.maxLen}[m.key] = count
	case "minimum", "exclusiveMinimum":
		return setBound(&n.min, m)
	case "maximum", "exclusiveMaximum":
		return setBound(&n.max, m)
	case "enum":
		return json.Unmarshal(m.value, &n.enum) == nil && !strings.Contains(string(m.value), "null")
	case "format":
		n.dateTime = textOf(m.value) == "date-time"
		return n.dateTime || validator.Formats[textOf(m.value)] == nil
	case nilForm:
		if g.inferred {
			n.nilText = textOf(m.value)
		}
	case "$id":
		return pointer == ""
	default:
		return annotations[m.key] || strings.HasPrefix(m.key, "x-")
	}
	return true
}

func (n *node) setKinds(raw json.RawMessage) bool {
	var names []string
	if name := textOf(raw); name != "" {
		names = []string{name}
	} else if json.Unmarshal(raw, &names) != nil || len(names) == 0 {
		return false
	}
	for _, name := range names {
		if kindNames[name] == 0 {
			return false
		}
		n.kinds |= kindNames[name]
	}
	return true
}

func setBound(to **bound, m member) bool {
	value, err := strconv.ParseFloat(string(m.value), 64)
	if err != nil || *to != nil { // a bool is draft 4's; both kinds of bound at once are too much here
		return false
	}
	*to = &bound{value: value, exact: isShortInteger(m.value), exclusive: strings.HasPrefix(m.key, "exclusive")}
	return true
}

// alias returns the node of a schema that only refers to another one, or that only adds null to
// another one: the usual forms of shared and of nullable types. It returns nil for any other.
func (g *graph) alias(ms []member, pointer string) *node {
	var only member // the only keyword that isn't an annotation
	for _, m := range ms {
		if annotations[m.key] {
			continue
		}
		if only.key != "" {
			return nil
		}
		only = m
	}
	switch only.key {
	case "$ref":
		return g.resolve(textOf(only.value))
	case "anyOf", "oneOf":
		var forms []json.RawMessage
		if json.Unmarshal(only.value, &forms) != nil || len(forms) != 2 {
			return nil
		}
		for i, form := range forms {
			if string(form) == `{"type":"null"}` {
				return g.nullable(g.build(forms[1-i], pointer+"/"+only.key+"/"+strconv.Itoa(1-i)))
			}
		}
	}
	return nil
}

// nullable returns a node that also allows null, or nil if n allows it already: oneOf rejects a
// value that matches two forms.
func (g *graph) nullable(n *node) *node {
	if n.allowsNull() {
		return nil
	}
	with := *n
	with.kinds |= kindNull
	with.opaque = n.opaque || n.enum != nil
	g.all = append(g.all, &with)
	return &with
}

// resolve follows a reference within the document, and returns nil for any other.
func (g *graph) resolve(ref string) *node {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || g.noRefs || pointer != "" && pointer[0] != '/' || strings.Contains(pointer, "%") {
		return nil
	}
	if n, ok := g.refs[pointer]; ok {
		return n // it is still being built if the schema contains itself
	}
	at := g.document
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		ms, _ := members(at)
		if at = get(ms, token); at == nil {
			return nil
		}
	}
	n := newNode()
	n.opaque = true
	g.refs[pointer] = n
	*n = *g.build(at, pointer)
	g.all = append(g.all, n)
	return n
}

func escapeToken(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}
