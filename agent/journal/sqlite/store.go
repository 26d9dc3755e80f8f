package sqlite

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqlitefile"
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

// Open is [OpenWith] with the defaults.
func Open(path string) (*Store, error) { return OpenWith(path, Config{}) }

// OpenWith opens the file at path, and makes it where there is none, for its owner alone (mode 0600). The folder must exist. A path is
// a path: neither a URI nor :memory: (for that there is [journal.NewMemory]).
//
// Tables of an older version are brought up to date, newer ones refused with [ErrNewer].
func OpenWith(path string, cfg Config) (*Store, error) {
	if cfg.Durability != Power && cfg.Durability != Process {
		return nil, fmt.Errorf("sqlite: Config.Durability is %d; it must be Power or Process", cfg.Durability)
	}
	if cfg.MaxBytes < 0 {
		return nil, fmt.Errorf("sqlite: Config.MaxBytes is %d; it must be 0, for no limit, or above", cfg.MaxBytes)
	}
	if cfg.Busy == 0 {
		cfg.Busy = 15 * time.Second
	}
	abs, err := sqlitefile.Make(path, "for a journal in memory take journal.NewMemory")
	if err != nil {
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
