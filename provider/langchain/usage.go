package langchain

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// The keys of a choice's GenerationInfo with token counts, in the order in which they are tried.
// They are compared without case and underscores.
var (
	// allInput counts the whole prompt, including cached tokens.
	allInput = []string{"PromptTokens", "PromptTokenCount"}
	// newInput counts the prompt without tokens read from or written to a cache, if there are
	// separate figures for those.
	newInput   = []string{"InputTokens", "InputTokenCount"}
	output     = []string{"CompletionTokens", "OutputTokens", "CandidatesTokenCount", "GenerationTokenCount"}
	cacheRead  = []string{"PromptCachedTokens", "CacheReadInputTokens", "CachedTokens"}
	cacheWrite = []string{"CacheCreationInputTokens", "CacheWriteInputTokens"}
	reasoning  = []string{"ReasoningTokens", "CompletionReasoningTokens", "ThinkingTokens"}
)

// hasFigures reports whether the model has reported token counts.
func hasFigures(info map[string]any) bool {
	f := flatten(info)
	return f.first(allInput) > 0 || f.first(newInput) > 0 || f.first(output) > 0
}

// usage returns the reported usage, or an estimate from the size of the input.
func (a *answer) usage(input int) provider.Usage {
	f := flatten(a.rawUsage)
	u := provider.Usage{Input: f.first(allInput), Output: f.first(output), CacheRead: f.first(cacheRead),
		CacheWrite: f.first(cacheWrite), Reasoning: f.first(reasoning)}
	if u.Input == 0 {
		u.Input = f.first(newInput)
		if u.Input > 0 {
			u.Input += u.CacheRead + u.CacheWrite
		}
	}
	if u.Input == 0 && u.Output == 0 {
		made := len(a.text) + len(a.reasoning)
		for _, c := range a.calls {
			made += len(c.Name) + len(c.Invalid)
		}
		return provider.Usage{Input: tokens(input), Output: tokens(made), Estimated: true}
	}
	u.CacheRead = min(u.CacheRead, u.Input)
	u.CacheWrite = min(u.CacheWrite, u.Input-u.CacheRead)
	u.Output = max(u.Output, u.Reasoning)
	if raw, err := json.Marshal(f.byRawKey); err == nil {
		u.Raw = string(raw)
	}
	return u
}

// tokens estimates the tokens of a text of n bytes; it rather overestimates.
func tokens(n int) int64 { return int64(n+2) / 3 }

// usageCounts are numbers by the normalized form of their keys.
type usageCounts struct {
	byKey    map[string]int64
	byRawKey map[string]int64 // by the original keys
}

// flatten collects the numbers in a GenerationInfo, including those in a struct or map.
func flatten(info map[string]any) usageCounts {
	f := usageCounts{byKey: map[string]int64{}, byRawKey: map[string]int64{}}
	for _, key := range slices.Sorted(maps.Keys(info)) {
		v := info[key]
		switch v.(type) {
		case nil, string, bool, []byte, error:
			continue
		}
		text, err := json.Marshal(v)
		if err != nil || len(text) == 0 {
			continue
		}
		if text[0] == '{' {
			var inner map[string]json.Number
			if json.Unmarshal(text, &inner) == nil {
				for _, k := range slices.Sorted(maps.Keys(inner)) {
					f.add(k, inner[k])
				}
			}
			continue
		}
		f.add(key, json.Number(text))
	}
	return f
}

func (f *usageCounts) add(key string, n json.Number) {
	v, err := n.Float64()
	if err != nil || v < 0 || v > 1e15 || !strings.Contains(plainKey(key), "token") {
		return
	}
	f.byKey[plainKey(key)] = int64(v)
	f.byRawKey[key] = int64(v)
}

// first returns the first figure that isn't 0.
func (f *usageCounts) first(keys []string) int64 {
	for _, k := range keys {
		if n := f.byKey[plainKey(k)]; n > 0 {
			return n
		}
	}
	return 0
}

func plainKey(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "") }
