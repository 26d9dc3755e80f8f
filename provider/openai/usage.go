package openai

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// chatUsage returns the figures of a chat. Input includes cached tokens, with every server. Output
// includes reasoning, unless the total shows that it doesn't. Contradictory figures stay as the
// server sent them.
func chatUsage(raw []byte) provider.Usage {
	if len(raw) == 0 {
		return provider.Usage{}
	}
	var u struct {
		Prompt     figure `json:"prompt_tokens"`
		Completion figure `json:"completion_tokens"`
		Total      figure `json:"total_tokens"`
		PromptOf   struct {
			Cached figure `json:"cached_tokens"`
			Write  figure `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionOf struct {
			Reasoning figure `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
		Reasoning figure `json:"reasoning_tokens"`
		// other fields for tokens read from and written to the cache
		CacheRead  figure `json:"cache_read_input_tokens"`
		NumCached  figure `json:"num_cached_tokens"`
		Cached     figure `json:"cached_tokens"`
		Hit        figure `json:"prompt_cache_hit_tokens"`
		CacheWrite figure `json:"cache_creation_input_tokens"`
	}
	if decode(raw, &u) != nil {
		return provider.Usage{}
	}
	out := provider.Usage{
		Input:      int64(u.Prompt),
		Output:     int64(u.Completion),
		CacheRead:  first(u.PromptOf.Cached, u.CacheRead, u.NumCached, u.Cached, u.Hit),
		CacheWrite: first(u.PromptOf.Write, u.CacheWrite),
		Reasoning:  first(u.CompletionOf.Reasoning, u.Reasoning),
		Raw:        adapter.Compact(raw),
	}
	if out.Reasoning > 0 && int64(u.Total) == out.Input+out.Output+out.Reasoning {
		out.Output += out.Reasoning
	}
	return out
}

// responsesUsage returns the figures of the Responses API, in which input includes cached tokens
// and output includes reasoning.
func responsesUsage(raw []byte) provider.Usage {
	if !isSet(raw) {
		return provider.Usage{}
	}
	var u struct {
		Input   figure `json:"input_tokens"`
		Output  figure `json:"output_tokens"`
		InputOf struct {
			Cached figure `json:"cached_tokens"`
			Write  figure `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputOf struct {
			Reasoning figure `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	if decode(raw, &u) != nil {
		return provider.Usage{}
	}
	return provider.Usage{Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.InputOf.Cached),
		CacheWrite: int64(u.InputOf.Write), Reasoning: int64(u.OutputOf.Reasoning), Raw: adapter.Compact(raw)}
}

// A figure is a number of tokens, rounded and not negative, whatever the server sends.
type figure int64

// UnmarshalJSON decodes a number, and ignores other values.
func (f *figure) UnmarshalJSON(b []byte) error {
	const most = 1 << 53
	var n float64
	*f = 0
	if json.Unmarshal(b, &n) == nil {
		*f = figure(min(max(n, 0), most))
	}
	return nil
}

// first returns the first figure that isn't 0: some servers send a zero under one name and the
// figure under another.
func first(figures ...figure) int64 {
	for _, f := range figures {
		if f != 0 {
			return int64(f)
		}
	}
	return 0
}
