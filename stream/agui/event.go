package agui

import "encoding/json"

// Version is the version of the protocol, as RunStarted and RunInput name it.
const Version = "1.0"

// A Type is the name of an event.
type Type string

// The types of events.
const (
	TypeRunStarted              Type = "RUN_STARTED"
	TypeRunFinished             Type = "RUN_FINISHED"
	TypeRunError                Type = "RUN_ERROR"
	TypeStepStarted             Type = "STEP_STARTED"
	TypeStepFinished            Type = "STEP_FINISHED"
	TypeTextMessageStart        Type = "TEXT_MESSAGE_START"
	TypeTextMessageContent      Type = "TEXT_MESSAGE_CONTENT"
	TypeTextMessageEnd          Type = "TEXT_MESSAGE_END"
	TypeTextMessageChunk        Type = "TEXT_MESSAGE_CHUNK"
	TypeToolCallStart           Type = "TOOL_CALL_START"
	TypeToolCallArgs            Type = "TOOL_CALL_ARGS"
	TypeToolCallEnd             Type = "TOOL_CALL_END"
	TypeToolCallChunk           Type = "TOOL_CALL_CHUNK"
	TypeToolCallResult          Type = "TOOL_CALL_RESULT"
	TypeStateSnapshot           Type = "STATE_SNAPSHOT"
	TypeStateDelta              Type = "STATE_DELTA"
	TypeMessagesSnapshot        Type = "MESSAGES_SNAPSHOT"
	TypeActivitySnapshot        Type = "ACTIVITY_SNAPSHOT"
	TypeActivityDelta           Type = "ACTIVITY_DELTA"
	TypeReasoningStart          Type = "REASONING_START"
	TypeReasoningMessageStart   Type = "REASONING_MESSAGE_START"
	TypeReasoningMessageContent Type = "REASONING_MESSAGE_CONTENT"
	TypeReasoningMessageEnd     Type = "REASONING_MESSAGE_END"
	TypeReasoningMessageChunk   Type = "REASONING_MESSAGE_CHUNK"
	TypeReasoningEnd            Type = "REASONING_END"
	TypeReasoningEncryptedValue Type = "REASONING_ENCRYPTED_VALUE"
	TypeSubagentStarted         Type = "SUBAGENT_STARTED"
	TypeSubagentFinished        Type = "SUBAGENT_FINISHED"
	TypeSubagentError           Type = "SUBAGENT_ERROR"
	TypeRaw                     Type = "RAW"
	TypeCustom                  Type = "CUSTOM"
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
	EncryptedToolCall EncryptedSubtype = "tool-call"
	EncryptedMessage  EncryptedSubtype = "message"
)

func (s EncryptedSubtype) known() bool { return s == EncryptedToolCall || s == EncryptedMessage }
