package openai

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A conversation is a request put right for a server: every call is followed by its result, every result belongs to a call,
// no message is empty, and for Chat Completions, where servers with a template of their own refuse that, no two messages in a
// row are of the same side.
type conversation struct {
	m     *Model
	model string
	req   *provider.Request
	names *names
	turns []turn
	ids   map[string]bool // by which the server knows the calls
}

// A turn is a message of the user or the model, or the results of a turn's calls.
type turn struct {
	role    provider.Role
	parts   []*provider.Part
	results []result
}

// A result is what came of a call.
type result struct {
	part *provider.Part       // of the call
	id   string               // by which the server knows the call
	res  *provider.ToolResult // nil: there is none
}

func newConversation(m *Model, model string, req *provider.Request) *conversation {
	c := &conversation{m: m, model: model, req: req, names: newNames(req.Tools)}
	if req.ToolChoice.Mode == provider.ChooseTool {
		c.names.encode(req.ToolChoice.Tool)
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
	for _, named := range []bool{true, false} { // the results that name the tool, too, are taken first
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

// callID returns the id by which the server knows a call. Each call of the conversation has its own, since its result has nothing
// else to refer to: spare stands in for one that is missing, or another's.
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

// find returns the result of a call: the first unused one that has its id, and if named its name, before the model speaks again.
func find(call *provider.ToolCall, named bool, later []provider.Message, used map[*provider.ToolResult]bool) *provider.ToolResult {
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

// strays returns a result that belongs to no call as the user's words: servers refuse it as a result, and the model may
// need to know.
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

// add adds a turn, or, for Chat Completions, what it has to the one before if that is of the same side.
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

// empty reports a part that has nothing to say. Blanks say something: servers want them back.
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
	return true // a source, or of a kind that isn't known
}

// own returns the data of a part that this provider made, of that kind.
func (c *conversation) own(p *provider.Part, kind string) (data string, ok bool) {
	if p.Opaque == nil || p.Opaque.Provider != c.m.name || p.Opaque.Kind != kind {
		return "", false
	}
	return p.Opaque.Data, true
}

// The kinds of opaque data. Each API has its own: what one makes, the other has no use for.
const (
	kindReasoningField   = "chat.reasoning_field"   // the field in which reasoning came, and goes back
	kindReasoningDetails = "chat.reasoning_details" // a list, as JSON
	kindAudio            = "chat.audio"             // the id of what the model said aloud
	kindCustomCall       = "custom_call"            // of a call: its input is text, not JSON; the data is as in kindCall
	kindItem             = "responses.item"         // an output item, as JSON
	kindMessage          = "responses.message"      // of a text: {"id":…,"phase":…} of its message
	kindCall             = "responses.call"         // of a call: {"id":…} of its item
)

// arguments returns the input of a call as the text that servers want: a JSON object, which some of them parse. What is none
// goes back within one.
func arguments(call *provider.ToolCall) string {
	var wrapped json.RawMessage
	var err error
	switch {
	case isKind(call.Input, '{'):
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

// noResult stands in for the result of a call that has none.
const noResult = "There is no result: the call was not completed."

// freeForm returns the input of a call of a tool that takes text, and whether it is such a call.
func (c *conversation) freeForm(p *provider.Part) (data, input string, ok bool) {
	if data, ok = c.own(p, kindCustomCall); !ok {
		return "", "", false
	}
	if json.Unmarshal(p.Call.Input, &input) != nil {
		input = string(p.Call.Input) + p.Call.Invalid
	}
	return data, input, true
}
