package sqlmemory

import (
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/memory/recall"
)

// What a call may fail with, besides the errors of package recall. Each stands in the chain of an error with the driver's own
// words.
var (
	// ErrBusy says that others kept writing for longer than Config.Busy. It is of class fault.Transient.
	ErrBusy = fault.New(fault.Transient, "the database is busy with another process")
	// ErrFull says that the disk is full. It is of class fault.UserFixable.
	ErrFull = fault.New(fault.UserFixable, "the disk is full; make room on it")
	// ErrReadOnly says that the process may not write to the file or its folder. It is of class fault.UserFixable.
	ErrReadOnly = fault.New(fault.UserFixable, "the file can't be written to; give the process the right to write to it and to its folder")
	// ErrDamaged says that the file is no database, or a damaged one. It is of class fault.UserFixable.
	ErrDamaged = fault.New(fault.UserFixable, "the file is no SQLite database, or a damaged one; restore it from a backup")
	// ErrNewer says that the tables in the file are of a newer version of Pawl. It is of class fault.UserFixable.
	ErrNewer = fault.New(fault.UserFixable, "the tables are of a newer version of Pawl; use that version")
)

// class returns err with a sentinel of the package in its chain, where there is one for it.
func class(err error) error {
	return sqlitefile.Errors{Busy: ErrBusy, Full: ErrFull, ReadOnly: ErrReadOnly, Damaged: ErrDamaged}.Class(err)
}

// callerError returns an error as a caller gets it: those of package recall as they are.
func callerError(doing string, err error) error {
	var conflict *recall.ConflictError
	var limit *recall.LimitError
	if err == nil || errors.Is(err, recall.ErrNotFound) || errors.As(err, &conflict) || errors.As(err, &limit) {
		return err
	}
	return fmt.Errorf("sqlmemory: %s: %w", doing, class(err))
}
