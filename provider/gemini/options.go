package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// mergeOptions merges Request.Options["gemini"] into a body.
func mergeOptions(body map[string]json.RawMessage, raw json.RawMessage) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	var options map[string]json.RawMessage
	if err := json.Unmarshal(raw, &options); err != nil {
		return fault.Errorf(fault.Permanent, "gemini: Options[%q] can't be decoded: %w", Name, err)
	}
	adapter.Merge(body, options)
	return nil
}

// encode returns v as JSON without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	raw, err := adapter.Encode(v)
	if err != nil {
		return nil, fault.Errorf(fault.Permanent, "gemini: the request can't be encoded: %w", err)
	}
	return raw, nil
}
