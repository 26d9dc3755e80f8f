package openai

import (
	"bytes"
	"strings"
)

// mostMarks is the largest number of cache marks that Anthropic's models accept in a request.
const mostMarks = 4

type cacheMark struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

var ephemeral = &cacheMark{Type: "ephemeral"}

// cacheKey makes the calls of a session go to the servers that have its prompt in their cache.
// OpenAI gets a hash, so that it doesn't learn the names of sessions. Only OpenAI's own host gets a
// key: others reject the field, for all models or for some (Azure).
func (c *conversation) cacheKey() string {
	if !c.req.Cache || !c.m.host.own || c.req.Labels.Session == "" {
		return ""
	}
	return "pawl-" + digest(c.req.Labels.Session)[:32]
}

// marksCache reports whether the prompt has to be marked because of [provider.Request.Cache]: the
// server accepts marks, the model doesn't cache without them, and the options have none.
func (c *conversation) marksCache() bool {
	if !c.req.Cache || !c.m.host.Chat.CacheMarks || !strings.HasPrefix(c.model, "anthropic/") {
		return false
	}
	for _, key := range []string{"openai", c.m.name} {
		if bytes.Contains(c.req.Options[key], []byte(`"cache_control"`)) {
			return false
		}
	}
	return true
}

// addMarks marks the newest message, the system text, the last tool, and the message that was the
// newest in the call before, in this order, as far as marks of the request's own parts leave room.
// It writes all contents as lists of parts, because only parts can be marked, and a content that
// was marked in one request and not in the next must stay the same otherwise.
func (r *chatRequest) addMarks() {
	room := mostMarks
	for i := range r.Tools {
		if r.Tools[i].CacheControl != nil { // its options have it
			room--
		}
	}
	last := make([]*chatPart, len(r.Messages)) // the last part of each message of the system, the user and tools
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == "assistant" {
			continue
		}
		if text, ok := m.Content.(string); ok {
			m.Content = []chatPart{{Type: "text", Text: text}}
		}
		if parts, ok := m.Content.([]chatPart); ok && len(parts) > 0 {
			last[i] = &parts[len(parts)-1]
			for j := range parts {
				if parts[j].CacheControl != nil {
					room--
				}
			}
		}
	}
	mark := func(at **cacheMark) {
		if *at == nil && room > 0 {
			*at = ephemeral
			room--
		}
	}
	markBefore := func(end int) (at int) {
		for at = end - 1; at >= 0; at-- {
			if last[at] != nil {
				mark(&last[at].CacheControl)
				break
			}
		}
		return at
	}
	newest := markBefore(len(last))
	if r.Messages[0].Role == "system" {
		mark(&last[0].CacheControl)
	}
	if n := len(r.Tools); n > 0 {
		mark(&r.Tools[n-1].CacheControl)
	}
	for newest > 0 && last[newest-1] != nil {
		newest-- // other results of the same reply
	}
	markBefore(newest)
}
