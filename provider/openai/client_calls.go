package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A clientItem is an item of the Responses API by which the model calls a tool that the maker
// defines and the client runs, or asks the client to approve a call of the server's. Such an item
// becomes a call of the tool with this name. Types and fields are those of OpenAI's reference of
// the Responses API.
type clientItem struct {
	tool   string
	kind   string // the type of the tool's definition, if it isn't the name
	input  string // the field with the input; empty: all but those that say what and whose it is
	output string // the type of the item with the result
	id     string // the field of that item with the id of the call
	// A result that is a JSON object with field, in a form that fits, sets this field of that item,
	// and also another one.
	field string
	fits  func(value json.RawMessage) bool
	also  string
}

var clientItems = map[string]clientItem{
	"shell_call": {tool: "shell", input: "action", output: "shell_call_output", id: "call_id",
		field: "output", fits: areOutcomes, also: "max_output_length"},
	"local_shell_call": {tool: "local_shell", input: "action", output: "local_shell_call_output",
		id: "call_id"},
	"apply_patch_call": {tool: "apply_patch", input: "operation", output: "apply_patch_call_output",
		id: "call_id", field: "status", fits: isOneOf(`"completed"`, `"failed"`), also: "output"},
	"computer_call": {tool: "computer", output: "computer_call_output", id: "call_id",
		field: "acknowledged_safety_checks", fits: isList},
	"tool_search_call": {tool: "tool_search", input: "arguments", output: "tool_search_output", id: "call_id",
		field: "tools", fits: isList},
	"mcp_approval_request": {tool: "mcp_approval_request", kind: "mcp", output: "mcp_approval_response",
		id: "approval_request_id", field: "approve", fits: isOneOf("true", "false"), also: "reason"},
}

func isList(value json.RawMessage) bool {
	var list []json.RawMessage
	return json.Unmarshal(value, &list) == nil && list != nil
}

func isOneOf(texts ...string) func(json.RawMessage) bool {
	return func(value json.RawMessage) bool { return slices.Contains(texts, string(value)) }
}

// An outcome is how a command ended.
type outcome struct {
	Stdout  string `json:"stdout"`
	Stderr  string `json:"stderr"`
	Outcome struct {
		Type string `json:"type"`
		Code int    `json:"exit_code"`
	} `json:"outcome"`
}

// areOutcomes reports whether a value is a list of outcomes. Programs write other objects with a
// field of that name.
func areOutcomes(value json.RawMessage) bool {
	var list []outcome
	return json.Unmarshal(value, &list) == nil && list != nil &&
		!slices.ContainsFunc(list, func(one outcome) bool { return one.Outcome.Type == "" })
}

// clientItem returns what an item asks the client for; ok is false for items that ask for nothing,
// also because the server runs the call itself. A request without any tool names no MCP server
// whose calls somebody could approve.
func (d *responsesDecoder) clientItem(kind string, raw json.RawMessage) (a clientItem, ok bool) {
	if a, ok = clientItems[kind]; !ok {
		return a, false
	}
	var where struct {
		Execution   string `json:"execution"` // of a search: "client" or "server"
		Environment struct {
			Type string `json:"type"` // of a shell: "local", nothing, or one of the server's
		} `json:"environment"`
	}
	_ = decode(raw, &where) // without these fields, the defaults count
	switch kind {
	case "tool_search_call":
		return a, where.Execution == "client"
	case "mcp_approval_request":
		return a, d.hasTools
	}
	return a, where.Environment.Type == "" || where.Environment.Type == "local"
}

// asked yields a call that waits for the client.
func (d *responsesDecoder) asked(it *outputItem, a clientItem, raw json.RawMessage) {
	id := cmp.Or(it.item.CallID, it.item.ID)
	if id == "" {
		d.fail(&provider.Error{Class: fault.Transient, Status: 200,
			Message: "the server sent a call without an id, so that its result couldn't be sent"})
		return
	}
	name := d.makerTools[cmp.Or(a.kind, a.tool)+it.item.Label]
	if a.tool == "computer" {
		name = cmp.Or(name, d.makerTools["computer_use_preview"])
	}
	it.asked = a.inputOf(raw)
	d.called, d.last = true, it
	d.Put(provider.ToolStart(it.index, id, cmp.Or(name, a.tool)))
	d.Put(provider.ToolDelta(it.index, it.asked))
	d.Put(provider.ToolEnd(it.index))
	d.Put(provider.AttachTo(it.index, d.opaque(kindItem, adapter.Compact(raw))))
}

// inputOf returns the input of a call, which is a JSON object.
func (a *clientItem) inputOf(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return "{}"
	}
	if a.input == "" {
		maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool {
			return !isSet(value) || slices.Contains([]string{"type", "id", "call_id", "status", "caller"}, name)
		})
		return string(adapter.JSON(fields))
	}
	input := fields[a.input]
	var text string
	switch {
	case !isSet(input):
		return "{}"
	case opens(string(input)):
		return adapter.Compact(input)
	case json.Unmarshal(input, &text) == nil && opens(text) && json.Valid([]byte(text)):
		return adapter.Compact([]byte(text))
	}
	return string(adapter.JSON(map[string]json.RawMessage{"input": input}))
}

// agreeing reports whether two JSON values are the same, but for members that only one of them has.
func agreeing(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && agree(x, y)
}

func agree(x, y any) bool {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		for name, value := range x {
			if other := y[name]; value != nil && other != nil && !agree(value, other) {
				return false
			}
		}
		return ok
	case []any:
		y, ok := y.([]any)
		return ok && slices.EqualFunc(x, y, agree)
	}
	return x == y
}

// noPicture is a picture of one transparent pixel.
const noPicture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6" +
	"kgAAAABJRU5ErkJggg=="

// answered returns the items with the result of a call that waited for the client. A tool sets the
// fields of such an item by a result that is a JSON object with them; any other result becomes what
// the kind of item has for a text. An approval is given only by its field. What the item has no
// place for follows as a message.
func (c *conversation) answered(item string, result *provider.Part) ([]any, error) {
	var call struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Call string `json:"call_id"`
	}
	if err := decode([]byte(item), &call); err != nil {
		return nil, err
	}
	a := clientItems[call.Type]
	text, media := resultText(result)
	said := result != nil && result.Result.Text() != ""
	failed := result == nil || result.Result.Error
	var fields map[string]json.RawMessage
	out, plain := map[string]any{}, true
	if !failed && a.fits != nil && json.Unmarshal([]byte(text), &fields) == nil && a.fits(fields[a.field]) {
		plain = false
		for _, name := range []string{a.field, a.also} {
			if isSet(fields[name]) {
				out[name] = fields[name]
			}
		}
	} else {
		out = plainly(call.Type, text, failed)
	}
	out["type"], out[a.id] = a.output, cmp.Or(call.Call, call.ID)
	rest := "" // the text, if the item doesn't have it
	switch call.Type {
	case "computer_call":
		shot := map[string]any{"type": "computer_screenshot", "image_url": noPicture}
		if plain && (said || len(media) == 0) {
			rest = text
		}
		if len(media) > 0 {
			picture, err := c.responsesMedia(media[0].Media)
			if err != nil {
				return nil, err
			}
			if shot["image_url"] = picture.ImageURL; picture.FileID != "" {
				shot = map[string]any{"type": "computer_screenshot", "file_id": picture.FileID}
			}
			media = media[1:]
		}
		out["output"] = shot
	case "tool_search_call":
		if out["execution"] = "client"; plain {
			rest = text
		}
	}
	if rest == "" && len(media) == 0 {
		return []any{out}, nil
	}
	head := provider.TextPart("Result of the call of " + a.tool + ": " + rest)
	content, err := c.inputContent(append([]*provider.Part{&head}, media...))
	return []any{out, inputItem{Role: "user", Content: content}}, err
}

// plainly returns the fields of an item for a result that is a text.
func plainly(kind, text string, failed bool) map[string]any {
	switch kind {
	case "shell_call":
		code := 0
		if failed {
			code = 1
		}
		return map[string]any{"output": []any{map[string]any{"stdout": text, "stderr": "",
			"outcome": map[string]any{"type": "exit", "exit_code": code}}}}
	case "apply_patch_call":
		status := "completed"
		if failed {
			status = "failed"
		}
		return map[string]any{"status": status, "output": text}
	case "tool_search_call":
		return map[string]any{"tools": []any{}}
	case "mcp_approval_request":
		return map[string]any{"approve": false, "reason": text}
	case "computer_call":
		return map[string]any{}
	}
	return map[string]any{"output": text}
}
