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
// All are unclear, see [journal.Unclear]. ErrFull and ErrReadOnly are [journal.ErrUnusable].
var (
	// ErrFull says that the server's disk is full. What was appended before is safe.
	ErrFull = journal.Unusable("the server's disk is full")
	// ErrReadOnly says that the server accepts no changes: it is a replica, or configured so.
	ErrReadOnly = journal.Unusable(
		"the server accepts no changes; connect to the primary (target_session_attrs=read-write)")
	// ErrNewer says that the tables are of a newer version of Pawl.
	ErrNewer = sqljournal.ErrNewer
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
	switch state(err) {
	case "53100":
		return fmt.Errorf("postgres: %w: %w", ErrFull, err)
	case "25006":
		return fmt.Errorf("postgres: %w: %w", ErrReadOnly, err)
	}
	return fmt.Errorf("postgres: %w", err)
}
