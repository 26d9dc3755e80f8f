package openai

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A conversation is a normalized request: every call is followed by its result, every result
// belongs to a call, and no message is empty. For Chat Completions, two messages in a row never
// have the same role, because servers with their own prompt template reject that.
type conversation struct {
	m     *Model
	model string
	req   *provider.Request
	names *adapter.Names
	turns []turn
	ids   map[string]bool // ids of the calls at the server
}

// A turn is a message of the user or the model, or the results of a turn's calls.
type turn struct {
	role    provider.Role
	parts   []*provider.Part
	results []result
}

// A result is the result of a call.
type result struct {
	part *provider.Part       // the call
	id   string               // id of the call at the server
	res  *provider.ToolResult // nil: no result
}

func newConversation(m *Model, model string, req *provider.Request) *conversation {
	c := &conversation{m: m, model: model, req: req, names: adapter.NewNames(req.Tools)}
	if req.ToolChoice.Mode == provider.ChooseTool {
		c.names.Encode(req.ToolChoice.Tool)
	}
	used := map[*provider.ToolResult]bool{}
	for i := range req.Messages {
		msg := &req.Messages[i]
		if msg.Role == provider.RoleAssistant {
			c.assistant(i, msg, used)
			continue
		}
		var parts []*provider.Part
		for j := range msg.Parts {
			p := &msg.Parts[j]
			switch {
			case p.Kind == provider.PartText && p.Text != "", p.Kind == provider.PartMedia && !empty(p):
				parts = append(parts, p)
			case p.Kind == provider.PartToolResult && p.Result != nil && !used[p.Result]:
				parts = append(parts, strays(p.Result)...)
			}
		}
		c.add(provider.RoleUser, parts)
	}
	return c
}

// assistant adds a message of the model, and the results of its calls.
func (c *conversation) assistant(i int, msg *provider.Message, used map[*provider.ToolResult]bool) {
	var parts []*provider.Part
	var results []result
	for j := range msg.Parts {
		p := &msg.Parts[j]
		if empty(p) {
			continue
		}
		parts = append(parts, p)
		if p.Kind != provider.PartToolCall {
			continue
		}
		results = append(results, result{part: p, id: c.callID(p.Call, fmt.Sprintf("call_%d_%d", i, len(results)))})
	}
	for _, named := range []bool{true, false} { // first the results that also name the tool
		for j := range results {
			if r := &results[j]; r.res == nil {
				r.res = find(r.part.Call, named, c.req.Messages[i+1:], used)
			}
		}
	}
	c.add(provider.RoleAssistant, parts)
	if len(results) > 0 {
		c.turns = append(c.turns, turn{role: provider.RoleTool, results: results})
	}
}

// callID returns the id of a call at the server. It is unique in the conversation, because results
// have no other reference. spare replaces a missing or duplicate id.
func (c *conversation) callID(call *provider.ToolCall, spare string) string {
	id := call.ProviderID
	if id == "" {
		id = call.ID
	}
	if id == "" {
		id = spare
	}
	for {
		sent := id
		if c.m.host.callIDs != nil {
			sent = c.m.host.callIDs(id)
		}
		if !c.ids[sent] {
			if c.ids == nil {
				c.ids = map[string]bool{}
			}
			c.ids[sent] = true
			return sent
		}
		id, spare = spare, spare+"_"
	}
}

// find returns the result of a call: the first unused one with its id, and if named with its name,
// before the next message of the model.
func find(call *provider.ToolCall, named bool, later []provider.Message,
	used map[*provider.ToolResult]bool) *provider.ToolResult {
	for i := range later {
		if later[i].Role == provider.RoleAssistant {
			return nil
		}
		for j := range later[i].Parts {
			p := &later[i].Parts[j]
			if p.Kind == provider.PartToolResult && p.Result != nil && p.Result.CallID == call.ID && !used[p.Result] &&
				(call.ID != "" && !named || p.Result.Name == call.Name) {
				used[p.Result] = true
				return p.Result
			}
		}
	}
	return nil
}

// strays converts a result without a call to text of the user: servers reject it as a result, and
// the model may need it.
func strays(r *provider.ToolResult) []*provider.Part {
	head := provider.TextPart("Result of an earlier call of " + strconv.Quote(r.Name) + ":")
	parts := []*provider.Part{&head}
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Kind == provider.PartText && p.Text != "" || p.Kind == provider.PartMedia && !empty(p) {
			parts = append(parts, p)
		}
	}
	return parts
}

// add adds a turn. For Chat Completions it merges the turn into the previous one if that has the
// same role.
func (c *conversation) add(role provider.Role, parts []*provider.Part) {
	if len(parts) == 0 {
		return
	}
	if n := len(c.turns); n > 0 && c.turns[n-1].role == role && c.m.api == Chat {
		c.turns[n-1].parts = append(c.turns[n-1].parts, parts...)
		return
	}
	c.turns = append(c.turns, turn{role: role, parts: parts})
}

// empty reports whether a part has no content. White space is content: servers want it back.
func empty(p *provider.Part) bool {
	switch p.Kind {
	case provider.PartText, provider.PartReasoning, provider.PartRefusal:
		return p.Text == "" && p.Opaque == nil
	case provider.PartToolCall, provider.PartProviderCall:
		return p.Call == nil
	case provider.PartProviderResult:
		return p.Result == nil
	case provider.PartMedia:
		return p.Media == nil || len(p.Media.Data) == 0 && p.Media.URL == "" && p.Media.FileID == ""
	case provider.PartOpaque:
		return p.Opaque == nil
	}
	return true // a source, or an unknown kind
}

// own returns the opaque data of a part if this provider made it and it has that kind.
func (c *conversation) own(p *provider.Part, kind string) (data string, ok bool) {
	if p.Opaque == nil || p.Opaque.Provider != c.m.name || p.Opaque.Kind != kind {
		return "", false
	}
	return p.Opaque.Data, true
}

// The kinds of opaque data. Each API has its own, which the other can't use.
const (
	kindReasoningField   = "chat.reasoning_field"   // the field in which reasoning came and is sent back
	kindReasoningDetails = "chat.reasoning_details" // a list, as JSON
	kindAudio            = "chat.audio"             // the id of the model's audio
	// of a call: its input is text, not JSON; the data is as in kindCall
	kindCustomCall = "custom_call"
	kindItem       = "responses.item"    // an output item, as JSON
	kindMessage    = "responses.message" // of a text: {"id":…,"phase":…} of its message
	kindCall       = "responses.call"    // of a call: {"id":…} of its item
)

// arguments returns the input of a call as the text that servers want: a JSON object, because some
// of them parse it. Another value is wrapped in an object.
func arguments(call *provider.ToolCall) string {
	var wrapped json.RawMessage
	var err error
	switch {
	case opens(string(call.Input)):
		return string(call.Input)
	case len(call.Input) > 0:
		wrapped, err = adapter.Encode(map[string]json.RawMessage{"input": call.Input})
	case call.Invalid != "":
		wrapped, err = adapter.Encode(map[string]string{"invalid_json": call.Invalid})
	}
	if err != nil || wrapped == nil {
		return "{}"
	}
	return string(wrapped)
}

// noResult is sent as the result of a call that has none.
const noResult = "There is no result: the call was not completed."

// freeForm returns the input of a call whose tool takes text; ok is false for other calls.
func (c *conversation) freeForm(p *provider.Part) (data, input string, ok bool) {
	if data, ok = c.own(p, kindCustomCall); !ok {
		return "", "", false
	}
	if json.Unmarshal(p.Call.Input, &input) != nil {
		input = string(p.Call.Input) + p.Call.Invalid
	}
	return data, input, true
}
