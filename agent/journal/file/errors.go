package file

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/pawlkit/pawl/agent/journal"
)

// Errors that a call may return, each wrapped together with the error of the file system. The
// change was taken back or is in the log: both are unclear, see [journal.Unclear], and
// [journal.ErrUnusable].
var (
	// ErrFull says that the disk, or the owner's share of it, is full. What was appended before is
	// safe.
	ErrFull = journal.Unusable("the disk, or the share of it that may be used, is full")
	// ErrReadOnly says that the process has no permission to write, or that the file system takes
	// no changes.
	ErrReadOnly = journal.Unusable("the directory can't be written; give the process permission to write to it")
)

// classify returns err wrapped with the error of this package that describes it, if there is one.
func classify(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}

// A CorruptError says that a log is damaged in a way that no crash of a writer causes: before its
// last change, in a line whose checksum is right, or because changes that were acknowledged are
// gone from its end. Nothing is guessed or skipped. [Store.Salvage] keeps what is before the
// damage.
//
// It counts as unclear, see [journal.Unclear]: an append that meets it may be in the log or not.
type CorruptError struct {
	// empty for the log of fences, which belongs to no session, and if the log doesn't say its long
	// name any more
	Session string
	File    string // its name in the store's directory
	Offset  int64  // of the first damaged line, in bytes
	// Missing is how many bytes are gone that were at the end of the log when its last change was
	// acknowledged. It is 0 if the log is damaged in another way. A change that a crash has left
	// incomplete was never acknowledged: it is no error, but a [Repair].
	Missing int64
	Problem string
}

// Is reports whether target is [journal.ErrUnusable].
func (e *CorruptError) Is(target error) bool { return target == journal.ErrUnusable }

// Error names the session, the file and the place.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal/file: session %q: %s is damaged at byte %d: %s", e.Session, e.File, e.Offset, e.Problem)
}

// A FormatError says that a log was written by a version of this package with another format. The
// log is left as it is.
type FormatError struct {
	Session string
	File    string // its name in the store's directory
	Format  uint64 // of the log
	Known   uint64 // the one that this version reads
}

// Is reports whether target is [journal.ErrUnusable].
func (e *FormatError) Is(target error) bool { return target == journal.ErrUnusable }

// Error names the session and both formats.
func (e *FormatError) Error() string {
	return fmt.Sprintf(
		"journal/file: session %q: %s has format %d, this version reads format %d; use the version that wrote it",
		e.Session, e.File, e.Format, e.Known)
}

// A Repair is what was cut from the end of a log: a change that a writer was making when it
// crashed. The change had not been acknowledged. Only [Store.Salvage] cuts what had been.
type Repair struct {
	Session string
	File    string // its name in the store's directory
	Offset  int64  // where the log ends now, in bytes
	Bytes   int64  // how many were cut
	Problem string // what was wrong with the first of them
}
