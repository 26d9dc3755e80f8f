package file

// A fsys is the directory of a store, with the operations that a store needs. Names are plain file
// names. It is an interface so that tests can make any single operation fail, or cut the power
// after it.
type fsys interface {
	// Open opens a file for reading and writing. With create it creates the file, with mode 0600,
	// if it doesn't exist.
	Open(name string, create bool) (handle, error)
	Rename(from, to string) error
	Remove(name string) error
	// List returns the names of all files, in any order.
	List() ([]string, error)
	// Sync makes the names of the files durable.
	Sync() error
}

// A handle is an open file. Its lock is advisory, excludes every other handle of the same file in
// any process, and ends with the handle or its process.
type handle interface {
	ReadAt(b []byte, off int64) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	// Stat returns the size, and whether the file still has a name. It has none after it was
	// removed or replaced.
	Stat() (size int64, linked bool, err error)
	TryLock() (bool, error)
	Unlock() error
	Close() error
}
