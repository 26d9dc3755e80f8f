package openai

import (
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A toolDefinition is a tool with the name and the schema that the server accepts.
type toolDefinition struct {
	chatFunction
	options map[string]json.RawMessage
	own     map[string]json.RawMessage // all of the definition, if the maker defines the tool
}

// label returns what tells an MCP server from others, in its definition and in what it asks for.
func label(fields map[string]json.RawMessage) string { return string(fields["server_label"]) }

// makers returns the definition of a tool that OpenAI defines and the client runs. Its calls have
// the name of the request's tool.
func (c *conversation) makers(name string, own map[string]json.RawMessage) map[string]json.RawMessage {
	var kind string
	_ = json.Unmarshal(own["type"], &kind) // it is a text
	if kind == "custom" {
		own["name"] = adapter.JSON(c.names.Encode(name))
		return own
	}
	if c.ofMaker == nil {
		c.ofMaker = map[string]string{}
	}
	c.ofMaker[kind+label(own)] = name
	return own
}

// tools returns the tools of the request. Their options are under the same keys as those of the
// request.
func (c *conversation) tools() ([]toolDefinition, error) {
	tools := make([]toolDefinition, len(c.req.Tools))
	for i := range c.req.Tools {
		t := &c.req.Tools[i]
		options, own, err := adapter.ToolOptions("openai", "function", t,
			[]string{"type", "function", "name", "parameters"},
			slices.Compact([]string{"openai", c.m.name})...)
		if err != nil {
			return nil, err
		}
		if own != nil && c.m.api == Responses { // Chat Completions have no such tools
			tools[i].own = c.makers(t.Name, own)
			continue
		}
		schema, err := parameters(t, adapter.AsksStrict(options))
		if err != nil {
			return nil, err
		}
		tools[i] = toolDefinition{options: options,
			chatFunction: chatFunction{Name: c.names.Encode(t.Name), Description: t.Description, Parameters: schema}}
	}
	return tools, nil
}

// chat returns a tool as Chat Completions has it: the options are members of its function, except
// for cache_control, which servers have beside that.
func (t *toolDefinition) chat() (out chatTool, err error) {
	out.Type = "function"
	if mark, ok := t.options["cache_control"]; ok {
		if err := json.Unmarshal(mark, &out.CacheControl); err != nil {
			return out, fault.Errorf(fault.Invalid, "openai: the tool %q: cache_control can't be decoded: %w", t.Name, err)
		}
		delete(t.options, "cache_control") // the map is the adapter's own
	}
	out.Function, err = adapter.WithOptions(t.chatFunction, t.options)
	return out, err
}
