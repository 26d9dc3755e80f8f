package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

// options is Request.Options["anthropic"], taken apart.
type options struct {
	cache struct {
		System bool   `json:"system"`
		Tools  bool   `json:"tools"`
		TTL    string `json:"ttl"`
	}
	body map[string]json.RawMessage // what is merged into the body; nil: nothing
}

func readOptions(raw json.RawMessage) (options, error) {
	var o options
	if len(bytes.TrimSpace(raw)) == 0 {
		return o, nil
	}
	err := json.Unmarshal(raw, &o.body)
	if cache, ok := o.body["cache"]; ok && err == nil {
		delete(o.body, "cache")
		err = json.Unmarshal(cache, &o.cache)
	}
	if err != nil {
		return o, fault.Errorf(fault.Permanent, "anthropic: Options[%q] can't be read: %w", Name, err)
	}
	if ttl := o.cache.TTL; ttl != "" && ttl != "5m" && ttl != "1h" {
		return o, fault.Errorf(fault.Permanent, "anthropic: Options[%q]: cache.ttl is %q, not 5m or 1h", Name, ttl)
	}
	return o, nil
}

// mergeInto returns the body with the options in it.
func (o *options) mergeInto(body []byte) ([]byte, error) {
	if len(o.body) == 0 {
		return body, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fault.Errorf(fault.Permanent, "anthropic: the request can't be read back: %w", err)
	}
	for key, value := range o.body {
		if key == "tools" {
			fields[key] = appended(fields[key], value)
			continue
		}
		merge(fields, key, value)
	}
	return encode(fields)
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
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fault.Errorf(fault.Permanent, "anthropic: the request can't be written: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
