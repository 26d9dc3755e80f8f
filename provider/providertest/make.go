package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// A maker makes values that should fit a JSON schema. Whether they do is checked by its user.
type maker struct {
	root any // the whole document, for references
	rand *rand.Rand
}

// deepest is the depth below which optional members and further items are left out. At ten times
// that depth a schema is taken to have no end.
const deepest = 4

// make returns a value for a schema at some depth of the value.
func (m *maker) make(of any, depth int) (any, error) {
	if depth > 10*deepest {
		return nil, errors.New("its schema contains itself without an end")
	}
	s, err := m.resolve(of, 0)
	if err != nil {
		return nil, err
	}
	if v, ok := s["const"]; ok {
		return v, nil
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[m.rand.IntN(len(list))], nil
	}
	switch kind := m.kind(s); kind {
	case "object":
		return m.object(s, depth)
	case "array":
		return m.array(s, depth)
	case "string":
		return m.text(s)
	case "integer", "number":
		return m.number(s, kind == "integer"), nil
	case "boolean":
		return m.rand.IntN(2) == 0, nil
	case "null":
		return nil, nil
	default:
		return nil, fmt.Errorf("its schema has the unknown type %q", kind)
	}
}

// resolve returns a schema without references and choices: those of anyOf and oneOf are made here.
func (m *maker) resolve(of any, nested int) (map[string]any, error) {
	if of == true {
		return map[string]any{}, nil
	}
	s, ok := of.(map[string]any)
	if !ok {
		return nil, errors.New("nothing fits a part of its schema")
	}
	if nested > 50 {
		return nil, errors.New("its schema refers to itself")
	}
	if _, set := s["const"]; set {
		return s, nil
	}
	out := maps.Clone(s)
	var parts []any
	if ref, ok := s["$ref"].(string); ok {
		to, err := m.lookup(ref)
		if err != nil {
			return nil, err
		}
		parts = append(parts, to)
	}
	all, _ := s["allOf"].([]any)
	parts = append(parts, all...)
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			parts = append(parts, list[m.rand.IntN(len(list))])
		}
	}
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		delete(out, key)
	}
	for _, p := range parts {
		more, err := m.resolve(p, nested+1)
		if err != nil {
			return nil, err
		}
		combine(out, more)
	}
	return out, nil
}

// combine adds what another schema asks for to s.
func combine(s, more map[string]any) {
	for key, v := range more {
		old, both := s[key]
		switch {
		case !both:
			s[key] = v
		case key == "required":
			a, _ := old.([]any)
			b, _ := v.([]any)
			s[key] = slices.Concat(a, b)
		case key == "properties":
			a, _ := old.(map[string]any)
			b, _ := v.(map[string]any)
			joined := maps.Clone(a)
			for name, p := range b {
				if before, ok := joined[name]; ok {
					p = map[string]any{"allOf": []any{before, p}}
				}
				joined[name] = p
			}
			s[key] = joined
		case strings.HasPrefix(key, "min") || key == "exclusiveMinimum":
			s[key] = number(max(toFloat(old, math.Inf(-1)), toFloat(v, math.Inf(-1))))
		case strings.HasPrefix(key, "max") || key == "exclusiveMaximum":
			s[key] = number(min(toFloat(old, math.Inf(1)), toFloat(v, math.Inf(1))))
		case key == "type" && old == "number":
			s[key] = v
		}
	}
}

// lookup returns what a reference within the document refers to.
func (m *maker) lookup(ref string) (any, error) {
	at := m.root
	path, within := strings.CutPrefix(ref, "#")
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		o, _ := at.(map[string]any) // a nil map has nothing
		next, ok := o[step]
		if at = next; !ok || !within {
			return nil, fmt.Errorf("its schema refers to %q, which isn't followed", ref)
		}
	}
	return at, nil
}

// kind returns the type of value to make.
func (m *maker) kind(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		kinds := slices.DeleteFunc(slices.Clone(t), func(k any) bool { return k == "null" && len(t) > 1 })
		if len(kinds) > 0 {
			return fmt.Sprint(kinds[m.rand.IntN(len(kinds))])
		}
	}
	has := func(keys string) bool {
		return slices.ContainsFunc(strings.Fields(keys), func(key string) bool { return s[key] != nil })
	}
	switch {
	case has("properties required additionalProperties minProperties patternProperties"):
		return "object"
	case has("items prefixItems minItems maxItems contains"):
		return "array"
	case has("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"):
		return "number"
	}
	return "string"
}

func (m *maker) object(s map[string]any, depth int) (any, error) {
	out := make(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	names := slices.Sorted(maps.Keys(properties))
	for _, r := range required {
		if name, ok := r.(string); ok && properties[name] == nil {
			names = append(names, name)
		}
	}
	for _, name := range names {
		wanted := slices.Contains(required, any(name))
		if !wanted && (depth >= deepest || m.rand.IntN(2) == 0) {
			continue
		}
		v, err := m.make(member(s, properties, name), depth+1)
		if err != nil && wanted {
			return nil, err
		}
		if err == nil {
			out[name] = v
		}
	}
	for i := 1; len(out) < limit(s, "minProperties", 0) && i < 1000; i++ {
		name := fmt.Sprint("key", i)
		v, err := m.make(member(s, properties, name), depth+1)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// member returns the schema of a member of an object.
func member(s, properties map[string]any, name string) any {
	if p, ok := properties[name]; ok {
		return p
	}
	return orAny(s["additionalProperties"])
}

// orAny returns a schema, or that of any value.
func orAny(s any) any {
	if s == nil {
		return true
	}
	return s
}

func (m *maker) array(s map[string]any, depth int) (any, error) {
	out := []any{}
	prefix, _ := s["prefixItems"].([]any)
	least, most := limit(s, "minItems", 0), limit(s, "maxItems", math.MaxInt)
	if c, ok := s["contains"]; ok {
		prefix, least = append([]any{c}, prefix...), max(least, limit(s, "minContains", 1))
	}
	n := least
	if depth < deepest {
		n += m.rand.IntN(3)
	}
	n = min(max(n, min(len(prefix), 1)), most)
	if n > 10_000 {
		return nil, fmt.Errorf("its schema asks for %d items", n)
	}
	for tries := 0; len(out) < n && tries < 10*n+100; tries++ {
		item := orAny(s["items"])
		if len(out) < len(prefix) {
			item = prefix[len(out)]
		}
		v, err := m.make(item, depth+1)
		switch {
		case err != nil && len(out) >= least:
			return out, nil
		case err != nil:
			return nil, err
		case s["uniqueItems"] == true && slices.ContainsFunc(out, func(o any) bool { return reflect.DeepEqual(o, v) }):
			continue
		}
		out = append(out, v)
	}
	return out, nil
}

// number returns a number within the bounds: often one of them.
func (m *maker) number(s map[string]any, whole bool) any {
	step := toFloat(s["multipleOf"], 0)
	if whole {
		step = max(step, 1)
	}
	unit := step
	if unit == 0 {
		unit = 0.25
	}
	low, high := toFloat(s["minimum"], math.Inf(-1)), toFloat(s["maximum"], math.Inf(1))
	above, below := toFloat(s["exclusiveMinimum"], math.Inf(-1)), toFloat(s["exclusiveMaximum"], math.Inf(1))
	within := min(unit, (min(high, below)-max(low, above))/4) // so far inside of exclusive bounds
	low, high = max(low, above+within), min(high, below-within)
	if math.IsInf(low, 0) {
		low = min(0, high-100*unit)
	}
	if math.IsInf(high, 0) {
		high = low + 100*unit
	}
	v := low
	switch m.rand.IntN(4) {
	case 0:
	case 1:
		v = high
	default:
		v = low + m.rand.Float64()*(high-low)
		if step == 0 {
			v = math.Round(v*100) / 100
		}
	}
	if step > 0 {
		if v = math.Ceil(v/step) * step; v > high {
			v = math.Floor(high/step) * step
		}
	}
	return number(min(max(v, low), high))
}

// number returns a number as JSON writes it, integers without a point.
func number(v float64) json.Number {
	if v == math.Trunc(v) && math.Abs(v) < 1<<62 {
		return json.Number(fmt.Sprint(int64(v)))
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "0"
	}
	return json.Number(text)
}

// limit returns a count that a schema gives.
func limit(s map[string]any, key string, otherwise int) int {
	if v := toFloat(s[key], -1); v >= 0 && v < 1<<31 {
		return int(v)
	}
	return otherwise
}

func toFloat(v any, otherwise float64) float64 {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return otherwise
}
