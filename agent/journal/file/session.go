package file

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"
)

// A session is a log that the store has open, and what the store knows of it. A call has the
// session to itself while it holds turn, and the log while it holds the lock of the file, which
// keeps other processes out.
type session struct {
	// fixed at creation
	store   *Store
	name    string
	base    string // of the names of its files
	durable bool   // changes are synced

	refs int // guarded by Store.mu

	turn chan struct{} // holds a token while a goroutine uses what follows

	file      *sharedFile // nil if there is none, as far as is known
	state                 // of the log, up to end
	synced    int64       // up to here this store has synced the log
	dirSynced bool        // and the directory with its name
	saved     int64       // up to where the log is in the checkpoint
	savedSize int64       // of the checkpoint
	ends      handle      // of the measure; nil until it is written
	measured  int64       // what it says, as far as is known
	repairs   []Repair
}

func newSession(st *Store, name string) *session {
	s := &session{
		store: st, name: name, base: baseName(name), durable: st.cfg.Durability == Power,
		turn: make(chan struct{}, 1),
	}
	s.reset()
	return s
}

// A sharedFile is an open log. A reader that continues without the lock keeps it open.
type sharedFile struct {
	handle
	refs atomic.Int32
}

func newSharedFile(f handle) *sharedFile {
	shared := &sharedFile{handle: f}
	shared.refs.Store(1)
	return shared
}

func (f *sharedFile) release() {
	if f.refs.Add(-1) == 0 {
		_ = f.Close() // what had to be durable has been synced
	}
}

// run calls fn with a session that is locked and whose state is up to date. Write is set if fn may
// change it.
func (st *Store) run(ctx context.Context, name string, write bool, fn func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := st.acquire(name)
	if err != nil {
		return err
	}
	defer st.release(s)
	return s.exclusive(ctx, func() error { return s.call(ctx, write, fn) })
}

// do is run, with an error that says what failed.
func (st *Store) do(ctx context.Context, what, name string, write bool, fn func(*session) error) error {
	return failed(what, name, st.run(ctx, name, write, fn))
}

// exclusive calls fn when no other goroutine of this store uses the session, and reports repairs
// afterwards.
func (s *session) exclusive(ctx context.Context, fn func() error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := fn()
	repairs := s.repairs
	s.repairs = nil
	<-s.turn

	if report := s.store.cfg.OnRepair; report != nil {
		for _, r := range repairs {
			report(r)
		}
	}
	return err
}

// errCreate is what commit returns if the session has no log yet. Then fn is called again with a
// new log, or one that another process has created meanwhile. So a call that is refused creates no
// file.
var errCreate = errors.New("journal/file: the log has to be created")

func (s *session) call(ctx context.Context, write bool, fn func(*session) error) error {
	for create := false; ; create = true {
		err := s.enter(ctx, create)
		if err != nil {
			return err
		}
		if write && s.store.unsynced(s.name) {
			err = s.replaceUnsynced()
		}
		if err == nil {
			err = fn(s)
		}
		if err == nil && write && s.checkpointDue() {
			s.saveCheckpoint()
		}
		s.leave()
		if !errors.Is(err, errCreate) {
			return err
		}
	}
}

// enter locks the log and brings the state up to date. Without create, a session without a log has
// an empty state, and no lock.
func (s *session) enter(ctx context.Context, create bool) error {
	size, err := s.lockLog(ctx, create)
	if err != nil || s.file == nil {
		return err
	}
	if create && size == 0 { // it is new
		return nil
	}
	cut, err := s.refresh(size)
	if err != nil {
		s.leave()
		s.close()
		return err
	}
	if cut != nil {
		s.repairs = append(s.repairs, *cut)
	}
	return nil
}

// lockLog waits for the lock of the log, and returns its size.
func (s *session) lockLog(ctx context.Context, create bool) (int64, error) {
	for {
		if s.file == nil {
			f, err := s.store.fs.Open(s.base+logExt, create)
			if errors.Is(err, fs.ErrNotExist) && !create {
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			s.file = newSharedFile(f)
		}
		if err := lock(ctx, s.file); err != nil {
			s.close()
			return 0, err
		}
		size, linked, err := s.file.Stat()
		if err == nil && linked {
			return size, nil
		}
		s.leave() // without an error, the file was removed or replaced while we waited
		s.close()
		if err != nil {
			return 0, err
		}
	}
}

// leave releases the lock of the log.
func (s *session) leave() {
	if s.file == nil {
		return
	}
	if s.file.Unlock() != nil {
		s.close() // a lock ends with its handle
	}
}

// close closes the log, unless a reader needs it, and forgets its state.
func (s *session) close() {
	if s.file != nil {
		s.file.release()
		s.file = nil
	}
	if s.ends != nil {
		_ = s.ends.Close()
		s.ends = nil
	}
	s.reset()
}

// reset forgets the state, so that the next call reads the log again.
func (s *session) reset() {
	s.state = state{}
	s.head.Session = s.name
	s.synced, s.dirSynced, s.saved, s.savedSize, s.measured = 0, false, 0, 0, 0
}

// lock waits for the lock of f until ctx ends. It polls, at intervals of up to 1 ms, because a wait
// in the system can't be interrupted, and the process that has the lock may be stopped for any
// time.
func lock(ctx context.Context, f handle) error {
	const longest = time.Millisecond
	for wait := 10 * time.Microsecond; ; wait = min(2*wait, longest) {
		if ok, err := f.TryLock(); ok || err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
