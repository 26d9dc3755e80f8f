package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	deepest         = 64     // levels of nesting and references
	deepestOptional = 3      // levels at which optional properties are given
	mostItems       = 10_000 // of one array or object
)

// sample returns JSON that is valid for the schema, always the same for the same schema.
func sample(schema json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	s := sampler{root: root}
	v, err := s.value(root, 0)
	if err != nil {
		return nil, err
	}
	text, err := marshal(v)
	return json.RawMessage(text), err
}

// A sampler makes values of the parts of one schema.
type sampler struct {
	root any
	nth  int // the place in an array, so that items differ
}

type object = map[string]any

func (s *sampler) value(schema any, depth int) (any, error) {
	if depth > deepest {
		return nil, errors.New("the schema nests too deep, or needs itself")
	}
	if allowed, ok := schema.(bool); ok {
		if !allowed {
			return nil, errors.New("the schema is false: it allows nothing")
		}
		return s.text(object{})
	}
	m, err := s.flatten(schema, depth)
	if err != nil {
		return nil, err
	}
	if v, ok := m["const"]; ok {
		return v, nil
	}
	if list, ok := m["enum"].([]any); ok {
		if len(list) == 0 {
			return nil, errors.New("the enum is empty")
		}
		return list[s.nth%len(list)], nil
	}
	if v, ok := m["default"]; ok && s.nth == 0 {
		return v, nil
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if options, ok := m[word].([]any); ok {
			return s.option(m, word, options, depth)
		}
	}
	return s.typed(m, depth)
}

// option returns the value of the first option that gives one, null last.
func (s *sampler) option(m object, word string, options []any, depth int) (any, error) {
	rest := maps.Clone(m)
	delete(rest, word)
	isNull := func(o any) bool { m, ok := o.(object); return ok && m["type"] == "null" }
	errs := []error{fmt.Errorf("no option of %s gives a value", word)}
	for _, null := range []bool{false, true} {
		for _, o := range options {
			if isNull(o) != null {
				continue
			}
			v, err := s.value(object{"allOf": []any{rest, o}}, depth+1)
			if err == nil {
				return v, nil
			}
			errs = append(errs, err)
		}
	}
	return nil, errors.Join(errs...)
}

func (s *sampler) typed(m object, depth int) (any, error) {
	switch kind := typeOf(m); kind {
	case "object":
		return s.object(m, depth)
	case "array":
		return s.array(m, depth)
	case "string":
		return s.text(m)
	case "integer", "number":
		return s.number(m, kind == "integer")
	case "boolean":
		return s.nth%2 == 0, nil
	case "null":
		return nil, nil
	default:
		return nil, fmt.Errorf("the type %q is unknown", kind)
	}
}

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
		if len(t) == 0 {
			return "none" // of two schemas that exclude each other
		}
		return "null"
	}
	for _, hint := range []struct{ kind, words string }{
		{"object", "properties required additionalProperties patternProperties minProperties"},
		{"array", "items prefixItems minItems uniqueItems"},
		{"number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"},
	} {
		for word := range strings.FieldsSeq(hint.words) {
			if _, ok := m[word]; ok {
				return hint.kind
			}
		}
	}
	return "string"
}

func (s *sampler) object(m object, depth int) (any, error) {
	out := object{}
	properties, _ := m["properties"].(object)
	required, _ := m["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		schema, err := propertySchema(m, properties, name)
		if err == nil {
			out[name], err = s.value(schema, depth+1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	most := countOf(m, "maxProperties", mostItems)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if _, given := out[name]; given || depth >= deepestOptional || len(out) >= most {
			continue
		}
		if v, err := s.value(properties[name], depth+1); err == nil {
			out[name] = v
		}
	}
	least := countOf(m, "minProperties", 0)
	for i := 1; len(out) < least; i++ {
		name := "extra" + strconv.Itoa(i)
		schema, err := propertySchema(m, properties, name)
		if err == nil && i <= mostItems {
			out[name], err = s.value(schema, depth+1)
		}
		if err != nil || i > mostItems {
			return nil, fmt.Errorf("no %d properties can be given", least)
		}
	}
	return out, nil
}

// propertySchema returns the schema for a property of that name.
func propertySchema(m, properties object, name string) (any, error) {
	if schema, ok := properties[name]; ok {
		return schema, nil
	}
	patterns, _ := m["patternProperties"].(object)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
			return patterns[pattern], nil
		}
	}
	switch more := m["additionalProperties"].(type) {
	case bool:
		if !more {
			return nil, errors.New("the property is not allowed")
		}
	case object:
		return more, nil
	}
	return true, nil
}

func (s *sampler) array(m object, depth int) (any, error) {
	first, _ := m["prefixItems"].([]any)
	rest, ok := m["items"]
	if old, is := rest.([]any); is { // before draft 2020
		first = old
		rest, ok = m["additionalItems"]
	}
	if !ok {
		rest = true
	}
	least, most := countOf(m, "minItems", 0), countOf(m, "maxItems", mostItems)
	if least > most {
		return nil, fmt.Errorf("an array of at least %d and at most %d items", least, most)
	}
	wanted := max(least, min(most, max(1, len(first))))
	nth := s.nth
	defer func() { s.nth = nth }()
	out := []any{}
	for i := range wanted {
		schema := rest
		if i < len(first) {
			schema = first[i]
		}
		s.nth = i
		v, err := s.value(schema, depth+1)
		if err != nil {
			if i >= least {
				break
			}
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		out = append(out, v)
	}
	return out, nil
}
