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

// makers returns the definition of a tool that OpenAI defines and the client runs. Its calls have
// the name of the request's tool.
func (c *conversation) makers(name string, own map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	var kind, label string
	_ = json.Unmarshal(own["type"], &kind)          // it is a text
	_ = json.Unmarshal(own["server_label"], &label) // if there is one
	choice := map[string]string{"type": kind}
	if label != "" {
		choice["server_label"] = label
	}
	if kind == "custom" {
		choice["name"] = c.names.Encode(name)
		own["name"] = adapter.JSON(choice["name"])
	} else {
		if c.makerTools == nil {
			c.makerTools = map[string]string{}
		}
		if other, ok := c.makerTools[kind+label]; ok {
			return nil, fault.Errorf(fault.Invalid, "openai: the tools %q and %q have the same type in their Options, %q",
				other, name, kind)
		}
		c.makerTools[kind+label] = name
	}
	if c.choices == nil {
		c.choices = map[string]map[string]string{}
	}
	c.choices[name] = choice
	return own, nil
}

// customTool returns the definition of a tool with free text as its input for Chat Completions.
func (c *conversation) customTool(name string, own map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	var custom map[string]json.RawMessage
	if json.Unmarshal(own["custom"], &custom) != nil || custom == nil {
		return nil, fault.Errorf(fault.Invalid, "openai: the tool %q: custom in its Options isn't a JSON object", name)
	}
	custom["name"] = adapter.JSON(c.names.Encode(name))
	own["custom"] = adapter.JSON(custom)
	return own, nil
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
		switch {
		case own != nil && c.m.api == Responses:
			if tools[i].own, err = c.makers(t.Name, own); err != nil {
				return nil, err
			}
			continue
		case own["custom"] != nil: // the only other type that Chat Completions have
			if tools[i].own, err = c.customTool(t.Name, own); err != nil {
				return nil, err
			}
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
	if t.own != nil {
		return chatTool{own: t.own}, nil
	}
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
