package ledger

import (
	"context"
	"database/sql"
	_ "embed" // schema.sql
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

//go:embed schema.sql
var schema string

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

// row reads the columns of the first row; it leaves into as it is if there is none.
func (l *Ledger) row(ctx context.Context, into []any, text string, args ...any) error {
	err := sqlitefile.Retry(ctx, busy, func() error { return l.db.QueryRowContext(ctx, text, args...).Scan(into...) })
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// value returns the first column of the first row, or the zero value if there is none.
func value[T any](ctx context.Context, l *Ledger, text string, args ...any) (v T, err error) {
	err = l.row(ctx, []any{&v}, text, args...)
	return v, err
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
