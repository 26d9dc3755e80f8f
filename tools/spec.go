package tools

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Spec says what a tool is and how it may be used. Only Name is needed; the zero value of every other field is the
// careful choice.
type Spec struct {
	// Name is the host's, for example "cms.createPage": letters, digits, '.', '_', '-' and '/', at most 128 of them.
	// Adapters encode what a provider's own rules refuse.
	Name        string
	Description string // for the model
	Category    string
	Tags        []string

	// Risk is what a mistaken call may cost. High risk asks a person, unless Approval says otherwise.
	Risk     Risk
	Approval Approval
	// AllowAlways permits standing rules ("always allow this") for a tool of high risk.
	AllowAlways bool
	// Expires is how long a person has to decide; 0: for ever.
	Expires time.Duration

	// ReadOnly says that a call changes nothing. It implies that calls are parallel-safe and may be repeated, as Idempotent
	// does.
	ReadOnly bool
	// Idempotent says that a call may be made again under the same [IdempotencyKey] without a second effect. It is then tried again
	// after failures that may pass: see Retries.
	Idempotent bool
	// ParallelSafe says that a call may run beside others of the same reply. One that may not is a barrier.
	ParallelSafe bool
	// Polls says that the same call with the same result is waiting, not being stuck.
	Polls bool
	// Inline says that calls return at once and may run on the goroutine of the run: use it for functions that only compute.
	// An inline call can't be abandoned when it ignores the end of its context. It doesn't go with Progress.
	Inline bool

	// Timeout is how long a call may take; 0: 60 s.
	Timeout time.Duration
	// Progress says that calls report progress; each report moves the time limit to 30 s from then, up to 30 min in all.
	Progress bool
	// MaxResult is how many bytes of text a model is shown; 0: 1 MiB. More is cut in the middle.
	MaxResult int

	// Modes are those in which the tool may be called; empty: all. Where there are no modes (""), every tool may be.
	Modes []string
	// Requires are tools that must have succeeded in the same run before.
	Requires []string

	// Resource is what the tool depends on, such as "network:cms". Tools that name the same one share its breaker: when it
	// fails for one of them, all stop calling it. Empty: the tool has a breaker of its own, "tool:" and its name. A breaker
	// counts calls, not attempts; their errors by class: see [circuit.Permit.Done].
	Resource string
	// NoBreaker is for tools whose failures say nothing about the next call, such as one that runs any program.
	NoBreaker bool
	// Retries says by class how often a call is tried, for tools that are Idempotent or ReadOnly; others are never tried
	// again. A class that isn't in it keeps its default; see [Retry]. NoRetries: never.
	Retries   map[fault.Class]Retry
	NoRetries bool

	// Schema is merged over the schema inferred from the input type: properties by name, keywords replaced. For a [Raw]
	// tool it is the whole schema.
	Schema json.RawMessage
	// Output is a schema that the text of successful results, which then has to be JSON, is validated against; empty: it
	// isn't.
	Output json.RawMessage
}

// Repeatable reports whether a call may be made again after nobody knows how the first one ended.
func (s *Spec) Repeatable() bool { return s.ReadOnly || s.Idempotent }

// Parallel reports whether a call may run beside others.
func (s *Spec) Parallel() bool { return s.ReadOnly || s.ParallelSafe }

// InMode reports whether the tool may be called in a mode.
func (s *Spec) InMode(mode string) bool {
	return len(s.Modes) == 0 || mode == "" || slices.Contains(s.Modes, mode)
}

// DefaultTimeout is the time limit of a call whose Spec names none.
const DefaultTimeout = 60 * time.Second

// DefaultMaxResult is how many bytes of a result's text a model is shown if the Spec doesn't say.
const DefaultMaxResult = 1 << 20

// How progress moves a time limit: see [Spec.Progress].
const (
	ProgressExtends = 30 * time.Second
	ProgressLimit   = 30 * time.Minute
)

// A Risk is what a mistaken call may cost.
type Risk uint8

// The risks.
const (
	Low    Risk = iota // easily put right, or nothing to put right
	Medium             // some work to put right
	High               // can't be put right, costs money, or is seen by others
)

// String returns "low", "medium" or "high".
func (r Risk) String() string {
	switch r {
	case Low:
		return "low"
	case Medium:
		return "medium"
	}
	return "high"
}

// An Approval says when a call needs a person's consent.
type Approval uint8

// The approvals.
const (
	AskIfHigh Approval = iota // high risk asks
	AskAlways
	AskNever // nor does high risk; the tool's Ask and policies may still ask
)

// A Status says how a call ended.
type Status string

// The statuses of a call.
const (
	OK          Status = "ok"
	Failed      Status = "failed"      // the tool returned an error, or panicked
	Unverified  Status = "unverified"  // it ran, but its effect wasn't found
	TimedOut    Status = "timed_out"   // it ended, with an error that isn't about the input, after its time limit
	Invalid     Status = "invalid"     // the input doesn't fit the schema; not run
	Unknown     Status = "unknown"     // there is no such tool; not run
	Denied      Status = "denied"      // by a policy, a hook, the mode, a prerequisite, Check; not run
	Rejected    Status = "rejected"    // by a person, or their time ran out; not run
	Answered    Status = "answered"    // by a person or another process, in the tool's place; not run
	NotRun      Status = "not_run"     // the reply was cut, or the run ended first
	Canceled    Status = "canceled"    // the run was stopped while it ran, and it ended with such an error
	InDoubt     Status = "in_doubt"    // started, and nobody knows how it ended
	Unavailable Status = "unavailable" // out of use for the rest of the run, or until its breaker closes; not run
)

// Ran reports whether a call with this status was started.
func (s Status) Ran() bool {
	switch s {
	case OK, Failed, Unverified, TimedOut, Canceled, InDoubt:
		return true
	}
	return false
}

// Good reports whether a call with this status gave the model what it asked for.
func (s Status) Good() bool { return s == OK || s == Answered }

// A Result is what a tool gives back if it has more to say than a value: Parts for the model, Data for the host.
type Result struct {
	Parts []provider.Part // text and media
	Data  any             // anything that encodes to JSON; the model doesn't see it
	// Failed says that the parts tell the model of a failure.
	Failed bool
}

// Text returns a Result with one part of text.
func Text(s string) Result { return Result{Parts: []provider.Part{provider.TextPart(s)}} }

// Suspend is the error with which a tool puts its call off until somebody answers: a question to a person, a job that
// takes long, the approval of a nested agent. The answer becomes the call's result; the tool isn't run again.
type Suspend struct {
	Kind    string          // for the host, for example "question"
	Prompt  string          // for whoever answers
	Schema  json.RawMessage // of the answer; empty: any JSON
	Expires time.Duration   // after which the call counts as rejected; 0: never
}

// Error says what the call waits for.
func (s Suspend) Error() string { return "tools: the call is suspended: " + s.Kind + ": " + s.Prompt }
