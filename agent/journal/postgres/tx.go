package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

var _ journal.Transactor = (*Store)(nil)

// errOtherDatabase is the error of [Store.Tx] for a transaction in another database.
var errOtherDatabase = errors.New("postgres: the transaction isn't in the database of the store; begin it in a " +
	"database that was opened with the same address")

var errNoTx = errors.New("postgres: the transaction is nil")

// Tx returns the store in a transaction of the host's, which its calls change and don't end: what
// they have stored is there for others when the transaction is committed, and gone when it is
// rolled back. It is for agent.Agent.EnqueueIn: a run is queued with a row of the host's, or
// neither is.
//
// The transaction must be in the database of the store; otherwise Tx refuses it. The store's schema
// needn't be in its search path. Read committed is isolation enough; with more, a commit may fail,
// as always then. After an error the transaction can only be rolled back. What Tx returns is used
// by one goroutine at a time, and not after the transaction has ended.
func (s *Store) Tx(ctx context.Context, tx pgx.Tx) (journal.Store, error) {
	if tx == nil {
		return nil, errNoTx
	}
	theirs := ""
	if err := tx.QueryRow(ctx, s.db.dialect.SQL(whichDatabase)).Scan(&theirs); err != nil {
		return nil, wrapError(ctx, err)
	}
	if own, _ := s.db.which.Load().(string); own != theirs { // the server may have been restarted
		if err := s.db.identify(ctx); err != nil {
			return nil, wrapError(ctx, err)
		}
		if s.db.which.Load() != theirs {
			return nil, errOtherDatabase
		}
	}
	return s.shared().In(hostTx{tx}, wrapError, s), nil
}

// identify notes which database it is. The pool of the store may be the host's, whose transaction
// may have its last connection: so Tx doesn't look unless it has to.
func (db *database) identify(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, db.timeout)
	defer cancel()
	which := ""
	err := db.pool.QueryRowContext(limited, db.dialect.SQL(whichDatabase)).Scan(&which)
	if err == nil {
		db.which.Store(which)
	}
	return err
}

// whichDatabase tells databases apart: by when the server was started, the database, and the table
// in it; a copy of a database has other tables.
const whichDatabase = "SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), current_database(), " +
	"to_regclass('@sessions')::oid)"

// Transact implements [journal.Transactor].
func (s *Store) Transact(ctx context.Context, fn func(context.Context, journal.Store) error) error {
	return s.shared().Transact(ctx, wrapError, fn)
}

// A hostTx is a transaction of the host's.
type hostTx struct{ tx pgx.Tx }

func (t hostTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(tag.RowsAffected()), nil
}

func (t hostTx) QueryContext(ctx context.Context, query string, args ...any) (sqljournal.Rows, error) {
	rows, err := t.tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return hostRows{rows}, nil
}

func (t hostTx) QueryRowContext(ctx context.Context, query string, args ...any) sqljournal.Row {
	return t.tx.QueryRow(ctx, query, args...)
}

type hostRows struct{ pgx.Rows }

// Close implements [sqljournal.Rows].
func (r hostRows) Close() error {
	r.Rows.Close()
	return nil
}
