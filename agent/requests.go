package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
)

// driverOf returns the driver of a session in this process, or nil. Its run may have ended, but not
// yet been released.
func (a *Agent) driverOf(name string) *driver {
	x, _ := a.sessions.Holder(name).(*driver)
	return x
}

// change posts a revocation, a mode, a title or a label to the run in progress. If no run is in
// progress, it calls now with the session. A run that has just ended reads the item as it is
// released (takeLate). If it was posted too late for that, change acts on it, or, if the session
// is busy again, whoever holds it does.
func (a *Agent) change(ctx context.Context, session string, it session.Item, now func(*sessionLog) error) error {
	if a.driverOf(session) == nil {
		err := a.sessions.InProgress(ctx, session)
		if errors.Is(err, ErrNothingOpen) {
			return a.changeNow(ctx, session, now)
		}
		if err != nil {
			return err
		}
	}
	it.ID = newID("m-")
	if err := a.sessions.Post(ctx, session, it); err != nil {
		return err
	}
	if a.driverOf(session) != nil || !errors.Is(a.sessions.InProgress(ctx, session), ErrNothingOpen) {
		return nil
	}
	err := a.changeNow(ctx, session, func(l *sessionLog) error {
		l.takePosted(false)
		return nil
	})
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}

// changeNow calls a function with a session that this process holds.
func (a *Agent) changeNow(ctx context.Context, session string, f func(*sessionLog) error) error {
	l, err := a.openKnown(ctx, session)
	if err != nil {
		return err
	}
	defer l.Close()
	if l.Run() == nil {
		return nothingOpen(session, nil)
	}
	return f(l)
}

// Rules returns the standing approvals of the session, oldest first.
func (s *Session) Rules(ctx context.Context) ([]Rule, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(m.State().Rules), nil
}

// Revoke ends the standing approvals of a tool, in all scopes: from then on its calls ask again. by
// says who revokes it. A run that is under way, here or in another process, acts on it at its next
// safe point, before it takes up other calls; if there is none, it is done before the session's
// next run begins. Without a standing approval to end, that is [ErrNoRule]; for a run under
// way it is logged there.
func (s *Session) Revoke(ctx context.Context, tool, by string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	err = s.agent.change(ctx, s.id, session.Item{Kind: session.ItemRevoke, Text: tool, By: by},
		func(l *sessionLog) error { return l.revoke(nil, tool, by) })
	if errors.Is(err, ErrNothingOpen) {
		return noRule(s.id, tool)
	}
	return err
}

// Stop stops the run in progress at its next safe point: when the current model call or tool calls
// have ended. If no run is in progress, the error is [ErrNothingOpen]; likewise for Pause.
func (s *Session) Stop(ctx context.Context) error {
	return s.send(ctx, session.Item{Kind: session.ItemStop})
}

// Pause pauses the run in progress at its next safe point. [Continue] resumes it.
func (s *Session) Pause(ctx context.Context) error {
	return s.send(ctx, session.Item{Kind: session.ItemPause})
}

// Cancel stops the run in progress at once, like the end of its context. If another process drives
// it, Cancel takes effect at the next safe point. A run that no process drives, because it is
// queued or paused, or because its process has died, is ended: calls that wait for a decision count
// as rejected. If no run is open, the error is [ErrNothingOpen].
func (s *Session) Cancel(ctx context.Context) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	x := s.agent.driverOf(s.id)
	if x != nil {
		x.Log.Cancel(&StopError{Code: machine.CodeCanceled, Err: errCanceled})
		x.Wake()
		if s.agent.driverOf(s.id) == x { // else it may have left before that
			return nil
		}
	}
	err = s.send(ctx, session.Item{Kind: session.ItemCancel})
	if !errors.Is(err, ErrNothingOpen) || strings.HasPrefix(s.id, childPrefix) {
		return err
	}
	if err = s.cancelOpen(ctx); errors.Is(err, ErrBusy) { // who has just taken it reads this
		err = s.agent.sessions.Post(ctx, s.id, session.Item{ID: newID("m-"), Kind: session.ItemCancel})
	}
	if x != nil && errors.Is(err, ErrNothingOpen) {
		return nil
	}
	return err
}

// SetMode switches the session to another mode, from its next model call on: that of the run in
// progress or that waits, in this or another process, or of the next run. An unknown mode is an
// *[ArgError], and an unknown session an [ErrNothingOpen].
func (s *Session) SetMode(ctx context.Context, mode string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if _, err := s.agent.mode(mode); err != nil {
		return err
	}
	return s.agent.change(ctx, s.id, session.Item{Kind: session.ItemMode, Text: mode},
		func(l *sessionLog) error {
			return l.appendIn(ctx, func() Fact { return l.toMode(mode, byHost) })
		})
}

func (s *Session) send(ctx context.Context, it session.Item) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	_, err = s.agent.sessions.Send(ctx, s.id, it)
	return err
}

// cancelOpen ends a run that no process drives: it is queued, or paused, or its process has died.
func (s *Session) cancelOpen(ctx context.Context) error {
	return s.agent.changeNow(ctx, s.id, func(l *sessionLog) error {
		if !l.Run().IsOpen() {
			return nothingOpen(s.id, l.Run())
		}
		return l.endOpen(machine.CodeCanceled, errCanceled)
	})
}
