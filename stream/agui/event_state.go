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

func (RunStarted) eventType() Type              { return typeRunStarted }
func (RunFinished) eventType() Type             { return typeRunFinished }
func (RunError) eventType() Type                { return typeRunError }
func (StepStarted) eventType() Type             { return typeStepStarted }
func (StepFinished) eventType() Type            { return typeStepFinished }
func (TextMessageStart) eventType() Type        { return typeTextMessageStart }
func (TextMessageContent) eventType() Type      { return typeTextMessageContent }
func (TextMessageEnd) eventType() Type          { return typeTextMessageEnd }
func (TextMessageChunk) eventType() Type        { return typeTextMessageChunk }
func (ToolCallStart) eventType() Type           { return typeToolCallStart }
func (ToolCallArgs) eventType() Type            { return typeToolCallArgs }
func (ToolCallEnd) eventType() Type             { return typeToolCallEnd }
func (ToolCallChunk) eventType() Type           { return typeToolCallChunk }
func (ToolCallResult) eventType() Type          { return typeToolCallResult }
func (StateSnapshot) eventType() Type           { return typeStateSnapshot }
func (StateDelta) eventType() Type              { return typeStateDelta }
func (MessagesSnapshot) eventType() Type        { return typeMessagesSnapshot }
func (ActivitySnapshot) eventType() Type        { return typeActivitySnapshot }
func (ActivityDelta) eventType() Type           { return typeActivityDelta }
func (ReasoningStart) eventType() Type          { return typeReasoningStart }
func (ReasoningMessageStart) eventType() Type   { return typeReasoningMessageStart }
func (ReasoningMessageContent) eventType() Type { return typeReasoningMessageContent }
func (ReasoningMessageEnd) eventType() Type     { return typeReasoningMessageEnd }
func (ReasoningMessageChunk) eventType() Type   { return typeReasoningMessageChunk }
func (ReasoningEnd) eventType() Type            { return typeReasoningEnd }
func (ReasoningEncryptedValue) eventType() Type { return typeReasoningEncryptedValue }
func (SubagentStarted) eventType() Type         { return typeSubagentStarted }
func (SubagentFinished) eventType() Type        { return typeSubagentFinished }
func (SubagentError) eventType() Type           { return typeSubagentError }
func (Raw) eventType() Type                     { return typeRaw }
func (Custom) eventType() Type                  { return typeCustom }
