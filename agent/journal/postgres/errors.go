package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// What a call may fail with. Each stands in the chain of an error with the server's own words, a *pgconn.PgError. For
// [journal.Unclear] they are like any other failure.
var (
	// ErrFull says that the server's disk is full. What was appended before is safe.
	ErrFull = errors.New("the server's disk is full")
	// ErrReadOnly says that the server takes no changes: a replica, or one that was told so.
	ErrReadOnly = errors.New("the server takes no changes; connect to the primary (target_session_attrs=read-write)")
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

// again reports whether the transaction failed because of another, and would do better the next time.
func again(err error) bool {
	switch state(err) {
	case "40001", "40P01", // serialization failure, deadlock
		"23505": // two made the same session at once: the second sees it now
		return true
	}
	return false
}

// word returns err with a sentinel of the package in its chain. Errors of package journal pass unchanged. The end of ctx is one
// that wraps ctx.Err(), whichever way the driver reports it.
func word(ctx context.Context, err error) error {
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
