package portfolio

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// A Session is what is remembered of a conversation of a user, besides what was said: that is in
// the journal.
type Session struct {
	Artifact string    `json:"currentArtifactId"` // what "this" means
	LastTool string    `json:"lastToolExecuted"`
	Thread   int       `json:"thread"` // grows with each reset
	Asked    string    `json:"asked"`  // the message that waits for a confirmation
	Used     time.Time `json:"used"`   // when it was last used; zero: never
}

// Session returns a session of a user; the zero Session if there is none. Sessions of different
// users are never the same.
func (s *Store) Session(ctx context.Context, user, id string) (Session, error) {
	return session(ctx, s.db, user, id)
}

// ChangeSession changes a session of a user, in one transaction, and returns it. f may be called
// more than once.
func (s *Store) ChangeSession(ctx context.Context, user, id string, f func(*Session)) (v Session, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if v, err = session(ctx, tx, user, id); err != nil {
			return err
		}
		f(&v)
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)", user, id,
			v.Artifact, v.LastTool, v.Thread, v.Asked, v.Used.UnixMilli())
		return err
	})
	return v, err
}

func session(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, user, id string) (v Session, err error) {
	var used int64
	err = db.QueryRowContext(ctx,
		"SELECT artifact, last_tool, thread, asked, used_at FROM sessions WHERE user_id = ? AND id = ?", user, id).
		Scan(&v.Artifact, &v.LastTool, &v.Thread, &v.Asked, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return v, nil
	}
	v.Used = time.UnixMilli(used).UTC()
	return v, err
}
