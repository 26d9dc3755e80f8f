package langchain

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// requestOf converts langchaingo's messages and options to a request.
func requestOf(messages []llms.MessageContent, o *llms.CallOptions) (*provider.Request, error) {
	if o.N > 1 || o.CandidateCount > 1 {
		return nil, fault.Errorf(fault.Permanent, "langchain: %d candidates were asked for; a Provider gives one",
			max(o.N, o.CandidateCount))
	}
	req := &provider.Request{Model: o.Model, MaxOutput: cmp.Or(o.MaxTokens, o.MaxLength),
		NoRestart: o.StreamingFunc != nil || o.StreamingReasoningFunc != nil}
	for i := range messages {
		if err := addMessage(req, &messages[i]); err != nil {
			return nil, err
		}
	}
	req.Sampling = samplingOf(o)
	if t := llms.GetThinkingConfig(o); t != nil {
		req.Reasoning = &provider.ReasoningOptions{Effort: string(t.Mode), Budget: t.BudgetTokens,
			Hide: !t.ReturnThinking}
		if t.Mode == llms.ThinkingModeAuto {
			req.Reasoning.Effort = ""
		}
	}
	if o.JSONMode || o.ResponseMIMEType == "application/json" {
		req.Output = &provider.OutputFormat{Name: "answer", Schema: json.RawMessage(`{"type":"object"}`)}
	}
	return req, addTools(req, o)
}

var roles = map[llms.ChatMessageType]provider.Role{
	llms.ChatMessageTypeHuman: provider.RoleUser, llms.ChatMessageTypeGeneric: provider.RoleUser,
	llms.ChatMessageTypeAI:   provider.RoleAssistant,
	llms.ChatMessageTypeTool: provider.RoleTool, llms.ChatMessageTypeFunction: provider.RoleTool,
}

// addMessage adds a message. It merges consecutive messages of the model, and consecutive results:
// langchaingo has them one by one.
func addMessage(req *provider.Request, m *llms.MessageContent) error {
	role, known := roles[m.Role]
	if !known && m.Role != llms.ChatMessageTypeSystem {
		return fault.Errorf(fault.Permanent, "langchain: a message has the unknown role %q", m.Role)
	}
	var parts []provider.Part
	for _, p := range m.Parts {
		part, err := partOf(p)
		if err != nil {
			return err
		}
		if part.Kind == provider.PartText && role == provider.RoleTool { // a function message that has only text
			part = provider.ResultPart(provider.ToolResult{Parts: []provider.Part{part}})
		}
		parts = append(parts, part)
	}
	if m.Role == llms.ChatMessageTypeSystem {
		for i := range parts {
			if req.System != "" && parts[i].Text != "" {
				req.System += "\n\n"
			}
			req.System += parts[i].Text
		}
		return nil
	}
	if n := len(req.Messages); n > 0 && req.Messages[n-1].Role == role && role != provider.RoleUser {
		req.Messages[n-1].Parts = append(req.Messages[n-1].Parts, parts...)
		return nil
	}
	req.Messages = append(req.Messages, provider.Message{Role: role, Parts: parts})
	return nil
}

func partOf(p llms.ContentPart) (provider.Part, error) {
	switch p := p.(type) {
	case llms.TextContent:
		return provider.TextPart(p.Text), nil
	case llms.BinaryContent:
		return provider.MediaPart(provider.Media{Type: p.MIMEType, Data: p.Data}), nil
	case llms.ImageURLContent:
		return provider.MediaPart(imageAt(p.URL)), nil
	case llms.CachedContent:
		if p.ContentPart == nil {
			break
		}
		part, err := partOf(p.ContentPart)
		part.Cache = true
		return part, err
	case llms.ToolCall:
		c := provider.ToolCall{ID: p.ID}
		if f := p.FunctionCall; f != nil {
			c.Name = f.Name
			if json.Valid([]byte(f.Arguments)) {
				c.Input = json.RawMessage(f.Arguments)
			} else {
				c.Invalid = f.Arguments
			}
		}
		return provider.Part{Kind: provider.PartToolCall, Call: &c}, nil
	case llms.ToolCallResponse:
		return provider.ResultPart(provider.ToolResult{CallID: p.ToolCallID, Name: p.Name,
			Parts: []provider.Part{provider.TextPart(p.Content)}}), nil
	}
	return provider.Part{}, fault.Errorf(fault.Permanent, "langchain: a message has a part of the unknown type %T", p)
}

// imageAt returns the image of a URL, which may contain the data.
func imageAt(address string) provider.Media {
	if rest, ok := strings.CutPrefix(address, "data:"); ok {
		head, data, _ := strings.Cut(rest, ",")
		if kind, ok := strings.CutSuffix(head, ";base64"); ok {
			if decoded, err := base64.StdEncoding.DecodeString(data); err == nil {
				return provider.Media{Type: kind, Data: decoded}
			}
		}
	}
	kind := ""
	if u, err := url.Parse(address); err == nil {
		kind, _, _ = mime.ParseMediaType(mime.TypeByExtension(path.Ext(u.Path)))
	}
	if !strings.HasPrefix(kind, "image/") {
		kind = "image/*"
	}
	return provider.Media{Type: kind, URL: address}
}

// samplingOf treats 0 as the default.
func samplingOf(o *llms.CallOptions) *provider.Sampling {
	s := provider.Sampling{Temperature: given(o.Temperature), TopP: given(o.TopP), TopK: given(o.TopK),
		Seed:            given(int64(o.Seed)),
		PresencePenalty: given(o.PresencePenalty), FrequencyPenalty: given(o.FrequencyPenalty),
		Stop: append([]string(nil), o.StopWords...)}
	if len(s.Stop) == 0 && s.Temperature == nil && s.TopP == nil && s.TopK == nil && s.Seed == nil &&
		s.PresencePenalty == nil && s.FrequencyPenalty == nil {
		return nil
	}
	return &s
}

func given[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func addTools(req *provider.Request, o *llms.CallOptions) error {
	var functions []llms.FunctionDefinition
	for _, t := range o.Tools {
		if t.Function != nil {
			functions = append(functions, *t.Function)
		}
	}
	for _, f := range append(functions, o.Functions...) {
		t := provider.Tool{Name: f.Name, Description: f.Description}
		if f.Parameters != nil {
			schema, err := json.Marshal(f.Parameters)
			if err != nil {
				return fault.Wrap(fault.Permanent, fmt.Errorf("langchain: the parameters of tool %q: %w", f.Name, err))
			}
			t.Schema = schema
		}
		req.Tools = append(req.Tools, t)
	}
	choice, err := choiceOfTools(o)
	req.ToolChoice = choice
	return err
}

// choiceOfTools decodes the forms of a tool choice: a word, langchaingo's type, or a value with the
// same JSON.
func choiceOfTools(o *llms.CallOptions) (provider.ToolChoice, error) {
	given := o.ToolChoice
	if given == nil && o.FunctionCallBehavior != "" {
		given = string(o.FunctionCallBehavior)
	}
	if given == nil {
		return provider.ToolChoice{}, nil
	}
	text, err := json.Marshal(given)
	if err != nil {
		return provider.ToolChoice{}, fault.Wrap(fault.Permanent, fmt.Errorf("langchain: the tool choice: %w", err))
	}
	var word string
	if json.Unmarshal(text, &word) == nil {
		switch word {
		case "", "auto":
			return provider.ToolChoice{}, nil
		case "none":
			return provider.ToolChoice{Mode: provider.ChooseNone}, nil
		case "required", "any":
			return provider.ToolChoice{Mode: provider.ChooseRequired}, nil
		}
	}
	var named struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(text, &named) == nil && named.Name+named.Function.Name != "" {
		return provider.ToolChoice{Mode: provider.ChooseTool, Tool: cmp.Or(named.Function.Name, named.Name)}, nil
	}
	return provider.ToolChoice{}, fault.Errorf(fault.Permanent,
		"langchain: the tool choice %.100s isn't auto, none, required or a function's name", text)
}
