package tools

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Spec describes a tool and how it may be used. Only Name is required; the zero value of every
// other field is the careful choice.
type Spec struct {
	// Name is the tool's name, for example "cms.createPage": letters, digits, '.', '_', '-' and
	// '/', at most 128 of them. Adapters encode names that a provider doesn't allow.
	Name        string
	Description string // for the model
	Category    string
	Tags        []string

	// Risk is the possible cost of a mistaken call. High risk needs approval, unless Approval says
	// otherwise.
	Risk     Risk
	Approval Approval
	// AllowAlways permits standing rules ("always allow this") for a tool of high risk, and for
	// what the tool's Ask asks.
	AllowAlways bool
	// Approvers are the roles of which a person needs one to decide on a call: "manager", for
	// example, or "manager" and "owner". The tool then asks about each call, whatever its Risk is;
	// a standing rule, or what a policy permits, answers only if it was given by somebody who has
	// one of the roles now. Config.Roles of package agent says who has which. Empty: anybody may
	// decide whom the host lets decide. It can't be combined with AskNever.
	Approvers []string
	// NotSelf says that who started the run can't decide, whatever roles they have. That is
	// Input.User of package agent, also of a run that this one is a part of. Whose message was sent
	// to the run in progress hasn't started it, and a plan that the program starts without a User
	// was started by nobody. It needs Approvers.
	NotSelf bool
	// Expires is how long a person has to decide; 0: no limit.
	Expires time.Duration

	// ReadOnly says that a call changes nothing. It implies that calls are parallel-safe and may be
	// repeated, as Idempotent does.
	ReadOnly bool
	// Idempotent says that a call may be repeated with the same [IdempotencyKey] without a second
	// effect. It is then retried after transient failures: see Retries.
	Idempotent bool
	// ParallelSafe says that a call may run in parallel with others of the same reply. A call that
	// isn't parallel-safe runs alone.
	ParallelSafe bool
	// Outside says that the results of the tool are text from outside: pages, mails, tickets, what
	// another server answers. Each result of a call that was started, or answered in the tool's
	// place, is then marked as such, errors too, and policies know it while the model reads it: see
	// [Call].Outside. A tool for which that depends on the call sets [Result].Outside.
	Outside bool `json:",omitempty"`
	// Polls says that repeating a call with the same result is polling, so such repeats don't count
	// as being stuck.
	Polls bool
	// Inline says that calls return at once and may run on the goroutine of the run: use it for
	// functions that only compute. An inline call can't be abandoned when it ignores the end of its
	// context, and runtime.Goexit in it ends the goroutine of the run. It can't be combined with
	// Progress.
	Inline bool

	// Timeout is how long a call may take; 0: 60 s.
	Timeout time.Duration
	// Progress says that calls report progress; each report moves the time limit to 30 s from then,
	// up to ProgressLimit in all; 0: 30 min.
	Progress      bool
	ProgressLimit time.Duration
	// MaxResult is how many bytes of text a model is shown; 0: 1 MiB. Longer text is cut in the
	// middle.
	MaxResult int

	// Modes are the modes in which the tool may be called; empty: all. Without modes (""), every
	// tool may be called.
	Modes []string
	// Requires are tools that must have succeeded earlier in the same run. A tool whose program has
	// failed hasn't.
	Requires []string

	// Resource is what the tool depends on, such as "network:cms". Tools that name the same one
	// share its breaker: when it fails for one of them, all stop calling it. Empty: the tool has
	// its own breaker, named "tool:" and its name. A breaker counts calls, not attempts, by the
	// class of their errors: see [circuit.Permit.Done].
	Resource string
	// NoBreaker disables the breaker, for tools whose failures don't predict the next call, such as
	// one that runs any program.
	NoBreaker bool
	// UndoFailed says that Undo may also be called for a call that was started and has no result:
	// it failed, ran out of time or was canceled, its effect wasn't confirmed, or it isn't known
	// how it ended. Undo then gets no output, and finds out itself what there is to undo, for
	// example by the call's [IdempotencyKey]; it must return nil if there is nothing. A Run that
	// ignores the end of its context may still be at work then.
	UndoFailed bool

	// Retries says by class how often a call is tried, for tools that are Idempotent or ReadOnly;
	// other tools are never retried. A field that is 0, and a class that isn't in it, have their
	// default, which is less than that of a model call:
	//
	//	class         Attempts  Min     Max
	//	transient     3         100 ms  1 s
	//	rate_limited  5         1 s     30 s
	//	degraded      2         1 s     5 s
	//	all others    1         100 ms  1 s
	//
	// All attempts share the time limit of the call. If the delay isn't shorter than the time left,
	// the call fails at once; the same applies while its breaker is open. A panic isn't retried.
	// NoRetries disables retries.
	Retries   map[fault.Class]fault.Retry
	NoRetries bool

	// Schema is merged over the schema inferred from the input type: properties by name, keywords
	// replaced; null leaves out a property that isn't required, and is an error for one that is.
	// For a [Raw] tool it is the whole schema.
	Schema json.RawMessage
	// Output is a schema for the text of successful results, which then must be JSON; empty: no
	// validation.
	Output json.RawMessage

	// Options are what a provider is told about the tool beside its name, its description and its
	// schema, by the provider's name: see [provider.Tool].Options. They don't change what a call
	// does, so they aren't part of [Definition.Fingerprint].
	//
	// Those of an External tool are stored in the session's log with the rest of its Spec, so no
	// credential belongs into them. The credentials of a maker's tools and MCP servers belong into
	// the options of requests, which aren't stored: [provider.Request].Options, or Params.Options
	// of an agent.
	Options map[string]json.RawMessage `json:",omitempty"`
}

// Repeatable reports whether a call in doubt, whose end isn't known, may be made again.
func (s *Spec) Repeatable() bool { return s.ReadOnly || s.Idempotent }

// Parallel reports whether a call may run in parallel with others.
func (s *Spec) Parallel() bool { return s.ReadOnly || s.ParallelSafe }

// InMode reports whether the tool may be called in a mode.
func (s *Spec) InMode(mode string) bool {
	return len(s.Modes) == 0 || mode == "" || slices.Contains(s.Modes, mode)
}

// DefaultTimeout is the time limit of a call if the Spec doesn't set one.
const DefaultTimeout = 60 * time.Second

// DefaultMaxResult is how many bytes of a result's text a model is shown if the Spec doesn't set
// MaxResult.
const DefaultMaxResult = 1 << 20

// How progress moves a time limit: see [Spec.Progress].
const (
	ProgressExtends = 30 * time.Second
	ProgressLimit   = 30 * time.Minute
)

// A Risk is the possible cost of a mistaken call.
type Risk uint8

// The risks.
const (
	Low    Risk = iota // easily corrected, or nothing to correct
	Medium             // some work to correct
	High               // can't be corrected, costs money, or is seen by others
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

// An Approval says when a call needs approval by a person.
type Approval uint8

// The approvals.
const (
	AskIfHigh Approval = iota // a high-risk tool asks
	AskAlways
	AskNever // not even a high-risk tool asks; its Ask function and policies may still ask
)

// A Status says how a call ended: OK, Failed, Unverified or TimedOut after it ran; Canceled or
// InDoubt if it was started; Invalid, Unknown, Denied, Rejected, Answered, NotRun or Unavailable if
// it didn't run.
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
	Answered    Status = "answered"    // by a person, another process or a hook, in the tool's place; not run
	NotRun      Status = "not_run"     // the reply was cut, the run ended first, or nobody has approved it yet
	Canceled    Status = "canceled"    // the run was stopped while the call ran, and it ended with an error
	InDoubt     Status = "in_doubt"    // started, and its end isn't known
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

// Good reports whether a call with this status gave the model a result or an answer: OK or
// Answered. A program that the call ran may have failed: see [Outcome.Succeeded].
func (s Status) Good() bool { return s == OK || s == Answered }

// A Result is the output of a tool that returns more than a value: Parts for the model, Data for
// the host.
type Result struct {
	Parts []provider.Part // text and media
	Data  any             // anything that encodes to JSON; the model doesn't see it
	// Failed says that the parts describe a failure of the call.
	Failed bool
	// Outside says that the parts have text from outside: see [Spec].Outside. Beside an error it
	// says the same of that.
	Outside bool
	// Exit is how the program ended that the call ran; nil: it ran none. A program that fails isn't
	// a failure of the tool.
	Exit *Exit
}

// Text returns a Result with one part of text.
func Text(s string) Result { return Result{Parts: []provider.Part{provider.TextPart(s)}} }
