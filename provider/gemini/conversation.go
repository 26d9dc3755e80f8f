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

	out  []content
	open []openResult    // calls of the model's last turn
	ids  map[string]bool // ids of calls, as sent; each may occur once
}

// An openResult is a call that waits for its result.
type openResult struct {
	id     string // in the conversation
	sent   string // as sent; may be empty
	name   string // as sent
	result *provider.ToolResult
}

// convert returns the contents.
func (c *conversation) convert(messages []provider.Message) ([]content, error) {
	var late []*provider.Part // parts of the user beside results, which come first
	flush := func() error {
		parts, err := c.results()
		if err != nil {
			return err
		}
		for _, p := range late {
			if parts, err = c.user(parts, p); err != nil {
				return err
			}
		}
		late = nil
		c.add("user", parts)
		return nil
	}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case provider.RoleAssistant:
			if !c.says(m) {
				continue
			}
			if err := flush(); err != nil {
				return nil, err
			}
			if err := c.model(m); err != nil {
				return nil, err
			}
		case provider.RoleUser, provider.RoleTool:
			for j := range m.Parts {
				if p := &m.Parts[j]; !c.answers(p) {
					late = append(late, p)
				}
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return c.out, nil
}

// add adds parts to the contents: to the last one, if it has that role and neither of the two is
// results of calls.
func (c *conversation) add(role string, parts []any) {
	if len(parts) == 0 {
		return
	}
	if n := len(c.out); n > 0 && c.out[n-1].Role == role && !isResult(c.out[n-1].Parts[0]) {
		c.out[n-1].Parts = append(c.out[n-1].Parts, parts...)
		return
	}
	c.out = append(c.out, content{role, parts})
}

func isResult(p any) bool {
	out, ok := p.(outPart)
	return ok && out.Result != nil
}

// answers reports whether a part is the result of an open call, and stores it there.
func (c *conversation) answers(p *provider.Part) bool {
	if p.Kind != provider.PartToolResult || p.Result == nil {
		return false
	}
	match := func(byName bool) bool {
		for i := range c.open {
			o := &c.open[i]
			if o.result == nil && o.id == p.Result.CallID && (!byName || o.name == c.names.Encode(p.Result.Name)) {
				o.result = p.Result
				return true
			}
		}
		return false
	}
	return match(true) || match(false) // calls without ids are matched by name, and those of one name by order
}

// results adds the results of the open calls in their order, and returns the parts that have to
// follow them.
func (c *conversation) results() ([]any, error) {
	var parts, behind []any
	for i := range c.open {
		part, media, err := c.result(&c.open[i])
		if err != nil {
			return nil, err
		}
		parts, behind = append(parts, part), append(behind, media...)
	}
	c.open = nil
	if len(parts) > 0 {
		c.out = append(c.out, content{"user", parts})
	}
	return behind, nil
}

// says reports whether any part of a message of the model is sent.
func (c *conversation) says(m *provider.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p provider.Part) bool { return sends(&p) })
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

// model adds a message of the model.
func (c *conversation) model(m *provider.Message) error {
	if len(c.out) == 0 {
		text := "(The conversation continues.)"
		c.out = append(c.out, content{"user", []any{outPart{Text: &text}}})
	}
	var parts []any
	signed, first := false, -1
	for i := range m.Parts {
		p := &m.Parts[i]
		if !sends(p) {
			continue
		}
		part, err := c.modelPart(p)
		if err != nil {
			return err
		}
		signed = signed || own(p) != ""
		if p.Kind == provider.PartToolCall && first < 0 {
			first = len(parts)
		}
		parts = append(parts, part)
	}
	if first >= 0 && !signed && c.traits.has(levels) {
		call := parts[first].(outPart) // a call of another model: the API requires a signature, or this word instead
		call.Signature = "skip_thought_signature_validator"
		parts[first] = call
	}
	c.add("model", parts)
	return nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// resource returns the name of a model in the API's form.
func resource(model string) string {
	if strings.HasPrefix(model, "models/") || strings.HasPrefix(model, "tunedModels/") {
		return model
	}
	return "models/" + model
}
