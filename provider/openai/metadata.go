package openai

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// chatMetadata has the members of an event, or of a whole answer, that aren't content.
type chatMetadata struct {
	Tier        adapter.Detail `json:"service_tier"`
	Fingerprint adapter.Detail `json:"system_fingerprint"`
	Moderation  adapter.Detail `json:"moderation"`
	Filter      adapter.Detail `json:"prompt_filter_results"` // of Azure
	Upstream    adapter.Detail `json:"provider"`              // of OpenRouter
}

// reset forgets the values, and keeps the memory of those that come with every event.
func (b *chatMetadata) reset() { *b = chatMetadata{Tier: b.Tier[:0], Fingerprint: b.Fingerprint[:0]} }

// addMetadata keeps the metadata of an event.
func (d *chatDecoder) addMetadata(b *chatMetadata) {
	d.Metadata.Set("service_tier", json.RawMessage(b.Tier))
	d.Metadata.Set("system_fingerprint", json.RawMessage(b.Fingerprint))
	d.Metadata.Set("moderation", json.RawMessage(b.Moderation))
	d.Metadata.Set("prompt_filter_results", json.RawMessage(b.Filter))
	d.Metadata.Set("provider", json.RawMessage(b.Upstream))
}

// responsesMetadata has the members of a response that aren't output.
type responsesMetadata struct {
	Tier         adapter.Detail `json:"service_tier"`
	Moderation   adapter.Detail `json:"moderation"`
	Filters      adapter.Detail `json:"content_filters"` // of Azure
	Conversation adapter.Detail `json:"conversation"`
}

// addMetadata keeps the metadata of a response, and the log probabilities of its texts.
func (d *responsesDecoder) addMetadata(b *responsesMetadata) {
	d.Metadata.Set("service_tier", json.RawMessage(b.Tier))
	d.Metadata.Set("moderation", json.RawMessage(b.Moderation))
	d.Metadata.Set("content_filters", json.RawMessage(b.Filters))
	d.Metadata.Set("conversation", json.RawMessage(b.Conversation))
	for _, it := range d.items {
		for i := range it.item.Content {
			d.Metadata.Add("logprobs", json.RawMessage(it.item.Content[i].Logprobs))
		}
	}
}
