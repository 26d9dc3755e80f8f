package uimessage

import "encoding/json"

// A Chunk is a piece of a stream: one of the types of this file, by value. Fields that aren't said
// to be required are left out if they are empty. The protocol has more chunks than these: what an
// application has to say beyond them is a [Data].
type Chunk interface{ kind() string }

// Start begins a message. Without the MessageID the client makes one of its own.
type Start struct {
	MessageID string `json:"messageId,omitempty"`
}

// Finish ends a message. FinishReason is stop, length, content-filter, tool-calls, error or other,
// or empty.
type Finish struct {
	FinishReason string `json:"finishReason,omitempty"`
}

// Error ends a stream. The client shows ErrorText.
type Error struct {
	ErrorText string `json:"errorText"`
}

// StartStep begins a step: a model call with its results. It ends the step before.
type StartStep struct{}

type finishStep struct{}

// ResetStep removes what the current step has shown: see [V7Late].
type ResetStep struct{}

type textStart struct {
	ID string `json:"id"`
}

// TextDelta is a piece of text. The first with its ID begins a part.
type TextDelta struct {
	ID    string `json:"id"`
	Delta string `json:"delta"`
}

// TextEnd ends a part of text.
type TextEnd struct {
	ID string `json:"id"`
}

type reasoningStart struct {
	ID string `json:"id"`
}

// ReasoningDelta is a piece of reasoning. The first with its ID begins a part.
type ReasoningDelta struct {
	ID    string `json:"id"`
	Delta string `json:"delta"`
}

// ReasoningEnd ends a part of reasoning.
type ReasoningEnd struct {
	ID string `json:"id"`
}

// ToolInputStart begins a call. Dynamic is for tools of which the client has no type; it must be
// the same in all chunks of a call.
type ToolInputStart struct {
	ToolCallID       string `json:"toolCallId"`
	ToolName         string `json:"toolName"`
	ProviderExecuted bool   `json:"providerExecuted,omitempty"`
	Dynamic          bool   `json:"dynamic,omitempty"`
}

// ToolInputDelta is a piece of the call's input, as JSON text.
type ToolInputDelta struct {
	ToolCallID     string `json:"toolCallId"`
	InputTextDelta string `json:"inputTextDelta"`
}

// ToolInputAvailable is the whole input. It may come without a ToolInputStart. Input is required;
// nil is null.
type ToolInputAvailable struct {
	ToolCallID       string          `json:"toolCallId"`
	ToolName         string          `json:"toolName"`
	Input            json.RawMessage `json:"input"`
	ProviderExecuted bool            `json:"providerExecuted,omitempty"`
	Dynamic          bool            `json:"dynamic,omitempty"`
}

// ToolInputError is a call whose input isn't valid. Input is required; nil is null.
type ToolInputError struct {
	ToolCallID       string          `json:"toolCallId"`
	ToolName         string          `json:"toolName"`
	Input            json.RawMessage `json:"input"`
	ErrorText        string          `json:"errorText"`
	ProviderExecuted bool            `json:"providerExecuted,omitempty"`
	Dynamic          bool            `json:"dynamic,omitempty"`
}

// ToolApprovalRequest asks for approval of a call.
type ToolApprovalRequest struct {
	ApprovalID string `json:"approvalId"`
	ToolCallID string `json:"toolCallId"`
}

// ToolApprovalResponse is the answer to a ToolApprovalRequest.
type ToolApprovalResponse struct {
	ApprovalID string `json:"approvalId"`
	Approved   bool   `json:"approved"`
	Reason     string `json:"reason,omitempty"`
}

// ToolOutputAvailable is the result of a call. Output is required; nil is null.
type ToolOutputAvailable struct {
	ToolCallID       string          `json:"toolCallId"`
	Output           json.RawMessage `json:"output"`
	ProviderExecuted bool            `json:"providerExecuted,omitempty"`
	Dynamic          bool            `json:"dynamic,omitempty"`
}

// ToolOutputError says that a call has failed.
type ToolOutputError struct {
	ToolCallID       string `json:"toolCallId"`
	ErrorText        string `json:"errorText"`
	ProviderExecuted bool   `json:"providerExecuted,omitempty"`
	Dynamic          bool   `json:"dynamic,omitempty"`
}

// ToolOutputDenied says that a call doesn't run, because its approval was denied.
type ToolOutputDenied struct {
	ToolCallID string `json:"toolCallId"`
}

// SourceURL is a page that the answer cites.
type SourceURL struct {
	SourceID string `json:"sourceId"`
	URL      string `json:"url"`
	Title    string `json:"title,omitempty"`
}

// SourceDocument is a document that the answer cites.
type SourceDocument struct {
	SourceID  string `json:"sourceId"`
	MediaType string `json:"mediaType"`
	Title     string `json:"title"`
	Filename  string `json:"filename,omitempty"`
}

// File is a file that the model made. URL is often a data URL.
type File struct {
	URL       string `json:"url"`
	MediaType string `json:"mediaType"`
}

// Data is data of the host. Its type is "data-" and the Name. Data with the ID of earlier data of
// the name replaces that. Transient data isn't part of the message. The data is required; nil is
// null.
type Data struct {
	Name      string          `json:"-"`
	ID        string          `json:"id,omitempty"`
	Data      json.RawMessage `json:"data"`
	Transient bool            `json:"transient,omitempty"`
}

func (Start) kind() string                { return "start" }
func (Finish) kind() string               { return "finish" }
func (Error) kind() string                { return "error" }
func (StartStep) kind() string            { return "start-step" }
func (finishStep) kind() string           { return "finish-step" }
func (ResetStep) kind() string            { return "reset-step" }
func (textStart) kind() string            { return "text-start" }
func (TextDelta) kind() string            { return "text-delta" }
func (TextEnd) kind() string              { return "text-end" }
func (reasoningStart) kind() string       { return "reasoning-start" }
func (ReasoningDelta) kind() string       { return "reasoning-delta" }
func (ReasoningEnd) kind() string         { return "reasoning-end" }
func (ToolInputStart) kind() string       { return "tool-input-start" }
func (ToolInputDelta) kind() string       { return "tool-input-delta" }
func (ToolInputAvailable) kind() string   { return "tool-input-available" }
func (ToolInputError) kind() string       { return "tool-input-error" }
func (ToolApprovalRequest) kind() string  { return "tool-approval-request" }
func (ToolApprovalResponse) kind() string { return "tool-approval-response" }
func (ToolOutputAvailable) kind() string  { return "tool-output-available" }
func (ToolOutputError) kind() string      { return "tool-output-error" }
func (ToolOutputDenied) kind() string     { return "tool-output-denied" }
func (SourceURL) kind() string            { return "source-url" }
func (SourceDocument) kind() string       { return "source-document" }
func (File) kind() string                 { return "file" }
func (d Data) kind() string               { return dataPrefix + d.Name }

const dataPrefix = "data-"
