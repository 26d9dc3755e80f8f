package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// What a call may fail with. Each stands in the chain of an error with the driver's own words. That the change wasn't made is
// likely with all of them, but not said: for [journal.Unclear] they are like any other failure.
var (
	// ErrBusy says that others kept writing for longer than Config.Busy.
	ErrBusy = errors.New("the database is busy with another process")
	// ErrFull says that the disk is full, or the file as large as Config.MaxBytes allows. What was appended before is safe. Deleting sessions
	// makes room for new ones within the file.
	ErrFull = errors.New("the disk, or the file's allowed size, is full")
	// ErrReadOnly says that the process may not write to the file or its folder.
	ErrReadOnly = errors.New("the file can't be written to; give the process the right to write to it and to its folder")
	// ErrDamaged says that the file is no database, or a damaged one.
	ErrDamaged = errors.New("the file is no SQLite database, or a damaged one; restore it from a backup")
	// ErrNewer says that the tables in the file are of a newer version of Pawl.
	ErrNewer = sqljournal.ErrNewer
)

// class returns err with a sentinel of the package in its chain, where there is one for it.
func class(err error) error {
	return sqlitefile.Errors{Busy: ErrBusy, Full: ErrFull, ReadOnly: ErrReadOnly, Damaged: ErrDamaged}.Class(err)
}

// word returns the error that a call ends with. Errors of package journal pass unchanged. The end of ctx is one that wraps ctx.Err(),
// whichever way the driver reports it.
func word(ctx context.Context, err error) error {
	switch {
	case err == nil || !journal.Unclear(err) || errors.Is(err, errClosed):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("sqlite: %w", ctx.Err())
	}
	return fmt.Errorf("sqlite: %w", class(err))
}
