package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// version is the version of the protocol, as RunStarted and RunInput name it.
const version = "1.0"

// An Event is what a [Writer] writes: one of the structs of this package that say so, by value.
type Event interface{ eventType() string }

// A RunStarted is an [Event] that begins a run.
type RunStarted struct {
	ThreadID        string `json:"threadId"`
	RunID           string `json:"runId"`
	ProtocolVersion string `json:"protocolVersion"` // what the sender speaks; empty: 1.0
}

// A RunFinished is an [Event] that ends a run that didn't fail. The Writer knows its ids.
type RunFinished struct {
	Outcome Outcome `json:"outcome,omitzero"` // the zero value means success
}

// An OutcomeType says how a run ended.
type OutcomeType string

// How a run may end, besides RunError.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt" // it waits for answers to its interrupts, which a later run brings
	OutcomeCancelled OutcomeType = "cancelled" // it was stopped before it was complete
)

// An Outcome says how a run ended.
type Outcome struct {
	Type OutcomeType `json:"type"`
	// PendingToolCallIDs are the calls without a result, if Type is OutcomeSuccess: tools of the
	// front end, whose results come with the messages of the next run. The Writer adds those of
	// this run.
	PendingToolCallIDs []string    `json:"pendingToolCallIds,omitempty"`
	Interrupts         []Interrupt `json:"interrupts,omitempty"` // at least one if Type is OutcomeInterrupt
}

// An Interrupt is something that a run needs from outside, for example an approval.
type Interrupt struct {
	ID     string `json:"id"`
	Reason string `json:"reason"` // any; usual are the constants
	// Message is what a person is asked.
	Message        string          `json:"message,omitempty"`
	ToolCallID     string          `json:"toolCallId,omitempty"`     // the call that waits
	ResponseSchema json.RawMessage `json:"responseSchema,omitempty"` // the JSON Schema of the answer, an object
	ExpiresAt      string          `json:"expiresAt,omitempty"`      // in the form of RFC 3339
	Metadata       Metadata        `json:"metadata,omitempty"`
}

// Usual reasons of an [Interrupt].
const (
	ReasonToolCall      = "tool_call"
	ReasonInputRequired = "input_required"
)

// Metadata is extra information. Its values are any JSON.
type Metadata map[string]json.RawMessage

// A RunError is an [Event] that ends a run that failed, or a stream whose run couldn't begin.
type RunError struct {
	Message string `json:"message"` // for a person
	Code    string `json:"code,omitempty"`
}

// A StepStarted is an [Event] that begins a named step.
type StepStarted struct {
	StepName string `json:"stepName"`
}

// A StepFinished is an [Event] that ends a step.
type StepFinished struct {
	StepName string `json:"stepName"`
}

// A TextMessageChunk is an [Event] that begins a text message if it isn't open, and appends to it.
type TextMessageChunk struct {
	MessageID string
	Role      Role // developer, system, assistant or user; empty: assistant
	Delta     string
}

// A ReasoningMessageChunk is an [Event] that begins a reasoning message if it isn't open, and
// appends to it.
type ReasoningMessageChunk struct {
	MessageID string
	Delta     string
}

// A ToolCallChunk is an [Event] that begins a tool call if it isn't open, and appends to its
// arguments.
type ToolCallChunk struct {
	ToolCallID      string
	ToolCallName    string // needed if the call isn't open
	ParentMessageID string // the assistant message that has the call; may be empty
	Delta           string
}

// A ToolCallEnd is an [Event] that says that the arguments of a tool call are complete.
type ToolCallEnd struct {
	ToolCallID string `json:"toolCallId"`
}

// A ToolCallResult is an [Event]: the result of a tool call, which is a message of its own.
type ToolCallResult struct {
	MessageID  string  `json:"messageId"`
	ToolCallID string  `json:"toolCallId"`
	Content    Content `json:"content"`
}

// A StateSnapshot is an [Event] that replaces the state that agent and front end share.
type StateSnapshot struct {
	Snapshot json.RawMessage `json:"snapshot"` // any JSON; nil: null
}

// A MessagesSnapshot is an [Event] with the conversation: the client replaces messages by id, and
// drops those that aren't in it, except for activities and reasoning.
type MessagesSnapshot struct {
	Messages []Message `json:"messages"`
}

// A Custom is an [Event] of an application.
type Custom struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // any JSON; nil: null
}

func (RunStarted) eventType() string            { return "RUN_STARTED" }
func (RunFinished) eventType() string           { return "RUN_FINISHED" }
func (RunError) eventType() string              { return "RUN_ERROR" }
func (StepStarted) eventType() string           { return "STEP_STARTED" }
func (StepFinished) eventType() string          { return "STEP_FINISHED" }
func (TextMessageChunk) eventType() string      { return "TEXT_MESSAGE_CHUNK" }
func (ReasoningMessageChunk) eventType() string { return "REASONING_MESSAGE_CHUNK" }
func (ToolCallChunk) eventType() string         { return "TOOL_CALL_CHUNK" }
func (ToolCallEnd) eventType() string           { return "TOOL_CALL_END" }
func (ToolCallResult) eventType() string        { return "TOOL_CALL_RESULT" }
func (StateSnapshot) eventType() string         { return "STATE_SNAPSHOT" }
func (MessagesSnapshot) eventType() string      { return "MESSAGES_SNAPSHOT" }
func (Custom) eventType() string                { return "CUSTOM" }

// marshal returns e as JSON on one line. Bytes that aren't UTF-8 become U+FFFD.
func marshal(e Event) ([]byte, error) {
	body, err := encode(e)
	if err != nil {
		return nil, fmt.Errorf("agui: the %s has no JSON: %w", e.eventType(), err)
	}
	out := append([]byte(`{"type":"`+e.eventType()+`",`), body[1:]...)
	return bytes.ToValidUTF8(out, []byte("\uFFFD")), nil
}

// encode is json.Marshal without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err := to.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
