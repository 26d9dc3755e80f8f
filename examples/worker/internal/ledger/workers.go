package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// How a worker has ended.
const (
	Killed  = "killed"
	Stopped = "stopped"
)

// A Worker is a process that drives runs, or did.
type Worker struct {
	ID      int    `json:"id"`
	PID     int    `json:"pid"`
	Started int64  `json:"started"` // in ms since 1970, as all times here
	Seen    int64  `json:"seen"`    // its last sign of life
	How     string `json:"how"`     // Killed or Stopped; "" while it works
}

// A Leg is a time in which a worker drove a run.
type Leg struct {
	Session string `json:"-"`
	Worker  int    `json:"worker"`
	Started int64  `json:"from"`
	Ended   int64  `json:"to"` // of a leg that has no end, the worker's last sign of life
	Open    bool   `json:"open,omitempty"`
	Killed  bool   `json:"killed,omitempty"` // the worker was killed meanwhile
	Now     string `json:"now,omitempty"`    // what is being done
}

// Join adds a worker, and returns its number, from 1.
func (l *Ledger) Join(ctx context.Context, pid int) (id int, err error) {
	return value[int](ctx, l, "INSERT INTO workers (pid, started, seen) VALUES (?, ?, ?) RETURNING id", pid, now(), now())
}

// Alive is a sign of life of a worker. doing says, by leg, what it is doing.
func (l *Ledger) Alive(ctx context.Context, worker int, doing map[int]string) error {
	text := "UPDATE workers SET seen = ?1 WHERE id = ?2; UPDATE legs SET seen = ?1 WHERE worker = ?2 AND ended = 0"
	args := []any{now(), worker}
	for leg, what := range doing {
		args = append(args, what, leg)
		text += fmt.Sprintf("; UPDATE legs SET now = ?%d WHERE id = ?%d", len(args)-1, len(args))
	}
	return l.exec(ctx, text, args...)
}

// Left says how a worker has ended.
func (l *Ledger) Left(ctx context.Context, worker int, how string) error {
	return l.exec(ctx, "UPDATE workers SET how = ? WHERE id = ? AND how = ''", how, worker)
}

// LeftPID is Left for the newest worker with that process id.
func (l *Ledger) LeftPID(ctx context.Context, pid int, how string) error {
	return l.exec(ctx, `UPDATE workers SET how = ? WHERE how = '' AND
		id = (SELECT max(id) FROM workers WHERE pid = ?)`, how, pid)
}

// BeginLeg records that a worker drives a run since then, and returns the number of the leg. A leg
// of another worker that lost the run is over.
func (l *Ledger) BeginLeg(ctx context.Context, session string, worker int, since time.Time) (leg int, err error) {
	if err := l.exec(ctx, `UPDATE legs SET ended = ?1 WHERE session = ?2 AND ended = 0 AND
		worker NOT IN (SELECT id FROM workers WHERE how = 'killed')`, since.UnixMilli(), session); err != nil {
		return 0, err
	}
	return value[int](ctx, l, "INSERT INTO legs (session, worker, started, seen) VALUES (?, ?, ?, ?) RETURNING id", session,
		worker, since.UnixMilli(), now())
}

// EndLeg records that a worker doesn't drive a run any more since then.
func (l *Ledger) EndLeg(ctx context.Context, leg int, since time.Time) error {
	return l.exec(ctx, "UPDATE legs SET ended = ?1, seen = ?1 WHERE id = ?2", since.UnixMilli(), leg)
}

// Workers returns those that work, and those that have ended within the last seconds, oldest first.
func (l *Ledger) Workers(ctx context.Context, since time.Duration) ([]Worker, error) {
	return list(ctx, l, func(r *sql.Rows) (w Worker, err error) {
		return w, r.Scan(&w.ID, &w.PID, &w.Started, &w.Seen, &w.How)
	}, "SELECT id, pid, started, seen, how FROM workers WHERE seen > ? ORDER BY id", now()-since.Milliseconds())
}

// PID returns the process of a worker; 0 if it has ended.
func (l *Ledger) PID(ctx context.Context, worker int) (int, error) {
	return value[int](ctx, l, "SELECT pid FROM workers WHERE id = ? AND how = ''", worker)
}

// Busy returns the workers that drive a run.
func (l *Ledger) Busy(ctx context.Context) ([]int, error) {
	return list(ctx, l, func(r *sql.Rows) (id int, err error) { return id, r.Scan(&id) },
		`SELECT DISTINCT worker FROM legs JOIN workers ON worker = workers.id WHERE ended = 0 AND how = ''`)
}

// Legs returns the legs of runs, oldest first.
func (l *Ledger) Legs(ctx context.Context, sessions ...string) ([]Leg, error) {
	args := make([]any, len(sessions))
	for i, s := range sessions {
		args[i] = s
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(sessions)), ", ")
	return list(ctx, l, func(r *sql.Rows) (g Leg, err error) {
		var how string
		var seen int64
		err = r.Scan(&g.Session, &g.Worker, &g.Started, &seen, &g.Ended, &g.Now, &how)
		if g.Ended == 0 {
			g.Ended, g.Open, g.Killed = seen, how == "", how == Killed
		}
		return g, err
	}, `SELECT session, worker, legs.started, legs.seen, ended, now, how FROM legs JOIN workers ON worker = workers.id
		WHERE session IN (`+marks+`) ORDER BY legs.id`, args...)
}

// Rates returns how many runs have ended in each of the newest n intervals, oldest first.
func (l *Ledger) Rates(ctx context.Context, n int, interval time.Duration) ([]int, error) {
	ms := interval.Milliseconds()
	last := now() / ms
	buckets, err := list(ctx, l, func(r *sql.Rows) (b int64, err error) { return b, r.Scan(&b) },
		"SELECT at / ? FROM ends WHERE at >= ?", ms, (last-int64(n)+1)*ms)
	counts := make([]int, n)
	for _, b := range buckets {
		if i := n - 1 - int(last-b); i >= 0 && i < n {
			counts[i]++
		}
	}
	return counts, err
}
