package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// Errors that a call may return, each wrapped together with the server's error, a *pgconn.PgError.
// All are unclear, see [journal.Unclear]. errFull, errReadOnly and errPrepared are
// [journal.ErrUnusable].
var (
	// errFull says that the server's disk is full. What was appended before is safe.
	errFull = journal.Unusable("the server's disk is full")
	// errReadOnly says that the server accepts no changes: it is a replica, or configured so.
	errReadOnly = journal.Unusable(
		"the server accepts no changes; connect to the primary (target_session_attrs=read-write)")
	// errPrepared says that a prepared statement is missing, or there twice: a pooler in
	// transaction mode gives each transaction another connection to the server.
	errPrepared = journal.Unusable("a connection pooler mixes up prepared statements; add " +
		"default_query_exec_mode=exec to the DSN, or set max_prepared_statements of PgBouncer 1.21 or later")
	// ErrNewer says that the tables are of a newer version of Pawl.
	ErrNewer = sqljournal.ErrNewer
	// ErrOlder says that Config.NoMigrate is set and that the tables don't exist, or are older.
	ErrOlder = sqljournal.ErrOlder
)

// state returns the server's SQLSTATE for err, empty if it has none.
func state(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// retryable reports whether the transaction failed because of another one, so that a retry may
// succeed.
func retryable(err error) bool {
	switch state(err) {
	case "40001", "40P01", // serialization failure, deadlock
		"23505": // two transactions created the same session at once: the second sees it on the retry
		return true
	}
	return false
}

// wrapError returns err as a method returns it: errors of package journal unchanged, one that wraps
// ctx.Err() if ctx has ended, and otherwise err wrapped with the error of this package that
// describes it, if there is one.
func wrapError(ctx context.Context, err error) error {
	switch {
	case err == nil || !journal.Unclear(err):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("postgres: %w", ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("postgres: the server didn't answer within Config.Timeout: %w", err)
	}
	return fmt.Errorf("postgres: %w", classify(err))
}

// classify returns err wrapped with the error of this package that describes it, if there is one.
func classify(err error) error {
	var is error
	switch state(err) {
	case "53100":
		is = errFull
	case "25006":
		is = errReadOnly
	case "26000", "42P05":
		is = errPrepared
	default:
		return err
	}
	return fmt.Errorf("%w: %w", is, err)
}
