package sqlmemory

import (
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/sqlrecall"
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
	ErrNewer = sqlrecall.ErrNewer
)
