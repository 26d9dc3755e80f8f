package openai

import (
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// Schemas stay raw JSON: a model fills in properties in the order of the schema, and a map would
// lose it.

// A chatRequest is the body of a request to Chat Completions.
type chatRequest struct {
	Model               string         `json:"model"`
	Messages            []chatMessage  `json:"messages"`
	Tools               []chatTool     `json:"tools,omitempty"`
	ToolChoice          any            `json:"tool_choice,omitempty"`
	ParallelToolCalls   *bool          `json:"parallel_tool_calls,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	TopP                *float64       `json:"top_p,omitempty"`
	TopK                *int           `json:"top_k,omitempty"`
	Seed                *int64         `json:"seed,omitempty"`
	RandomSeed          *int64         `json:"random_seed,omitempty"`
	PresencePenalty     *float64       `json:"presence_penalty,omitempty"`
	FrequencyPenalty    *float64       `json:"frequency_penalty,omitempty"`
	Stop                []string       `json:"stop,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	Reasoning           *chatReasoning `json:"reasoning,omitempty"`
	ResponseFormat      *chatFormat    `json:"response_format,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role             string          `json:"role"`
	Content          any             `json:"content,omitempty"` // a string or []chatPart
	Refusal          string          `json:"refusal,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	Reasoning        string          `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	Audio            *chatAudioID    `json:"audio,omitempty"`
	ToolCalls        []chatToolCall  `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
}

type chatAudioID struct {
	ID string `json:"id"`
}

type chatToolCall struct {
	ID       string            `json:"id"`
	Type     string            `json:"type"`
	Function *chatFunctionCall `json:"function,omitempty"`
	Custom   *chatCustomCall   `json:"custom,omitempty"`
	Extra    json.RawMessage   `json:"extra_content,omitempty"`
}

type chatFunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatCustomCall struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

type chatTool struct {
	Type         string     `json:"type"`
	Function     any        `json:"function"` // a chatFunction, perhaps with options
	CacheControl *cacheMark `json:"cache_control,omitempty"`

	own map[string]json.RawMessage // all of it, if it isn't a function
}

// MarshalJSON encodes the tool.
func (t chatTool) MarshalJSON() ([]byte, error) {
	if t.own != nil {
		return adapter.JSON(t.own), nil
	}
	type plain chatTool // without this method
	return adapter.Encode(plain(t))
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type chatReasoning struct {
	Effort    string `json:"effort,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	Exclude   bool   `json:"exclude,omitempty"`
}

type chatFormat struct {
	Type       string        `json:"type"`
	JSONSchema *formatSchema `json:"json_schema,omitempty"`
}

type formatSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// chat returns the body of a request to Chat Completions.
func (c *conversation) chat() ([]byte, error) {
	h, req := c.m.host.Chat, c.req
	r := chatRequest{Model: c.model, Stream: true, PromptCacheKey: c.cacheKey()}
	if !h.NoStreamOptions {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if err := c.chatMessages(&r); err != nil {
		return nil, err
	}
	tools, err := c.tools()
	if err != nil {
		return nil, err
	}
	for i := range tools {
		one, err := tools[i].chat()
		if err != nil {
			return nil, err
		}
		r.Tools = append(r.Tools, one)
	}
	if err := c.chatChoice(&r); err != nil {
		return nil, err
	}
	if h.CompletionTokens {
		r.MaxCompletionTokens = req.MaxOutput
	} else {
		r.MaxTokens = req.MaxOutput
	}
	if s := req.Sampling; s != nil {
		r.Temperature, r.TopP, r.PresencePenalty, r.FrequencyPenalty, r.Stop = s.Temperature, s.TopP, s.PresencePenalty,
			s.FrequencyPenalty, s.Stop
		if h.TopK {
			r.TopK = s.TopK
		}
		if h.Seed == "" {
			r.Seed = s.Seed
		} else {
			r.RandomSeed = s.Seed
		}
	}
	if o := req.Reasoning; o != nil {
		if h.EffortObject {
			r.Reasoning = &chatReasoning{Effort: o.Effort, MaxTokens: o.Budget, Exclude: o.Hide}
		} else {
			r.ReasoningEffort = effort(o)
		}
	}
	r.ResponseFormat = c.chatFormat()
	if c.marksCache() {
		r.addMarks()
	}
	return c.encode(&r)
}

// choice returns which tools the model may call, and whether several at once. named has the choice
// of one tool in the protocol's form.
func (c *conversation) choice(named func(name string) any) (choice any, parallel *bool) {
	if len(c.req.Tools) == 0 {
		return nil, nil
	}
	switch of := c.req.ToolChoice; of.Mode {
	case provider.ChooseAuto:
	case provider.ChooseTool:
		choice = named(c.names.Encode(of.Tool))
	default:
		choice = string(of.Mode)
	}
	if c.req.DisableParallelToolCalls {
		parallel = new(bool)
	}
	return choice, parallel
}

// chatMessages adds the messages.
func (c *conversation) chatMessages(r *chatRequest) error {
	if system := c.instructions(); system != "" {
		role := "system"
		if c.m.host.own && isReasoningModel(c.model) {
			role = "developer"
		}
		r.Messages = append(r.Messages, chatMessage{Role: role, Content: system})
	}
	if len(c.turns) == 0 {
		return errEmpty
	}
	var media []*provider.Part // of results, which can't contain it: sent as a user message
	for i := range c.turns {
		t := &c.turns[i]
		if !t.Model {
			if err := c.chatUser(r, append(media, t.Parts...)); err != nil {
				return err
			}
			media = nil
			continue
		}
		if m, ok := c.chatAssistant(t); ok {
			r.Messages = append(r.Messages, m)
		}
		for _, call := range t.Calls {
			text, more := resultText(call.Result)
			r.Messages = append(r.Messages, chatMessage{Role: "tool", ToolCallID: call.ID, Content: text})
			media = append(media, more...)
		}
	}
	return c.chatUser(r, media)
}

// chatUser adds a message of the user, unless it is empty.
func (c *conversation) chatUser(r *chatRequest, parts []*provider.Part) error {
	if len(parts) == 0 {
		return nil
	}
	content, err := c.chatContent(parts)
	if err != nil {
		return err
	}
	if n := len(r.Messages); c.m.host.Chat.NoUserAfterTool && n > 0 && r.Messages[n-1].Role == "tool" {
		r.Messages = append(r.Messages, chatMessage{Role: "assistant", Content: "OK"})
	}
	r.Messages = append(r.Messages, chatMessage{Role: "user", Content: content})
	return nil
}

// chatAssistant returns a message of the model; ok is false if nothing of it can be sent. Reasoning
// is sent back in the field in which it came, and only with calls: some servers require it there,
// and no server uses it elsewhere.
func (c *conversation) chatAssistant(t *adapter.Turn) (m chatMessage, ok bool) {
	m.Role = "assistant"
	var text, thoughts strings.Builder
	field := ""
	for _, p := range t.Parts {
		if f, ok := c.own(p, kindReasoningField); ok {
			field = f
		}
		if data, ok := c.own(p, kindReasoningDetails); ok && json.Valid([]byte(data)) {
			m.ReasoningDetails = json.RawMessage(data)
		}
		if id, ok := c.own(p, kindAudio); ok {
			m.Audio = &chatAudioID{ID: id}
		}
		switch p.Kind {
		case provider.PartText:
			text.WriteString(p.Text)
		case provider.PartRefusal:
			if c.m.host.Chat.Refusals {
				m.Refusal += p.Text
			} else {
				text.WriteString(p.Text)
			}
		case provider.PartReasoning:
			thoughts.WriteString(p.Text)
		case provider.PartToolCall:
			call := chatToolCall{ID: t.Call(p).ID, Type: "function"}
			if _, input, ok := c.freeForm(p); ok {
				call.Type, call.Custom = "custom", &chatCustomCall{Name: c.names.Encode(p.Call.Name), Input: input}
			} else {
				call.Function = &chatFunctionCall{Name: c.names.Encode(p.Call.Name), Arguments: arguments(p.Call)}
			}
			if extra, ok := c.own(p, kindExtra); ok && json.Valid([]byte(extra)) {
				call.Extra = json.RawMessage(extra)
			}
			m.ToolCalls = append(m.ToolCalls, call)
		}
	}
	if text.Len() > 0 {
		m.Content = text.String()
	}
	if len(m.ToolCalls) > 0 && m.ReasoningDetails == nil {
		switch field {
		case "reasoning_content":
			m.ReasoningContent = thoughts.String()
		case "reasoning":
			m.Reasoning = thoughts.String()
		case "thinking":
			parts := []chatPart{{Type: "thinking", Thinking: []chatPart{{Type: "text", Text: thoughts.String()}}}}
			if text.Len() > 0 {
				parts = append(parts, chatPart{Type: "text", Text: text.String()})
			}
			m.Content = parts
		}
	}
	return m, m.Content != nil || m.Refusal != "" || m.Audio != nil || len(m.ToolCalls) > 0
}

// resultText returns the text of a result, and its media, which this API can't send in results.
func resultText(result *provider.Part) (text string, media []*provider.Part) {
	if result == nil {
		return noResult, nil
	}
	r := result.Result
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Kind == provider.PartMedia && !empty(p) {
			media = append(media, p)
		}
	}
	text = r.Text()
	switch {
	case text != "":
	case len(media) > 0:
		text = "(The result follows as an attachment.)"
	default:
		text = "(no output)"
	}
	return text, media
}

// effort returns the reasoning effort as a word. A number of tokens is converted to one: OpenAI
// doesn't accept it.
func effort(o *provider.ReasoningOptions) string {
	switch {
	case o.Effort != "" || o.Budget <= 0:
		return o.Effort
	case o.Budget < 4096:
		return "low"
	case o.Budget < 16384:
		return "medium"
	}
	return "high"
}

func formatName(o *provider.OutputFormat) string {
	if o.Name == "" {
		return "answer"
	}
	name := adapter.SafeName(o.Name)
	return name[:min(len(name), adapter.LongestName)]
}
