package file

import (
	"container/list"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/pawlkit/pawl/agent/journal"
)

// A Durability says what an acknowledged change survives. The zero value is [Power].
type Durability int

const (
	// Power makes that a change survives the crash of the machine and the loss of its power: it is synced to the disk, as is the
	// directory where that has changed, before it is acknowledged.
	Power Durability = iota
	// Process makes that a change survives the death of the process, however sudden, as long as the system continues: it is handed to
	// the system before it is acknowledged. What the system had not written yet when the machine crashes is lost, and may
	// leave a log that is damaged in the middle, see [CorruptError].
	Process
)

// DefaultFiles is how many logs a store keeps open if [Config].Files is 0.
const DefaultFiles = 128

// A Config says how a store works. The zero Config is good.
type Config struct {
	// Durability is what acknowledged changes survive. Stores of one directory may differ in it.
	Durability Durability
	// Files is how many logs are kept open, and their states in memory, between calls; 0 is DefaultFiles. Calls and readers under way have
	// theirs open in any case.
	Files int
	// OnRepair, if not nil, is told what was cut from the end of a log. It is called by the method that found it, from
	// the goroutine of its caller, without any lock held.
	OnRepair func(Repair)
}

// A Store is a [journal.Store] in a directory. It is safe for concurrent use, by many goroutines and by many processes that have
// opened the same directory, each with a Store of its own.
//
// Errors of the file system come back wrapped, and count as unclear, see [journal.Unclear]. The change that met one has been
// taken back, or stands whole; the same change again settles which.
type Store struct {
	// fixed at creation
	fs    fsys
	cfg   Config
	every int64 // bytes of log between two checkpoints, at least

	doubts atomic.Int32 // how many names are in doubted, so that nobody need look

	mu       sync.Mutex // guards what follows
	sessions map[string]*list.Element
	recent   list.List       // of *session, last used first
	doubted  map[string]bool // logs whose sync has failed
	closed   bool
}

var _ journal.Store = (*Store)(nil)

// Open is [OpenWith] with the defaults.
func Open(dir string) (*Store, error) { return OpenWith(dir, Config{}) }

// OpenWith returns a store that keeps its sessions in dir, which is made if it isn't there: directories 0700, files 0600. Dir must lie on
// a local file system that nobody else puts files into. Locks and syncs over a network, NFS above all, keep less than they promise.
//
// It reads no log: what a crash has left is found and repaired when a session is next used. It returns an error where
// dir can't be had, a field of cfg makes no sense, or the system isn't one that offers what the store needs: of those that Go
// runs on these are Linux, macOS and the BSDs.
func OpenWith(dir string, cfg Config) (*Store, error) {
	if dir == "" {
		return nil, errors.New("journal/file: dir is empty; the path of a directory would do")
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	fs, err := openDisk(dir)
	if err != nil {
		return nil, fmt.Errorf("journal/file: open %s: %w", dir, err)
	}
	return open(fs, cfg), nil
}

func (c Config) check() error {
	if c.Durability != Power && c.Durability != Process {
		return fmt.Errorf("journal/file: Config.Durability is %d; Power or Process would do", c.Durability)
	}
	if c.Files < 0 {
		return fmt.Errorf("journal/file: Config.Files is %d; 0 for %d, or a number above it would do", c.Files, DefaultFiles)
	}
	return nil
}

func open(fs fsys, cfg Config) *Store {
	if cfg.Files == 0 {
		cfg.Files = DefaultFiles
	}
	return &Store{fs: fs, cfg: cfg, every: chunk, sessions: make(map[string]*list.Element), doubted: make(map[string]bool)}
}

// Close closes the logs. Calls under way end as they would have, and close theirs then; later ones return an error that wraps
// [os.ErrClosed]. Leases stay in force, so that a store opened anew can renew them. Close more than once does nothing.
func (st *Store) Close() error {
	st.mu.Lock()
	st.closed = true
	idle := st.trim(0)
	st.mu.Unlock()
	for _, s := range idle {
		s.drop()
	}
	return nil
}

// borrow returns the one session of that name which the store's calls share.
func (st *Store) borrow(name string) (*session, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return nil, os.ErrClosed
	}
	e := st.sessions[name]
	if e == nil {
		e = st.recent.PushFront(newSession(st, name))
		st.sessions[name] = e
	} else {
		st.recent.MoveToFront(e)
	}
	s := e.Value.(*session)
	s.refs++
	return s, nil
}

// giveBack ends what borrow began, and closes what has become too much.
func (st *Store) giveBack(s *session) {
	st.mu.Lock()
	s.refs--
	var idle []*session
	switch {
	case st.closed:
		idle = st.trim(0)
	case s.refs == 0 && s.file == nil: // there is nothing to keep
		st.remove(st.sessions[s.name])
	case st.recent.Len() > st.cfg.Files:
		idle = st.trim(st.cfg.Files)
	}
	st.mu.Unlock()
	for _, s := range idle {
		s.drop()
	}
}

// trim removes sessions that nobody uses, those unused for the longest time first, until keep are left. The caller drops them, without
// mu. Whoever borrows one of them again meanwhile gets a new one: the file's lock keeps the two apart.
func (st *Store) trim(keep int) []*session {
	var idle []*session
	for e := st.recent.Back(); e != nil && st.recent.Len() > keep; {
		s, before := e.Value.(*session), e.Prev()
		if s.refs == 0 {
			st.remove(e)
			idle = append(idle, s)
		}
		e = before
	}
	return idle
}

func (st *Store) remove(e *list.Element) {
	delete(st.sessions, e.Value.(*session).name)
	st.recent.Remove(e)
}

func (st *Store) distrust(name string, doubted bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if doubted {
		st.doubted[name] = true
	} else {
		delete(st.doubted, name)
	}
	st.doubts.Store(int32(len(st.doubted)))
}

func (st *Store) distrusts(name string) bool {
	if st.doubts.Load() == 0 {
		return false
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.doubted[name]
}

// failed says what failed, unless err is an answer of the contract, or of this package, already.
func failed(what, session string, err error) error {
	if err == nil || typed(err) {
		return err
	}
	return fmt.Errorf("journal/file: %s %q: %w", what, session, err)
}

func typed(err error) bool {
	return !journal.Unclear(err) || errors.As(err, new(*CorruptError)) || errors.As(err, new(*FormatError))
}
