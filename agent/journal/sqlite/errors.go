package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// Errors that a call may return, each wrapped together with the driver's error. With all of them
// the change was probably not made, but that isn't certain: all are unclear, see [journal.Unclear].
// errFull, errReadOnly, ErrDamaged and errReplaced are [journal.ErrUnusable].
var (
	// ErrBusy says that other processes kept writing for longer than Config.Busy.
	ErrBusy = errors.New("the database is busy with another process")
	// errFull says that the disk is full. What was appended before is safe. Deleting sessions frees
	// space for new ones within the file.
	errFull = journal.Unusable("the disk is full")
	// errReadOnly says that the process has no permission to write to the file or its directory.
	errReadOnly = journal.Unusable(
		"the file can't be written; give the process permission to write to it and to its directory")
	// ErrDamaged says that the file isn't a SQLite database, or is damaged.
	ErrDamaged = journal.Unusable("the file isn't a SQLite database, or is damaged; restore it from a backup")
	// errReplaced says that the file was deleted or replaced while it was open. Plain appends don't
	// notice it, but taking, renewing and releasing leases does; what was appended since then is in
	// the deleted file.
	errReplaced = journal.Unusable("the file was deleted or replaced while it was open; restart the program")
	// ErrNewer says that the tables in the file are of a newer version of Pawl.
	ErrNewer = sqljournal.ErrNewer
	// ErrOlder says that Config.NoMigrate is set and that the file has no tables of Pawl, or older
	// ones.
	ErrOlder = sqljournal.ErrOlder
)

// classify returns err wrapped with the error of this package that describes it, if there is one.
func classify(err error) error {
	return sqlitefile.Errors{Busy: ErrBusy, Full: errFull, ReadOnly: errReadOnly, Damaged: ErrDamaged}.Class(err)
}

// wrapError returns err as a method returns it: errors of package journal unchanged, and one that
// wraps ctx.Err() if ctx has ended, however the driver reports that.
func wrapError(ctx context.Context, err error) error {
	switch {
	case err == nil || !journal.Unclear(err) || errors.Is(err, errClosed):
		return err
	case ctx.Err() != nil && sqlitefile.Busy(err):
		return fmt.Errorf("sqlite: %w: %w", ErrBusy, ctx.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("sqlite: %w", ctx.Err())
	}
	return fmt.Errorf("sqlite: %w", classify(err))
}
