package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
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
)

// Codes say why a run was paused, stopped or failed. A run that completed has none, unless a stop
// condition completed it.
const (
	CodeLimit        = "limit"         // it reached one of its Limits
	CodeLength       = "length"        // the answer was cut off at the model's output limit
	CodeFiltered     = "filtered"      // the answer was refused, or cut off by a content filter
	CodeCanceled     = "canceled"      // its context ended, or Cancel was called
	CodeAbandoned    = "abandoned"     // the consumer left the stream
	CodeAborted      = "aborted"       // by a hook
	CodeSuperseded   = "superseded"    // another input took its place
	CodeCondition    = "condition"     // a stop condition held
	CodeOutput       = "output"        // the structured answer didn't fit its schema
	CodeProvider     = "provider"      // the model call failed
	CodeHost         = "host"          // paused or stopped by the host
	CodeDrained      = "drained"       // paused by Drain, resumable
	CodeJournal      = "journal"       // the journal failed
	CodeContextReset = "context reset" // another run continues the work in a new conversation
	CodeContext      = "context"       // the conversation doesn't fit the model's window
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
	Steps   int    // model calls
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
	// Pending are the pauses that wait for a decision.
	Pending []Pause
	Mode    string
	Phase   string

	names     []string
	suspended []Pause
	earlier   *Attempts // of the runs before it in a chain
	silent    bool      // the model's last answer was empty
	err       error
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
		Messages: slices.Clip(m.s.Messages[r.First:]),
		Mode:     m.s.Mode, Phase: m.s.Phase, names: slices.Clip(r.ToolNames),
	}
	if r.ContextReset != nil {
		res.earlier = r.ContextReset.Attempts
	}
	if r.Direct != nil {
		res.Called = r.Direct.Result
	}
	n := len(res.Messages)
	res.silent = r.Stage == StageReplied && (n == 0 || res.Messages[n-1].Role != provider.RoleAssistant)
	if reason != nil {
		res.Reason = reason.Error()
		if status != Completed {
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
		if len(res.Pending) > 0 || res.err == nil {
			res.err = &PausedError{Session: res.Session, Pending: res.Pending}
		}
	}
	return res
}

// Text returns the text of the model's last message, or its refusal if it has no text. It returns
// "" if the model said nothing. For a run that makes one call without a model, it is the text of
// the call's result.
func (r *Result) Text() string {
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

// Err returns why the run didn't complete, as a typed error: a *[LimitError], a *[PausedError], a
// *[StopError], or the error of the provider. It returns nil for a run that completed.
func (r *Result) Err() error { return r.err }

// ToolNames returns the names of the tools that the model called, in order, including calls that
// didn't run.
func (r *Result) ToolNames() []string { return slices.Clone(r.names) }

// ToolResult returns the newest result of a tool in the messages of this run, or nil if there is
// none, for example because the call still waits. The caller mustn't change it.
func (r *Result) ToolResult(tool string) *provider.ToolResult {
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
func (r *Result) Suspended() []Pause { return r.suspended }

// Errors with which the machine ends a run.
var (
	// ErrCutAnswer says that the answer was cut off at the model's output limit.
	ErrCutAnswer = errors.New(
		"agent: the answer was cut at the model's output limit; raise Params.MaxOutput or ask for less")
	// ErrFiltered says that the model refused to answer, or that a content filter cut its answer.
	ErrFiltered = errors.New("agent: the answer was refused, or cut by a content filter")
)

// A StopError says why a run was stopped.
type StopError struct {
	Code string // one of the Code constants
	Err  error  // the cause; nil if the code says everything
}

// Error returns the code and the cause.
func (e *StopError) Error() string {
	if e.Err == nil {
		return "agent: the run was stopped: " + e.Code
	}
	why := fmt.Sprint(e.Err)
	if strings.HasPrefix(why, "agent: the run was ") { // the cause says so itself
		return why
	}
	return fmt.Sprintf("agent: the run was stopped (%s): %s", e.Code, strings.TrimPrefix(why, "agent: "))
}

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// Fault returns None: stopping a run isn't a failure.
func (e *StopError) Fault() fault.Class { return fault.None }

// A PausedError says that a session waits for decisions.
type PausedError struct {
	Session string
	Pending []Pause
}

// Error says what the session waits for.
func (e *PausedError) Error() string {
	switch len(e.Pending) {
	case 0:
		return fmt.Sprintf(
			"agent: session %q is paused; resume it with Continue, or start another run with Input.Supersede",
			e.Session)
	case 1:
		p := e.Pending[0]
		return fmt.Sprintf("agent: session %q waits for a decision on %s (%s, pause %s)", e.Session, p.Call.Name,
			p.Kind, p.ID)
	}
	return fmt.Sprintf("agent: session %q waits for %d decisions", e.Session, len(e.Pending))
}

// Fault returns None: waiting isn't a failure.
func (e *PausedError) Fault() fault.Class { return fault.None }
