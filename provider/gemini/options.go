package gemini

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

// mergeOptions merges Request.Options["gemini"] into a body.
func mergeOptions(body map[string]json.RawMessage, raw json.RawMessage) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	var options map[string]json.RawMessage
	if err := json.Unmarshal(raw, &options); err != nil {
		return fault.Errorf(fault.Permanent, "gemini: Options[%q] can't be read: %w", Name, err)
	}
	for key, value := range options {
		if key == "tools" {
			body[key] = appended(body[key], value)
			continue
		}
		merge(body, key, value)
	}
	return nil
}

// merge puts a value into an object: an object field by field, null removes, anything else replaces. See RFC 7396.
func merge(into map[string]json.RawMessage, key string, value json.RawMessage) {
	if isNull(value) {
		delete(into, key)
		return
	}
	var patch map[string]json.RawMessage
	if json.Unmarshal(value, &patch) != nil {
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
	if out, err := encode(fields); err == nil {
		into[key] = out
	}
}

// appended returns an array with what another one holds behind it.
func appended(have, more json.RawMessage) json.RawMessage {
	var list, rest []json.RawMessage
	if json.Unmarshal(more, &rest) != nil {
		return more // the server says what is wrong with it
	}
	_ = json.Unmarshal(have, &list) // absent, or our own
	out, err := encode(slices.Concat(list, rest))
	if err != nil {
		return more
	}
	return out
}

// encode returns v as JSON in which HTML characters stay as they are.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fault.Errorf(fault.Permanent, "gemini: the request can't be written: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// isNull reports JSON that says nothing.
func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}
