package agent

import (
	"context"
	"errors"
	"slices"

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
