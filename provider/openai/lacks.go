package openai

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// What a server's Chat Completions lack is said in another way here, or is an error, so that
// nothing is lost without a word. docs/providers.md says which server lacks what.

// chatChoice sets which tools the model may call. What the server doesn't do is an error of class
// [fault.UserFixable], so that a chain asks its next provider.
func (c *conversation) chatChoice(r *chatRequest) error {
	h, mode := c.m.host.Chat, c.req.ToolChoice.Mode
	r.ToolChoice, r.ParallelToolCalls = c.choice(func(name string) any {
		return map[string]any{"type": "function", "function": map[string]string{"name": name}}
	})
	if h.NoParallelField {
		r.ParallelToolCalls = nil
	}
	switch {
	case r.ToolChoice == nil:
	case h.OnlyAuto && mode == provider.ChooseNone:
		r.Tools, r.ToolChoice, r.ParallelToolCalls = nil, nil, nil
	case h.OnlyAuto:
		return &provider.Error{Class: fault.UserFixable, Message: c.m.host.Title + " doesn't force calls of tools",
			Remedy: "leave Request.ToolChoice empty, or use another server"}
	case h.NoNamedChoice && mode == provider.ChooseTool:
		i := slices.IndexFunc(c.req.Tools, func(t provider.Tool) bool { return t.Name == c.req.ToolChoice.Tool })
		if i < 0 {
			return &provider.Error{Class: fault.UserFixable,
				Message: fmt.Sprintf("Request.ToolChoice names the tool %q, which isn't in Tools", c.req.ToolChoice.Tool),
				Remedy:  "name one of Request.Tools"}
		}
		r.Tools, r.ToolChoice = r.Tools[i:i+1], string(provider.ChooseRequired)
	}
	return nil
}

// chatFormat returns the format of the answer, nil if any will do.
func (c *conversation) chatFormat() *chatFormat {
	o := c.req.Output
	switch {
	case o == nil:
		return nil
	case !c.m.host.Chat.JSONObject:
		schema := outputSchema(formatName(o), o)
		return &chatFormat{Type: "json_schema", JSONSchema: &schema}
	case isObject(o.Schema):
		return &chatFormat{Type: "json_object"}
	}
	return nil
}

// instructions returns the system text. For a server that takes no schema, it has the schema of the
// answer: such servers require the word JSON in the prompt.
func (c *conversation) instructions() string {
	system, o := c.req.System, c.req.Output
	if o == nil || !c.m.host.Chat.JSONObject {
		return system
	}
	if system != "" {
		system += "\n\n"
	}
	return system + "Answer with JSON that is valid for this JSON Schema, and with nothing else:\n" +
		adapter.Compact(o.Schema)
}
