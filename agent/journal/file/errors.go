package file

import "fmt"

// A CorruptError says that a log is damaged where no crash of a writer can have damaged it: before its last change, or in a
// line whose checksum is right. Nothing of the session is guessed or skipped. [Store.Salvage] keeps what is before the damage.
//
// It counts as unclear, see [journal.Unclear]: what an append met it may stand or not.
type CorruptError struct {
	Session string
	File    string // its name in the store's directory
	Offset  int64  // of the first damaged line, in bytes
	Problem string
}

// Error names the session, the file and the place.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal/file: session %q: %s is damaged at byte %d: %s", e.Session, e.File, e.Offset, e.Problem)
}

// A FormatError says that a log was written by a newer version of this package. It is left as it is.
type FormatError struct {
	Session string
	File    string // its name in the store's directory
	Format  uint64 // of the log
	Known   uint64 // the newest that this package reads
}

// Error names the session and both formats.
func (e *FormatError) Error() string {
	return fmt.Sprintf("journal/file: session %q: %s has format %d, formats up to %d can be read; a newer release of this module would do",
		e.Session, e.File, e.Format, e.Known)
}

// A Repair is what was cut from the end of a log: a change that a writer was making when it crashed. It had not been
// acknowledged; nothing that had been is ever cut by itself.
type Repair struct {
	Session string
	File    string // its name in the store's directory
	Offset  int64  // where the log ends now, in bytes
	Bytes   int64  // how many were cut
	Problem string // what was wrong with the first of them
}
