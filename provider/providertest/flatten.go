package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// flatten returns the schema as an object without $ref and allOf: what they say is merged into it.
func (s *sampler) flatten(schema any, depth int) (object, error) {
	m, ok := schema.(object)
	switch {
	case schema == true:
		return object{}, nil
	case !ok:
		return nil, fmt.Errorf("a schema that is %.40v", schema)
	case depth > deepest:
		return nil, errors.New("the schema refers to itself")
	}
	out := maps.Clone(m)
	delete(out, "$ref")
	delete(out, "allOf")
	var more []any
	if ref, ok := m["$ref"].(string); ok {
		target, err := s.resolve(ref)
		if err != nil {
			return nil, err
		}
		more = append(more, target)
	}
	all, _ := m["allOf"].([]any)
	for _, one := range append(more, all...) {
		flat, err := s.flatten(one, depth+1)
		if err != nil {
			return nil, err
		}
		merge(out, flat)
	}
	return out, nil
}

// resolve returns what a reference within the schema names.
func (s *sampler) resolve(ref string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("the reference %q leads out of the schema", ref)
	}
	at := s.root
	for i, word := range strings.Split(path, "/") {
		if i == 0 && word == "" {
			continue
		}
		word = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(word)
		switch v := at.(type) {
		case object:
			at, ok = v[word]
		case []any:
			n, err := strconv.Atoi(word)
			if ok = err == nil && n >= 0 && n < len(v); ok {
				at = v[n]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf("the reference %q leads nowhere", ref)
		}
	}
	return at, nil
}

// merge adds what b says to a, so that a value must fit both.
func merge(a, b object) {
	for word, theirs := range b {
		ours, both := a[word]
		if !both {
			a[word] = theirs
			continue
		}
		switch word {
		case "properties":
			a[word] = mergeProperties(ours, theirs)
		case "required":
			x, _ := ours.([]any)
			y, _ := theirs.([]any)
			a[word] = slices.Concat(x, y)
		case "type", "enum":
			a[word] = intersect(ours, theirs)
		case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
			a[word] = stricter(ours, theirs, 1)
		case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
			a[word] = stricter(ours, theirs, -1)
		case "additionalProperties":
			if theirs == false {
				a[word] = false
			}
		case "anyOf", "oneOf":
			// One list of options stays, the other becomes part of each of its options.
			a[word] = product(ours, theirs, word)
		}
	}
}

func mergeProperties(a, b any) any {
	x, _ := a.(object)
	y, _ := b.(object)
	out := maps.Clone(x)
	if out == nil {
		out = object{}
	}
	for name, schema := range y {
		if mine, ok := out[name]; ok {
			schema = object{"allOf": []any{mine, schema}}
		}
		out[name] = schema
	}
	return out
}

func intersect(a, b any) any {
	x, ok := a.([]any)
	if !ok {
		x = []any{a}
	}
	y, ok := b.([]any)
	if !ok {
		y = []any{b}
	}
	both := []any{}
	for _, v := range x {
		same := func(w any) bool {
			return reflect.DeepEqual(v, w) || v == "number" && w == "integer" || v == "integer" && w == "number"
		}
		if i := slices.IndexFunc(y, same); i >= 0 {
			if v == "number" {
				v = y[i]
			}
			both = append(both, v)
		}
	}
	return both
}

// stricter returns the greater of two numbers for sign 1, the lesser for -1.
func stricter(a, b any, sign int) any {
	x, okX := ratOf(a)
	y, okY := ratOf(b)
	if okX && okY && y.Cmp(x)*sign > 0 {
		return b
	}
	return a
}

func product(a, b any, word string) any {
	x, _ := a.([]any)
	var out []any
	for _, option := range x {
		out = append(out, object{"allOf": []any{option, object{word: b}}})
	}
	return out
}

// countOf returns a count that the schema gives, at most mostItems+1.
func countOf(m object, word string, otherwise int) int {
	n, ok := m[word].(json.Number)
	if !ok {
		return otherwise
	}
	v, ok := ratOf(n)
	if !ok || v.Sign() < 0 {
		return otherwise
	}
	if !v.IsInt() || !v.Num().IsInt64() {
		return mostItems + 1
	}
	return int(min(v.Num().Int64(), mostItems+1))
}
