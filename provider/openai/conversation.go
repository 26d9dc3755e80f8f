package openai

import (
	"cmp"
	"encoding/json"
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
	turns []adapter.Turn

	makerTools map[string]string            // names of tools that OpenAI defines, by their types and labels
	choices    map[string]map[string]string // how such a tool is chosen, by its name
}

func newConversation(m *Model, model string, req *provider.Request) *conversation {
	c := &conversation{m: m, model: model, req: req, names: adapter.NewNames(req.Tools)}
	if req.ToolChoice.Mode == provider.ChooseTool {
		c.names.Encode(req.ToolChoice.Tool)
	}
	c.turns = adapter.Conversation{ID: m.host.callIDs(), Separate: m.api == Responses,
		Sends: func(i int, p *provider.Part) bool {
			switch isMedia := p.Kind == provider.PartMedia; {
			case req.Messages[i].Role == provider.RoleAssistant || isMedia:
				return !empty(p)
			default:
				return p.Kind == provider.PartText && p.Text != "" ||
					p.Kind == provider.PartToolResult && p.Result != nil
			}
		}}.Turns(req.Messages)
	for i := range c.turns {
		var parts []*provider.Part
		for _, p := range c.turns[i].Parts {
			if p.Kind == provider.PartToolResult {
				parts = append(parts, strays(p.Result)...)
			} else {
				parts = append(parts, p)
			}
		}
		c.turns[i].Parts = parts
	}
	return c
}

// strays converts a result without a call to text of the user: servers reject it as a result, and
// the model may need it.
func strays(r *provider.ToolResult) []*provider.Part {
	head := provider.TextPart("Result of an earlier call of " + strconv.Quote(r.Name) + ":")
	return append([]*provider.Part{&head}, contents(r)...)
}

// contents returns the texts and the media of a result.
func contents(r *provider.ToolResult) []*provider.Part {
	var parts []*provider.Part
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Kind == provider.PartText && p.Text != "" || p.Kind == provider.PartMedia && !empty(p) {
			parts = append(parts, p)
		}
	}
	return parts
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
	kindExtra            = "chat.extra_content"     // of a call: JSON, such as Gemini's thought signature
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
	switch {
	case opens(string(call.Input)):
		return string(call.Input)
	case len(call.Input) > 0:
		wrapped = adapter.JSON(map[string]json.RawMessage{"input": call.Input})
	case call.Invalid != "":
		wrapped = adapter.JSON(map[string]string{"invalid_json": call.Invalid})
	}
	return cmp.Or(string(wrapped), "{}")
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
