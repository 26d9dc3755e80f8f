package agent

import (
	"context"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
)

// SetLabel gives the session a label of its own, by which [Agent.Sessions] finds it or leaves it
// out: archived=yes, for example. An empty value removes the label. A session has at most 16 such
// labels, with keys of at most 64 and values of at most 256 bytes, without control characters.
//
// The label stays when runs with other labels ([Input].Labels) follow. Lists show both, and of two
// with the same key that of SetLabel; runs and their events have only their own. It is set when a
// title would be: see [Session.SetTitle]. An unknown session is a [ErrNothingOpen], and a label
// that isn't valid is an *[ArgError].
func (s *Session) SetLabel(ctx context.Context, key, value string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if err := checkLabel(key, value, new(machine.State)); err != nil {
		return err
	}
	it := session.Item{Kind: session.ItemLabel, Key: key, Text: value}
	return s.agent.change(ctx, s.id, it, func(l *sessionLog) error {
		if err := checkLabel(key, value, l.State()); err != nil {
			return err
		}
		var older []string // they must not replace this one
		for _, it := range l.Inbox() {
			if it.Kind == session.ItemLabel && it.Key == key {
				older = append(older, it.ID)
			}
		}
		return l.Append(older, &machine.LabelChanged{Key: key, Value: value})
	})
}
