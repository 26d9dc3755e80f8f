package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// A writer is the connection that writes, with its statements. One goroutine uses it at a time. It
// is also the [sqljournal.Tx] of its open transaction.
type writer struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	// broken is set if a transaction couldn't be ended: the next statement would be part of it, and
	// lost with it.
	broken bool
}

var _ sqljournal.Tx = (*writer)(nil)

func newWriter(ctx context.Context, pool *sql.DB, maxBytes int64) (*writer, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if maxBytes > 0 {
		var page, most int64
		err := conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page)
		if err == nil {
			err = conn.QueryRowContext(ctx,
				fmt.Sprintf("PRAGMA max_page_count = %d", max(1, maxBytes/page))).Scan(&most)
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return &writer{conn: conn, stmts: make(map[string]*sql.Stmt)}, nil
}

func (w *writer) close() (err error) {
	for _, stmt := range w.stmts {
		err = errors.Join(err, stmt.Close())
	}
	if w.broken { // closing the connection ends its transaction
		_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return errors.Join(err, w.conn.Close())
}

// transaction runs fn between BEGIN and COMMIT. No transaction is open afterwards, unless w is
// broken.
func (w *writer) transaction(fn func(sqljournal.Tx) error) (err error) {
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	committed := false
	defer func() { // also when fn panics
		if !committed {
			// After some failures SQLite has rolled back already.
			_, err := w.exec("ROLLBACK")
			w.broken = err != nil && !strings.Contains(err.Error(), "no transaction is active")
		}
	}()
	if err := fn(w); err != nil {
		return err
	}
	if _, err := w.exec("COMMIT"); err != nil {
		return err
	}
	committed = true
	return nil
}

// errNotPlain says that an append can't be made by a single statement: the session doesn't exist,
// the fence or the number differs.
var errNotPlain = errors.New("sqlite: not a plain append")

// tryAppend inserts each record of a if the session has the fence of a, and the number before the
// record is the last one.
func (w *writer) tryAppend(a journal.Append) error {
	now := time.Now().UnixNano()
	for i := range a.Records {
		r := &a.Records[i]
		result, err := w.exec(tryAppend, a.Session, int64(a.Fence), int64(a.After)+int64(i), now, nanos(r.Time), r.Kind,
			int64(r.V), sqljournal.Blob(r.Data), a.Quiet)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n != 1 {
			return errNotPlain
		}
	}
	return nil
}

func (w *writer) exec(query string, args ...any) (sql.Result, error) {
	stmt, err := w.stmt(query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), args...)
}

func (w *writer) stmt(query string) (*sql.Stmt, error) {
	if stmt := w.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(context.Background(), query)
	if err == nil {
		w.stmts[query] = stmt
	}
	return stmt, err
}

// ExecContext implements [sqljournal.Tx].
func (w *writer) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	return w.exec(query, args...)
}

// QueryContext implements [sqljournal.Tx].
func (w *writer) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := w.stmt(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

// QueryRowContext implements [sqljournal.Tx].
func (w *writer) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := w.stmt(query)
	if err != nil {
		return w.conn.QueryRowContext(ctx, query, args...) // fails in the same way
	}
	return stmt.QueryRowContext(context.Background(), args...)
}
