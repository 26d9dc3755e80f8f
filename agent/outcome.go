package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/guard"
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
	// goOn is the outcome of an action after which the run goes on, if it can: see stops.cutOff.
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

// stops is what ends a run besides its own work: contexts, the time limit, a consumer that leaves,
// and a journal that refuses facts.
type stops struct {
	log      *sessionLog
	consumer *consumer
	caller   context.Context // of Run or Stream
	above    context.Context // halt of the run that has called this one, of a subagent
	// halt ends when the run is to stop at its next safe point, or the one above is: from then on,
	// a model call makes no further attempt
	halt     context.Context
	haltNow  context.CancelFunc
	deadline *time.Timer // of Limits.Duration; guarded
}

// newStops returns the stops of a run.
func newStops(l *sessionLog, c *consumer, caller context.Context) stops {
	s := stops{log: l, consumer: c, caller: caller, above: context.Background()}
	if l.parent != nil {
		s.above = l.parent.halt
	}
	s.halt, s.haltNow = context.WithCancel(s.above)
	return s
}

// close ends the timer.
func (s *stops) close() {
	s.log.Lock()
	defer s.log.Unlock()
	if s.deadline != nil {
		s.deadline.Stop()
	}
}

// stopped reports whether the run is to stop, rather than one above it.
func (s *stops) stopped() bool { return s.halt.Err() != nil && s.above.Err() == nil }

// halted returns a context for model calls that make no further attempt once the run is to stop.
func (s *stops) halted(ctx context.Context) context.Context { return guard.WithHalt(ctx, s.halt) }

// limitTime sets or resets the timer of Limits.Duration. Any goroutine may call it.
func (s *stops) limitTime() {
	s.log.Lock()
	defer s.log.Unlock()
	if s.deadline != nil {
		s.deadline.Stop()
	}
	r := s.log.Run()
	limit := r.Limits.Duration
	if limit < 0 || s.log.ended {
		return
	}
	rest := max(limit-r.Worked-max(time.Since(r.Since), 0), 0)
	s.deadline = time.AfterFunc(rest, func() {
		s.log.Cancel(&LimitError{Limit: machine.LimitDuration, Max: int64(limit), Have: int64(limit)})
	})
}

// cutOff returns how a run ends that can't go on: nobody ranges over its events any more, its
// journal has refused a fact, or its context has ended. Nil: it can go on.
func (s *stops) cutOff() *outcome {
	switch {
	case s.consumer.left:
		return stopping(machine.CodeAbandoned, errLeft)
	case s.log.Lost():
		return failing(machine.CodeJournal, s.log.Err())
	case s.log.ctx.Err() != nil:
		return s.endedBy(causeOf(s.log.ctx))
	}
	return nil
}

// endedBy returns how a run ends whose context has ended for this cause.
func (s *stops) endedBy(cause error) *outcome {
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
		s.log.Fail(cause)
		return failing(machine.CodeJournal, cause)
	case errors.Is(cause, errLeft):
		return stopping(machine.CodeAbandoned, errLeft)
	}
	return stopping(machine.CodeCanceled, canceledBy(s.caller, cause))
}

// abort ends the context of a run because of an error of a hook, and returns how the run ends.
func (s *stops) abort(err error) *outcome {
	s.log.Cancel(err)
	return cmp.Or(s.cutOff(), goOn)
}

// callerEnded reports whether a run that was canceled has ended because the context of Run or
// Stream did, and not because of [Session.Cancel]. reason is why it ended. If both happened, the
// cause of the run's context says which came first.
func (s *stops) callerEnded(reason error) bool {
	if s.caller.Err() == nil {
		return false
	}
	byCancel := errors.Is(reason, errCanceled)
	return !byCancel || errors.Is(causeOf(s.log.ctx), causeOf(s.caller))
}

// canceledBy returns why a run was canceled. If ctx has ended, the error also wraps ctx.Err(),
// which its cause needn't be.
func canceledBy(ctx context.Context, cause error) error {
	if err := usable(ctx.Err()); err != nil && !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	return &StopError{Code: machine.CodeCanceled, Err: cause}
}
