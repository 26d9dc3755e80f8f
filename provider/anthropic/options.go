package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/pawlkit/pawl/circuit/fault"
)

// options is the decoded Request.Options["anthropic"].
type options struct {
	cache struct {
		System bool   `json:"system"`
		Tools  bool   `json:"tools"`
		TTL    string `json:"ttl"`
	}
	body map[string]json.RawMessage // merged into the body; nil: nothing
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
		return o, fault.Errorf(fault.Permanent, "anthropic: Options[%q] can't be decoded: %w", Name, err)
	}
	if ttl := o.cache.TTL; ttl != "" && ttl != "5m" && ttl != "1h" {
		return o, fault.Errorf(fault.Permanent, "anthropic: Options[%q]: cache.ttl is %q, not 5m or 1h", Name, ttl)
	}
	return o, nil
}
