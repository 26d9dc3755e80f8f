package agui

import "encoding/json"

// Version is the version of the protocol, as RunStarted and RunInput name it.
const Version = "1.0"

// A Type is the name of an event.
type Type string

// The types of events.
const (
	typeRunStarted              Type = "RUN_STARTED"
	typeRunFinished             Type = "RUN_FINISHED"
	typeRunError                Type = "RUN_ERROR"
	typeStepStarted             Type = "STEP_STARTED"
	typeStepFinished            Type = "STEP_FINISHED"
	typeTextMessageStart        Type = "TEXT_MESSAGE_START"
	typeTextMessageContent      Type = "TEXT_MESSAGE_CONTENT"
	typeTextMessageEnd          Type = "TEXT_MESSAGE_END"
	typeTextMessageChunk        Type = "TEXT_MESSAGE_CHUNK"
	typeToolCallStart           Type = "TOOL_CALL_START"
	typeToolCallArgs            Type = "TOOL_CALL_ARGS"
	typeToolCallEnd             Type = "TOOL_CALL_END"
	typeToolCallChunk           Type = "TOOL_CALL_CHUNK"
	typeToolCallResult          Type = "TOOL_CALL_RESULT"
	typeStateSnapshot           Type = "STATE_SNAPSHOT"
	typeStateDelta              Type = "STATE_DELTA"
	typeMessagesSnapshot        Type = "MESSAGES_SNAPSHOT"
	typeActivitySnapshot        Type = "ACTIVITY_SNAPSHOT"
	typeActivityDelta           Type = "ACTIVITY_DELTA"
	typeReasoningStart          Type = "REASONING_START"
	typeReasoningMessageStart   Type = "REASONING_MESSAGE_START"
	typeReasoningMessageContent Type = "REASONING_MESSAGE_CONTENT"
	typeReasoningMessageEnd     Type = "REASONING_MESSAGE_END"
	typeReasoningMessageChunk   Type = "REASONING_MESSAGE_CHUNK"
	typeReasoningEnd            Type = "REASONING_END"
	typeReasoningEncryptedValue Type = "REASONING_ENCRYPTED_VALUE"
	typeSubagentStarted         Type = "SUBAGENT_STARTED"
	typeSubagentFinished        Type = "SUBAGENT_FINISHED"
	typeSubagentError           Type = "SUBAGENT_ERROR"
	typeRaw                     Type = "RAW"
	typeCustom                  Type = "CUSTOM"
)

// An Event is an event of the protocol: one of the structs of this package that embed [Base], or a
// pointer to one. [Marshal] makes its JSON; encoding/json alone leaves out the type.
type Event interface{ eventType() Type }

// TypeOf returns the type of e, or "" if e is nil.
func TypeOf(e Event) Type {
	e, err := plain(e)
	if err != nil {
		return ""
	}
	return e.eventType()
}

// Base has what every event may have.
type Base struct {
	Timestamp int64           `json:"timestamp,omitempty"` // in milliseconds since 1970; 0: none
	RawEvent  json.RawMessage `json:"rawEvent,omitempty"`  // the event of another format that this one was made from
	Metadata  Metadata        `json:"metadata,omitempty"`
}

func (b Base) base() Base { return b }

// Metadata is extra information. Its values are any JSON.
type Metadata map[string]json.RawMessage

// Attribution says which subagent an event, a message or an interrupt comes from.
type Attribution struct {
	SubagentRunID string `json:"subagentRunId,omitempty"` // empty: the agent itself
}

func (a Attribution) owner() string { return a.SubagentRunID }

// A TextMessageStart begins a text message.
type TextMessageStart struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
	Role      Role   `json:"role,omitempty"` // developer, system, assistant or user; empty: assistant
	Name      string `json:"name,omitempty"` // of the author
}

// A TextMessageContent appends to a text message.
type TextMessageContent struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

// A TextMessageEnd ends a text message. A later start with the same id continues the message.
type TextMessageEnd struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
}

// A TextMessageChunk begins a text message if it isn't open, and appends to it. The first chunk of
// a message needs MessageID.
type TextMessageChunk struct {
	Base
	Attribution
	MessageID string `json:"messageId,omitempty"` // empty: the message of the chunk before
	Role      Role   `json:"role,omitempty"`
	Delta     string `json:"delta,omitempty"`
	Name      string `json:"name,omitempty"`
}

// A ToolCallStart begins a tool call.
type ToolCallStart struct {
	Base
	Attribution
	ToolCallID      string `json:"toolCallId"`
	ToolCallName    string `json:"toolCallName"`
	ParentMessageID string `json:"parentMessageId,omitempty"` // the assistant message that has the call
}

// A ToolCallArgs appends to the arguments of a tool call, which are JSON when the call has ended.
type ToolCallArgs struct {
	Base
	Attribution
	ToolCallID string `json:"toolCallId"`
	Delta      string `json:"delta"`
}

// A ToolCallEnd says that the arguments of a tool call are complete.
type ToolCallEnd struct {
	Base
	Attribution
	ToolCallID string `json:"toolCallId"`
}

// A ToolCallChunk begins a tool call if it isn't open, and appends to its arguments. The first
// chunk of a call needs ToolCallID and ToolCallName.
type ToolCallChunk struct {
	Base
	Attribution
	ToolCallID      string `json:"toolCallId,omitempty"` // empty: the call of the chunk before
	ToolCallName    string `json:"toolCallName,omitempty"`
	ParentMessageID string `json:"parentMessageId,omitempty"`
	Delta           string `json:"delta,omitempty"`
}

// A ToolCallResult is the result of a tool call, and a message of its own.
type ToolCallResult struct {
	Base
	Attribution
	MessageID  string  `json:"messageId"`
	ToolCallID string  `json:"toolCallId"`
	Content    Content `json:"content"`
}

// A ReasoningStart begins a stretch of reasoning, which may have several reasoning messages.
type ReasoningStart struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
}

// A ReasoningMessageStart begins a reasoning message.
type ReasoningMessageStart struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
	Role      Role   `json:"role"` // RoleReasoning, which an empty one means when it is written
}

// A ReasoningMessageContent appends to a reasoning message.
type ReasoningMessageContent struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

// A ReasoningMessageEnd ends a reasoning message.
type ReasoningMessageEnd struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
}

// A ReasoningMessageChunk begins a reasoning message if it isn't open, and appends to it. The first
// chunk of a message needs MessageID.
type ReasoningMessageChunk struct {
	Base
	Attribution
	MessageID string `json:"messageId,omitempty"` // empty: the message of the chunk before
	Delta     string `json:"delta,omitempty"`
}

// A ReasoningEnd ends a stretch of reasoning.
type ReasoningEnd struct {
	Base
	Attribution
	MessageID string `json:"messageId"`
}

// A ReasoningEncryptedValue is what a client keeps without reading it and sends back with the
// message or the tool call.
type ReasoningEncryptedValue struct {
	Base
	Attribution
	Subtype        EncryptedSubtype `json:"subtype"`
	EntityID       string           `json:"entityId"` // of the message or the tool call
	EncryptedValue string           `json:"encryptedValue"`
}

// An EncryptedSubtype says what a [ReasoningEncryptedValue] belongs to.
type EncryptedSubtype string

// What an encrypted value belongs to.
const (
	encryptedToolCall EncryptedSubtype = "tool-call"
	encryptedMessage  EncryptedSubtype = "message"
)

func (s EncryptedSubtype) known() bool { return s == encryptedToolCall || s == encryptedMessage }
