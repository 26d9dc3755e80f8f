package sqlitefile

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors are a store's own errors for SQLite's error codes.
type Errors struct {
	Busy     error // the file was locked for longer than the store waits
	Full     error // the disk is full, or the file has reached its size limit
	ReadOnly error // the process may not write to the file or its folder
	Damaged  error // the file isn't a database, or is damaged
}

// Class wraps err in the error of e that fits it, or returns err unchanged if none does.
func (e Errors) Class(err error) error {
	var is error
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		is = e.Busy
	case sqlite3.SQLITE_FULL:
		is = e.Full
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		is = e.ReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		is = e.Damaged
	default:
		return err
	}
	return fmt.Errorf("%w: %w", is, err)
}

// Busy reports whether err is SQLite's error for a lock that somebody else holds.
func Busy(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED
}

// code returns SQLite's primary code of err, or 0 if it has none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
