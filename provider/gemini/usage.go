package gemini

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// usageCounts are the counts of an answer so far. They are totals each time: later ones replace
// earlier ones, field by field.
type usageCounts struct {
	Prompt     float64 `json:"promptTokenCount"` // with what was read from a cache
	ToolPrompt float64 `json:"toolUsePromptTokenCount"`
	Cached     float64 `json:"cachedContentTokenCount"`
	Candidates float64 `json:"candidatesTokenCount"` // without thoughts
	Thoughts   float64 `json:"thoughtsTokenCount"`

	Tier    adapter.Detail `json:"serviceTier"`
	Traffic adapter.Detail `json:"trafficType"` // of Vertex AI
}

// figure is in the name of each of them. The first objects of an answer may hold only other things.
var figure = []byte(`TokenCount"`)

// normal returns the figures as a provider.Usage. raw is the last object that had any.
func (f usageCounts) normal(raw json.RawMessage) provider.Usage {
	prompt := tokens(f.Prompt) + tokens(f.ToolPrompt)
	return provider.Usage{
		Input:     prompt,
		Output:    tokens(f.Candidates) + tokens(f.Thoughts),
		CacheRead: min(tokens(f.Cached), prompt),
		Reasoning: tokens(f.Thoughts),
		Raw:       adapter.Compact(raw),
	}
}

// tokens returns a count, which may be written as 12.0, as a number of tokens.
func tokens(count float64) int64 {
	const most = 1 << 53 // more than any answer has, and small enough that sums don't overflow
	return int64(min(max(count, 0), most))
}
