package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// itemOfServer yields a call that waits for the client, a call that the server ran, with its
// result, or an opaque item: a list of tools, an item of an unknown kind. All of them are sent back
// unchanged.
func (d *responsesDecoder) itemOfServer(it *outputItem, raw json.RawMessage) {
	item := &it.item
	if a, ok := d.clientItem(item.Type, raw); ok {
		d.asked(it, a, raw)
		return
	}
	d.last = nil
	o := d.opaque(kindItem, adapter.Compact(raw))
	if item.Type == "shell_call_output" {
		d.shellResult(item, o, raw)
		return
	}
	id, separate := item.ID, item.Type == "shell_call" // its result is an item of its own
	switch {
	case separate:
		id = item.CallID
	case !ranByServer[item.Type]:
		d.Put(provider.OpaquePart(o))
		return
	}
	call := provider.ProviderCall(provider.ToolCall{ID: id, Name: item.Type, Input: item.input()})
	call.Extra.Part.Opaque = &o
	if d.Put(call); separate {
		return
	}
	result := provider.ToolResult{CallID: id, Name: item.Type, Error: item.Status == "failed" ||
		item.Status == "incomplete" || isSet(item.Error)}
	for _, text := range item.said() {
		result.Parts = append(result.Parts, provider.TextPart(text))
	}
	d.Put(provider.ProviderResult(result))
	if data, err := base64.StdEncoding.DecodeString(item.Result); err == nil && len(data) > 0 {
		d.Put(provider.File(provider.Media{Type: "image/" + cmp.Or(item.Format, "png"), Data: data}))
	}
}

// shellResult yields the result of a command that the server ran in a container of its own.
func (d *responsesDecoder) shellResult(item *responsesItem, o provider.Opaque, raw json.RawMessage) {
	asked := func(it *outputItem) bool { return it.asked != "" && it.item.CallID == item.CallID }
	if slices.ContainsFunc(d.items, asked) {
		d.fail(&provider.Error{Class: fault.Transient, Status: 200,
			Message: "the server asks for a call and sends its result"})
		return
	}
	var said struct {
		Output []outcome `json:"output"`
	}
	_ = decode(raw, &said) // what is missing is empty
	result := provider.ToolResult{CallID: item.CallID, Name: "shell_call"}
	for _, one := range said.Output {
		result.Parts = append(result.Parts, provider.TextPart(one.Stdout+one.Stderr))
		result.Error = result.Error || one.Outcome.Type == "timeout" || one.Outcome.Code != 0
	}
	chunk := provider.ProviderResult(result)
	chunk.Extra.Part.Opaque = &o
	d.Put(chunk)
}

// ranByServer are the types of the calls that the server runs itself.
var ranByServer = map[string]bool{"web_search_call": true, "file_search_call": true, "code_interpreter_call": true,
	"image_generation_call": true, "mcp_call": true, "tool_search_call": true}

// input returns the input of a call that the server ran, as JSON; nil if it isn't known.
func (i *responsesItem) input() json.RawMessage {
	switch {
	case isSet(i.Action):
		return i.Action
	case i.Arguments != "":
		return json.RawMessage(i.Arguments)
	case isSet(i.Code):
		return adapter.JSON(map[string]json.RawMessage{"code": i.Code})
	case isSet(i.Queries):
		return adapter.JSON(map[string]json.RawMessage{"queries": i.Queries})
	}
	return nil
}

// said returns the texts in the result of such a call.
func (i *responsesItem) said() []string {
	var texts []string
	for _, list := range [][]itemText{i.Outputs, i.Results} {
		for _, one := range list {
			if text := one.Text + one.Logs; text != "" {
				texts = append(texts, text)
			}
		}
	}
	if i.Output != "" {
		texts = append(texts, string(i.Output))
	}
	if isSet(i.Error) {
		texts = append(texts, adapter.ParseFailure(i.Error).Message)
	}
	return texts
}
