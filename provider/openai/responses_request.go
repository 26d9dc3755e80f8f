package openai

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A responsesRequest is the body of a request to the Responses API. Nothing is stored at the
// server, so each request contains everything that the server needs.
type responsesRequest struct {
	Model        string `json:"model"`
	Instructions string `json:"instructions,omitempty"`
	// inputItem, json.RawMessage, or what answered returns
	Input             []any               `json:"input"`
	Tools             []any               `json:"tools,omitempty"` // responsesTool, perhaps with options
	ToolChoice        any                 `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool               `json:"parallel_tool_calls,omitempty"`
	MaxOutputTokens   int                 `json:"max_output_tokens,omitempty"`
	Temperature       *float64            `json:"temperature,omitempty"`
	TopP              *float64            `json:"top_p,omitempty"`
	Reasoning         *responsesReasoning `json:"reasoning,omitempty"`
	Text              *responsesText      `json:"text,omitempty"`
	Include           []string            `json:"include,omitempty"`
	PromptCacheKey    string              `json:"prompt_cache_key,omitempty"`
	Store             bool                `json:"store"`
	Stream            bool                `json:"stream"`
}

// An inputItem is a message, a call or the result of one.
type inputItem struct {
	Type      string `json:"type,omitempty"`
	ID        string `json:"id,omitempty"`
	Role      string `json:"role,omitempty"`
	Status    string `json:"status,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Content   any    `json:"content,omitempty"` // a string or []inputPart
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Input     any    `json:"input,omitempty"`
	Output    any    `json:"output,omitempty"` // a string or []inputPart

	other map[string]json.RawMessage // fields as the server sent them
}

// MarshalJSON encodes the item with its other fields.
func (i inputItem) MarshalJSON() ([]byte, error) {
	type plain inputItem // without this method
	raw := adapter.JSON(plain(i))
	var fields map[string]json.RawMessage
	if len(i.other) == 0 || json.Unmarshal(raw, &fields) != nil {
		return raw, nil
	}
	maps.Copy(fields, i.other)
	return adapter.JSON(fields), nil
}

type inputPart struct {
	Type        string     `json:"type"`
	Text        string     `json:"text,omitempty"`
	Refusal     string     `json:"refusal,omitempty"`
	Annotations *[]string  `json:"annotations,omitempty"` // required, and always empty
	ImageURL    string     `json:"image_url,omitempty"`
	FileID      string     `json:"file_id,omitempty"`
	FileURL     string     `json:"file_url,omitempty"`
	Filename    string     `json:"filename,omitempty"`
	FileData    string     `json:"file_data,omitempty"`
	InputAudio  *chatAudio `json:"input_audio,omitempty"`
}

type responsesTool struct {
	Type string `json:"type"`
	chatFunction
	Strict bool `json:"strict"` // sent also if false: the server's default is true
}

type responsesReasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Type string `json:"type"`
	formatSchema
}

// encryptedReasoning asks for reasoning in a form that can be sent back.
const encryptedReasoning = "reasoning.encrypted_content"

// responses returns the body of a request to the Responses API.
func (c *conversation) responses() ([]byte, error) {
	req := c.req
	r := responsesRequest{Model: c.model, Instructions: req.System, MaxOutputTokens: req.MaxOutput, Stream: true,
		PromptCacheKey: c.cacheKey()}
	if len(c.turns) == 0 {
		return nil, errEmpty
	}
	for i := range c.turns {
		if err := c.inputItems(&r, &c.turns[i]); err != nil {
			return nil, err
		}
	}
	tools, err := c.tools()
	if err != nil {
		return nil, err
	}
	for i := range tools {
		if own := tools[i].own; own != nil {
			r.Tools = append(r.Tools, own)
			continue
		}
		one, err := adapter.WithOptions(responsesTool{Type: "function", chatFunction: tools[i].chatFunction},
			tools[i].options)
		if err != nil {
			return nil, err
		}
		r.Tools = append(r.Tools, one)
	}
	r.ToolChoice, r.ParallelToolCalls = c.choice(func(name string) any {
		if choice := c.choices[req.ToolChoice.Tool]; choice != nil {
			return choice
		}
		return map[string]string{"type": "function", "name": name}
	})
	if s := req.Sampling; s != nil {
		r.Temperature, r.TopP = s.Temperature, s.TopP
	}
	if supportsEncryptedReasoning(c.model) {
		r.Include = []string{encryptedReasoning}
	}
	if o := req.Reasoning; o != nil {
		r.Reasoning = &responsesReasoning{Effort: effort(o)}
		if !o.Hide {
			r.Reasoning.Summary = "auto"
		}
	}
	if o := req.Output; o != nil {
		r.Text = &responsesText{Format: responsesFormat{"json_schema", outputSchema(formatName(o), o)}}
	}
	return c.encode(&r)
}

// inputItems adds the items of a turn.
func (c *conversation) inputItems(r *responsesRequest, t *adapter.Turn) error {
	if !t.Model {
		content, err := c.inputContent(t.Parts)
		if err == nil && len(t.Parts) > 0 {
			r.Input = append(r.Input, inputItem{Role: "user", Content: content})
		}
		return err
	}
	c.outputItems(r, t)
	for _, call := range t.Calls {
		if item, ok := c.own(call.Part, kindItem); ok {
			items, err := c.answered(item, call.Result)
			if err != nil {
				return err
			}
			r.Input = append(r.Input, items...)
			continue
		}
		output, err := c.output(call.Result)
		if err != nil {
			return err
		}
		item := inputItem{Type: "function_call_output", CallID: call.ID, Output: output}
		data, custom := c.own(call.Part, kindCustomCall)
		if custom {
			item.Type = "custom_tool_call_output"
		} else {
			data, _ = c.own(call.Part, kindCall)
		}
		if caller := fieldsOf(data)["caller"]; caller != nil {
			item.other = map[string]json.RawMessage{"caller": caller}
		}
		r.Input = append(r.Input, item)
	}
	return nil
}

// inputContent returns the content of a user message: a string if it is one text.
func (c *conversation) inputContent(parts []*provider.Part) (any, error) {
	if len(parts) == 1 && parts[0].Kind == provider.PartText {
		return parts[0].Text, nil
	}
	out := make([]inputPart, 0, len(parts))
	for _, p := range parts {
		one := inputPart{Type: "input_text", Text: p.Text}
		if p.Kind == provider.PartMedia {
			var err error
			if one, err = c.responsesMedia(p.Media); err != nil {
				return nil, err
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// output returns the content of a result.
func (c *conversation) output(result *provider.Part) (any, error) {
	text, media := resultText(result)
	if len(media) == 0 {
		return text, nil
	}
	return c.inputContent(contents(result.Result))
}

// outputItems adds the model's message: reasoning and calls that the server ran as the items that
// it sent, the other parts encoded again, with their ids.
//
// A reasoning item that the server can't read, because it isn't encrypted and nothing is stored, is
// left out. Then the ids of the other items are left out, too, since the server would miss the
// reasoning that belongs to them.
func (c *conversation) outputItems(r *responsesRequest, t *adapter.Turn) {
	withIDs := !slices.ContainsFunc(t.Parts, func(p *provider.Part) bool {
		item, ok := c.own(p, kindItem)
		return ok && !c.readable(item)
	})
	for _, p := range t.Parts {
		if item, ok := c.own(p, kindItem); ok {
			if c.readable(item) {
				r.Input = append(r.Input, json.RawMessage(item))
			}
			continue
		}
		var known messageData
		id := func(data string) {
			if json.Unmarshal([]byte(data), &known) != nil || !withIDs {
				known.ID = ""
			}
		}
		switch p.Kind {
		case provider.PartText, provider.PartRefusal:
			if data, ok := c.own(p, kindMessage); ok {
				id(data)
			}
			if p.Text == "" {
				continue
			}
			part := inputPart{Type: "output_text", Text: p.Text, Annotations: new([]string{})}
			if p.Kind == provider.PartRefusal {
				part = inputPart{Type: "refusal", Refusal: p.Text}
			}
			r.Input = append(r.Input, inputItem{Type: "message", ID: known.ID, Role: "assistant", Status: "completed",
				Phase: known.Phase, Content: []inputPart{part}})
		case provider.PartToolCall:
			item := inputItem{Type: "function_call", CallID: t.Call(p).ID, Name: c.names.Encode(p.Call.Name)}
			data, input, custom := c.freeForm(p)
			if custom {
				item.Type, item.Input = "custom_tool_call", input
			} else {
				data, _ = c.own(p, kindCall)
				item.Arguments = arguments(p.Call)
			}
			item.other = fieldsOf(data)
			if _ = json.Unmarshal(item.other["id"], &item.ID); !withIDs { // there may be none
				item.ID = ""
			}
			delete(item.other, "id")
			r.Input = append(r.Input, item)
		}
	}
}

// fieldsOf returns the other fields of a call that the server sent.
func fieldsOf(data string) (fields map[string]json.RawMessage) {
	if json.Unmarshal([]byte(data), &fields) != nil {
		return nil
	}
	return fields
}

// readable reports whether the server can use an item that it sent. Reasoning must be encrypted or
// plain text.
func (c *conversation) readable(item string) bool {
	var i struct {
		Type      string            `json:"type"`
		Encrypted string            `json:"encrypted_content"`
		Content   []json.RawMessage `json:"content"`
	}
	if json.Unmarshal([]byte(item), &i) != nil {
		return false
	}
	return i.Type != "reasoning" || i.Encrypted != "" || len(i.Content) > 0
}
