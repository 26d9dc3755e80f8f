package langchain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A built is a request in langchaingo's form.
type built struct {
	model    string
	messages []llms.MessageContent
	options  []llms.CallOption
	names    *adapter.Names
	size     int // in bytes, for an estimate
}

func (p *Provider) build(req *provider.Request) (*built, error) {
	b := &built{model: cmp.Or(req.Model, p.cfg.Model), names: adapter.NewNames(req.Tools)}
	if system := systemText(req); system != "" {
		b.add(llms.ChatMessageTypeSystem, llms.TextContent{Text: system})
		b.size += len(system)
	}
	ids := map[string]string{}
	for i := range req.Messages {
		if err := b.message(&req.Messages[i], ids, p.profile.onePart); err != nil {
			return nil, err
		}
	}
	return b, b.settings(req)
}

// systemText returns the system text, with the schema of the answer, for which langchaingo has no
// field.
func systemText(req *provider.Request) string {
	if req.Output == nil || len(req.Output.Schema) == 0 {
		return req.System
	}
	return strings.TrimPrefix(req.System+"\n\nAnswer with JSON alone, valid for this JSON Schema: "+
		string(req.Output.Schema), "\n\n")
}

func (b *built) add(role llms.ChatMessageType, parts ...llms.ContentPart) {
	if len(parts) > 0 {
		b.messages = append(b.messages, llms.MessageContent{Role: role, Parts: parts})
	}
}

// message adds a message. ids maps the ids of the calls so far to the model's.
func (b *built) message(m *provider.Message, ids map[string]string, onePart bool) error {
	var parts []llms.ContentPart
	for i := range m.Parts {
		part, err := b.part(&m.Parts[i], ids)
		if err != nil {
			return err
		}
		if part == nil {
			continue
		}
		if _, isResult := part.(llms.ToolCallResponse); isResult { // each is a message of its own
			b.add(llms.ChatMessageTypeTool, part)
			continue
		}
		parts = append(parts, part)
	}
	switch {
	case m.Role != provider.RoleAssistant:
		b.add(llms.ChatMessageTypeHuman, parts...)
	case onePart:
		for _, part := range parts {
			b.add(llms.ChatMessageTypeAI, part)
		}
	default:
		b.add(llms.ChatMessageTypeAI, parts...)
	}
	return nil
}

// part converts a part. It returns nil for one that can't be sent and isn't essential.
func (b *built) part(p *provider.Part, ids map[string]string) (llms.ContentPart, error) {
	switch p.Kind {
	case provider.PartText, provider.PartRefusal:
		b.size += len(p.Text)
		if p.Text == "" {
			return nil, nil
		}
		return llms.TextContent{Text: p.Text}, nil
	case provider.PartToolCall:
		if p.Call == nil {
			return nil, nil
		}
		return b.call(p.Call, ids), nil
	case provider.PartToolResult:
		if p.Result == nil {
			return nil, nil
		}
		return b.result(p.Result, ids), nil
	case provider.PartMedia:
		if p.Media == nil {
			return nil, nil
		}
		b.size += len(p.Media.Data)
		return media(p.Media)
	}
	return nil, nil
}

func (b *built) call(c *provider.ToolCall, ids map[string]string) llms.ContentPart {
	id := cmp.Or(c.ProviderID, c.ID)
	ids[c.ID] = id
	args := string(c.Input)
	if args == "" {
		args = "{}"
		if c.Invalid != "" { // models parse these arguments
			text, _ := json.Marshal(map[string]string{"invalid_arguments": c.Invalid}) // a map of strings: no error
			args = string(text)
		}
	}
	b.size += len(c.Name) + len(args)
	return llms.ToolCall{ID: id, Type: "function",
		FunctionCall: &llms.FunctionCall{Name: b.names.Encode(c.Name), Arguments: args}}
}

func (b *built) result(r *provider.ToolResult, ids map[string]string) llms.ContentPart {
	id, known := ids[r.CallID]
	if !known {
		id = r.CallID
	}
	var text strings.Builder
	for i := range r.Parts {
		switch p := &r.Parts[i]; {
		case p.Kind == provider.PartMedia && p.Media != nil:
			fmt.Fprintf(&text, "[%s of %d bytes, which can't be shown here]", p.Media.Type, len(p.Media.Data))
		default:
			text.WriteString(p.Text)
		}
	}
	b.size += text.Len()
	return llms.ToolCallResponse{ToolCallID: id, Name: b.names.Encode(r.Name), Content: text.String()}
}

func media(m *provider.Media) (llms.ContentPart, error) {
	switch {
	case len(m.Data) > 0:
		return llms.BinaryContent{MIMEType: m.Type, Data: m.Data}, nil
	case m.URL != "" && (m.Type == "" || strings.HasPrefix(m.Type, "image/")):
		return llms.ImageURLContent{URL: m.URL}, nil
	case m.URL != "":
		return nil,
			fault.Errorf(fault.Permanent, "langchain: media of type %q can't be sent by URL; send its data", m.Type)
	}
	return nil, fault.Errorf(fault.Permanent,
		"langchain: media of type %q has no data and no URL; a provider's file id can't be sent", m.Type)
}

// settings adds the options of the request.
func (b *built) settings(req *provider.Request) error {
	set := func(o llms.CallOption) { b.options = append(b.options, o) }
	if b.model != "" {
		set(llms.WithModel(b.model))
	}
	if req.MaxOutput > 0 {
		set(llms.WithMaxTokens(req.MaxOutput))
	}
	if req.Output != nil {
		set(llms.WithJSONMode())
	}
	b.sampling(req.Sampling)
	if r := req.Reasoning; r != nil {
		mode := llms.ThinkingMode(r.Effort)
		if r.Effort == "minimal" {
			mode = llms.ThinkingModeLow
		}
		if mode == "" {
			mode = llms.ThinkingModeAuto
		}
		set(llms.WithThinking(&llms.ThinkingConfig{Mode: mode, BudgetTokens: r.Budget, ReturnThinking: !r.Hide,
			StreamThinking: !r.Hide}))
	}
	if raw := req.Options[name]; len(raw) > 0 {
		var more map[string]any
		if err := json.Unmarshal(raw, &more); err != nil {
			return fault.Wrap(fault.Permanent, fmt.Errorf("langchain: Options[%q] isn't a JSON object: %w", name, err))
		}
		set(func(o *llms.CallOptions) {
			if o.Metadata == nil {
				o.Metadata = map[string]any{}
			}
			for k, v := range more {
				o.Metadata[k] = v
			}
		})
	}
	return b.tools(req)
}

func (b *built) sampling(s *provider.Sampling) {
	if s == nil {
		return
	}
	b.options = append(b.options, func(o *llms.CallOptions) {
		give(&o.Temperature, s.Temperature)
		give(&o.TopP, s.TopP)
		give(&o.TopK, s.TopK)
		give(&o.PresencePenalty, s.PresencePenalty)
		give(&o.FrequencyPenalty, s.FrequencyPenalty)
		if s.Seed != nil {
			o.Seed = int(*s.Seed)
		}
		o.StopWords = append([]string(nil), s.Stop...)
	})
}

func give[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (b *built) tools(req *provider.Request) error {
	if len(req.Tools) == 0 {
		return nil
	}
	tools := make([]llms.Tool, len(req.Tools))
	for i, t := range req.Tools {
		var schema any
		if err := json.Unmarshal(adapter.Parameters(t.Schema), &schema); err != nil {
			return fault.Wrap(fault.Permanent, fmt.Errorf("langchain: the schema of tool %q: %w", t.Name, err))
		}
		b.size += len(t.Name) + len(t.Description) + len(t.Schema)
		tools[i] = llms.Tool{Type: "function",
			Function: &llms.FunctionDefinition{Name: b.names.Encode(t.Name), Description: t.Description,
				Parameters: schema}}
	}
	b.options = append(b.options, llms.WithTools(tools))
	switch req.ToolChoice.Mode {
	case provider.ChooseNone:
		b.options = append(b.options, llms.WithToolChoice("none"))
	case provider.ChooseRequired:
		b.options = append(b.options, llms.WithToolChoice("required"))
	case provider.ChooseTool:
		b.options = append(b.options, llms.WithToolChoice(llms.ToolChoice{Type: "function",
			Function: &llms.FunctionReference{Name: b.names.Encode(req.ToolChoice.Tool)}}))
	}
	return nil
}
