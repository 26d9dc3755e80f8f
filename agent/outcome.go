package agent

import (
	"cmp"
	"errors"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
)

// An outcome says what comes after a part of what a driver does. After nil, the next part follows.
// [goOn] leaves the action: the machine says what is next. Every other outcome ends or pauses the
// run.
type outcome struct {
	status  Status
	code    string
	reason  error
	missing []string // what hooks wanted
}

var (
	// goOn is the outcome of an action after which the run goes on, if it can: see driver.cutOff.
	goOn = new(outcome)
	// completes is that of a run that has done what was asked.
	completes = &outcome{status: Completed}
)

// ends reports whether the run ends or pauses.
func (o *outcome) ends() bool { return o != nil && o.status != "" }

func ending(status Status, code string, reason error) *outcome {
	return &outcome{status: status, code: code, reason: reason}
}

func stopping(code string, reason error) *outcome { return ending(Stopped, code, reason) }

func failing(code string, reason error) *outcome { return ending(Failed, code, reason) }

// cutOff returns how a run ends that can't go on: nobody ranges over its events any more, its
// journal has refused a fact, or its context has ended. Nil: it can go on.
func (x *driver) cutOff() *outcome {
	switch {
	case x.left:
		return stopping(machine.CodeAbandoned, errLeft)
	case x.Lost():
		return failing(machine.CodeJournal, x.Err())
	case x.ctx.Err() != nil:
		return x.endedBy(causeOf(x.ctx))
	}
	return nil
}

// endedBy returns how a run ends whose context has ended for this cause.
func (x *driver) endedBy(cause error) *outcome {
	var (
		limit *LimitError
		abort *AbortError
		hook  *HookError
	)
	switch {
	case errors.As(cause, &abort):
		return stopping(machine.CodeAborted, abort)
	case errors.As(cause, &hook):
		return failing(machine.CodeAborted, hook)
	case errors.As(cause, &limit):
		return stopping(machine.CodeLimit, limit)
	case errors.Is(cause, session.ErrCut):
		return ending(Paused, machine.CodeLeg, session.ErrCut)
	case errors.Is(cause, ErrBusy), errors.Is(cause, ErrJournal): // the next process that has the session resumes it
		x.Fail(cause)
		return failing(machine.CodeJournal, cause)
	case errors.Is(cause, errLeft):
		return stopping(machine.CodeAbandoned, errLeft)
	}
	return stopping(machine.CodeCanceled, canceledBy(x.caller, cause))
}

// abort ends the context of a run because of an error of a hook, and returns how the run ends.
func (x *driver) abort(err error) *outcome {
	x.Cancel(err)
	return cmp.Or(x.cutOff(), goOn)
}

// interruption returns how a run ends that can't go on, or that somebody has stopped since its last
// safe point. Nil: neither.
func (x *driver) interruption() *outcome {
	if out := x.cutOff(); out != nil {
		return out
	}
	if x.readInbox() && x.requested == requestStop {
		return x.granted()
	}
	return x.cutOff() // by what was in the inbox
}

// unlessStopped returns the outcome of a step whose model call can't be made. If the run can't go
// on, or makes no further calls because it was stopped, that is how it ends.
func (x *driver) unlessStopped(out *outcome) *outcome {
	if x.halt.Err() == nil {
		return cmp.Or(x.cutOff(), out)
	}
	return cmp.Or(x.interruption(), out)
}
