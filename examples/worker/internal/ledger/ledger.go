package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

const schema = `
CREATE TABLE IF NOT EXISTS runs (session TEXT PRIMARY KEY, topic TEXT NOT NULL, at INTEGER NOT NULL,
	ended INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS ends (session TEXT, start INTEGER, status TEXT NOT NULL, missing INTEGER NOT NULL,
	at INTEGER NOT NULL, PRIMARY KEY (session, start)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ends_at ON ends (at);
CREATE TABLE IF NOT EXISTS calls (call TEXT PRIMARY KEY, session TEXT NOT NULL, tool TEXT NOT NULL,
	attempts INTEGER NOT NULL, fence INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS effects (call TEXT NOT NULL, attempt INTEGER NOT NULL, session TEXT NOT NULL,
	tool TEXT NOT NULL, worker INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS effects_call ON effects (call);
CREATE INDEX IF NOT EXISTS effects_session ON effects (session);
CREATE TABLE IF NOT EXISTS artifacts (session TEXT, name TEXT, data TEXT NOT NULL,
	PRIMARY KEY (session, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS workers (id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL,
	started INTEGER NOT NULL, seen INTEGER NOT NULL, how TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS legs (id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, worker INTEGER NOT NULL,
	started INTEGER NOT NULL, seen INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0, now TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS legs_session ON legs (session);
CREATE INDEX IF NOT EXISTS legs_worker ON legs (worker);`

// busy is how long a statement waits for other processes that write.
const busy = 15 * time.Second

// A Ledger is the tables in a file.
type Ledger struct {
	db *sql.DB
}

// Open opens the file, and makes the tables if need be.
func Open(ctx context.Context, path string) (*Ledger, error) {
	abs, err := sqlitefile.Make(path, "name a file in a temporary folder instead")
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	db, err := sqlitefile.Open(abs, sqlitefile.Options{Conns: 4, LogLimit: 8 << 20, Immediate: true, Process: true})
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l := &Ledger{db}
	err = sqlitefile.WAL(ctx, db, busy)
	if err == nil {
		err = l.exec(ctx, schema)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ledger: opening %s: %w", abs, err), db.Close())
	}
	return l, nil
}

// Close closes the file.
func (l *Ledger) Close() error { return l.db.Close() }

// exec executes statements, again as long as another process writes.
func (l *Ledger) exec(ctx context.Context, text string, args ...any) error {
	err := sqlitefile.Retry(ctx, busy, func() error {
		_, err := l.db.ExecContext(ctx, text, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// value returns the first column of the first row, or the zero value if there is none.
func value[T any](ctx context.Context, l *Ledger, text string, args ...any) (v T, err error) {
	err = sqlitefile.Retry(ctx, busy, func() error { return l.db.QueryRowContext(ctx, text, args...).Scan(&v) })
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return v, fmt.Errorf("ledger: %w", err)
	}
	return v, nil
}

// list returns what scan makes of each row.
func list[T any](ctx context.Context, l *Ledger, scan func(*sql.Rows) (T, error), text string, args ...any) (all []T,
	err error) {
	err = sqlitefile.Retry(ctx, busy, func() error {
		all = nil
		rows, err := l.db.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return all, nil
}

// now is the time as it is stored: in milliseconds since 1970.
func now() int64 { return time.Now().UnixMilli() }
