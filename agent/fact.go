package agent

import (
	"encoding/json"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Fact is an event that has happened for good. Facts are all that a [Machine] ever sees: the same facts make the same
// state, on any machine.
type Fact interface {
	Event
	kind() string
}

// RunStarted begins a run with an input.
type RunStarted struct {
	Meta
	// History precedes the input, in a session that the host has begun elsewhere.
	History []provider.Message `json:"history,omitempty"`
	Message provider.Message   `json:"message"`
	Mode    string             `json:"mode,omitempty"`
	// Limits are those in force, defaults filled in. Runs whose inputs name none share them.
	Limits     *Limits             `json:"limits"`
	Own        *Limits             `json:"own,omitempty"` // of them, those that the input itself named
	ToolChoice provider.ToolChoice `json:"tool_choice,omitzero"`
	// Output is the schema of a structured answer; empty: the answer is free.
	Output      json.RawMessage `json:"output,omitempty"`
	Interactive bool            `json:"interactive,omitempty"`
	Priority    int             `json:"priority,omitempty"`
	Task        string          `json:"task,omitempty"`
	// Tools are those of the agent, so that one that resumes the run can tell what has changed since.
	Tools []ToolFingerprint `json:"tools,omitempty"`
	// ContextReset says that the run continues the work of the one before it, in a conversation of its own.
	ContextReset *ContextResetState `json:"context_reset,omitempty"`
	// From is, in a copy, the session in which the run was, and which owns what it did: see [Agent.Fork].
	From string `json:"from,omitempty"`
}

// StepStarted begins a model call.
type StepStarted struct {
	Meta
	Model      string              `json:"model,omitempty"`
	Mode       string              `json:"mode,omitempty"`
	Tools      []string            `json:"tools,omitempty"` // offered, in order
	ToolChoice provider.ToolChoice `json:"tool_choice,omitzero"`
	// Final says that this is the last call, without tools, after a limit was reached: which.
	Final string `json:"final,omitempty"`
	// Note is a message to the model that comes with this call.
	Note string `json:"note,omitempty"`
	// Messages and System are what the model was shown if a hook changed them.
	Messages []provider.Message `json:"messages,omitempty"`
	// With Config.Compose, System is the system text if it is another than in the step before.
	System string `json:"system,omitempty"`
	// Context is what the request says besides the conversation, from this step on: see [Memory].
	Context *memory.Context `json:"context,omitempty"`
	// AnsweredBy is the hook that answered instead of the model.
	AnsweredBy string `json:"answered_by,omitempty"`
}

// Compacted is a conversation that was made shorter. What it was before stays in the log.
type Compacted struct {
	Meta
	// Report says what was done, with figures. Its Trigger is "without effect" where the conversation couldn't be made to fit, or the run
	// ended meanwhile, and summaries had been paid for.
	Report *memory.Report `json:"report"`
	// Spans are the conversation from now on; none: it is as it was, and only costs.
	Spans []Span `json:"spans,omitempty"`
	// Usage is what summaries took, and Cost what that is worth as far as their prices are known; Priced says that all of them are.
	// It counts towards the limits of the run. A log from before Priced was recorded has none: there a Cost above 0 counts as known.
	Usage  provider.Usage `json:"usage,omitzero"`
	Cost   provider.Money `json:"cost,omitempty"`
	Priced bool           `json:"priced"`
}

// UnmarshalJSON reads the fact, also from a log from before Priced was recorded.
func (f *Compacted) UnmarshalJSON(data []byte) error {
	type plain Compacted
	read := struct {
		*plain
		Priced *bool `json:"priced"`
	}{plain: (*plain)(f)}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	f.Priced = f.Cost > 0
	if read.Priced != nil {
		f.Priced = *read.Priced
	}
	return nil
}

// A Span is a piece of a conversation that was compacted. Messages that no span names were left out.
type Span struct {
	// From and To are the messages before, To exclusive, that stay as they are, or whose place Messages take.
	From     int                `json:"from"`
	To       int                `json:"to"`
	Messages []provider.Message `json:"messages,omitempty"`
}

// NoteWritten is a note about work under way: see [ProgressNotes] and [ContextReset].
type NoteWritten struct {
	Meta
	Category string          `json:"category"`
	Index    int             `json:"index"` // of the notes of this category in the session, from 1
	Share    float64         `json:"share"` // of the window less its reserve
	Note     json.RawMessage `json:"note,omitempty"`
	Error    string          `json:"error,omitempty"` // why there is none; of a context reset: why it failed
	// Usage is what the model took that wrote it, and Cost what that is worth where it is known (Priced).
	Usage  provider.Usage `json:"usage,omitzero"`
	Cost   provider.Money `json:"cost,omitempty"`
	Priced bool           `json:"priced,omitempty"`
}

// Replied is the model's answer, complete.
type Replied struct {
	Meta
	Message    provider.Message    `json:"message"` // its calls named by the machine
	Stop       provider.StopReason `json:"stop"`
	Model      string              `json:"model,omitempty"`
	ResponseID string              `json:"response_id,omitempty"`
	Usage      provider.Usage      `json:"usage"`
	Cost       provider.Money      `json:"cost,omitempty"`
	Priced     bool                `json:"priced,omitempty"` // Cost is known
}

// StepFailed is a model call that ended without a complete answer.
type StepFailed struct {
	Meta
	// Partial is what had been said, without its calls, which never run.
	Partial provider.Message `json:"partial,omitzero"`
	Usage   provider.Usage   `json:"usage"`
	Cost    provider.Money   `json:"cost,omitempty"`
	Priced  bool             `json:"priced,omitempty"` // Cost is known
	Class   fault.Class      `json:"class"`
	Error   string           `json:"error"`
}

// ToolStarted is a call about to run: it is recorded before the tool can have an effect.
type ToolStarted struct {
	Meta
	Call *provider.ToolCall `json:"tool_call"` // with the input that runs
	// IdempotencyKey is the idempotency key, the same for every attempt at the call.
	IdempotencyKey string `json:"idempotency_key"`
	// Repeatable says that the call may be made again if nobody knows how it ended.
	Repeatable bool `json:"repeatable,omitempty"`
}

// ToolFinished is the one result of a call.
type ToolFinished struct {
	Meta
	Call   *provider.ToolCall `json:"tool_call"`
	Result *ToolResult        `json:"result"`
	Took   time.Duration      `json:"took,omitempty"`
	// Attempts is how often the tool was called, if that was more than once.
	Attempts int `json:"attempts,omitempty"`
	// Spent is what the call used of the run's limits: that of an agent that is a tool.
	Spent *Spent `json:"spent,omitempty"`
}

// Spent is what an agent that is a tool has used.
type Spent struct {
	Usage    provider.Usage `json:"usage"`
	Cost     provider.Money `json:"cost,omitempty"`
	Unpriced bool           `json:"unpriced,omitempty"` // some model calls had no known price
}

// Suspended is a call that waits for a decision.
type Suspended struct {
	Meta
	Pause Pause `json:"pause"`
}

// Decided is a decision on a suspended call.
type Decided struct {
	Meta
	Decision Decision `json:"decision"`
}

// Steered is a message that reached a run while it worked.
type Steered struct {
	Meta
	ID      string           `json:"id,omitempty"`
	Message provider.Message `json:"message"`
}

// SentBack keeps a run from finishing, and tells the model what is missing.
type SentBack struct {
	Meta
	Why  string `json:"why"` // SendBackHook or SendBackOutput
	Text string `json:"text"`
}

// Why a run was sent back.
const (
	SendBackHook   = "hook"
	SendBackOutput = "output"
)

// ModeChanged is a switch to another mode, from the next model call on.
type ModeChanged struct {
	Meta
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Limits are those in force from now on; nil: as before.
	Limits *Limits `json:"limits,omitempty"`
}

// PhaseChanged begins another phase of the work.
type PhaseChanged struct {
	Meta
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// ContextResetRequested says that a tool or a hook asks for a context reset: see [RequestContextReset].
type ContextResetRequested struct{ Meta }

// Continued takes a run up again that was paused by its host, whose process died, or whose agent has changed since.
type Continued struct {
	Meta
	// Tools are those of the agent from now on, if they aren't what they were.
	Tools []ToolFingerprint `json:"tools,omitempty"`
	// Changes say how they differ.
	Changes []ToolChange `json:"changes,omitempty"`
}

// RuleRevoked ends a standing approval.
type RuleRevoked struct {
	Meta
	Tool string `json:"tool"`
}

// Undone says that effects of calls were taken back, after their run had ended: see [Agent.Undo].
type Undone struct {
	Meta
	Calls []UndoneCall `json:"calls,omitempty"`
	// Message tells the model, at the end of it.
	Message provider.Message `json:"message,omitzero"`
}

// Snapshot is a session's state as it is at this point, so that what comes before isn't needed to continue: see [Agent.Prune].
type Snapshot struct {
	Meta
	State *State `json:"state"`
	// From is, in a copy, the session in which the run of the State was: see [RunStarted].
	From string `json:"from,omitempty"`
}

// RunEnded ends a run, or pauses it.
type RunEnded struct {
	Meta
	Status Status `json:"status"`
	Code   string `json:"code,omitempty"` // see the Code constants
	Reason string `json:"reason,omitempty"`
	// Result is the run's result. It isn't part of the journal.
	Result *Result `json:"-"`
}

// A Status is how a run stands.
type Status string

// The statuses of a run.
const (
	Running   Status = "running"
	Paused    Status = "paused"    // waits for decisions, or for Continue
	Completed Status = "completed" // the model ended its turn
	Stopped   Status = "stopped"   // by a limit, a hook, a person, or the end of its context
	Failed    Status = "failed"    // the model couldn't be called
)

// Codes of the reason with which a run ended.
const (
	CodeLimit        = "limit"
	CodeLength       = "length"   // the answer was cut at the model's output limit
	CodeFiltered     = "filtered" // the answer was cut by a content filter, or refused
	CodeCanceled     = "canceled"
	CodeAbandoned    = "abandoned" // the consumer left the stream
	CodeAborted      = "aborted"   // by a hook
	CodeSuperseded   = "superseded"
	CodeCondition    = "condition" // a stop condition held
	CodeOutput       = "output"    // the structured answer didn't fit
	CodeProvider     = "provider"
	CodeHost         = "host"    // paused or stopped by the host
	CodeDrained      = "drained" // paused by Drain, resumable
	CodeJournal      = "journal"
	CodeContextReset = "context reset" // to a fresh run, which continues the work
	CodeContext      = "context"       // the conversation doesn't fit the model's window
	CodeForked       = "forked"        // the copy of a run that was under way where the session was forked
)

// A ToolResult is the result of a call: what the model is shown, and what the host may want to know.
type ToolResult struct {
	provider.ToolResult
	Status tools.Status `json:"status"`
	// Data is for the host; the model doesn't see it.
	Data  json.RawMessage `json:"data,omitempty"`
	Class fault.Class     `json:"class,omitempty"`
	// Cause is what went wrong, for logs; the model doesn't see it.
	Cause string `json:"cause,omitempty"`
	// Cut is how many bytes of text were left out.
	Cut int `json:"cut,omitempty"`
	// Notes is how many of the last parts were added by the agent: warnings of hooks, and of repetition.
	Notes int `json:"notes,omitempty"`
	// Polls says that the tool polls, so that repeating the call is no sign of being stuck.
	Polls bool `json:"polls,omitempty"`
}

func (RunStarted) kind() string            { return "run_started" }
func (StepStarted) kind() string           { return "step_started" }
func (Compacted) kind() string             { return "compacted" }
func (NoteWritten) kind() string           { return "note_written" }
func (Replied) kind() string               { return "replied" }
func (StepFailed) kind() string            { return "step_failed" }
func (ToolStarted) kind() string           { return "tool_started" }
func (ToolFinished) kind() string          { return "tool_finished" }
func (Suspended) kind() string             { return "suspended" }
func (Decided) kind() string               { return "decided" }
func (Steered) kind() string               { return "steered" }
func (SentBack) kind() string              { return "sent_back" }
func (ModeChanged) kind() string           { return "mode_changed" }
func (PhaseChanged) kind() string          { return "phase_changed" }
func (ContextResetRequested) kind() string { return "context_reset_requested" }
func (Continued) kind() string             { return "continued" }
func (RuleRevoked) kind() string           { return "rule_revoked" }
func (Undone) kind() string                { return "undone" }
func (Snapshot) kind() string              { return "snapshot" }
func (RunEnded) kind() string              { return "run_ended" }
