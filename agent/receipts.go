package agent

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/agent/machine"
)

// A Receipt reports whether a message to a run was delivered.
type Receipt struct {
	wait func(ctx context.Context) (int, error)
}

// Wait waits until the message is delivered and returns the step whose model call contains it. If
// the run ends or pauses first, it returns an error. It reads the session's log, at once for a run
// of this process and at intervals of up to 2 s for another. If the session is gone, what became of
// the message isn't known, and that is an error, too. Wait is safe for concurrent use.
func (r *Receipt) Wait(ctx context.Context) (step int, err error) {
	if r == nil || r.wait == nil {
		return 0, errNoReceipt
	}
	return r.wait(orBackground(ctx))
}

var errNoReceipt = errors.New("agent: this Receipt is nil or empty; Steer makes one")

var (
	errNotDelivered = errors.New("agent: the run ended or paused before the message could be delivered")
	errGone         = errors.New("agent: the session is gone; it isn't known whether the message was delivered")
)

// delivered reads a session's log after a fact until it says whether a message was delivered.
func (a *Agent) delivered(ctx context.Context, session, id string, after uint64) (step int, err error) {
	w := a.follow(session, after)
	defer w.leave()
	for read := false; ; {
		over := a.isOver(ctx, session)
		facts, err := w.read(ctx)
		switch {
		case errors.Is(err, ErrNothingOpen):
			return 0, errGone
		case err != nil:
			return 0, err
		case len(facts) == 0 && over:
			return 0, errNotDelivered
		}
		for _, f := range facts {
			switch f := f.(type) {
			case *machine.Steered:
				read = read || f.ID == id
			case *StepStarted:
				if read {
					return f.Step, nil
				}
			case *RunEnded:
				if f.Code != machine.CodeContextReset && !machine.GoesOn(f.Code) { // then the run that goes on reads it
					return 0, errNotDelivered
				}
			}
		}
		if err := w.await(ctx); err != nil {
			return 0, err
		}
	}
}

// isOver reports whether the run of a session has ended, or waits for a decision.
func (a *Agent) isOver(ctx context.Context, session string) bool {
	e, ok := errors.AsType[*SessionError](a.sessions.InProgress(ctx, session))
	return ok && e.Code == ErrNothingOpen && e.Status != Running && e.Status != Queued
}
