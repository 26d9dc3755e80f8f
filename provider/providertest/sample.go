package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const deepest = 64 // levels of nesting and references

type object = map[string]any

// annotations are keywords that restrict nothing, or nothing that a sampler makes.
var annotations = wordSet(
	"$schema $id $comment $defs definitions title description default examples deprecated readOnly writeOnly " +
		"additionalProperties")

// understood are the keywords that a sampler respects.
var understood = wordSet("type enum const properties required items")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// sample returns JSON that is valid for the schema, always the same for the same schema.
func sample(schema json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, fmt.Errorf("the schema isn't JSON: %w", err)
	}
	v, err := sampler{root}.value(root, 0)
	if err != nil {
		return nil, err
	}
	text, err := marshal(v)
	return json.RawMessage(text), err
}

// A sampler makes values of the parts of one schema.
type sampler struct{ root any }

func (s sampler) value(schema any, depth int) (any, error) {
	if depth > deepest {
		return nil, errors.New("the schema nests too deep, or needs itself")
	}
	if schema == true {
		return object{}, nil
	}
	m, ok := schema.(object)
	if !ok {
		return nil, fmt.Errorf("a schema is %.40v, not an object", schema)
	}
	ref, refers := m["$ref"].(string)
	for _, word := range slices.Sorted(maps.Keys(m)) {
		if !annotations[word] && (refers && word != "$ref" || !refers && !understood[word]) {
			return nil, fmt.Errorf("the keyword %q isn't supported here", word)
		}
	}
	if refers {
		target, err := s.resolve(ref)
		if err != nil {
			return nil, err
		}
		return s.value(target, depth+1)
	}
	if v, ok := m["const"]; ok {
		return v, nil
	}
	if list, ok := m["enum"].([]any); ok {
		if len(list) == 0 {
			return nil, errors.New("the enum is empty")
		}
		return list[0], nil
	}
	if v, ok := m["default"]; ok {
		return v, nil
	}
	return s.typed(m, depth)
}

func (s sampler) typed(m object, depth int) (any, error) {
	switch kind := typeOf(m); kind {
	case "object":
		return s.object(m, depth)
	case "array":
		items, ok := m["items"]
		if !ok {
			return []any{}, nil
		}
		item, err := s.value(items, depth+1)
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		return []any{item}, nil
	case "string":
		return "text", nil
	case "integer", "number":
		return 1, nil
	case "boolean":
		return true, nil
	case "null":
		return nil, nil
	default:
		return nil, fmt.Errorf("the type %q is unknown", kind)
	}
}

// typeOf returns the first type that isn't null.
func typeOf(m object) string {
	switch t := m["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
		return "null"
	}
	if _, ok := m["items"]; ok {
		return "array"
	}
	return "object"
}

// object returns an object with the required properties.
func (s sampler) object(m object, depth int) (any, error) {
	out := object{}
	properties, _ := m["properties"].(object)
	required, _ := m["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		schema, ok := properties[name]
		if !ok {
			return nil, fmt.Errorf("the required property %q isn't described", name)
		}
		v, err := s.value(schema, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

// resolve returns what a reference within the schema names.
func (s sampler) resolve(ref string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("the reference %q leads out of the schema", ref)
	}
	at := s.root
	for word := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		m, _ := at.(object)
		if at, ok = m[strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(word)]; !ok {
			return nil, fmt.Errorf("the reference %q leads nowhere", ref)
		}
	}
	return at, nil
}
