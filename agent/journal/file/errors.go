package file

import "fmt"

// A CorruptError says that a log is damaged in a way that no crash of a writer causes: before its last change, in a line whose
// checksum is right, or because changes that were acknowledged are gone from its end. Nothing is guessed or skipped. [Store.Salvage] keeps what is before the damage.
//
// It counts as unclear, see [journal.Unclear]: an append that meets it may be in the log or not.
type CorruptError struct {
	Session string // empty for the log of fences, which belongs to no session, and if the log doesn't say its long name any more
	File    string // its name in the store's directory
	Offset  int64  // of the first damaged line, in bytes
	// Missing is how many bytes are gone that were at the end of the log when its last change was acknowledged. It is 0 if the log is
	// damaged in another way. A change that a crash has left incomplete was never acknowledged: it is no error, but a [Repair].
	Missing int64
	Problem string
}

// Error names the session, the file and the place.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal/file: session %q: %s is damaged at byte %d: %s", e.Session, e.File, e.Offset, e.Problem)
}

// A FormatError says that a log was written by a version of this package with another format. The log is left as it is.
type FormatError struct {
	Session string
	File    string // its name in the store's directory
	Format  uint64 // of the log
	Known   uint64 // the one that this version reads
}

// Error names the session and both formats.
func (e *FormatError) Error() string {
	return fmt.Sprintf("journal/file: session %q: %s has format %d, this version reads format %d; use the version that wrote it",
		e.Session, e.File, e.Format, e.Known)
}

// A Repair is what was cut from the end of a log: a change that a writer was making when it crashed. The change had not been
// acknowledged. Only [Store.Salvage] cuts what had been.
type Repair struct {
	Session string
	File    string // its name in the store's directory
	Offset  int64  // where the log ends now, in bytes
	Bytes   int64  // how many were cut
	Problem string // what was wrong with the first of them
}
