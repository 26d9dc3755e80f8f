package agent

import (
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A SessionError says why something can't be done with a session. Its Code says what kind of reason
// it is, so that errors.Is(err, agent.ErrBusy) matches it.
//
//   - Session: the name of the session; the new one, if it can't be made from another
//   - Code: one of the constants from [ErrBusy] on
//   - Status: the status of the last run, with [ErrNothingOpen]; empty if there is no such session
//   - Run: the run that has the key, with [ErrDuplicate]
//   - Problem: what is wrong, and what would be right; empty if the code says everything
//   - Err: the cause; nil if there is none
//   - Error(), Unwrap(): the problem and the cause in words, and the cause
//   - Is(): reports whether an error is the Code
//   - Fault(): the class: fault.Transient for [ErrBusy], [ErrDraining] and [ErrUnread], fault.Denied
//     for [ErrNotOwner] and [ErrRefused], fault.Invalid for [ErrDuplicate]; for others, that of the
//     cause, or fault.Permanent
type SessionError = machine.SessionError

// The codes of a [SessionError], to be matched with errors.Is.
const (
	// ErrBusy says that a session is in use: a run is in progress in this or another process, or
	// the session was held for two seconds otherwise, to be changed for example.
	ErrBusy = machine.ErrBusy
	// ErrNothingOpen says that a session is unknown, or has no open run: see SessionError.Status.
	ErrNothingOpen = machine.ErrNothingOpen
	// ErrNotOwner says that a session doesn't belong to [Input].Owner. Nothing was started.
	ErrNotOwner = machine.ErrNotOwner
	// ErrDuplicate says that a session had an input or a message with this key before: see
	// [Input].Key and [Session.Steer]. Nothing was started or sent.
	ErrDuplicate = machine.ErrDuplicate
	// ErrRefused says that a BeforeInput hook refused a text. Nothing was recorded or sent. The
	// cause is the hook's error; a *[HookError] if the hook failed.
	ErrRefused = machine.ErrRefused
	// ErrNoRule says that a session has no standing approval of a tool: see [Session.Revoke].
	ErrNoRule = machine.ErrNoRule
	// ErrCannotFork says that a session can't be forked or imported. There is no new session.
	ErrCannotFork = machine.ErrCannotFork
	// ErrCannotUndo says that an undo was refused. Nothing was undone.
	ErrCannotUndo = machine.ErrCannotUndo
	// ErrJournal says that the journal refuses to store facts. Another process, or [Continue], can
	// resume the run.
	ErrJournal = machine.ErrJournal
	// ErrDraining says that the agent takes no new input, because [Agent.Drain] was called. Another
	// process may take it.
	ErrDraining = machine.ErrDraining
	// ErrUnread says that so many messages wait for the run in progress that it takes no further
	// one now: see [Session.Steer]. Nothing was sent.
	ErrUnread = machine.ErrUnread
)

// An ArgError says what is wrong with an argument: a field of a [Config] or of [Work], a host's
// event, or the context of a function. Nothing was started or stored.
//
//   - Func: the function; empty for a Config or Work, which several functions take
//   - Field: for example "Config.Tools" or "Input.Prompt"; empty if Func was called wrongly
//   - Problem: what is wrong, and what would be right
//   - Err: the cause; nil if there is none
//   - Error(), Unwrap(): the function, the field and the problem in words, and the cause
//   - Fault(): fault.Permanent if only a change of the program helps: if a Config is wrong, or Func
//     was called where it can't be; fault.Invalid for other arguments
type ArgError = machine.ArgError

// errNoAgent is the error for an Agent that New didn't make.
var errNoAgent = &ArgError{Field: "Config.Provider", Problem: "this Agent is nil or empty; make one with New"}

// Reasons why runs end.
var (
	errLeft     = fault.New(fault.None, "agent: the consumer left the stream")
	errStopped  = fault.New(fault.None, "agent: the run was stopped by its host")
	errCanceled = fault.New(fault.None, "agent: the run was canceled by its host")
	errPaused   = fault.New(fault.None, "agent: the run was paused by its host")
	errDrained  = fault.New(fault.None,
		"agent: the run was paused because its process ends; Continue or Recover resumes it")
)

// An OutputError is a structured answer that didn't fit its schema, after the model had its
// corrections.
type OutputError struct {
	Text string // the answer
	Err  error  // what is wrong with it
}

// Error says what is wrong with the answer.
func (e *OutputError) Error() string {
	return fmt.Sprintf("agent: the structured answer doesn't fit its schema: %v", e.Err)
}

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// Fault returns Permanent.
func (e *OutputError) Fault() fault.Class { return fault.Permanent }

// Words says to a person what an error means, and what they can change: a variable of the
// environment, the name of the model, the account, or the time. It knows the failures of model
// calls ([provider.Problem]), limits and budgets, also in the error of a run that was read. Any
// other error is said as it is, and so is a request that a provider refuses for a reason that only
// its answer has; otherwise Words says nothing that a server wrote. The words are for a screen; err
// itself is for the log. Words of nil are empty.
func Words(err error) string {
	if err == nil {
		return ""
	}
	var (
		says    interface{ Words() string } // a *StopError, a *LimitError
		gaveUp  *guard.GaveUpError
		several *guard.FailoverError
		refused *provider.Error
		spent   *budget.Error
		text    string
	)
	switch {
	case errors.As(err, &says) && says.Words() != "":
		text = says.Words()
	case errors.As(err, &spent):
		end := &StopError{Code: machine.CodeBudget}
		if spent.Unpriced {
			end.Limit = machine.LimitRequirePrices
		}
		text = end.Words()
	case errors.As(err, &gaveUp), errors.As(err, &several), errors.As(err, &refused):
		if p := provider.ProblemOf(err); p != nil && p.Kind != provider.ProblemRequest {
			text = p.Words()
		}
	}
	if text == "" {
		return err.Error()
	}
	return text
}

// problemOf returns why the model calls of a run have failed. What doesn't name its provider, such
// as a timeout, is that of the agent, unless several were called.
func (a *Agent) problemOf(err error) *provider.Problem {
	p := provider.ProblemOf(err)
	if p == nil || p.Provider != "" || errors.As(err, new(*guard.FailoverError)) {
		return p
	}
	if info, ok := provider.Info(a.provider); ok {
		p.Provider = info.Provider
	}
	return p
}
