package agent

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
)

// A Receipt reports whether a message to a run was delivered.
type Receipt struct {
	follow func(ctx context.Context) (int, error)
}

// Wait waits until the message is delivered and returns the step whose model call contains it. If
// the run ends or pauses first, it returns an error. It reads the session's log, at once for a run
// of this process and at intervals of up to 2 s for another. If the session is gone, what became of
// the message isn't known, and that is an error, too. Wait is safe for concurrent use.
func (r *Receipt) Wait(ctx context.Context) (step int, err error) {
	if r == nil || r.follow == nil {
		return 0, errNoReceipt
	}
	return r.follow(orBackground(ctx))
}

var errNoReceipt = errors.New("agent: this Receipt is nil or empty; Steer makes one")

var (
	errNotDelivered = errors.New("agent: the run ended or paused before the message could be delivered")
	errGone         = errors.New("agent: the session is gone; it isn't known whether the message was delivered")
)

// follow reads a session's log after a fact until it says whether a message was delivered.
func (a *Agent) follow(ctx context.Context, session, id string, after uint64) (step int, err error) {
	wake, leave := a.sessions.Listen(session)
	defer leave()
	delivered := false
	for wait := watchFirst; ; wait = min(2*wait, watchMost) {
		over := a.isOver(ctx, session)
		facts, err := a.newFacts(ctx, session, after)
		switch {
		case errors.Is(err, ErrNothingOpen):
			return 0, errGone
		case err == nil && len(facts) == 0 && over:
			return 0, errNotDelivered
		case err != nil && ctx.Err() == nil:
			return 0, err
		}
		for _, f := range facts {
			after, wait = f.Envelope().Seq, watchFirst
			switch f := f.(type) {
			case *machine.Steered:
				delivered = delivered || f.ID == id
			case *StepStarted:
				if delivered {
					return f.Step, nil
				}
			case *RunEnded:
				if f.Code != machine.CodeContextReset && !machine.GoesOn(f.Code) { // then the run that goes on reads it
					return 0, errNotDelivered
				}
			}
		}
		if err := await(ctx, wake, wait); err != nil {
			return 0, err
		}
	}
}

// isOver reports whether the run of a session has ended, or waits for a decision.
func (a *Agent) isOver(ctx context.Context, session string) bool {
	e, ok := errors.AsType[*SessionError](a.sessions.InProgress(ctx, session))
	return ok && e.Code == ErrNothingOpen && e.Status != Running && e.Status != Queued
}

// await waits until a session may have new facts.
func await(ctx context.Context, wake <-chan struct{}, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return causeOf(ctx)
	case <-wake:
	case <-time.After(wait):
	}
	return nil
}
