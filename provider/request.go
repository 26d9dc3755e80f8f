package provider

import (
	"encoding/json"
	"maps"
	"slices"
)

// A Request is one call to a model. Only Messages is required.
//
// Receivers don't change a Request. A wrapper that needs a different one calls [Request.Clone].
type Request struct {
	Model      string     `json:"model,omitempty"` // empty: the Provider's default
	System     string     `json:"system,omitempty"`
	Messages   []Message  `json:"messages"`
	Tools      []Tool     `json:"tools,omitempty"`
	ToolChoice ToolChoice `json:"choice,omitzero"`
	// DisableParallelToolCalls asks for at most one tool call per answer, if the provider supports
	// this.
	DisableParallelToolCalls bool              `json:"serial,omitempty"`
	MaxOutput                int               `json:"max_output,omitempty"` // tokens; 0: the provider's default
	Sampling                 *Sampling         `json:"sampling,omitempty"`
	Reasoning                *ReasoningOptions `json:"reasoning,omitempty"`
	Output                   *OutputFormat     `json:"output,omitempty"`
	// Images, if it isn't nil, asks for images: the answer has them as parts with media (see
	// [Response.Files]), and perhaps text. Usage and prices are those of the model. A provider that
	// makes no images refuses with [ErrNoImages].
	Images *ImageOptions `json:"images,omitempty"`
	Labels Labels        `json:"labels,omitzero"`

	// Cache asks the provider to cache the prompt, because calls that begin alike will follow soon:
	// see "Prompt caching" in the package comment. Parts can also be marked on their own: see
	// Part.Cache.
	Cache bool `json:"cache,omitempty"`
	// Interactive says that a person is waiting. Such a call never queues behind background work.
	Interactive bool `json:"interactive,omitempty"`
	// Priority orders background calls, higher first; 0 means 60.
	Priority int `json:"priority,omitempty"`
	// NoRestart says that an answer that has begun must not be discarded and made again.
	NoRestart bool `json:"no_restart,omitempty"`

	// Options are passed through to the provider named by the key, for parameters without a field
	// here.
	Options map[string]json.RawMessage `json:"options,omitempty"`
}

// A Tool is the definition of a tool that a model is shown.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema of the input; empty: no arguments

	// Options are merged into the definition of the tool that the provider named by the key gets,
	// as Request.Options are into the request: for members without a field here, such as strict,
	// defer_loading or input_examples. Each value is a JSON object, spelled as the maker spells it.
	// With a member that the other fields say, such as the name or the schema, the call fails. The
	// key "openai" means every server with the API of OpenAI; members under the name of such a
	// server, such as "api.groq.com", replace those.
	//
	// In the APIs of OpenAI and Anthropic, a type that isn't the usual one ("function" of OpenAI,
	// "custom" of Anthropic) makes the value the whole definition of a tool that the maker defines
	// and the host runs, such as {"type": "shell"} of OpenAI's Responses or
	// {"type": "bash_20250124"} of Anthropic. Description and Schema aren't sent then, and its
	// calls have the name of this tool. The usual type is an error, and so are "" and null. Chat
	// Completions have no such tools: they, and other providers, get the tool as the other fields
	// say it.
	Options map[string]json.RawMessage `json:"options,omitempty"`
}

// A ToolChoice says whether the model is free to call tools.
type ToolChoice struct {
	Mode ToolChoiceMode `json:"mode,omitempty"`
	Tool string         `json:"tool,omitempty"` // for ChooseTool
}

// A ToolChoiceMode is the mode of a [ToolChoice].
type ToolChoiceMode string

// The modes of a ToolChoice.
const (
	ChooseAuto     ToolChoiceMode = ""         // the model decides
	ChooseNone     ToolChoiceMode = "none"     // no calls
	ChooseRequired ToolChoiceMode = "required" // at least one call
	ChooseTool     ToolChoiceMode = "tool"     // a call of ToolChoice.Tool
)

// Sampling has the sampling parameters. A nil field is the provider's default.
type Sampling struct {
	Temperature      *float64 `json:"temperature,omitempty"`
	TopP             *float64 `json:"top_p,omitempty"`
	TopK             *int     `json:"top_k,omitempty"`
	Seed             *int64   `json:"seed,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`
	Stop             []string `json:"stop,omitempty"`
}

// ReasoningOptions says how much the model should think before it answers.
type ReasoningOptions struct {
	Effort string `json:"effort,omitempty"` // none, minimal, low, medium, high: as the provider names them
	Budget int    `json:"budget,omitempty"` // tokens, where a provider takes a number; 0: its default
	Hide   bool   `json:"hide,omitempty"`   // don't send the reasoning
}

// An OutputFormat asks for an answer in JSON that matches a schema.
type OutputFormat struct {
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

// Labels say which session, task and so on a call is booked on. All are optional.
type Labels struct {
	// Session is the session for a gate's turns and a budget's limits: a subagent uses the session
	// of the outermost agent.
	Session string `json:"session,omitempty"`
	User    string `json:"user,omitempty"` // the person that the call is made for
	// Tenant is the customer of the host that the user belongs to, who pays.
	Tenant   string `json:"tenant,omitempty"`
	Run      string `json:"run,omitempty"`
	Step     int    `json:"step,omitempty"`
	Pipeline string `json:"pipeline,omitempty"`
	Task     string `json:"task,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Kind     string `json:"kind,omitempty"` // what the call is for: step, summary, …
	Trace    string `json:"trace,omitempty"`
	// Extra are the labels that the host has given to the run.
	Extra LabelSet `json:"extra,omitempty"`
}

// LastUserText returns the text of the newest user message, or "" if there is none.
func (r *Request) LastUserText() string {
	if r == nil {
		return ""
	}
	return LastUserText(r.Messages)
}

// LastUserText returns the text of the newest user message, or "" if there is none.
func LastUserText(messages []Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleUser {
			return messages[i].Text()
		}
	}
	return ""
}

// Clone returns a copy whose fields, slices and maps may be changed without changing r. Messages
// and parts themselves are shared, since they are never changed.
func (r *Request) Clone() *Request {
	if r == nil {
		return nil
	}
	c := *r
	c.Messages = slices.Clone(r.Messages)
	c.Tools = slices.Clone(r.Tools)
	for i := range c.Tools {
		c.Tools[i].Options = maps.Clone(c.Tools[i].Options)
	}
	c.Options = maps.Clone(r.Options)
	if r.Sampling != nil {
		s := *r.Sampling
		s.Stop = slices.Clone(s.Stop)
		c.Sampling = &s
	}
	if r.Reasoning != nil {
		o := *r.Reasoning
		c.Reasoning = &o
	}
	if r.Output != nil {
		o := *r.Output
		c.Output = &o
	}
	if r.Images != nil {
		o := *r.Images
		c.Images = &o
	}
	return &c
}
