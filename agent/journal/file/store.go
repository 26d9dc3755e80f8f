package file

import (
	"container/list"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/pawlkit/pawl/agent/journal"
)

// A Durability says what an acknowledged change survives. The zero value is [Power].
type Durability int

const (
	// Power is the default: a change survives a crash of the machine and the loss of its power.
	// Before it is acknowledged it is synced to the disk, and so is the directory if that has
	// changed.
	Power Durability = iota
	// Process survives the death of the process, but not a crash of the machine: a change is
	// acknowledged once the operating system has it. A crash of the machine loses what the system
	// had not written yet. That may leave a log that is damaged in the middle, or one that lacks
	// changes that were acknowledged: both are a [CorruptError], and [Store.Salvage] keeps the
	// rest.
	Process
)

// DefaultFiles is how many logs a store keeps open if [Config].Files is 0.
const DefaultFiles = 128

// A Config says how a store works. The zero Config is the default.
type Config struct {
	// Durability is what acknowledged changes survive. The stores of one directory may differ in
	// it.
	Durability Durability
	// Files is how many logs are kept open between calls, each with its measure and its state in
	// memory. The default, for 0, is DefaultFiles. Calls and readers in progress may need more.
	Files int
	// OnRepair, if not nil, is called with what was cut from the end of a log. The method that
	// found it calls it on the goroutine of its caller, without a lock.
	OnRepair func(Repair)
}

// A Store is a [journal.Store] in a directory. It is safe for concurrent use by many goroutines,
// and by many processes that each open the same directory.
//
// Errors of the file system are returned wrapped, and count as unclear, see [journal.Unclear]. The
// change that met one was taken back or is in the log; the same change again settles which.
type Store struct {
	// fixed at creation
	fs    fsys
	cfg   Config
	every int64 // bytes of log between two checkpoints, at least

	mu         sync.Mutex // guards what follows
	sessions   map[string]*list.Element
	recent     list.List       // of *session, the last used first
	failedSync map[string]bool // sessions whose log couldn't be synced
	closed     bool
}

var _ journal.Store = (*Store)(nil)

// Open is [OpenWith] with the defaults.
func Open(dir string) (*Store, error) { return OpenWith(dir, Config{}) }

// OpenWith returns a store that keeps its sessions in dir, which it creates if it doesn't exist:
// directories with mode 0700, files with mode 0600. Dir must be on a local file system, because
// locks and syncs over a network (NFS above all) are not reliable, and no other program may put
// files into it.
//
// OpenWith reads no log: what a crash has left is found and repaired when a session is next used.
// It returns an error if dir can't be opened or created, if a field of cfg is invalid, or if the
// operating system isn't Linux, macOS or one of the BSDs.
func OpenWith(dir string, cfg Config) (*Store, error) {
	if dir == "" {
		return nil, errors.New("journal/file: dir is empty; give the path of a directory")
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
		return fmt.Errorf("journal/file: Config.Durability is %d; it must be Power or Process", c.Durability)
	}
	if c.Files < 0 {
		return fmt.Errorf("journal/file: Config.Files is %d; it must be above 0, or 0 for %d", c.Files, DefaultFiles)
	}
	return nil
}

func open(fs fsys, cfg Config) *Store {
	if cfg.Files == 0 {
		cfg.Files = DefaultFiles
	}
	return &Store{
		fs: fs, cfg: cfg, every: checkpointEvery,
		sessions: make(map[string]*list.Element), failedSync: make(map[string]bool),
	}
}

// Close closes the logs. Calls under way end normally, and close theirs then; later calls return an
// error that wraps [os.ErrClosed]. Leases stay, so that another store can renew them. It is no
// error to call Close again.
func (st *Store) Close() error {
	st.mu.Lock()
	st.closed = true
	idle := st.evict(0)
	st.mu.Unlock()
	for _, s := range idle {
		s.close()
	}
	return nil
}

// acquire returns the session of that name that all calls of the store share. Release must follow.
func (st *Store) acquire(name string) (*session, error) {
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

// release ends what acquire began, and closes logs beyond the number that is kept open.
func (st *Store) release(s *session) {
	st.mu.Lock()
	s.refs--
	var idle []*session
	switch {
	case st.closed:
		idle = st.evict(0)
	case s.refs == 0 && s.file == nil: // there is nothing to keep
		st.forget(st.sessions[s.name])
	case st.recent.Len() > st.cfg.Files:
		idle = st.evict(st.cfg.Files)
	}
	st.mu.Unlock()
	for _, s := range idle {
		s.close()
	}
}

// evict removes unused sessions, those used last at the end, until keep are left. The caller closes
// them without mu. A call that needs one of them meanwhile gets a new one: the lock of the file
// keeps the two apart.
func (st *Store) evict(keep int) []*session {
	var idle []*session
	for e := st.recent.Back(); e != nil && st.recent.Len() > keep; {
		s, before := e.Value.(*session), e.Prev()
		if s.refs == 0 {
			st.forget(e)
			idle = append(idle, s)
		}
		e = before
	}
	return idle
}

func (st *Store) forget(e *list.Element) {
	delete(st.sessions, e.Value.(*session).name)
	st.recent.Remove(e)
}

// setUnsynced says whether the last sync of a session's log has failed.
func (st *Store) setUnsynced(name string, unsynced bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if unsynced {
		st.failedSync[name] = true
	} else {
		delete(st.failedSync, name)
	}
}

func (st *Store) unsynced(name string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.failedSync[name]
}

// failed adds what failed to err, unless err is one of package journal's or of this package's.
func failed(what, session string, err error) error {
	if err == nil || typed(err) {
		return err
	}
	return fmt.Errorf("journal/file: %s %q: %w", what, session, classify(err))
}

func typed(err error) bool {
	return !journal.Unclear(err) || errors.As(err, new(*CorruptError)) || errors.As(err, new(*FormatError))
}
