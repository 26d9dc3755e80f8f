package sqlite

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// A Durability says what an append survives once [Store].Append has returned nil.
type Durability int

const (
	// Power is the default: the disk has confirmed the append (synchronous FULL).
	Power Durability = iota
	// Process survives the death of the process, by a signal too, but not that of the machine: the operating system has the
	// append, the disk may not (synchronous NORMAL). After a power failure the file is sound, and its newest appends may be
	// missing, over all sessions from some moment on.
	Process
)

// Config is what [Open] may be told. The zero value will do.
type Config struct {
	// Durability is what an append survives. The default is a power failure.
	Durability Durability
	// Busy is how long a call waits for another process that writes before it fails with [ErrBusy]. The default is 15 s; a
	// write takes milliseconds. What is below 0 doesn't wait.
	Busy time.Duration
	// MaxBytes is the size that the file may grow to, with all that others keep in it; an append beyond it is [ErrFull]. 0 sets no limit but
	// SQLite's own. The write-ahead log beside the file, some MB, isn't counted.
	MaxBytes int64
}

// A Store is a [journal.Store] in a SQLite file. Close it when it is no longer needed.
type Store struct {
	journal.Store
	db *database
}

// created guards the creation of files by this process: closing a file that SQLite has open in the same process would take
// SQLite's locks away.
var created sync.Mutex

// Open is [OpenWith] with the defaults.
func Open(path string) (*Store, error) { return OpenWith(path, Config{}) }

// OpenWith opens the file at path, and makes it where there is none, for its owner alone (mode 0600). The folder must exist. A path is
// a path: neither a URI nor :memory: (for that there is [journal.NewMemory]).
//
// Tables of an older version are brought up to date, newer ones refused with [ErrNewer].
func OpenWith(path string, cfg Config) (*Store, error) {
	abs, err := place(path)
	if err != nil {
		return nil, err
	}
	if cfg.Durability != Power && cfg.Durability != Process {
		return nil, fmt.Errorf("sqlite: Config.Durability is %d; it must be Power or Process", cfg.Durability)
	}
	if cfg.MaxBytes < 0 {
		return nil, fmt.Errorf("sqlite: Config.MaxBytes is %d; it must be 0, for no limit, or above", cfg.MaxBytes)
	}
	if cfg.Busy == 0 {
		cfg.Busy = 15 * time.Second
	}
	if err := create(abs); err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	db, err := openDatabase(abs, cfg)
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening %s: %w", abs, err)
	}
	return &Store{Store: sqljournal.New(db, dialect), db: db}, nil
}

// Close releases the file. Calls that are under way come to their end first; later ones fail.
func (s *Store) Close() error { return s.db.close() }

// place returns the absolute path, if a database can be there.
func place(path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("sqlite: path is empty; name a file")
	case strings.HasPrefix(path, ":"):
		return "", fmt.Errorf("sqlite: path %q isn't a file; for a journal in memory take journal.NewMemory", path)
	case strings.HasPrefix(path, "file:"):
		return "", fmt.Errorf("sqlite: path %q is a URI; give the path alone", path)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("sqlite: path %q holds a NUL", path)
	case os.IsPathSeparator(path[len(path)-1]):
		return "", fmt.Errorf("sqlite: path %q is a folder; name a file in it", path)
	}
	for _, of := range []string{"-wal", "-shm", "-journal"} {
		if strings.HasSuffix(path, of) {
			return "", fmt.Errorf("sqlite: path %q ends in %s, as the companions of SQLite files do; take another name", path, of)
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("sqlite: path %q: %w", path, err)
	}
	return abs, nil
}

// create makes an empty file, unless something is there. SQLite gives the companions of a file the file's own mode.
func create(path string) error {
	created.Lock()
	defer created.Unlock()
	info, err := os.Stat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file but a %s; name a file", path, kind(info.Mode()))
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if os.IsExist(err) { // another process was faster
			return nil
		}
		return fmt.Errorf("making the file: %w", err)
	}
	return f.Close()
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// dsn returns what the driver is told of a connection.
func dsn(path string, cfg Config) string {
	synchronous := "full"
	if cfg.Durability == Process {
		synchronous = "normal"
	}
	query := url.Values{"_pragma": {
		// Short: who waits longer waits in database.retry, which looks at the context in between.
		fmt.Sprintf("busy_timeout(%d)", oneTry.Milliseconds()),
		"synchronous(" + synchronous + ")",
		fmt.Sprintf("journal_size_limit(%d)", 64<<20), // what is left of the log of a big append
	}}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + query.Encode()
}
