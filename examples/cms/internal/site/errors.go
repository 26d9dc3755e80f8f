package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/pawlkit/pawl/circuit/fault"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The codes of an [Error].
const (
	CodeInvalid    = "invalid"     // the request breaks a rule that Message names
	CodeNotFound   = "not_found"   // the named object doesn't exist
	CodeSlugExists = "slug_exists" // another page or entry has the slug
	CodeKeyExists  = "key_exists"  // another section definition has the key
	CodeConflict   = "conflict"    // the current state of the site doesn't allow it
	CodeTooLarge   = "too_large"   // an upload is larger than MaxUpload
	CodeMediaType  = "media_type"  // an upload is of a type that isn't accepted
	CodeBusy       = "busy"        // another process held the file for too long
	// CodeStorage says that the file can't be used: it is read-only, damaged or deleted.
	CodeStorage = "storage"
	CodeFull    = "storage_full" // the disk is full
)

// ErrClosed is returned by every method of a [Site] after Close.
var ErrClosed = errors.New("site: closed")

// An Error says what was wrong with a request and how to correct it, in words for its author, which
// may be a model. A method that returns one has written nothing. Match it with errors.As and act on
// Code.
type Error struct {
	Code    string `json:"code"`           // one of the Code constants
	Message string `json:"message"`        // what was wrong
	Hint    string `json:"hint,omitempty"` // how to correct it
	// Expected and Actual say what a conflict is between, if Code is slug_exists, key_exists or
	// conflict.
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	// Fields has a message for each wrong field of the request, or for each wrong slot if contents
	// don't match their definition.
	Fields map[string]string `json:"fields,omitempty"`
	cause  error
}

// Error returns the message, then a semicolon and the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap returns the underlying error of the storage, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Fault classifies the error: a wrong request is invalid, a busy file is worth a retry, and a file
// that can't be used needs a person.
func (e *Error) Fault() fault.Class {
	switch e.Code {
	case CodeNotFound:
		return fault.NotFound
	case CodeBusy:
		return fault.Transient
	case CodeStorage, CodeFull:
		return fault.UserFixable
	}
	return fault.Invalid
}

func invalid(hint, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func notFound(hint, format string, args ...any) *Error {
	return &Error{Code: CodeNotFound, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func conflict(hint, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	return &Error{Code: CodeConflict, Message: message, Hint: hint, Expected: "a state that allows it", Actual: message}
}

// inField says which field of the request an error is about.
func inField(name string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Fields == nil {
		e.Fields = map[string]string{name: e.Message}
	}
	return err
}

// and adds an error about the value of a slot, if there is one, to those about others; nil is none.
// Each of them is an [Error], because a failure of the storage ends the call anyway.
func (e *Error) and(slot string, err error) *Error {
	var added *Error
	if !errors.As(err, &added) {
		return e
	}
	if e == nil {
		first := *added
		first.Fields = map[string]string{slot: added.Error()}
		return &first
	}
	e.Message += "; " + e.Hint + ". Also: " + added.Message
	e.Hint = added.Hint
	e.Fields[slot] = added.Error()
	return e
}

// explain converts an error of the SQLite driver to an [Error]. An [Error] passes unchanged. If ctx
// has ended, explain returns its error, whatever the driver reports.
func (s *Site) explain(ctx context.Context, doing string, err error) error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && s.closed.Load():
		return ErrClosed
	case errors.As(err, &own) || errors.Is(err, ErrClosed):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("site: %s: %w", doing, context.Cause(ctx))
	}
	code := primaryCode(err)
	switch {
	case code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED:
		return &Error{Code: CodeBusy, Message: "the site's file is locked by another process",
			Hint: "try again in a moment", cause: err}
	case code == sqlite3.SQLITE_FULL || is(err, sqlite3.SQLITE_IOERR_SHMSIZE) || errors.Is(err, syscall.ENOSPC) ||
		errors.Is(err, syscall.EDQUOT):
		return &Error{Code: CodeFull, Message: "the disk is full, so nothing was saved",
			Hint: "free some space, then try again", cause: err}
	case code == sqlite3.SQLITE_CONSTRAINT: // only records of what was removed have unchecked keys
		return conflict("rename or restore that first",
			"%s isn't possible: it exists already, something else has its key, or what it belongs to is gone", doing)
	case s.gone(): // SQLite reports it in several ways, or not at all
		return &Error{Code: CodeStorage, cause: err,
			Message: "the site's file " + s.path + " was deleted or replaced while it was open",
			Hint:    "put it back, or restart the program to begin with a new one"}
	case code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_PERM ||
		errors.Is(err, fs.ErrPermission):
		return &Error{Code: CodeStorage, Message: "nothing was saved: the site's file can't be written (" +
			err.Error() + ")", Hint: "make the file and its folder writable, then try again", cause: err}
	case code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_CORRUPT:
		return &Error{Code: CodeStorage, Message: "the site's file is damaged or isn't a SQLite database (" +
			err.Error() + ")", Hint: "restore it from a backup, or name another path", cause: err}
	}
	return fmt.Errorf("site: %s: %w", doing, err)
}

// gone reports whether the file was deleted, or replaced by another one, while it is open.
func (s *Site) gone() bool {
	now, err := os.Stat(s.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && s.opened != nil && !os.SameFile(s.opened, now)
}

// primaryCode returns SQLite's primary result code of err, or 0 if err isn't an error of SQLite.
func primaryCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// is reports whether err has an extended result code of SQLite.
func is(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == code
}
