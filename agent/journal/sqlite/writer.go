package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"github.com/pawlkit/pawl/internal/sqljournal"
)

// A writer is the connection that writes. It keeps its statements prepared, because SQLite takes
// longer to prepare most of them than to run them. The zero value is not open.
type writer struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

var _ sqljournal.Tx = (*writer)(nil)

// open makes the connection if there is none.
func (w *writer) open(ctx context.Context, pool *sql.DB) (err error) {
	if w.conn == nil {
		w.conn, err = pool.Conn(ctx)
		w.stmts = make(map[string]*sql.Stmt)
	}
	return err
}

// discard closes the connection for good, which ends its transaction.
func (w *writer) discard() {
	if w.conn == nil {
		return
	}
	for _, stmt := range w.stmts {
		_ = stmt.Close() // SQLite keeps a connection open for its statements
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	w.conn, w.stmts = nil, nil
}

// transaction runs fn between BEGIN and COMMIT. No transaction is open afterwards: a connection
// that can't roll it back is closed.
func (w *writer) transaction(fn func(context.Context, sqljournal.Tx) error) error {
	ctx, committed := context.Background(), false
	if _, err := w.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() { // also when fn panics
		if committed {
			return
		}
		_, err := w.ExecContext(ctx, "ROLLBACK")
		// After some failures SQLite has rolled back already.
		if err != nil && !strings.Contains(err.Error(), "no transaction is active") {
			w.discard()
		}
	}()
	if err := fn(ctx, w); err != nil {
		return err
	}
	_, err := w.ExecContext(ctx, "COMMIT")
	committed = err == nil
	return err
}

func (w *writer) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := w.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(ctx, query)
	if err == nil {
		w.stmts[query] = stmt
	}
	return stmt, err
}

// ExecContext implements [sqljournal.Tx].
func (w *writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := w.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext implements [sqljournal.Tx].
func (w *writer) QueryContext(ctx context.Context, query string, args ...any) (sqljournal.Rows, error) {
	stmt, err := w.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// QueryRowContext implements [sqljournal.Tx].
func (w *writer) QueryRowContext(ctx context.Context, query string, args ...any) sqljournal.Row {
	stmt, err := w.prepared(ctx, query)
	if err != nil {
		return w.conn.QueryRowContext(ctx, query, args...) // which returns the error
	}
	return stmt.QueryRowContext(ctx, args...)
}
