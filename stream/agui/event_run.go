package agui

import "encoding/json"

// A RunStarted begins a run.
type RunStarted struct {
	Base
	ThreadID string `json:"threadId"`
	RunID    string `json:"runId"`
	// what the sender speaks; a Writer sets Version if it is empty
	ProtocolVersion string    `json:"protocolVersion,omitempty"`
	ParentRunID     string    `json:"parentRunId,omitempty"` // of the run that started this one as a separate run
	Input           *RunInput `json:"input,omitempty"`       // what the run was asked
}

// A RunFinished ends a run that didn't fail.
type RunFinished struct {
	Base
	ThreadID string          `json:"threadId"`
	RunID    string          `json:"runId"`
	Result   json.RawMessage `json:"result,omitempty"` // any JSON but null
	Outcome  Outcome         `json:"outcome,omitzero"` // the zero value means success
	Usage    []TokenUsage    `json:"usage,omitempty"`  // one for each provider and model
}

// An OutcomeType says how a run ended.
type OutcomeType string

// How a run may end, besides RunError.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt" // it waits for answers to its interrupts, which a later run brings
	OutcomeCancelled OutcomeType = "cancelled" // it was stopped before it was complete
)

func (t OutcomeType) known() bool {
	return t == OutcomeSuccess || t == OutcomeInterrupt || t == OutcomeCancelled
}

// An Outcome says how a run ended.
type Outcome struct {
	Type OutcomeType `json:"type"`
	// PendingToolCallIDs are the calls without a result, in their order, if Type is OutcomeSuccess:
	// tools of the front end, whose results come with the messages of the next run. They may be of
	// earlier runs, too; a Writer knows only those of this one.
	PendingToolCallIDs []string    `json:"pendingToolCallIds,omitempty"`
	Interrupts         []Interrupt `json:"interrupts,omitempty"` // at least one if Type is OutcomeInterrupt
}

// An Interrupt is something that a run needs from outside, for example an approval.
type Interrupt struct {
	Attribution
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
	ReasonConfirmation  = "confirmation"
)

// TokenUsage is what the model calls of a run used, by one provider and model. A count that isn't
// known is nil.
type TokenUsage struct {
	Provider     string `json:"provider,omitempty"`
	Model        string `json:"model,omitempty"`
	InputTokens  *int64 `json:"inputTokens,omitempty"`  // all of them, cached ones too
	OutputTokens *int64 `json:"outputTokens,omitempty"` // all of them, those of reasoning too
	TotalTokens  *int64 `json:"totalTokens,omitempty"`  // of input and output

	ReasoningTokens       *int64 `json:"reasoningTokens,omitempty"`       // part of OutputTokens
	CachedInputTokens     *int64 `json:"cachedInputTokens,omitempty"`     // part of InputTokens: read from a cache
	CacheWriteInputTokens *int64 `json:"cacheWriteInputTokens,omitempty"` // part of InputTokens: written to a cache
}

// A RunError ends a run that failed, or a stream whose run couldn't begin.
type RunError struct {
	Base
	Message string       `json:"message"` // for a person
	Code    string       `json:"code,omitempty"`
	Usage   []TokenUsage `json:"usage,omitempty"`
}

// A StepStarted begins a named step. A step has its name to itself while it is open.
type StepStarted struct {
	Base
	Attribution
	StepName string `json:"stepName"`
}

// A StepFinished ends a step. It has the Attribution of its StepStarted.
type StepFinished struct {
	Base
	Attribution
	StepName string `json:"stepName"`
}

// A SubagentStarted announces a subagent. What comes from it has its id as Attribution.
type SubagentStarted struct {
	Base
	SubagentRunID       string `json:"subagentRunId"`
	Name                string `json:"name"`
	Description         string `json:"description,omitempty"`
	ParentSubagentRunID string `json:"parentSubagentRunId,omitempty"` // of the subagent that started this one
	ParentToolCallID    string `json:"parentToolCallId,omitempty"`
	ParentMessageID     string `json:"parentMessageId,omitempty"`
}

// A SubagentFinished says that a subagent has ended or is suspended.
type SubagentFinished struct {
	Base
	SubagentRunID string          `json:"subagentRunId"`
	Result        json.RawMessage `json:"result,omitempty"`
	Outcome       SubagentOutcome `json:"outcome,omitzero"` // the zero value means success
}

// A SubagentOutcome says how a subagent ended.
type SubagentOutcome struct {
	Type         SubagentOutcomeType `json:"type"`
	InterruptIDs []string            `json:"interruptIds,omitempty"` // those that the subagent raised itself
}

// A SubagentOutcomeType says how a subagent ended.
type SubagentOutcomeType string

// How a subagent may end, besides SubagentError.
const (
	subagentSuccess SubagentOutcomeType = "success"
	// it waits for an interrupt, its own or that of a subagent of its
	SubagentSuspended SubagentOutcomeType = "suspended"
)

func (t SubagentOutcomeType) known() bool { return t == subagentSuccess || t == SubagentSuspended }

// A SubagentError says that a subagent failed. The run may go on.
type SubagentError struct {
	Base
	SubagentRunID string `json:"subagentRunId"`
	Message       string `json:"message"`
	Code          string `json:"code,omitempty"`
}
