package file

// A fsys is the one directory that a store works in, as far as a store needs it. Names are plain file names. It is an interface so
// that tests can fail any single operation, or take the power away after it.
type fsys interface {
	// Open opens a file for reading and writing. With create it is made, 0600, if it isn't there.
	Open(name string, create bool) (handle, error)
	Rename(from, to string) error
	Remove(name string) error
	// List returns the names of all files, in any order.
	List() ([]string, error)
	// Sync makes durable which names there are, and what they name.
	Sync() error
}

// A handle is an open file. Its lock is advisory, excludes every other handle of the same file in any process, and goes
// with the handle or its process.
type handle interface {
	ReadAt(b []byte, off int64) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	// Stat returns the size, and whether the file still has a name: it hasn't after it was removed or replaced.
	Stat() (size int64, linked bool, err error)
	TryLock() (bool, error)
	Unlock() error
	Close() error
}
