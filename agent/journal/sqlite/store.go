package sqlite

import (
	"fmt"
	"os"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqljournal"
	"github.com/pawlkit/pawl/ratelimit"
)

// A Durability says what an append survives once [Store].Append has returned nil.
type Durability int

const (
	// Power is the default: the disk has confirmed the append (synchronous FULL).
	Power Durability = iota
	// Process survives the death of the process, also by a signal, but not a crash of the machine:
	// the operating system has the append, the disk may not (synchronous NORMAL). After a power
	// failure the file is intact, but the newest appends may be missing: all those after some
	// moment, in all sessions.
	Process
)

// Config says how [Open] opens a file. The zero value is the default.
type Config struct {
	// Durability is what an append survives. The default is a power failure.
	Durability Durability
	// Busy is how long a call waits for another process that writes before it fails with [ErrBusy].
	// The default, for 0, is 15 s; a write takes milliseconds. Below 0 it doesn't wait.
	Busy time.Duration
	// NoMigrate opens only a file that exists, with tables that are up to date, and changes nothing
	// in it. If there is no file, the error is [fs.ErrNotExist]; if the tables are older, or there
	// are none, it is [ErrOlder].
	NoMigrate bool
}

// A Store is a [journal.Store] in a SQLite file. Close it when it is no longer needed.
type Store struct {
	journal.Store
	db *database
}

// Open opens the file at path, and creates it with mode 0600 if it doesn't exist. The directory
// must exist. The path is neither a URI nor :memory: (use [journal.MapStore] for that).
//
// Tables of an older version are brought up to date unless Config.NoMigrate is set, newer ones are
// refused with [ErrNewer].
func Open(path string, cfg Config) (*Store, error) {
	if cfg.Durability != Power && cfg.Durability != Process {
		return nil, fmt.Errorf("sqlite: Config.Durability is %d; it must be Power or Process", cfg.Durability)
	}
	if cfg.Busy == 0 {
		cfg.Busy = 15 * time.Second
	}
	if cfg.NoMigrate {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("sqlite: Config.NoMigrate is set: %w", err)
		}
	}
	abs, err := sqlitefile.Make(path, "for a journal in memory use journal.MapStore")
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	db, err := openDatabase(abs, cfg)
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening %s: %w", abs, err)
	}
	return &Store{Store: sqljournal.New(db, dialect), db: db}, nil
}

// Allowances returns a store for the allowances with a name, which all processes that use the file
// share: together they admit what one would. Allowances with different limits need different names;
// a name is like that of a session, and with an invalid one each update fails with a
// [*journal.InvalidError].
//
// The clock is the machine's. An update is one transaction, which waits for others and for the disk
// as an append does. It writes the whole state of the key: 20 bytes for each take in the longest
// window, and 80 for each that is open. A key whose takes count no more is deleted when others are
// added.
func (s *Store) Allowances(name string) ratelimit.AllowanceStore {
	return sqljournal.NewAllowances(s.db, dialect, name)
}

// Close closes the file. It waits for calls under way; later calls fail.
func (s *Store) Close() error { return s.db.close() }
