package gemini

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// usageCounts are the counts of an answer so far. They are totals each time: later ones replace
// earlier ones, field by field.
type usageCounts struct {
	Prompt     int64 `json:"promptTokenCount"` // with what was read from a cache
	ToolPrompt int64 `json:"toolUsePromptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"` // without thoughts
	Thoughts   int64 `json:"thoughtsTokenCount"`

	Tier    adapter.Detail `json:"serviceTier"`
	Traffic adapter.Detail `json:"trafficType"` // of Vertex AI
}

// figure is in the name of each of them. The first objects of an answer may hold only other things.
var figure = []byte(`TokenCount"`)

// normal returns the figures as a provider.Usage. raw is the last object that had any.
func (f usageCounts) normal(raw json.RawMessage) provider.Usage {
	f.Prompt, f.ToolPrompt, f.Cached = max(f.Prompt, 0), max(f.ToolPrompt, 0), max(f.Cached, 0)
	f.Candidates, f.Thoughts = max(f.Candidates, 0), max(f.Thoughts, 0)
	return provider.Usage{
		Input:     f.Prompt + f.ToolPrompt,
		Output:    f.Candidates + f.Thoughts,
		CacheRead: min(f.Cached, f.Prompt+f.ToolPrompt),
		Reasoning: f.Thoughts,
		Raw:       adapter.Compact(raw),
	}
}
