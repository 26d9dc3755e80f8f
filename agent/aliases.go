package agent

import (
	"github.com/pawlkit/pawl/agent/machine"
)

// The facts of a run: see [Fact]. They are types of package machine, which has a few more that
// hosts rarely need.
type (
	Fact         = machine.Fact
	RunStarted   = machine.RunStarted
	StepStarted  = machine.StepStarted
	Replied      = machine.Replied
	StepFailed   = machine.StepFailed
	ToolStarted  = machine.ToolStarted
	ToolFinished = machine.ToolFinished
	Suspended    = machine.Suspended
	Decided      = machine.Decided
	Steered      = machine.Steered
	ModeChanged  = machine.ModeChanged
	ToolsChanged = machine.ToolsChanged
	Compacted    = machine.Compacted
	NoteWritten  = machine.NoteWritten
	RuleRevoked  = machine.RuleRevoked
	TitleChanged = machine.TitleChanged
	Emitted      = machine.Emitted
	Undone       = machine.Undone
	Snapshot     = machine.Snapshot
)

// Types that facts, results and errors consist of. They are documented in package machine.
type (
	Meta             = machine.Meta
	Result           = machine.Result
	ToolResult       = machine.ToolResult
	Status           = machine.Status
	Limits           = machine.Limits
	Rule             = machine.Rule
	Pause            = machine.Pause
	PauseKind        = machine.PauseKind
	Decision         = machine.Decision
	DecisionKind     = machine.DecisionKind
	UndoReceipt      = machine.UndoReceipt
	ContextResetNote = machine.ContextResetNote
	TraceStep        = machine.TraceStep
	Briefing         = machine.Briefing

	LimitError    = machine.LimitError
	StopError     = machine.StopError
	PausedError   = machine.PausedError
	DecisionError = machine.DecisionError
)

// The statuses of a run.
const (
	Running   = machine.Running
	Paused    = machine.Paused
	Completed = machine.Completed
	Stopped   = machine.Stopped
	Failed    = machine.Failed
)

// The kinds of pauses. Those of decisions are constants of package machine, and so are the codes of
// a Result and of a DecisionError.
const (
	PauseApproval   = machine.PauseApproval
	PauseInDoubt    = machine.PauseInDoubt
	PauseCorrection = machine.PauseCorrection
)

// Approve lets the call run with the input that was shown.
func Approve(id string) Decision { return machine.Approve(id) }

// Reject keeps the call from running. The model reads the reason.
func Reject(id, reason string) Decision { return machine.Reject(id, reason) }

// Edit lets the call run with another input. The input is validated and checked against the
// policies again; if a policy denies it, the call doesn't run. The input is encoded as JSON; a
// json.RawMessage is used as it is.
func Edit(id string, input any) Decision { return machine.Edit(id, input) }

// Suggest keeps the call from running. The model reads what to do instead.
func Suggest(id, alternative string) Decision { return machine.Suggest(id, alternative) }

// Answer gives the result of the call; the tool doesn't run, unless it has asked to run again with
// the answer ([Pause.Again]). It is for questions, for jobs that have finished, and for calls in
// doubt that did happen. The value is encoded as JSON and validated against the schema of the
// pause.
func Answer(id string, value any) Decision { return machine.Answer(id, value) }

// AllowAlways lets the call run, and approves later calls of the same tool with the same scope
// ([Pause].Scope) in the same session, as long as the tool's schema and description don't change.
// It isn't possible for tools of high risk unless the tool permits it, nor for what a policy or the
// tool's Ask asks about each call: see [Pause].Always.
func AllowAlways(id string) Decision { return machine.AllowAlways(id) }

// BriefingOf returns a summary of earlier attempts, oldest first, for Input.Briefing: see
// [machine.BriefingOf].
func BriefingOf(results ...*Result) *Briefing { return machine.BriefingOf(results...) }
