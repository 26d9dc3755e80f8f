package gemini

import (
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A content is a message in a request.
type content struct {
	Role  string `json:"role,omitempty"` // user or model
	Parts []any  `json:"parts"`          // outPart, or json.RawMessage for parts that are sent back unchanged
}

// A conversation converts the messages of one request. The API requires that calls follow a message
// of the user, and that the results of all calls of a turn, and nothing else, follow it
// immediately. It rejects a call without a result.
type conversation struct {
	names  *adapter.Names
	traits trait

	withoutIDs bool // calls and results are sent without their ids

	signed map[*provider.Part]bool // parts of messages with opaque data of this API
	out    []content
}

// convert returns the contents.
func (c *conversation) convert(messages []provider.Message) ([]content, error) {
	c.signed = map[*provider.Part]bool{}
	for i := range messages {
		parts := messages[i].Parts
		if slices.ContainsFunc(parts, func(p provider.Part) bool { return own(&p) != "" && sends(&p) }) {
			for j := range parts {
				c.signed[&parts[j]] = true
			}
		}
	}
	turns := adapter.Conversation{Sends: func(i int, p *provider.Part) bool {
		if messages[i].Role == provider.RoleAssistant {
			return sends(p)
		}
		return p.Kind == provider.PartText && p.Text != "" || p.Kind == provider.PartMedia && p.Media != nil ||
			p.Kind == provider.PartToolResult && p.Result != nil
	}}.Turns(messages)
	var parts []any // of the user: media of results, which come first
	for i := range turns {
		t := &turns[i]
		var err error
		if t.Model {
			c.add("user", parts)
			parts, err = c.model(t)
		}
		for k := 0; k < len(t.Parts) && err == nil && !t.Model; k++ {
			parts, err = c.user(parts, t.Parts[k])
		}
		if err != nil {
			return nil, err
		}
	}
	c.add("user", parts)
	return c.out, nil
}

func (c *conversation) add(role string, parts []any) {
	if len(parts) > 0 {
		c.out = append(c.out, content{role, parts})
	}
}

// results adds the results of calls in their order, and returns the parts that have to follow them.
func (c *conversation) results(calls []adapter.Call) ([]any, error) {
	var parts, behind []any
	for i := range calls {
		part, media, err := c.result(&calls[i])
		if err != nil {
			return nil, err
		}
		parts, behind = append(parts, part), append(behind, media...)
	}
	c.add("user", parts)
	return behind, nil
}

// sends reports whether a part of the model is sent.
func sends(p *provider.Part) bool {
	switch p.Kind {
	case provider.PartText, provider.PartRefusal:
		return p.Text != "" || own(p) == kindSignature
	case provider.PartReasoning:
		return own(p) == kindSignature
	case provider.PartToolCall:
		return p.Call != nil && p.Call.Name != ""
	case provider.PartMedia:
		if p.Media == nil {
			return false
		}
		_, err := mediaPart(p.Media)
		return err == nil // the caller can't correct a model's media
	case provider.PartProviderCall, provider.PartProviderResult:
		return own(p) == kindPart
	case provider.PartOpaque:
		return own(p) == kindPart || own(p) == kindSignature
	}
	return false
}

// own returns the kind of a part's opaque data if this provider made it, else "".
func own(p *provider.Part) string {
	if p.Opaque == nil || p.Opaque.Provider != Name {
		return ""
	}
	return p.Opaque.Kind
}

// model adds a turn of the model, and the results of its calls. It returns the parts that have to
// follow them.
func (c *conversation) model(t *adapter.Turn) ([]any, error) {
	if len(c.out) == 0 {
		text := "(The conversation continues.)"
		c.add("user", []any{outPart{Text: &text}})
	}
	var parts []any
	first := -1
	for _, p := range t.Parts {
		part, err := c.modelPart(t, p)
		if err != nil {
			return nil, err
		}
		if p.Kind == provider.PartToolCall && first < 0 {
			first = len(parts)
		}
		parts = append(parts, part)
	}
	if first >= 0 && !c.signed[t.Parts[first]] && c.traits.Has(levels) {
		call := parts[first].(outPart) // a call of another model: the API requires a signature, or this word instead
		call.Signature = "skip_thought_signature_validator"
		parts[first] = call
	}
	c.add("model", parts)
	return c.results(t.Calls)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// resource returns the name of a model in the API's form.
func resource(model string) string {
	if strings.HasPrefix(model, "models/") || strings.HasPrefix(model, "tunedModels/") {
		return model
	}
	return "models/" + model
}
