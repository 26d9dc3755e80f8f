package plan

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// input checks the input of a tool's node, and where its references lead.
func (c *checker) input(n *Node, d *tools.Definition, refs []reference) {
	takes := schemaDocument(d.Tool().Schema)
	for i := range refs {
		r := &refs[i]
		to, _ := takes.at(r.at) // a key that the tool doesn't have is found below
		from, known := c.output(r)
		if !known {
			c.add(n.ID, "input %s refers to %s, which is no part of what the tool of node %q answers",
				strings.Join(r.at, "."), r, r.node)
			continue
		}
		if give, take := from.types(), to.types(); !overlap(give, take) {
			c.add(n.ID, "input %s has to be of type %s, and %s is of type %s", strings.Join(r.at, "."),
				strings.Join(take, " or "), r, strings.Join(give, " or "))
		}
	}
	full, _ := replace(n.Input, func(*reference) (any, error) { return nil, nil })
	text, err := json.Marshal(full)
	if err == nil {
		_, err = d.Accept(text)
	}
	if err == nil {
		return
	}
	invalid, ok := errors.AsType[*schema.InvalidError](err)
	if !ok {
		c.add(n.ID, "its input: %v", err)
		return
	}
	for _, p := range invalid.Problems {
		if !unknown(p.Path, refs, takes) {
			c.add(n.ID, "its input: %s", p)
		}
	}
}

// unknown reports whether a problem is about a value that is known only when the plan runs, or
// about a choice between schemas for one that contains it.
func unknown(path string, refs []reference, takes document) bool {
	keys := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	for i := range refs {
		at := refs[i].at
		if len(keys) >= len(at) && slices.Equal(keys[:len(at)], at) {
			return true
		}
		if len(keys) < len(at) && slices.Equal(keys, at[:len(keys)]) {
			part, _ := takes.at(keys)
			if m, ok := part.here.(map[string]any); !ok || combines(m) {
				return true
			}
		}
	}
	return false
}

// output returns the schema of what a reference stands for, and whether there can be such a thing.
// The output of a worker, and that of a tool without an output schema, can be anything.
func (c *checker) output(r *reference) (document, bool) {
	n, ok := c.plan.Node(r.node)
	if !ok || n.Tool == "" {
		return document{}, true
	}
	d, ok := c.registry.Lookup(n.Tool)
	if !ok || len(d.Spec().Output) == 0 {
		return document{}, true
	}
	return schemaDocument(d.Spec().Output).at(r.path)
}

// A document is a JSON schema, or a part of one.
type document struct {
	root, here any
}

func schemaDocument(text json.RawMessage) document {
	v, err := decode(text)
	if err != nil {
		return document{}
	}
	return document{root: v, here: v}
}

// at returns the part of a schema for a place in a value, and whether the schema can have such a
// place. Of schemas that combine others it says that they can have any.
func (d document) at(path []string) (document, bool) {
	for _, key := range path {
		d = d.resolved()
		m, ok := d.here.(map[string]any)
		if !ok || combines(m) {
			return document{}, true
		}
		next, known := child(m, key)
		if !known {
			return document{}, false
		}
		d.here = next
	}
	return d.resolved(), true
}

// child returns the schema for a key or an index of what m describes, and whether m names or
// permits it. A nil schema permits anything.
func child(m map[string]any, key string) (any, bool) {
	if items, ok := m["items"]; ok {
		if _, err := strconv.Atoi(key); err == nil {
			return items, true
		}
	}
	properties, declared := m["properties"].(map[string]any)
	if one, ok := properties[key]; ok {
		return one, true
	}
	switch more := m["additionalProperties"].(type) {
	case bool:
		return nil, more
	case map[string]any:
		return more, true
	}
	return nil, !declared
}

func combines(m map[string]any) bool {
	for _, key := range []string{"anyOf", "oneOf", "allOf", "if", "not"} {
		if _, ok := m[key]; ok {
			return true
		}
	}
	return false
}

// resolved follows references to definitions of the same document.
func (d document) resolved() document {
	for range 32 {
		m, _ := d.here.(map[string]any)
		ref, ok := m["$ref"].(string)
		if !ok {
			return d
		}
		at, rest := d.root, strings.TrimPrefix(ref, "#")
		for _, key := range strings.Split(strings.TrimPrefix(rest, "/"), "/") {
			if key == "" {
				continue
			}
			m, _ := at.(map[string]any)
			at = m[key]
		}
		d.here = at
	}
	return document{}
}

// types returns the types that a schema names; none: any.
func (d document) types() []string {
	m, ok := d.here.(map[string]any)
	if !ok || combines(m) {
		return nil
	}
	switch t := m["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var names []string
		for _, one := range t {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

func overlap(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for _, one := range a {
		if slices.Contains(b, one) || one == "integer" && slices.Contains(b, "number") || one == "number" &&
			slices.Contains(b, "integer") {
			return true
		}
	}
	return false
}
