package portfolio

import (
	"context"
	"time"
)

// A Session is what is remembered of a conversation of a user, besides what was said: that is in
// the journal.
type Session struct {
	Artifact string    // what "this" means
	Thread   int       // grows with each new beginning
	Used     time.Time // when it was last used; zero: never
}

func scanSession(r row, v *Session) error { return r.Scan(&v.Artifact, &v.Thread, (*unix)(&v.Used)) }

// ChangeSession changes a session of a user, in one transaction, and returns it. f may be called
// more than once. Sessions of different users are never the same.
func (s *Store) ChangeSession(ctx context.Context, user, id string, f func(*Session)) (v Session, err error) {
	err = s.write(ctx, func(t *tx) {
		v = read(t, scanSession, nil, "SELECT artifact, thread, used_at FROM sessions WHERE user_id = ? AND id = ?",
			user, id)
		f(&v)
		t.exec("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, '', ?, '', ?)", user, id, v.Artifact, v.Thread,
			unix(v.Used))
	})
	return v, err
}
