package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An asking item is an item of the Responses API by which the model calls a tool that the maker
// defines and the client runs, or asks the client to approve a call of the server's. Such an item
// becomes a call of the tool with this name. Types and fields are those of OpenAI's reference of
// the Responses API.
type asking struct {
	tool   string
	input  string // the field with the input; empty: all but those that say what and whose it is
	output string // the type of the item with the result
	id     string // the field of that item with the id of the call
	field  string // a result that is a JSON object with this field has the fields of that item
	kind   string // the type of the tool's definition, if it isn't the name
}

var askings = map[string]asking{
	"shell_call": {tool: "shell", input: "action", output: "shell_call_output", id: "call_id", field: "output"},
	"local_shell_call": {tool: "local_shell", input: "action", output: "local_shell_call_output",
		id: "call_id"},
	"apply_patch_call": {tool: "apply_patch", input: "operation", output: "apply_patch_call_output",
		id: "call_id", field: "status"},
	"computer_call": {tool: "computer", output: "computer_call_output", id: "call_id",
		field: "acknowledged_safety_checks"},
	"tool_search_call": {tool: "tool_search", input: "arguments", output: "tool_search_output", id: "call_id",
		field: "tools"},
	"mcp_approval_request": {tool: "mcp_approval_request", output: "mcp_approval_response",
		id: "approval_request_id", field: "approve", kind: "mcp"},
}

// asks returns what an item asks the client for; ok is false for items that ask for nothing, also
// because the server runs the call itself. A request without any tool names no MCP server whose
// calls somebody could approve.
func (d *responsesDecoder) asks(kind string, raw json.RawMessage) (a asking, ok bool) {
	if a, ok = askings[kind]; !ok {
		return a, false
	}
	var where struct {
		Execution   string `json:"execution"` // of a search: "client" or "server"
		Environment struct {
			Type string `json:"type"` // of a shell: "local", or one of the server's
		} `json:"environment"`
	}
	_ = decode(raw, &where) // without these fields, the defaults count
	switch kind {
	case "tool_search_call":
		return a, where.Execution == "client"
	case "mcp_approval_request":
		return a, d.offers
	}
	return a, !strings.HasPrefix(where.Environment.Type, "container")
}

// asked yields a call that waits for the client. Its input is a JSON object.
func (d *responsesDecoder) asked(it *outputItem, a asking, raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return
	}
	var input json.RawMessage
	if a.input != "" {
		input = fields[a.input]
	} else {
		for _, name := range []string{"type", "id", "call_id", "status"} {
			delete(fields, name)
		}
		input = adapter.JSON(fields)
	}
	if !isSet(input) {
		input = json.RawMessage("{}")
	}
	name := d.ofMaker[cmp.Or(a.kind, a.tool)+label(fields)]
	if a.tool == "computer" {
		name = cmp.Or(name, d.ofMaker["computer_use_preview"])
	}
	name = cmp.Or(name, a.tool)
	d.called, d.last = true, it
	d.Put(provider.ToolStart(it.index, cmp.Or(it.item.CallID, it.item.ID), name))
	d.Put(provider.ToolDelta(it.index, string(input)))
	d.Put(provider.ToolEnd(it.index))
	d.Put(provider.AttachTo(it.index, d.opaque(kindItem, adapter.Compact(raw))))
}

// noPicture is a picture of one transparent pixel.
const noPicture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6" +
	"kgAAAABJRU5ErkJggg=="

// answered returns the items with the result of a call that waited for the client. A tool sets the
// fields of such an item by a result that is a JSON object with one of them; any other result
// becomes what the kind of item has for a text. An approval is given only by its field.
func (c *conversation) answered(item string, result *provider.Part) ([]any, error) {
	var call struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Call string `json:"call_id"`
	}
	if err := json.Unmarshal([]byte(item), &call); err != nil {
		return nil, err
	}
	a := askings[call.Type]
	text, media := resultText(result)
	failed := result == nil || result.Result.Error
	var out map[string]any
	plain := failed || json.Unmarshal([]byte(text), &out) != nil || out[a.field] == nil
	if plain {
		out = plainly(call.Type, text, failed)
	}
	out["type"], out[a.id] = a.output, cmp.Or(call.Call, call.ID)
	items := []any{out}
	switch call.Type {
	case "computer_call": // its item has a picture, and no text
		shot := map[string]any{"type": "computer_screenshot", "image_url": noPicture}
		if len(media) > 0 {
			picture, err := c.responsesMedia(media[0].Media)
			if err != nil {
				return nil, err
			}
			if shot["image_url"] = picture.ImageURL; picture.FileID != "" {
				shot = map[string]any{"type": "computer_screenshot", "file_id": picture.FileID}
			}
		}
		out["output"] = shot
		if plain && (len(media) == 0 || result.Result.Text() != "") {
			items = append(items, inputItem{Role: "user", Content: "Result of the call of computer: " + text})
		}
	case "mcp_approval_request":
		out["approve"] = out["approve"] == true
	case "tool_search_call":
		out["execution"] = "client"
	}
	return items, nil
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
