package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// A member is one key of a JSON object with its raw value. Schema documents are handled as lists of
// members, so that their order and the text of their numbers survive.
type member struct {
	key   string
	value json.RawMessage
}

// members splits a JSON object. The second result is false if raw isn't an object.
func members(raw json.RawMessage) ([]member, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var ms []member
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, false
		}
		key, ok := t.(string)
		if !ok {
			return nil, false
		}
		m := member{key: key}
		if dec.Decode(&m.value) != nil {
			return nil, false
		}
		ms = append(ms, m)
	}
	return ms, true
}

// join is the inverse of members.
func join(ms []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range ms {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendQuoted(out, m.key)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// set replaces the value of a key in place, or appends the key.
func set(ms []member, key string, value json.RawMessage) []member {
	for i := range ms {
		if ms[i].key == key {
			ms[i].value = value
			return ms
		}
	}
	return append(ms, member{key, value})
}

// get returns the value of a key, or nil.
func get(ms []member, key string) json.RawMessage {
	for _, m := range ms {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// merge merges the schema document over into base: keywords of over replace those of base, new ones
// are appended. The maps under "properties" are merged name by name, and "items" and
// "additionalProperties" keyword by keyword if both are objects.
func merge(base, over json.RawMessage) json.RawMessage {
	return mergeWith(base, over, func(keyword string, old, value json.RawMessage) json.RawMessage {
		switch keyword {
		case "properties":
			ms, _ := members(mergeWith(old, value, func(_ string, old, value json.RawMessage) json.RawMessage {
				return merge(old, value)
			}))
			return join(slices.DeleteFunc(ms, func(m member) bool { return string(m.value) == "null" }))
		case "items", "additionalProperties":
			return merge(old, value)
		}
		return value
	})
}

// checkLeftOut returns an error if over leaves out a property that merged requires. over is a part
// of merged already. Nobody could call such a tool.
func checkLeftOut(over, merged json.RawMessage) error {
	above, ok := members(over)
	if !ok { // it changes nothing
		return nil
	}
	below, _ := members(merged)
	var required []string
	_ = json.Unmarshal(get(below, "required"), &required) // anything else requires nothing
	changed, _ := members(get(above, "properties"))
	left, _ := members(get(below, "properties"))
	for _, m := range changed {
		if string(m.value) == "null" && slices.Contains(required, m.key) {
			return fmt.Errorf("the property %q is required, so null can't leave it out; make it optional in the type, "+
				"or set \"required\" as well", m.key)
		}
		if err := checkLeftOut(m.value, get(left, m.key)); err != nil {
			return err
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if err := checkLeftOut(get(above, keyword), get(below, keyword)); err != nil {
			return err
		}
	}
	return nil
}

func mergeWith(base, over json.RawMessage,
	both func(key string, old, value json.RawMessage) json.RawMessage) json.RawMessage {
	below, ok1 := members(base)
	above, ok2 := members(over)
	if !ok1 || !ok2 {
		return over
	}
	for _, m := range above {
		if old := get(below, m.key); old != nil {
			m.value = both(m.key, old, m.value)
		}
		below = set(below, m.key, m.value)
	}
	return join(below)
}

// document checks that raw is a JSON object, or a bool, within the limits of inputs and without
// duplicate keys, and compacts it.
func document(raw json.RawMessage) (json.RawMessage, error) {
	r := reader{in: raw, keep: true, keysAreData: true}
	if err := r.run(nil); err != nil {
		return nil, fmt.Errorf("not a schema: %w", err)
	}
	out := bytes.Clone(r.output())
	switch out[0] {
	case '{', 't', 'f':
		return out, nil
	}
	return nil, fmt.Errorf("not a schema: expected an object, got %s", shorten(out, 40))
}
