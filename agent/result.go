package agent

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Result is what came of a run, or of the part of it that one call of [Agent.Run] drove. It is always there, however
// the run went.
type Result struct {
	Session string
	Run     string
	Trace   string
	Status  Status
	Code    string // why it ended: see the Code constants; empty for a run that completed
	Reason  string // the same in words
	Steps   int    // model calls
	Usage   provider.Usage
	// Cost is what the model calls cost, as far as their prices are known; Unpriced says that some aren't.
	Cost     provider.Money
	Unpriced bool
	// Messages are those of this run, from its input on. They mustn't be changed.
	Messages []provider.Message
	// Pending are the pauses that wait for a decision.
	Pending []Pause
	Mode    string
	Phase   string

	names  []string
	nested []Pause   // those of the calls, not flat
	before *attempts // in the runs that have handed their work to this one
	silent bool      // the model's last answer was empty
	err    error
}

// Text returns the text of the model's last message, its refusal if that is all, or "" if it said nothing.
func (r *Result) Text() string {
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

// Err returns why the run didn't complete, as a typed error: a *[LimitError], a *[PausedError], a *[StopError] or what the
// provider said. It is nil for a run that completed.
func (r *Result) Err() error { return r.err }

// ToolNames returns the names of the tools that the model called, in order, also those that weren't run.
func (r *Result) ToolNames() []string { return append([]string(nil), r.names...) }

// result makes the Result of the run as it stands.
func (m *Machine) result(status Status, code string, reason error) *Result {
	res := new(Result)
	m.fill(res, status, code, reason)
	return res
}

// fill sets res to what result returns.
func (m *Machine) fill(res *Result, status Status, code string, reason error) {
	r := m.s.Run
	*res = Result{
		Session: m.s.Session, Run: r.ID, Trace: r.Trace, Status: status, Code: code,
		Steps: r.Step, Usage: r.Usage, Cost: r.Cost, Unpriced: r.Unpriced,
		Messages: m.s.Messages[r.First:len(m.s.Messages):len(m.s.Messages)],
		Mode:     m.s.Mode, Phase: m.s.Phase, names: r.ToolNames[:len(r.ToolNames):len(r.ToolNames)],
	}
	if r.ContextReset != nil {
		res.before = r.ContextReset.Attempts
	}
	n := len(res.Messages)
	res.silent = r.Stage == stageSaid && (n == 0 || res.Messages[n-1].Role != provider.RoleAssistant)
	if reason != nil {
		res.Reason = reason.Error()
		if status != Completed {
			res.err = reason
		}
	}
	if status == Paused {
		res.Pending = r.pending()
		for i := range r.Calls {
			if c := &r.Calls[i]; c.Status == callSuspended {
				res.nested = append(res.nested, *c.Pause)
			}
		}
		if len(res.Pending) > 0 || res.err == nil {
			res.err = &PausedError{Session: res.Session, Pending: res.Pending}
		}
	}
}

// errNoAgent is the error of an Agent that New didn't make.
var errNoAgent = &ConfigError{Field: "Provider", Problem: "this Agent is nil or empty; make one with New"}

// Reasons for which runs end.
var (
	ErrCutAnswer = errors.New("agent: the answer was cut at the model's output limit; raise Config.MaxOutput or ask for less")
	ErrFiltered  = errors.New("agent: the answer was refused, or cut by a content filter")
	ErrAbandoned = fault.New(fault.None, "agent: the consumer left the stream")
	errStopped   = fault.New(fault.None, "agent: the run was stopped by its host")
	errCanceled  = fault.New(fault.None, "agent: the run was canceled by its host")
	errPaused    = fault.New(fault.None, "agent: the run was paused by its host")
	errDrained   = fault.New(fault.None, "agent: the run was paused because its process ends; Continue or Recover resumes it")
)

// A StopError says why a run was stopped.
type StopError struct {
	Code string
	Err  error
}

// Error says why.
func (e *StopError) Error() string {
	if e.Err == nil {
		return "agent: the run was stopped: " + e.Code
	}
	why := fmt.Sprint(e.Err)
	if strings.HasPrefix(why, "agent: the run was ") { // it says so itself
		return why
	}
	return fmt.Sprintf("agent: the run was stopped (%s): %s", e.Code, strings.TrimPrefix(why, "agent: "))
}

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// Fault returns None: to be stopped is no failure.
func (e *StopError) Fault() fault.Class { return fault.None }

// A PausedError says that a session waits for decisions.
type PausedError struct {
	Session string
	Pending []Pause
}

// Error says what it waits for.
func (e *PausedError) Error() string {
	switch len(e.Pending) {
	case 0:
		return fmt.Sprintf("agent: session %q is paused; resume it with Continue, or begin anew with Input.Supersede", e.Session)
	case 1:
		p := e.Pending[0]
		return fmt.Sprintf("agent: session %q waits for a decision on %s (%s, pause %s)", e.Session, p.Call.Name, p.Kind, p.ID)
	}
	return fmt.Sprintf("agent: session %q waits for %d decisions", e.Session, len(e.Pending))
}

// Fault returns None: to wait is no failure.
func (e *PausedError) Fault() fault.Class { return fault.None }

// A BusyError says that a session has a run under way: here, or in another process.
type BusyError struct {
	Session string
	Err     error // the journal's, if it is another process
}

// Error says which session.
func (e *BusyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("agent: session %q has a run under way elsewhere: %v", e.Session, e.Err)
	}
	return fmt.Sprintf("agent: session %q has a run under way; wait for its end, or use Steer", e.Session)
}

// Unwrap returns the cause.
func (e *BusyError) Unwrap() error { return e.Err }

// An InputError says what is wrong with an input. Nothing was begun because of it.
type InputError struct {
	Field   string
	Problem string
	Err     error
}

// Error names the field and says what would be right.
func (e *InputError) Error() string { return "agent: Input." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Fault returns Invalid.
func (e *InputError) Fault() fault.Class { return fault.Invalid }

// A NothingOpenError says that a session has nothing to resume: it is unknown, or its last run has ended.
type NothingOpenError struct {
	Session string
	Status  Status // of its last run; empty: there is none
}

// Error says how the session stands.
func (e *NothingOpenError) Error() string {
	if e.Status == "" {
		return fmt.Sprintf("agent: session %q is unknown, so there is nothing to resume", e.Session)
	}
	return fmt.Sprintf("agent: the last run of session %q has ended (%s), so there is nothing to resume; begin another with a prompt", e.Session, e.Status)
}

// A ConfigError says what is wrong with a Config.
type ConfigError struct {
	Field   string
	Problem string
	Err     error
}

// Error names the field and says what would be right.
func (e *ConfigError) Error() string { return "agent: Config." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }
