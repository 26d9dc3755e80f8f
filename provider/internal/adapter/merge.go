package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Encode returns v as JSON without HTML escapes. The keys of maps are sorted.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// IsNull reports whether JSON is null or empty.
func IsNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// Extended returns v as JSON with the fields of a JSON object of the caller merged in: see [Merge].
// Without one it is v.
func Extended(v any, more json.RawMessage) (json.RawMessage, error) {
	body, err := Encode(v)
	if err != nil {
		return nil, fmt.Errorf("the request can't be encoded as JSON: %w", err)
	}
	if len(bytes.TrimSpace(more)) == 0 {
		return body, nil
	}
	var fields, changes map[string]json.RawMessage
	if json.Unmarshal(more, &changes) != nil || changes == nil {
		return nil, fmt.Errorf("%.80q isn't a JSON object", more)
	}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	Merge(fields, changes)
	return Encode(fields)
}

// Merge merges additional fields of the caller into a body: objects field by field, null removes,
// anything else replaces (RFC 7396), except that the arrays "tools" and "include" are appended.
func Merge(body, fields map[string]json.RawMessage) {
	for key, value := range fields {
		if key == "tools" || key == "include" {
			body[key] = appended(body[key], value)
			continue
		}
		merge(body, key, value)
	}
}

func merge(into map[string]json.RawMessage, key string, value json.RawMessage) {
	if IsNull(value) {
		delete(into, key)
		return
	}
	var patch map[string]json.RawMessage
	isNew := into[key] == nil && !bytes.Contains(value, []byte("null")) // keeps the order of its fields
	if isNew || json.Unmarshal(value, &patch) != nil {
		into[key] = value
		return
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(into[key], &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{}
	}
	for k, v := range patch {
		merge(fields, k, v)
	}
	if out, err := Encode(fields); err == nil {
		into[key] = out
	}
}

// appended returns an array with the elements of another one appended.
func appended(have, more json.RawMessage) json.RawMessage {
	var list, rest []json.RawMessage
	if json.Unmarshal(more, &rest) != nil {
		return more // let the server report the error
	}
	_ = json.Unmarshal(have, &list) // absent, or the adapter's own
	out, err := Encode(slices.Concat(list, rest))
	if err != nil {
		return more
	}
	return out
}
