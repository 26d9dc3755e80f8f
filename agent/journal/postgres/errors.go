package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/pgpool"
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
	errPrepared = journal.Unusable(pgpool.Remedy)
	// ErrNewer says that the tables are of a newer version of Pawl.
	ErrNewer = sqljournal.ErrNewer
	// ErrOlder says that Config.NoMigrate is set and that the tables don't exist, or are older.
	ErrOlder = sqljournal.ErrOlder
)

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
	return pgpool.Errors{Full: errFull, ReadOnly: errReadOnly, Prepared: errPrepared}.Class(err)
}
