package portfolio

import (
	"context"
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

func scanSession(r row, v *Session) error {
	return r.Scan(&v.Artifact, &v.LastTool, &v.Thread, &v.Asked, (*unix)(&v.Used))
}

const sessionColumns = "SELECT artifact, last_tool, thread, asked, used_at FROM sessions WHERE user_id = ? AND id = ?"

// Session returns a session of a user; the zero Session if there is none. Sessions of different
// users are never the same.
func (s *Store) Session(ctx context.Context, user, id string) (Session, error) {
	return get(ctx, s.db, scanSession, nil, sessionColumns, user, id)
}

// ChangeSession changes a session of a user, in one transaction, and returns it. f may be called
// more than once.
func (s *Store) ChangeSession(ctx context.Context, user, id string, f func(*Session)) (v Session, err error) {
	err = s.write(ctx, func(t *tx) {
		v = read(t, scanSession, nil, sessionColumns, user, id)
		f(&v)
		t.exec("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)", user, id, v.Artifact, v.LastTool,
			v.Thread, v.Asked, unix(v.Used))
	})
	return v, err
}
