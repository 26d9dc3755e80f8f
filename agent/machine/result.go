package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/visible"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A Status is the status of a run.
type Status string

// The statuses of a run. A run is open while it is running or paused.
const (
	Running   Status = "running"
	Paused    Status = "paused"    // it waits for decisions, or for Continue
	Completed Status = "completed" // the model ended its turn
	Stopped   Status = "stopped"   // by a limit, a hook, a person, or the end of its context
	Failed    Status = "failed"    // the model couldn't be called
	// Queued is how lists show a run that is paused with [CodeQueued]. No run has this status.
	Queued Status = "queued"
)

// Codes say why a run was paused, stopped or failed. A run that completed has none, unless a stop
// condition completed it. Each has a line in the list endings.
const (
	CodeLimit        = "limit"         // it reached one of its Limits
	CodeLength       = "length"        // the answer was cut off at the model's output limit
	CodeFiltered     = "filtered"      // the answer was refused, or cut off by a content filter
	CodeEmpty        = "empty"         // the model ended its turn without an answer
	CodeUnproven     = "unproven"      // what Require of package agent asks for is missing from the answer
	CodeCanceled     = "canceled"      // its context ended, or Cancel was called
	CodeAbandoned    = "abandoned"     // the consumer left the stream
	CodeAborted      = "aborted"       // by a hook
	CodeSuperseded   = "superseded"    // another input took its place
	CodeCondition    = "condition"     // a stop condition held
	CodeOutput       = "output"        // the structured answer didn't fit its schema
	CodeProvider     = "provider"      // the model call failed
	CodeBudget       = "budget"        // a budget refused the model call
	CodeHost         = "host"          // paused or stopped by the host
	CodeDrained      = "drained"       // paused by Drain, resumable
	CodeLeg          = "leg"           // paused at the end of a leg, resumable
	CodeQueued       = "queued"        // paused: it waits for a worker
	CodeJournal      = "journal"       // the journal failed
	CodeContextReset = "context reset" // another run continues the work in a new conversation
	CodeContext      = "context"       // the conversation doesn't fit the model's window: see LeaveOut
	CodeForked       = "forked"        // it was open when its session was forked; this is the copy
)

// A Result is the outcome of a run, or of the part of it that one call of Agent.Run drove. It
// exists however the run ended.
type Result struct {
	Session string
	Run     string
	Trace   string
	Status  Status
	Code    string // one of the Code constants; empty for a run that completed
	Reason  string // the same in words
	// Limit is one of the Limit constants: for CodeLimit the limit that was reached, and
	// LimitRequirePrices for CodeBudget if the price of the model isn't known.
	Limit string
	// Problem is why the model call failed, for CodeProvider and CodeContext; nil if that isn't
	// known.
	Problem *provider.Problem
	Steps   int    // model calls, and replies of hooks in their place
	Start   uint64 // the number of the fact that started the run, or the first run of its chain
	Usage   provider.Usage
	// Cost is the price of the model calls as far as prices are known. Unpriced says that some
	// prices aren't.
	Cost     provider.Money
	Unpriced bool
	// Messages are the messages of this run, from its input on. The caller mustn't change them.
	Messages []provider.Message
	// Called is the result of the call of a run that makes one call without a model; nil until
	// there is one, and for other runs.
	Called *ToolResult
	// Missing is what BeforeFinish hooks wanted when they could send the run back no more. A run
	// that has completed didn't follow that advice; one with CodeUnproven doesn't meet a condition.
	Missing []string
	// Pending are the pauses that wait for a decision.
	Pending []Pause
	Mode    string
	Phase   string
	// Outside says that text from outside has come into the session, in this run or an earlier one,
	// so what the run says may repeat it: see tools.Spec.Outside.
	Outside bool

	names     []string
	outcomes  []callOutcome
	open      []CallState // the calls of the newest reply that hasn't all its results
	suspended []Pause
	earlier   *Attempts // of the runs before it in a chain
	silent    bool      // the model's last answer was empty
	err       error
}

// Attempts returns a summary of what the run has tried, and the runs before it in its chain.
func (r *Result) Attempts() *Attempts {
	if r == nil {
		return new(Attempts)
	}
	return r.earlier.with(r.Messages)
}

// Result returns the outcome of the newest run. status and code say how the run ended or what its
// state is, and reason says why. [Result.Err] returns reason unless the run has completed. Before
// the first run, the Result names only the session.
func (m *Machine) Result(status Status, code string, reason error) *Result {
	r := m.s.Run
	if r == nil {
		return &Result{Session: m.s.Session, Status: status, Code: code, err: reason}
	}
	res := &Result{
		Session: m.s.Session, Run: r.ID, Trace: r.Trace, Status: status, Code: code,
		Steps: r.Step, Start: r.Start, Usage: r.Usage, Cost: r.Cost, Unpriced: r.Unpriced,
		Messages: m.s.ownMessages(),
		Limit:    r.Limit, Mode: m.s.Mode, Phase: m.s.Phase, names: slices.Clip(r.ToolNames),
		outcomes: r.outcomes(), open: slices.Clone(r.Calls),
		Missing: slices.Clip(r.Missing), Problem: r.Problem, Outside: m.s.HadOutside,
	}
	if r.ContextReset != nil {
		res.earlier = r.ContextReset.Attempts
	}
	if r.Direct != nil {
		res.Called = r.Direct.Result
	}
	res.silent = r.Stage == StageReplied && m.newest().Role != provider.RoleAssistant
	if reason != nil {
		res.Reason = reason.Error()
		if status == Stopped || status == Failed {
			res.err = reason
		}
	}
	if status == Paused {
		res.Pending = r.Pending()
		for i := range r.Calls {
			if c := &r.Calls[i]; c.Status == CallSuspended {
				res.suspended = append(res.suspended, *c.Pause)
			}
		}
	}
	return res
}

// ownMessages returns the messages of the newest run. Its input is as the user gave it.
func (s *State) ownMessages() []provider.Message {
	own := slices.Clip(s.Messages[s.Run.First:])
	for i := range own[:min(len(own), 1)] {
		if told, said := memory.Told(&own[i]); len(told) > 0 {
			own = slices.Clone(own)
			own[i].Parts = said
		}
	}
	return own
}

// LastResult returns the outcome of the newest run as far as the facts say. There must be a run.
func (m *Machine) LastResult() *Result {
	r := m.s.Run
	res := m.Result(r.Status, r.Code, nil)
	res.Reason = r.Reason
	return res
}

// newest returns the newest message.
func (m *Machine) newest() *provider.Message {
	if n := len(m.s.Messages); n > 0 {
		return &m.s.Messages[n-1]
	}
	return &provider.Message{}
}

// Answered reports whether the model's last reply has an answer: a file, or a text of which a
// person sees something.
func (m *Machine) Answered() bool {
	last := m.newest()
	return last.Role == provider.RoleAssistant && (!visible.Blank(last.Text()) ||
		slices.ContainsFunc(last.Parts, func(p provider.Part) bool { return p.Kind == provider.PartMedia }))
}

// Text returns the text of the model's last message, or its refusal if it has no text. It returns
// "" if the model said nothing, and for a nil Result. For a run that makes one call without a
// model, it is the text of the call's result.
func (r *Result) Text() string {
	if r == nil {
		return ""
	}
	if r.Called != nil {
		return r.Called.Text()
	}
	if r.silent {
		return ""
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := &r.Messages[i]; m.Role == provider.RoleAssistant {
			return cmp.Or(m.Text(), m.Refusal())
		}
	}
	return ""
}

// Err returns why the run didn't complete, and nil only for a run that completed. It is the error
// of Agent.Run, RunFor and Session.Call.
//
//   - Paused: a *[PausedError].
//   - Stopped: a *[StopError] with the Code. It wraps the cause: a *[LimitError], [ErrCutAnswer],
//     [ErrFiltered], [ErrNoAnswer], the error of the context, or what a hook aborted the run with.
//   - Failed: the error of the provider, of a hook, or of the journal.
//   - Running, of a Result that was read: [ErrRunning].
//
// A Result that was read from a journal has no errors of other packages and no *LimitError: it has
// a *[StopError] with the Code, the Limit and the Reason instead, also if the run failed. A nil
// Result has one, too.
func (r *Result) Err() error {
	if r == nil {
		return errNoRun
	}
	switch r.Status {
	case Completed:
		return nil
	case Paused:
		return &PausedError{Session: r.Session, Pending: r.Pending, Started: true}
	case Stopped, Failed:
		return r.ended()
	}
	return ErrRunning
}

// ended returns why the run was stopped or has failed.
func (r *Result) ended() error {
	cause := r.err
	if cause == nil {
		if cause = causes[r.Code]; cause == nil && r.Reason != "" {
			cause = errors.New(r.Reason)
		}
	} else if _, stop := cause.(*StopError); stop || r.Status == Failed {
		return cause
	}
	return &StopError{Code: r.Code, Limit: r.Limit, Problem: r.Problem, Err: cause}
}

// ToolNames returns the names of the tools that the model called, in order, including calls that
// didn't run.
func (r *Result) ToolNames() []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.names)
}

// ToolResult returns the newest result of a tool in the messages of this run, as the model read it,
// or nil if there is none, for example because the call still waits. How the call ended is in its
// event ToolFinished. The caller mustn't change it.
func (r *Result) ToolResult(tool string) *provider.ToolResult {
	if r == nil {
		return nil
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		parts := r.Messages[i].Parts
		for j := len(parts) - 1; j >= 0; j-- {
			if res := parts[j].Result; parts[j].Kind == provider.PartToolResult && res.Name == tool {
				return res
			}
		}
	}
	return nil
}

// Suspended returns the pauses of the run's own calls. The pause of a subagent contains that
// agent's pauses; Pending has them in its place.
func (r *Result) Suspended() []Pause {
	if r == nil {
		return nil
	}
	return r.suspended
}

// Reasons why runs end, or haven't ended.
var (
	// ErrCutAnswer says that the answer was cut off at the model's output limit.
	ErrCutAnswer = errors.New(
		"agent: the answer was cut at the model's output limit; raise Params.MaxOutput or ask for less")
	// ErrFiltered says that the model refused to answer, or that a content filter cut its answer.
	ErrFiltered = errors.New("agent: the answer was refused, or cut by a content filter")
	// ErrNoAnswer says that the model ended its turn without a text or a file.
	ErrNoAnswer = errors.New("agent: the model ended its turn without an answer; what its tools did is done")
	// errNoRun says that there is no Result, because no run was started.
	errNoRun = errors.New("agent: there is no result, because no run was started")
	// ErrRunning says that the run hasn't ended: a process drives it, or has died.
	ErrRunning = errors.New("agent: the run hasn't ended; Continue resumes it if its process has died")
)

// causes are the causes that a code names.
var causes = map[string]error{CodeLength: ErrCutAnswer, CodeFiltered: ErrFiltered, CodeEmpty: ErrNoAnswer}

// A StopError says why a run was stopped: see [Result.Err].
type StopError struct {
	Code  string // one of the Code constants
	Limit string // one of the Limit constants, for CodeLimit: the limit that was reached
	// Problem is why the model call failed, of a Result that was read.
	Problem *provider.Problem
	Err     error // the cause; nil if the code says everything
}

// Error returns the code and the cause.
func (e *StopError) Error() string {
	if e.Err == nil {
		return "agent: the run was stopped: " + e.Code
	}
	why := fmt.Sprint(e.Err)
	if strings.HasPrefix(why, "agent: ") { // the cause says so itself
		return why
	}
	return fmt.Sprintf("agent: the run was stopped (%s): %s", e.Code, why)
}

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// Fault returns the class of the cause if that kept the run from completing, and None if somebody
// wanted the run to end.
func (e *StopError) Fault() fault.Class {
	if endings[e.Code].by != byItself {
		return fault.None
	}
	return fault.Of(e.Err)
}

// UnnamedPrefix begins the names of the sessions of inputs that name none.
const UnnamedPrefix = "unnamed/"

// ChildPrefix begins the names of subagents' sessions.
const ChildPrefix = "call/"

// A PausedError says that a run paused, or that an input was refused because the session is paused:
// see Started. A run that paused isn't a failure: it waits in the journal, as long as it must, and
// costs nothing.
//
//	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Delete the old page."})
//	var paused *agent.PausedError
//	if errors.As(err, &paused) && paused.Started {
//		return show(res.Pending) // later: a.Run(ctx, agent.Resume("s-1", agent.Approve(id)))
//	}
type PausedError struct {
	Session string
	Pending []Pause // what waits for a decision; none: the host paused the run, and Continue resumes it
	// Started says that the run that was started or resumed has paused; the Result is beside the
	// error. If it is false, nothing was started, and there is no Result: the session was paused
	// before.
	Started bool
}

// Error says what the session waits for.
func (e *PausedError) Error() string {
	switch n := len(e.Pending); {
	case n == 0 && e.Started:
		return fmt.Sprintf("agent: the run of session %q was paused; resume it with Continue", e.Session)
	case n == 0:
		return fmt.Sprintf(
			"agent: session %q is paused; resume it with Continue, or start another run with Supersede",
			e.Session)
	case n > 1:
		return fmt.Sprintf("agent: session %q waits for %d decisions", e.Session, n) + e.remedy()
	}
	p := e.Pending[0]
	return fmt.Sprintf("agent: session %q waits for a decision on %s (%s, pause %s)", e.Session, p.Call.Name,
		p.Kind, p.ID) + e.remedy()
}

// remedy says what to do about an input that was refused, and about a session without a name.
func (e *PausedError) remedy() string {
	if !e.Started {
		return "; nothing was started: decide first, or start another run with Supersede"
	}
	if !strings.HasPrefix(e.Session, UnnamedPrefix) {
		return ""
	}
	return "; it got a name that was made up: set Session, so that a decision can name it"
}

// Fault returns None: waiting isn't a failure.
func (e *PausedError) Fault() fault.Class { return fault.None }
