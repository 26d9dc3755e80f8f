package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
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
	err = s.agent.change(ctx, s.id, session.Item{Kind: session.ItemTitle, Text: title})
	if !errors.Is(err, ErrNothingOpen) {
		return err
	}
	l, err := s.agent.openKnown(ctx, s.id)
	if err != nil {
		return err
	}
	defer l.Close()
	if l.Run() == nil {
		return &SessionError{Session: s.id, Code: ErrNothingOpen}
	}
	var older []string // they must not replace this one
	for _, it := range l.Inbox() {
		if it.Kind == session.ItemTitle {
			older = append(older, it.ID)
		}
	}
	return l.appendTaking(older, &machine.TitleChanged{Title: title})
}

// checkTitle returns what is wrong with a title.
func checkTitle(title string) error {
	head := journal.HeadUpdate{Title: title}
	if err := head.Validate(); err != nil {
		return &ArgError{Field: "Input.Title", Problem: "it " +
			strings.TrimPrefix(err.Error(), "journal: HeadUpdate.Title "), Err: err}
	}
	return nil
}

// takeTitle sets a title that was posted. Its item leaves the inbox in the same append. One that
// can't be set is removed.
func (l *sessionLog) takeTitle(it *session.Item) {
	head := journal.HeadUpdate{Title: it.Text}
	err := head.Validate()
	if err == nil && it.Text != "" {
		err = l.appendTaking([]string{it.ID}, &machine.TitleChanged{Title: it.Text})
	} else {
		l.Remove(it.ID)
	}
	if err != nil {
		l.agent.logger.WarnContext(l.ctx, "agent: setting a title", "session", l.Name, "error", err)
	}
}
