package openai

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// chatBeside are the members of an event, or of a whole answer, that say something beside it.
type chatBeside struct {
	Tier        adapter.Detail `json:"service_tier"`
	Fingerprint adapter.Detail `json:"system_fingerprint"`
	Moderation  adapter.Detail `json:"moderation"`
	Filter      adapter.Detail `json:"prompt_filter_results"` // of Azure
	Upstream    adapter.Detail `json:"provider"`              // of OpenRouter
}

// reset forgets the values, and keeps the memory of those that come with every event.
func (b *chatBeside) reset() { *b = chatBeside{Tier: b.Tier[:0], Fingerprint: b.Fingerprint[:0]} }

// beside keeps what an event says beside the answer.
func (d *chatDecoder) beside(b *chatBeside) {
	d.Beside.Set("service_tier", json.RawMessage(b.Tier))
	d.Beside.Set("system_fingerprint", json.RawMessage(b.Fingerprint))
	d.Beside.Set("moderation", json.RawMessage(b.Moderation))
	d.Beside.Set("prompt_filter_results", json.RawMessage(b.Filter))
	d.Beside.Set("provider", json.RawMessage(b.Upstream))
}

// responsesBeside are the members of a response that say something beside it.
type responsesBeside struct {
	Tier         adapter.Detail `json:"service_tier"`
	Moderation   adapter.Detail `json:"moderation"`
	Filters      adapter.Detail `json:"content_filters"` // of Azure
	Conversation adapter.Detail `json:"conversation"`
}

// beside keeps what a response says beside its output, and the log probabilities of its texts.
func (d *responsesDecoder) beside(b *responsesBeside) {
	d.Beside.Set("service_tier", json.RawMessage(b.Tier))
	d.Beside.Set("moderation", json.RawMessage(b.Moderation))
	d.Beside.Set("content_filters", json.RawMessage(b.Filters))
	d.Beside.Set("conversation", json.RawMessage(b.Conversation))
	for _, it := range d.items {
		for i := range it.item.Content {
			d.Beside.Add("logprobs", json.RawMessage(it.item.Content[i].Logprobs))
		}
	}
}
