package provider

import (
	"encoding/json"
	"reflect"
	"strings"
)

// A Role says who a message is from.
type Role string

// The roles. Instructions aren't a message: they are in [Request.System].
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // carries results: parts of kind PartToolResult
)

// A Message is one turn of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// User returns a message from the user with the given text.
func User(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{TextPart(text)}}
}

// Assistant returns a message from the model with the given text.
func Assistant(text string) Message {
	return Message{Role: RoleAssistant, Parts: []Part{TextPart(text)}}
}

// Text returns the text parts of the message, joined. Reasoning isn't text.
func (m *Message) Text() string { return joinText(m.parts(), PartText) }

// parts returns the parts of the message; none of a nil one.
func (m *Message) parts() []Part {
	if m == nil {
		return nil
	}
	return m.Parts
}

// Refusal returns the parts with the model's refusal, joined.
func (m *Message) Refusal() string { return joinText(m.parts(), PartRefusal) }

// Calls returns the tool calls of the message that the host has to run, in order.
func (m *Message) Calls() []*ToolCall {
	var calls []*ToolCall
	for i := range m.parts() {
		if m.Parts[i].Kind == PartToolCall && m.Parts[i].Call != nil {
			calls = append(calls, m.Parts[i].Call)
		}
	}
	return calls
}

// A PartKind says which field of a [Part] holds its content.
type PartKind string

// The kinds of parts.
const (
	PartText           PartKind = "text"            // Text
	PartReasoning      PartKind = "reasoning"       // Text: the model's reasoning, which isn't part of its answer
	PartRefusal        PartKind = "refusal"         // Text: why the model won't
	PartToolCall       PartKind = "tool_call"       // Call: to be run by the host
	PartToolResult     PartKind = "tool_result"     // Result
	PartProviderCall   PartKind = "provider_call"   // Call: run by the provider itself; never to be run by the host
	PartProviderResult PartKind = "provider_result" // Result of a provider call
	PartMedia          PartKind = "media"           // Media: an image, a document, a sound
	PartSource         PartKind = "source"          // Source: what the answer cites
	PartOpaque         PartKind = "opaque"          // Opaque alone, for example redacted reasoning
)

// A Part is one piece of a message. Kind says which of the other fields are used.
type Part struct {
	Kind   PartKind    `json:"kind"`
	Text   string      `json:"text,omitempty"`
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	Media  *Media      `json:"media,omitempty"`
	Source *Source     `json:"source,omitempty"`
	// Opaque is data that a provider wants back verbatim with the part. Any kind of part may have
	// it.
	Opaque *Opaque `json:"opaque,omitempty"`
	// Cache asks the provider to cache the prompt up to and including this part, if it supports
	// such marks.
	Cache bool `json:"cache,omitempty"`
}

// TextPart returns a part of text.
func TextPart(text string) Part { return Part{Kind: PartText, Text: text} }

// MediaPart returns a part of media.
func MediaPart(m Media) Part { return Part{Kind: PartMedia, Media: &m} }

// ResultPart returns a part that answers a call.
func ResultPart(r ToolResult) Part { return Part{Kind: PartToolResult, Result: &r} }

// A ToolCall is a model's request to run a tool.
type ToolCall struct {
	// ID names the call within a conversation and ties its result to it. In a provider's answer it
	// is the provider's id, which may be empty or repeated; an agent sets its own id here and keeps
	// the provider's in ProviderID.
	ID         string `json:"id,omitempty"`
	ProviderID string `json:"provider_id,omitempty"`
	Name       string `json:"name"`
	// Input is the arguments: compact, valid JSON, or empty if the model sent none.
	Input json.RawMessage `json:"input,omitempty"`
	// Invalid is the unchanged arguments if they aren't JSON; Input is empty then.
	Invalid string `json:"invalid,omitempty"`
}

// A ToolResult is the result of a tool call.
type ToolResult struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Parts  []Part `json:"parts,omitempty"` // text and media
	Error  bool   `json:"error,omitempty"` // the parts describe a failure
}

// Text returns the text parts of the result, joined; "" for nil.
func (r *ToolResult) Text() string {
	if r == nil {
		return ""
	}
	return joinText(r.Parts, PartText)
}

// Media is an image, a document, a sound or a video, by value or by URL.
type Media struct {
	Type string `json:"type"` // MIME type, for example image/png
	Name string `json:"name,omitempty"`
	Data []byte `json:"data,omitempty"`
	URL  string `json:"url,omitempty"`
	// FileID is the id of a file that was uploaded to the provider before.
	FileID string `json:"file_id,omitempty"`
}

// A Source is something that an answer cites.
type Source struct {
	ID    string `json:"id,omitempty"`
	URL   string `json:"url,omitempty"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"` // the cited text, if the provider reports it
	// Start and End are the byte offsets of the text in the part that is based on the source; both
	// 0 if unknown.
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
}

// Opaque is data that only its provider understands: a signature, encrypted reasoning, a thought
// signature. It is sent back verbatim to the provider that made it, and to no other.
type Opaque struct {
	Provider string `json:"provider"`
	Kind     string `json:"kind,omitempty"` // the provider's term for it
	// Data is valid UTF-8, so that it survives JSON unchanged; binary data is encoded by the
	// adapter.
	Data string `json:"data"`
}

func joinText(parts []Part, kind PartKind) string {
	first, n := -1, 0
	for i := range parts {
		if parts[i].Kind == kind {
			if n++; first < 0 {
				first = i
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return parts[first].Text
	}
	var b strings.Builder
	for i := range parts {
		if parts[i].Kind == kind {
			b.WriteString(parts[i].Text)
		}
	}
	return b.String()
}

// isNil reports a Provider that can't be called: nil, or a nil pointer in the interface.
func isNil(p Provider) bool {
	if p == nil {
		return true
	}
	v := reflect.ValueOf(p)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}
