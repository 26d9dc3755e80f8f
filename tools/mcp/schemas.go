package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What servers send as schemas, and what is made of it: a schema that validates here and that each
// provider takes. It may accept more than the server's own, which checks its input itself.

// maxAlso is how long that may be which the description says of a schema, in bytes.
const maxAlso = 1 << 10

// A repair is what was changed in a schema.
type repair struct {
	notes []string
	also  string // what a model should know besides
}

// note adds a note once.
func (r *repair) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// repaired returns the schema of an input. It is of the type object, because the protocol has no
// other inputs.
func repaired(v any) (json.RawMessage, *repair, error) {
	r := &repair{}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, r, err
	}
	if len(raw) > maxSchema {
		return nil, r, fmt.Errorf("its schema has %d bytes; at most %d are allowed", len(raw), maxSchema)
	}
	switch string(bytes.TrimSpace(raw)) {
	case "null", "true":
		raw = []byte("{}")
	}
	var root map[string]any
	if err := decode(raw, &root); err != nil {
		return nil, r, fmt.Errorf("its schema isn't an object: %w", err)
	}
	for _, word := range []string{"properties", "required", "type"} {
		if root[word] == nil {
			delete(root, word)
		}
	}
	r.schema(root, "")
	r.flatten(root, root, 0)
	if root["type"] == nil {
		root["type"] = "object"
	}
	if root["properties"] == nil { // OpenAI wants them, also if there are none
		root["properties"] = map[string]any{}
	}
	raw, err = json.Marshal(root)
	return raw, r, err
}

// usable returns a schema without what can't be compiled.
func usable(raw json.RawMessage) (json.RawMessage, error) {
	var root any
	if err := decode(raw, &root); err != nil {
		return nil, err
	}
	(&repair{}).schema(root, "")
	return json.Marshal(root)
}

// decode decodes JSON, and keeps its numbers as they are.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// Where schemas are in a schema.
var (
	named  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	listed = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	single = []string{"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
		"contains", "propertyNames", "not", "if", "then", "else"}
)

// schema repairs a schema, and those in it. It reports whether it accepts more than before.
func (r *repair) schema(v any, at string) (looser bool) {
	s, ok := v.(map[string]any)
	if !ok {
		return false
	}
	if draft, _ := s["$schema"].(string); strings.Contains(draft, "draft-03") || strings.Contains(draft, "draft-04") {
		delete(s, "$schema") // with what follows, it is one of a later draft
	}
	exclusive(s, "exclusiveMinimum", "minimum")
	exclusive(s, "exclusiveMaximum", "maximum")
	if pattern, ok := s["pattern"].(string); ok && !compiles(pattern) {
		delete(s, "pattern")
		looser = true
		r.note("the pattern %q%s isn't checked here, but by the server", pattern, in(at))
	}
	if patterns, ok := s["patternProperties"].(map[string]any); ok {
		for pattern := range patterns {
			if !compiles(pattern) {
				delete(patterns, pattern)
				delete(s, "additionalProperties") // they would refuse what the pattern allows
				delete(s, "unevaluatedProperties")
				looser = true
				r.note("the pattern %q%s isn't checked here, but by the server", pattern, in(at))
			}
		}
	}
	for _, word := range named {
		if all, ok := s[word].(map[string]any); ok {
			for name, one := range all {
				looser = r.schema(one, join(at, name)) || looser
			}
		}
	}
	for _, word := range listed {
		all, _ := s[word].([]any)
		parts := false
		for _, one := range all {
			parts = r.schema(one, at) || parts
		}
		if looser = parts || looser; parts && word == "oneOf" { // more than one may fit now
			delete(s, word)
			if s["anyOf"] == nil {
				s["anyOf"] = all
			}
		}
	}
	for _, word := range single {
		if !r.schema(s[word], at) {
			continue
		}
		looser = true
		switch word { // where accepting more would mean to refuse more
		case "not":
			delete(s, word)
		case "if":
			delete(s, word)
			delete(s, "then")
			delete(s, "else")
		}
	}
	return looser
}

func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

func in(at string) string {
	if at == "" {
		return ""
	}
	return fmt.Sprintf(" of %q", at)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// exclusive replaces a limit of draft 4, where the exclusive one is true or false.
func exclusive(s map[string]any, word, limit string) {
	if is, ok := s[word].(bool); ok {
		delete(s, word)
		if n := s[limit]; is && n != nil {
			s[word] = n
			delete(s, limit)
		}
	}
}

// deepest is how deep choices at the root may be nested.
const deepest = 8

// flatten takes allOf, anyOf and oneOf from the root of a schema, which providers refuse there: the
// properties of all parts become those of the root. The server checks the choice.
func (r *repair) flatten(s, root map[string]any, depth int) {
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		parts, ok := s[word].([]any)
		if !ok {
			continue
		}
		delete(s, word)
		delete(s, "unevaluatedProperties")
		if depth == 0 {
			r.note("its root has %s: the server checks it", word)
			if raw, err := json.Marshal(parts); err == nil && len(raw)+len(r.also) < maxAlso {
				r.also += fmt.Sprintf("\nThe input must also fit {%q:%s}.", word, raw)
			}
		}
		var required []any // of each part
		first := true
		for _, part := range parts {
			p, ok := resolve(part, root).(map[string]any)
			if kind, _ := p["type"].(string); kind != "" && kind != "object" || part == false {
				continue // it fits no object
			}
			if !ok || depth >= deepest {
				p = map[string]any{} // it isn't known what it wants
			}
			r.flatten(p, root, depth+1)
			merge(s, p, word != "allOf")
			own, _ := p["required"].([]any)
			switch {
			case word == "allOf" || first:
				required = append(required, own...)
			default:
				required = slices.DeleteFunc(required, func(name any) bool { return !slices.Contains(own, name) })
			}
			first = false
		}
		all, _ := s["required"].([]any)
		for _, name := range required {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		if len(all) > 0 {
			s["required"] = all
		}
	}
}

// resolve returns the schema that a reference within the document names.
func resolve(v any, root map[string]any) any {
	s, _ := v.(map[string]any)
	ref, _ := s["$ref"].(string)
	for _, word := range []string{"$defs", "definitions"} {
		if name, ok := strings.CutPrefix(ref, "#/"+word+"/"); ok {
			defs, _ := root[word].(map[string]any)
			return copied(defs[name])
		}
	}
	return copied(v)
}

// copied returns a copy of decoded JSON.
func copied(v any) (out any) {
	raw, err := json.Marshal(v)
	if err != nil || decode(raw, &out) != nil {
		return nil
	}
	return out
}

// merge adds the properties of a part to those of a schema. Of a choice, a property may be as in
// any part.
func merge(s, part map[string]any, choice bool) {
	more, _ := part["properties"].(map[string]any)
	if len(more) == 0 {
		return
	}
	own, _ := s["properties"].(map[string]any)
	if own == nil {
		own = make(map[string]any)
		s["properties"] = own
	}
	for name, p := range more {
		before, ok := own[name]
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(p)
		switch {
		case !ok:
			own[name] = p
		case bytes.Equal(a, b) || !choice:
		default:
			own[name] = map[string]any{"anyOf": []any{before, p}}
		}
	}
}
