package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
)

// SetTitle gives the session a title, which [Agent.Sessions] shows: at most 200 bytes of text
// without control characters, not empty. A run that is under way, here or in another process, takes
// it over at its next safe point; if there is none, it is set at once. An unknown session is a
// [ErrNothingOpen], and a title that isn't valid is an *[ArgError].
func (s *Session) SetTitle(ctx context.Context, title string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	title = s.agent.redact.Text(title)
	if err := checkNewTitle(title); err != nil {
		return err
	}
	return s.agent.change(ctx, s.id, session.Item{Kind: session.ItemTitle, Text: title})
}

// SetLabel gives the session a label of its own, by which [Agent.Sessions] finds it or leaves it
// out: archived=yes, for example. An empty value removes the label. A session has at most 16 such
// labels, with keys of at most 64 and values of at most 256 bytes, without control characters.
//
// The label stays when runs with other labels ([Input].Labels) follow. Lists show both, and of two
// with the same key that of SetLabel; runs and their events have only their own. So a label
// "tenant" that is set here doesn't say who pays: only that of the run does. It is set when a title
// would be: see [Session.SetTitle]. An unknown session is [ErrNothingOpen], and a label that isn't
// valid is an *[ArgError].
func (s *Session) SetLabel(ctx context.Context, key, value string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if err := checkLabel(key, value, new(machine.State)); err != nil {
		return err
	}
	return s.agent.change(ctx, s.id, session.Item{Kind: session.ItemLabel, Key: key, Text: value})
}

// SetMode switches the session to another mode, from its next model call on: that of the run in
// progress or that waits, in this or another process, or of the next run. An unknown mode is an
// *[ArgError], and an unknown session [ErrNothingOpen].
func (s *Session) SetMode(ctx context.Context, mode string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if _, err := s.agent.mode(mode); err != nil {
		return err
	}
	return s.agent.change(ctx, s.id, session.Item{Kind: session.ItemMode, Text: mode})
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
	err = s.agent.change(ctx, s.id, session.Item{Kind: session.ItemRevoke, Text: tool, By: by})
	if errors.Is(err, ErrNothingOpen) {
		return noRule(s.id, tool)
	}
	return err
}

// change posts a revocation, a mode, a title or a label to the run in progress. If no run is in
// progress, it makes the change. A run that has just ended reads the item as it is released
// (takeLate). If it was posted too late for that, change acts on it, or, if the session is busy
// again, whoever holds it does.
func (a *Agent) change(ctx context.Context, session string, it session.Item) error {
	if a.driverOf(session) == nil {
		err := a.sessions.InProgress(ctx, session)
		if errors.Is(err, ErrNothingOpen) {
			return a.changeNow(ctx, session, func(l *sessionLog) error { return l.makeChange(&it) })
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
		l.takePosted(nil)
		return nil
	})
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}

// makeChange makes a change that wasn't posted. Older ones in the inbox must not replace it.
func (l *sessionLog) makeChange(it *session.Item) error {
	f, err := itemKinds[it.Kind].change(l, it)
	if err != nil {
		return err
	}
	var older []string
	for _, old := range l.Inbox() {
		if old.Kind == it.Kind && old.Key == it.Key && it.Kind != session.ItemRevoke {
			older = append(older, old.ID)
		}
	}
	if f != nil {
		return l.Append(older, f)
	}
	for _, id := range older {
		l.Remove(id)
	}
	return nil
}

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

// SwitchMode switches the run that ctx belongs to to another mode, from its next model call on. It
// is for tools and hooks, and safe for concurrent use. An unknown mode is an *[ArgError].
func SwitchMode(ctx context.Context, name, reason string) error {
	x := driverIn(ctx)
	if x == nil {
		return outsideOfRun("SwitchMode")
	}
	if _, err := x.agent.mode(name); err != nil {
		return err
	}
	defer x.stops.limitTime()
	return x.log.appendIn(ctx, func() Fact { return x.log.toMode(name, reason) })
}

// SetPhase begins another phase of the work of the run that ctx belongs to, and restarts the count
// of Limits.StepsPerPhase. It is for tools and hooks, and safe for concurrent use.
func SetPhase(ctx context.Context, name string) error {
	x := driverIn(ctx)
	if x == nil {
		return outsideOfRun("SetPhase")
	}
	name = machine.ValidText(name)
	return x.log.appendIn(ctx, func() Fact {
		if x.log.State().Phase == name {
			return nil
		}
		return &machine.PhaseChanged{From: x.log.State().Phase, To: name}
	})
}

// byHost is the reason of a mode that [Session.SetMode] has set.
const byHost = "set by the host"

// toMode returns the fact that switches the session to another mode; nil if it is in it, or there
// is no such mode, as of a host with other ones.
func (l *sessionLog) toMode(name, reason string) Fact {
	m, err := l.agent.mode(name)
	if err != nil || l.State().Mode == m.Name {
		return nil
	}
	return &machine.ModeChanged{From: l.State().Mode, To: m.Name, Reason: l.agent.redact.Text(reason),
		Limits: l.agent.limits(l.Run().Own, m, l.Run().Parent != "")}
}
