package bedrock

import (
	"cmp"
	"encoding/json"
	"strings"
)

// A block is a block of an answer of Converse: whole, or its start, or a piece of it.
type block struct {
	Text    *string `json:"text"`
	ToolUse *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"` // of a piece: a string
	} `json:"toolUse"`
	Reasoning *struct {
		Text      *string `json:"text"`
		Signature string  `json:"signature"`
		Redacted  string  `json:"redactedContent"`
		Whole     *struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
	} `json:"reasoningContent"`
	Cited *struct {
		Content   []block    `json:"content"`
		Citations []citation `json:"citations"`
	} `json:"citationsContent"` // of a whole answer
	Citation *citation `json:"citation"` // of a piece: of the text before it
}

// A citation is a source of a text.
type citation struct {
	Title  string `json:"title"`
	Source string `json:"source"`
	Texts  []struct {
		Text string `json:"text"`
	} `json:"sourceContent"`
	Location struct {
		Web struct {
			URL string `json:"url"`
		} `json:"web"`
	} `json:"location"`
}

// converted returns the citation as the package anthropic reads it.
func (c *citation) converted() any {
	var text strings.Builder
	for _, one := range c.Texts {
		text.WriteString(one.Text)
	}
	return map[string]string{"type": "converse", "cited_text": text.String(), "title": cmp.Or(c.Title, c.Source),
		"url": c.Location.Web.URL}
}

// A message is an event of ConverseStream, with the fields of all kinds, or an answer of Converse.
type message struct {
	Index int    `json:"contentBlockIndex"`
	Start block  `json:"start"`
	Delta block  `json:"delta"`
	Stop  string `json:"stopReason"`
	Usage *usage `json:"usage"`
	metadata
	Output *struct {
		Message struct {
			Content []block `json:"content"`
		} `json:"message"`
	} `json:"output"`
}

// metadata has members of an answer that aren't content. The package anthropic keeps them.
type metadata struct {
	Trace       json.RawMessage `json:"trace,omitempty"`
	Tier        json.RawMessage `json:"serviceTier,omitempty"`
	Performance json.RawMessage `json:"performanceConfig,omitempty"`
	More        json.RawMessage `json:"additionalModelResponseFields,omitempty"`
}

// ended is an event message_delta: the end of an answer, and its usage.
type ended struct {
	Delta any `json:"delta,omitempty"`
	Usage any `json:"usage,omitempty"`
	metadata
}

// usage is decoded from Converse's figures.
type usage struct {
	Input      json.Number `json:"inputTokens"`
	Output     json.Number `json:"outputTokens"`
	CacheRead  json.Number `json:"cacheReadInputTokens"`
	CacheWrite json.Number `json:"cacheWriteInputTokens"`
}

// fields returns the figures as the package anthropic reads them.
func (u *usage) fields() map[string]json.Number {
	out := map[string]json.Number{}
	for name, n := range map[string]json.Number{"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite} {
		if n != "" {
			out[name] = n
		}
	}
	return out
}

// conversed converts a frame of ConverseStream, or an answer of Converse.
func (e *events) conversed(f *frame) error {
	var m message
	if err := json.Unmarshal(f.payload, &m); err != nil {
		return garbled("an event", err)
	}
	if f.headers == nil {
		return e.answer(&m, f.payload)
	}
	switch f.headers[":event-type"] {
	case "messageStart":
		e.event("message_start", map[string]any{"message": struct{}{}})
	case "contentBlockStart":
		if m.Start.ToolUse != nil {
			e.start(m.Index, &m.Start)
		}
	case "contentBlockDelta":
		return e.delta(m.Index, &m.Delta)
	case "contentBlockStop":
		if e.blocks[m.Index] {
			delete(e.blocks, m.Index)
			e.event("content_block_stop", indexed{Index: m.Index})
		}
	case "messageStop":
		e.ended = true
		e.event("message_delta", ended{Delta: map[string]string{"stop_reason": m.Stop}, metadata: m.metadata})
	case "metadata":
		end := ended{metadata: m.metadata}
		if m.Usage != nil {
			end.Usage = m.Usage.fields()
		}
		e.event("message_delta", end)
		if e.ended {
			e.ended = false
			e.event("message_stop", struct{}{})
		}
	}
	return nil
}

// indexed is an event of a block.
type indexed struct {
	Index int `json:"index"`
	Block any `json:"content_block,omitempty"`
	Delta any `json:"delta,omitempty"`
}

// start writes the start of a block.
func (e *events) start(index int, b *block) {
	e.blocks[index] = true
	e.event("content_block_start", indexed{Index: index, Block: converted(b)})
}

// delta writes a piece of a block, after its start if that didn't come.
func (e *events) delta(index int, d *block) error {
	piece := map[string]any{}
	kind := ""
	switch r := d.Reasoning; {
	case d.Text != nil:
		kind, piece["type"], piece["text"] = "text", "text_delta", *d.Text
	case d.ToolUse != nil:
		piece["type"] = "input_json_delta"
		var input string
		if len(d.ToolUse.Input) > 0 {
			if err := json.Unmarshal(d.ToolUse.Input, &input); err != nil {
				return garbled("a piece of a tool call", err)
			}
		}
		piece["partial_json"] = input
		if !e.blocks[index] {
			return garbled("a piece of a tool call that hasn't started", nil)
		}
	case r != nil && r.Redacted != "":
		e.start(index, d)
		return nil
	case r != nil && r.Text != nil:
		kind, piece["type"], piece["thinking"] = "thinking", "thinking_delta", *r.Text
	case r != nil && r.Signature != "":
		kind, piece["type"], piece["signature"] = "thinking", "signature_delta", r.Signature
	case d.Citation != nil:
		kind, piece["type"], piece["citation"] = "text", "citations_delta", d.Citation.converted()
	default:
		return nil // an unknown kind
	}
	if !e.blocks[index] {
		e.blocks[index] = true
		e.event("content_block_start", indexed{Index: index, Block: map[string]string{"type": kind}})
	}
	e.event("content_block_delta", indexed{Index: index, Delta: piece})
	return nil
}

// answer writes an answer that came in one piece. What isn't an answer stays as it is.
func (e *events) answer(m *message, text []byte) error {
	if m.Output == nil {
		e.out.Write(text)
		return nil
	}
	blocks := []any{}
	for i := range m.Output.Message.Content {
		if b := converted(&m.Output.Message.Content[i]); b != nil {
			blocks = append(blocks, b)
		}
	}
	if m.Usage == nil {
		m.Usage = &usage{}
	}
	data, err := json.Marshal(struct {
		Type    string                 `json:"type"`
		Content []any                  `json:"content"`
		Stop    string                 `json:"stop_reason"`
		Usage   map[string]json.Number `json:"usage"`
		metadata
	}{"message", blocks, m.Stop, m.Usage.fields(), m.metadata})
	if err != nil {
		return garbled("an answer", err)
	}
	e.out.Write(data)
	return nil
}

// converted returns a block as the package anthropic reads it, nil for an unknown kind.
func converted(b *block) any {
	switch r := b.Reasoning; {
	case b.Text != nil:
		return map[string]string{"type": "text", "text": *b.Text}
	case b.ToolUse != nil:
		return map[string]any{"type": "tool_use", "id": b.ToolUse.ID, "name": b.ToolUse.Name, "input": b.ToolUse.Input}
	case r != nil && r.Redacted != "":
		return map[string]string{"type": "redacted_thinking", "data": r.Redacted}
	case b.Cited != nil:
		text := ""
		for _, one := range b.Cited.Content {
			if one.Text != nil {
				text += *one.Text
			}
		}
		citations := []any{}
		for i := range b.Cited.Citations {
			citations = append(citations, b.Cited.Citations[i].converted())
		}
		return map[string]any{"type": "text", "text": text, "citations": citations}
	case r != nil && r.Whole != nil:
		return map[string]string{"type": "thinking", "thinking": r.Whole.Text, "signature": r.Whole.Signature}
	}
	return nil
}
