package site

import (
	"context"
	"time"
)

// A Session is what a page has set for a conversation with the agent. Its messages are in the
// agent's journal.
type Session struct {
	ID        string
	Title     string
	Mode      string
	CreatedAt time.Time
}

// Sessions returns the sessions that were created with [Site.PutSession], the newest first.
func (s *Site) Sessions(ctx context.Context) ([]Session, error) {
	return view(ctx, s, "listing sessions", func(tx *txn) ([]Session, error) {
		return collect(tx, scanSession,
			"SELECT id, title, mode, created_at FROM sessions ORDER BY created_at DESC, id LIMIT 1000"), nil
	})
}

// GetSession returns a session and the numbers of its hidden messages. A session that wasn't
// created with [Site.PutSession] has only its id.
func (s *Site) GetSession(ctx context.Context, id string) (Session, map[int]bool, error) {
	hidden := map[int]bool{}
	found, err := view(ctx, s, "reading a session", func(tx *txn) (Session, error) {
		for _, n := range collect(tx, one[int], "SELECT message FROM hidden_messages WHERE session = ?", id) {
			hidden[n] = true
		}
		found := collect(tx, scanSession, "SELECT id, title, mode, created_at FROM sessions WHERE id = ?", id)
		if len(found) == 0 {
			return Session{ID: id}, nil
		}
		return found[0], nil
	})
	return found, hidden, err
}

// PutSession creates a session, or changes its title and mode.
func (s *Site) PutSession(ctx context.Context, in Session) error {
	return s.write(ctx, "writing a session", func(tx *txn) error {
		if err := checkText("the title", in.Title, 0, maxLabel); err != nil {
			return err
		}
		tx.exec(`INSERT INTO sessions (id, title, mode, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET title = excluded.title, mode = excluded.mode`, in.ID, in.Title, in.Mode,
			tx.now)
		return nil
	})
}

// HideMessage hides a message of a session, by its number.
func (s *Site) HideMessage(ctx context.Context, session string, message int) error {
	return s.write(ctx, "hiding a message",
		statements("INSERT INTO hidden_messages (session, message) VALUES (?, ?) ON CONFLICT DO NOTHING", session,
			message))
}

// DeleteSession forgets a session.
func (s *Site) DeleteSession(ctx context.Context, id string) error {
	return s.write(ctx, "deleting a session",
		statements("DELETE FROM sessions WHERE id = ?1; DELETE FROM hidden_messages WHERE session = ?1", id))
}

func scanSession(scan scanner) (s Session, err error) {
	err = scan(&s.ID, &s.Title, &s.Mode, at{&s.CreatedAt})
	return s, err
}
