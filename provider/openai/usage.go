package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// chatUsage returns the figures of a chat. Input includes what is cached, with every server. Output includes reasoning, except
// where the total says that it doesn't. Figures that contradict each other stay as the server gave them.
func chatUsage(raw []byte) provider.Usage {
	if len(raw) == 0 {
		return provider.Usage{}
	}
	var u struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
		PromptOf   struct {
			Cached *int64 `json:"cached_tokens"`
			Write  *int64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionOf struct {
			Reasoning *int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
		Reasoning *int64 `json:"reasoning_tokens"`
		// where else servers put what was read from and written to the cache
		CacheRead  *int64 `json:"cache_read_input_tokens"`
		NumCached  *int64 `json:"num_cached_tokens"`
		Cached     *int64 `json:"cached_tokens"`
		Hit        *int64 `json:"prompt_cache_hit_tokens"`
		CacheWrite *int64 `json:"cache_creation_input_tokens"`
	}
	if decode(raw, &u) != nil {
		return provider.Usage{}
	}
	out := provider.Usage{
		Input:      u.Prompt,
		Output:     u.Completion,
		CacheRead:  first(u.PromptOf.Cached, u.CacheRead, u.NumCached, u.Cached, u.Hit),
		CacheWrite: first(u.PromptOf.Write, u.CacheWrite),
		Reasoning:  first(u.CompletionOf.Reasoning, u.Reasoning),
		Raw:        rawUsage(raw),
	}
	if out.Reasoning > 0 && u.Total == u.Prompt+u.Completion+out.Reasoning {
		out.Output += out.Reasoning
	}
	return out
}

// responsesUsage returns the figures of the Responses API, where input includes what is cached and output includes reasoning.
func responsesUsage(raw []byte) provider.Usage {
	if !isSet(raw) {
		return provider.Usage{}
	}
	var u struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		InputOf struct {
			Cached int64 `json:"cached_tokens"`
			Write  int64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputOf struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	if decode(raw, &u) != nil {
		return provider.Usage{}
	}
	return provider.Usage{Input: u.Input, Output: u.Output, CacheRead: u.InputOf.Cached, CacheWrite: u.InputOf.Write,
		Reasoning: u.OutputOf.Reasoning, Raw: rawUsage(raw)}
}

// first returns the first figure that was reported.
func first(figures ...*int64) int64 {
	for _, f := range figures {
		if f != nil {
			return *f
		}
	}
	return 0
}

// rawUsage returns the server's figures as compact text.
func rawUsage(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
