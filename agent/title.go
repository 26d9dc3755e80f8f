package agent

import (
	"context"

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
	if err := checkTitle(title); err != nil {
		return err
	}
	if title == "" {
		return &ArgError{Field: "Input.Title", Problem: "it is empty; a title can be replaced, but not removed"}
	}
	return s.agent.change(ctx, s.id, session.Item{Kind: session.ItemTitle, Text: title}, func(l *sessionLog) error {
		var older []string // they must not replace this one
		for _, it := range l.Inbox() {
			if it.Kind == session.ItemTitle {
				older = append(older, it.ID)
			}
		}
		return l.Append(older, &machine.TitleChanged{Title: title})
	})
}
