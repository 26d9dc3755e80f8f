package sqlmemory

import (
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/memory/recall"
)

// The errors of a call, besides those of package recall. They are in the error chain together with
// the driver's error.
var (
	// ErrBusy means that other processes kept writing for longer than Config.Busy. Its class is
	// fault.Transient.
	ErrBusy = fault.New(fault.Transient, "the database is busy with another process")
	// errFull means that the disk is full. Its class is fault.UserFixable.
	errFull = fault.New(fault.UserFixable, "the disk is full; make room on it")
	// errReadOnly means that the process may not write to the file or its folder. Its class is
	// fault.UserFixable.
	errReadOnly = fault.New(fault.UserFixable,
		"the file can't be written to; give the process the right to write to it and to its folder")
	// ErrDamaged means that the file isn't a database, or is damaged. Its class is
	// fault.UserFixable.
	ErrDamaged = fault.New(fault.UserFixable,
		"the file isn't a SQLite database, or is damaged; restore it from a backup")
	// ErrNewer means that a newer version of Pawl has created the tables. Its class is
	// fault.UserFixable.
	ErrNewer = fault.New(fault.UserFixable, "the tables were created by a newer version of Pawl; use that version")
)

// class wraps err in the package's error that fits it, or returns err unchanged.
func class(err error) error {
	return sqlitefile.Errors{Busy: ErrBusy, Full: errFull, ReadOnly: errReadOnly, Damaged: ErrDamaged}.Class(err)
}

// callerError returns an error for the caller; errors of package recall stay unchanged.
func callerError(doing string, err error) error {
	var conflict *recall.ConflictError
	var limit *recall.LimitError
	if err == nil || errors.Is(err, recall.ErrNotFound) || errors.As(err, &conflict) || errors.As(err, &limit) {
		return err
	}
	return fmt.Errorf("sqlmemory: %s: %w", doing, class(err))
}
