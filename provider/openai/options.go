package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// encode returns v as JSON, with the request's options merged into it: "openai" first, then those
// under the provider's own name, if that is different. Objects are merged, "tools" and "include"
// are appended, null removes a field, and every other value replaces the existing one.
func (c *conversation) encode(v any) ([]byte, error) {
	body, err := adapter.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("openai: the request can't be encoded as JSON: %w", err)
	}
	keys := []string{"openai"}
	if c.m.name != "openai" {
		keys = append(keys, c.m.name)
	}
	for _, key := range keys {
		option, ok := c.req.Options[key]
		if !ok || len(bytes.TrimSpace(option)) == 0 {
			continue
		}
		merged, err := merge(body, option)
		if err != nil {
			return nil, fmt.Errorf("openai: Options[%q]: %w", key, err)
		}
		body = merged
	}
	return body, nil
}

// lists are the fields whose values are appended.
var lists = []string{"tools", "include"}

// merge merges the object over into the object base.
func merge(base, over json.RawMessage) (json.RawMessage, error) {
	var fields, changes map[string]json.RawMessage
	if err := json.Unmarshal(over, &changes); err != nil || changes == nil {
		return nil, fmt.Errorf("%.80q isn't a JSON object", over)
	}
	if err := json.Unmarshal(base, &fields); err != nil {
		return nil, err
	}
	for name, change := range changes {
		old, had := fields[name]
		switch {
		case string(change) == "null":
			delete(fields, name)
		case had && isKind(old, '{') && isKind(change, '{'):
			both, err := merge(old, change)
			if err != nil {
				return nil, err
			}
			fields[name] = both
		case had && isKind(old, '[') && isKind(change, '[') && slices.Contains(lists, name):
			var all, more []json.RawMessage
			if err := json.Unmarshal(old, &all); err != nil {
				return nil, err
			}
			if err := json.Unmarshal(change, &more); err != nil {
				return nil, err
			}
			joined, err := adapter.Encode(append(all, more...))
			if err != nil {
				return nil, err
			}
			fields[name] = joined
		default:
			fields[name] = change
		}
	}
	return adapter.Encode(fields)
}

func isKind(raw json.RawMessage, first byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == first
}
