package anthropic

import (
	"encoding/json"
	"maps"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A tally is the usage figures of an answer. They may come several times and are totals each time:
// later ones replace earlier ones, field by field. Some servers send the figures of the input at
// the start alone, and 0 for all of them at the end: that replaces none.
type tally map[string]json.RawMessage

func (t *tally) add(raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if adapter.IsNull(raw) || json.Unmarshal(raw, &fields) != nil {
		return
	}
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return adapter.IsNull(v) })
	if *t == nil {
		*t = fields
		return
	}
	if n := tally(fields); n.figure("input_tokens")+n.figure("cache_read_input_tokens")+
		n.figure("cache_creation_input_tokens") == 0 {
		maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool {
			return name == "input_tokens" || name == "cache_read_input_tokens" || name == "cache_creation_input_tokens"
		})
	}
	maps.Copy(*t, fields)
}

// normal returns the figures as a provider.Usage.
func (t tally) normal() provider.Usage {
	var u provider.Usage
	u.CacheRead, u.CacheWrite = t.figure("cache_read_input_tokens"), t.figure("cache_creation_input_tokens")
	u.Input = t.figure("input_tokens") + u.CacheRead + u.CacheWrite
	u.Output = t.figure("output_tokens")
	var iterations []tally // a compaction isn't included in the figures above
	if raw := t["iterations"]; raw != nil && json.Unmarshal(raw, &iterations) == nil {
		for _, one := range iterations[:min(len(iterations), 100)] {
			var kind string
			if json.Unmarshal(one["type"], &kind) != nil || kind != "compaction" {
				continue
			}
			read, written := one.figure("cache_read_input_tokens"), one.figure("cache_creation_input_tokens")
			u.CacheRead, u.CacheWrite = u.CacheRead+read, u.CacheWrite+written
			u.Input += one.figure("input_tokens") + read + written
			u.Output += one.figure("output_tokens")
		}
	}
	var details struct {
		Thinking int64 `json:"thinking_tokens"`
	}
	if raw := t["output_tokens_details"]; raw != nil && json.Unmarshal(raw, &details) == nil {
		u.Reasoning = min(max(details.Thinking, 0), u.Output)
	}
	u.Raw = string(adapter.JSON(t))
	return u
}

// mostTokens is more than any answer has, and small enough that sums don't overflow.
const mostTokens = 1 << 53

func (t tally) figure(name string) int64 {
	var f float64
	if raw := t[name]; raw == nil || json.Unmarshal(raw, &f) != nil {
		return 0
	}
	return int64(min(max(f, 0), mostTokens))
}
