package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

// A Call is a tool call. ID is its idempotency key, Session that of the report, and Fence the
// fencing token of the process that makes it.
type Call struct {
	ID, Session, Tool string
	Worker            int
	Fence             uint64
	// Once says that the effect knows the keys of calls, as that of a service with idempotency keys
	// does: a second effect of the call isn't made.
	Once bool
}

// ErrStale says that another process has begun the call since.
var ErrStale = errors.New("ledger: another process makes this call now")

// Begin counts an attempt at a call, and returns its number, from 1.
func (l *Ledger) Begin(ctx context.Context, c Call) (attempt int, err error) {
	return value[int](ctx, l, `INSERT INTO calls (call, session, tool, attempts, fence) VALUES (?1, ?2, ?3, 1, ?4)
		ON CONFLICT (call) DO UPDATE SET attempts = attempts + 1, fence = max(fence, ?4) RETURNING attempts`,
		c.ID, c.Session, c.Tool, int64(c.Fence))
}

// Done reports whether the call has had its effect.
func (l *Ledger) Done(ctx context.Context, call string) (bool, error) {
	return value[bool](ctx, l, "SELECT count(*) > 0 FROM effects WHERE call = ?", call)
}

// An Artifact is a text that a tool makes.
type Artifact struct {
	Name, Data string
}

// Effect stores the effect of a call that was begun with what it makes, in one transaction. The
// error is [ErrStale] for a process that has lost the run to another one without noticing it.
func (l *Ledger) Effect(ctx context.Context, c Call, attempt int, made ...Artifact) error {
	var rows int64
	err := sqlitefile.Retry(ctx, busy, func() error {
		tx, err := l.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // after Commit it does nothing
		res, err := tx.ExecContext(ctx, `INSERT INTO effects (call, attempt, session, tool, worker, at)
			SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT fence FROM calls WHERE call = ?1) <= ?7
			AND NOT (?8 AND EXISTS (SELECT 1 FROM effects WHERE call = ?1))`,
			c.ID, attempt, c.Session, c.Tool, c.Worker, now(), int64(c.Fence), c.Once)
		if err != nil {
			return err
		}
		if rows, err = res.RowsAffected(); err != nil || rows == 0 {
			return err
		}
		for _, a := range made {
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO artifacts (session, name, data) VALUES (?, ?, ?)",
				c.Session, a.Name, a.Data); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if rows == 0 {
		if done, err := l.Done(ctx, c.ID); err != nil || !done || !c.Once {
			return errors.Join(ErrStale, err)
		}
	}
	return nil
}

// Artifact returns a text that a tool has made; "" if there is none.
func (l *Ledger) Artifact(ctx context.Context, session, name string) (string, error) {
	return value[string](ctx, l, "SELECT data FROM artifacts WHERE session = ? AND name = ?", session, name)
}

// EffectsOf returns how many effects a run has had, and of how many calls.
func (l *Ledger) EffectsOf(ctx context.Context, session string) (effects, calls int, err error) {
	err = l.row(ctx, []any{&effects, &calls}, "SELECT count(*), count(DISTINCT call) FROM effects WHERE session = ?",
		session)
	return effects, calls, err
}

// FailedBefore reports whether a run of the session has failed.
func (l *Ledger) FailedBefore(ctx context.Context, session string) (bool, error) {
	return value[bool](ctx, l, "SELECT count(*) > 0 FROM ends WHERE session = ? AND status = 'failed'", session)
}

// Accept records that a run was accepted, so that its loss would be noticed.
func (l *Ledger) Accept(ctx context.Context, session, topic string) error {
	return l.exec(ctx, "INSERT OR IGNORE INTO runs (session, topic, at) VALUES (?, ?, ?)", session, topic, now())
}

// Unended returns the sessions of the runs that were accepted and haven't ended.
func (l *Ledger) Unended(ctx context.Context) ([]string, error) {
	return list(ctx, l, func(r *sql.Rows) (s string, err error) { return s, r.Scan(&s) },
		"SELECT session FROM runs WHERE ended = 0 ORDER BY at")
}

// End records how a run has ended, once for each start of a run. missing is how many effects it
// should have had and hasn't.
func (l *Ledger) End(ctx context.Context, session string, start uint64, status string, missing int) error {
	return l.exec(ctx, `INSERT INTO ends (session, start, status, missing, at) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (session, start) DO UPDATE SET status = ?3, missing = ?4;
		UPDATE runs SET ended = 1 WHERE session = ?1`, session, int64(start), status, missing, now())
}

// Forget removes what is known of a run, apart from its effects.
func (l *Ledger) Forget(ctx context.Context, session string) error {
	return l.exec(ctx, `DELETE FROM artifacts WHERE session = ?1; DELETE FROM legs WHERE session = ?1;
		UPDATE runs SET ended = 1 WHERE session = ?1`, session)
}

// Totals are counted from the tables.
type Totals struct {
	Ended    int `json:"ended"`    // runs
	Effects  int `json:"effects"`  // of their calls
	Attempts int `json:"attempts"` // at these calls
	Repeated int `json:"repeated"` // calls with more than one effect
	Missing  int `json:"missing"`  // effects that runs should have had
	Kills    int `json:"kills"`    // of workers
}

// Totals counts.
func (l *Ledger) Totals(ctx context.Context) (t Totals, err error) {
	err = l.row(ctx, []any{&t.Ended, &t.Effects, &t.Attempts, &t.Repeated, &t.Missing, &t.Kills}, `SELECT
		(SELECT count(*) FROM ends), (SELECT count(*) FROM effects),
		(SELECT coalesce(sum(attempts), 0) FROM calls),
		(SELECT count(*) FROM (SELECT 1 FROM effects GROUP BY call HAVING count(*) > 1)),
		(SELECT coalesce(sum(missing), 0) FROM ends), (SELECT count(*) FROM workers WHERE how = 'killed')`)
	return t, err
}
