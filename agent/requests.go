package agent

import (
	"context"
	"errors"
	"fmt"
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

// changeNow calls a function with a session that this process holds.
func (a *Agent) changeNow(ctx context.Context, session string, f func(*sessionLog) error) error {
	_, l, err := a.Session(session).hold(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	return f(l)
}

// Stop stops the run in progress at its next safe point: when the current model call or tool calls
// have ended. If no run is in progress, the error is [ErrNothingOpen]; likewise for Pause.
//
// From then on, a model call makes no further attempt, and doesn't move on to another provider:
// what is in progress may still answer. If another process drives the run, it learns of the request
// within a second, as long as the journal's store answers; likewise for Cancel.
func (s *Session) Stop(ctx context.Context) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	x := s.agent.driverOf(s.id)
	err = s.send(ctx, session.Item{Kind: session.ItemStop})
	if err == nil && x != nil {
		x.stops.haltNow()
	}
	return noRun(err, "there is nothing to stop")
}

// Pause pauses the run in progress at its next safe point. [Continue] resumes it.
func (s *Session) Pause(ctx context.Context) error {
	return noRun(s.send(ctx, session.Item{Kind: session.ItemPause}), "there is nothing to pause")
}

// Cancel stops the run in progress at once, like the end of its context. If another process drives
// it, that happens within a second, and Cancel doesn't wait for it. A run that no process drives,
// because it is queued or paused, or because its process has died, is ended: calls that wait for a
// decision count as rejected. If no run is open, the error is [ErrNothingOpen].
func (s *Session) Cancel(ctx context.Context) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	x := s.agent.driverOf(s.id)
	if x != nil {
		x.log.Log.Cancel(&StopError{Code: machine.CodeCanceled, Err: errCanceled})
		x.consumer.Wake()
		if s.agent.driverOf(s.id) == x { // else it may have left before that
			return nil
		}
	}
	err = s.send(ctx, session.Item{Kind: session.ItemCancel})
	if !errors.Is(err, ErrNothingOpen) || strings.HasPrefix(s.id, childPrefix) {
		return noRun(err, "there is nothing to stop")
	}
	err = s.agent.changeNow(ctx, s.id, func(l *sessionLog) error { // no process drives it
		if !l.Run().IsOpen() {
			return nothingOpen(s.id, l.Run())
		}
		return l.endOpen(machine.CodeCanceled, errCanceled)
	})
	if errors.Is(err, ErrBusy) { // who has just taken it reads this
		err = s.agent.sessions.Post(ctx, s.id, session.Item{ID: newID("m-"), Kind: session.ItemCancel})
	}
	if x != nil && errors.Is(err, ErrNothingOpen) {
		return nil
	}
	return noRun(err, "there is nothing to stop")
}

// noRun returns err. If it is an [ErrNothingOpen], it says what follows for who has asked, who
// didn't want to resume anything.
func noRun(err error, so string) error {
	e, ok := errors.AsType[*SessionError](err)
	if !ok || e.Code != ErrNothingOpen || e.Problem != "" {
		return err
	}
	own := *e
	if own.Problem = "it is unknown, so " + so; e.Status != "" {
		own.Problem = fmt.Sprintf("its newest run is %s, so %s", e.Status, so)
	}
	return &own
}

func (s *Session) send(ctx context.Context, it session.Item) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	return s.agent.sessions.Send(ctx, s.id, it)
}
