package agui

import "encoding/json"

// A StateSnapshot replaces the state that agent and front end share.
type StateSnapshot struct {
	Base
	Attribution
	Snapshot json.RawMessage `json:"snapshot"` // any JSON; nil: null
}

// A StateDelta changes the state by a JSON Patch (RFC 6902).
type StateDelta struct {
	Base
	Attribution
	Delta json.RawMessage `json:"delta"` // an array of operations; nil: none
}

// A MessagesSnapshot is the conversation: the client replaces messages by id, and drops those that
// aren't in it, except for activities and reasoning.
type MessagesSnapshot struct {
	Base
	Messages []Message `json:"messages"`
}

// An ActivitySnapshot makes or replaces an activity: structured progress that isn't part of the
// conversation.
type ActivitySnapshot struct {
	Base
	Attribution
	MessageID    string          `json:"messageId"`
	ActivityType string          `json:"activityType"`
	Content      json.RawMessage `json:"content"`           // an object; nil: {}
	Replace      *bool           `json:"replace,omitempty"` // whether it replaces an activity that exists; nil: true
}

// An ActivityDelta changes the content of an activity by a JSON Patch.
type ActivityDelta struct {
	Base
	Attribution
	MessageID    string          `json:"messageId"`
	ActivityType string          `json:"activityType"`
	Patch        json.RawMessage `json:"patch"` // an array of operations; nil: none
}

// A Raw is an event of another format, unchanged.
type Raw struct {
	Base
	Attribution
	Event  json.RawMessage `json:"event"` // any JSON; nil: null
	Source string          `json:"source,omitempty"`
}

// A Custom is an event of an application.
type Custom struct {
	Base
	Attribution
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // any JSON; nil: null
}

func (RunStarted) eventType() Type              { return TypeRunStarted }
func (RunFinished) eventType() Type             { return TypeRunFinished }
func (RunError) eventType() Type                { return TypeRunError }
func (StepStarted) eventType() Type             { return TypeStepStarted }
func (StepFinished) eventType() Type            { return TypeStepFinished }
func (TextMessageStart) eventType() Type        { return TypeTextMessageStart }
func (TextMessageContent) eventType() Type      { return TypeTextMessageContent }
func (TextMessageEnd) eventType() Type          { return TypeTextMessageEnd }
func (TextMessageChunk) eventType() Type        { return TypeTextMessageChunk }
func (ToolCallStart) eventType() Type           { return TypeToolCallStart }
func (ToolCallArgs) eventType() Type            { return TypeToolCallArgs }
func (ToolCallEnd) eventType() Type             { return TypeToolCallEnd }
func (ToolCallChunk) eventType() Type           { return TypeToolCallChunk }
func (ToolCallResult) eventType() Type          { return TypeToolCallResult }
func (StateSnapshot) eventType() Type           { return TypeStateSnapshot }
func (StateDelta) eventType() Type              { return TypeStateDelta }
func (MessagesSnapshot) eventType() Type        { return TypeMessagesSnapshot }
func (ActivitySnapshot) eventType() Type        { return TypeActivitySnapshot }
func (ActivityDelta) eventType() Type           { return TypeActivityDelta }
func (ReasoningStart) eventType() Type          { return TypeReasoningStart }
func (ReasoningMessageStart) eventType() Type   { return TypeReasoningMessageStart }
func (ReasoningMessageContent) eventType() Type { return TypeReasoningMessageContent }
func (ReasoningMessageEnd) eventType() Type     { return TypeReasoningMessageEnd }
func (ReasoningMessageChunk) eventType() Type   { return TypeReasoningMessageChunk }
func (ReasoningEnd) eventType() Type            { return TypeReasoningEnd }
func (ReasoningEncryptedValue) eventType() Type { return TypeReasoningEncryptedValue }
func (SubagentStarted) eventType() Type         { return TypeSubagentStarted }
func (SubagentFinished) eventType() Type        { return TypeSubagentFinished }
func (SubagentError) eventType() Type           { return TypeSubagentError }
func (Raw) eventType() Type                     { return TypeRaw }
func (Custom) eventType() Type                  { return TypeCustom }
