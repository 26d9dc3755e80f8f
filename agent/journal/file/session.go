package file

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"
)

// A session is a log that the store has open, and what it knows of it. Whoever has entered it has it for himself, in this process
// and among all others.
type session struct {
	// fixed at creation
	store *Store
	name  string
	stem  string

	// guarded by Store.mu
	refs int

	turn chan struct{} // holds a token while a goroutine is in here, who alone may touch what follows

	file    *shared // nil where there is none, as far as is known
	state           // of file
	synced  int64   // up to here this store has seen the log on the disk
	named   bool    // and its name too
	saved   int64   // how far the checkpoint reaches
	size    int64   // of the checkpoint
	repairs []Repair
}

func newSession(st *Store, name string) *session {
	s := &session{store: st, name: name, stem: stem(name), turn: make(chan struct{}, 1)}
	s.forget()
	return s
}

// A shared is an open log. Readers that continue without the lock keep it open.
type shared struct {
	handle
	refs atomic.Int32
}

func (f *shared) release() {
	if f.refs.Add(-1) == 0 {
		_ = f.Close() // what had to be kept has been synced
	}
}

// errCreate is what a function of do returns where it needs a file that isn't there.
var errCreate = errors.New("journal/file: the session has to be begun")

// enter waits for the lock of the session and brings the state up to the log. Without create a session without a log has an
// empty state, and no lock.
func (s *session) enter(ctx context.Context, create bool) error {
	size, err := s.hold(ctx, create)
	if err != nil || s.file == nil {
		return err
	}
	cut, err := s.refresh(size)
	if err != nil {
		s.leave()
		s.drop()
		return err
	}
	if cut != nil {
		s.repairs = append(s.repairs, *cut)
	}
	return nil
}

// hold waits for the lock, and returns how large the log is.
func (s *session) hold(ctx context.Context, create bool) (int64, error) {
	for {
		if s.file == nil {
			f, err := s.store.fs.Open(s.stem+logExt, create)
			if errors.Is(err, fs.ErrNotExist) && !create {
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			s.file = &shared{handle: f}
			s.file.refs.Store(1)
		}
		if err := lock(ctx, s.file); err != nil {
			s.drop()
			return 0, err
		}
		size, linked, err := s.file.Stat()
		if err == nil && linked {
			return size, nil
		}
		s.leave() // if there is no error, it was removed or replaced while we waited
		s.drop()
		if err != nil {
			return 0, err
		}
	}
}

func (s *session) leave() {
	if s.file == nil {
		return
	}
	if s.file.Unlock() != nil {
		s.drop() // the lock goes with the handle
	}
}

// drop closes the log, if no reader needs it, and forgets what was known of it.
func (s *session) drop() {
	if s.file != nil {
		s.file.release()
		s.file = nil
	}
	s.forget()
}

// forget makes that the log is read anew when the session is entered next.
func (s *session) forget() {
	s.state = state{}
	s.head.Session = s.name
	s.synced, s.named, s.saved, s.size = 0, false, 0, 0
}

// lock waits for the lock of f, but not past the end of ctx. It asks again and again, at intervals of up to 1 ms: a wait inside the
// system couldn't be given up, and who holds the lock may be stopped for as long as somebody likes.
func lock(ctx context.Context, f handle) error {
	const first, last = 10 * time.Microsecond, time.Millisecond
	if ok, err := f.TryLock(); ok || err != nil {
		return err
	}
	pause := time.NewTimer(first)
	defer pause.Stop()
	for wait := first; ; wait = min(2*wait, last) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		if ok, err := f.TryLock(); ok || err != nil {
			return err
		}
		pause.Reset(wait)
	}
}

// write begins a change: it returns a buffer, which holds the first line of the log if there is none yet.
func (s *session) write() *[]byte {
	b := buffers.Get().(*[]byte)
	if s.end == 0 {
		s.id = newID()
		*b = appendLog(*b, s.id, s.name)
	}
	return b
}

// commit writes a change to the end of the log, and makes it as durable as the store is asked to. After an error the change is
// taken back; if that fails too, it may stand or not. The caller applies the change to the state.
func (s *session) commit(b []byte) error {
	if s.file == nil {
		return errCreate
	}
	if _, err := s.file.WriteAt(b, s.end); err != nil {
		s.takeBack()
		return err
	}
	if err := s.sync(s.end + int64(len(b))); err != nil {
		s.takeBack()
		return err
	}
	s.advance(int64(len(b)))
	return nil
}

// takeBack cuts what a failed commit has written, and has the log read anew.
func (s *session) takeBack() {
	_ = s.file.Truncate(s.end) // else the next one to enter finds it: torn, or whole
	s.forget()
}

// sync makes the log durable up to end, if the store does that at all. When it fails, nobody knows which pages have reached the disk, and
// the system may take them for written from then on: the log is distrusted, and written anew before the next change.
func (s *session) sync(end int64) error {
	if s.store.cfg.Durability != Power || end == s.synced && s.named {
		return nil
	}
	if err := s.file.Sync(); err != nil {
		s.store.distrust(s.name, true)
		return err
	}
	if !s.named {
		if err := s.store.fs.Sync(); err != nil {
			return err
		}
		s.named = true
	}
	s.synced = end
	return nil
}

// settle is called before something is acknowledged that is there already: it may be another's who died before he had it synced.
func (s *session) settle() error {
	if s.file == nil {
		return nil
	}
	return s.sync(s.end)
}

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// do enters a session, calls fn, and leaves. Change is set where fn may write. If fn answers errCreate, it is called again with a log that
// may have come into being meanwhile.
func (st *Store) do(ctx context.Context, what, name string, change bool, fn func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return failed(what, name, err)
	}
	s, err := st.borrow(name)
	if err != nil {
		return failed(what, name, err)
	}
	defer st.giveBack(s)
	return st.in(ctx, s, what, change, fn)
}

func (st *Store) in(ctx context.Context, s *session, what string, change bool, fn func(*session) error) error {
	err := s.alone(ctx, func() error { return s.call(ctx, change, fn) })
	if err != nil {
		return failed(what, s.name, err)
	}
	return nil
}

// alone calls do when no other goroutine of this store is in the session, and tells of repairs afterwards.
func (s *session) alone(ctx context.Context, do func() error) error {
	select {
	case s.turn <- struct{}{}: // at once, which costs less than to ask for ctx as well
	default:
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := do()
	repairs := s.repairs
	s.repairs = nil
	<-s.turn

	if tell := s.store.cfg.OnRepair; tell != nil {
		for _, r := range repairs {
			tell(r)
		}
	}
	return err
}

func (s *session) call(ctx context.Context, change bool, fn func(*session) error) error {
	for create := false; ; create = true {
		if err := s.enter(ctx, create); err != nil {
			return err
		}
		var err error
		if change && s.store.distrusts(s.name) {
			err = s.renew()
		}
		if err == nil {
			err = fn(s)
		}
		if err == nil && change && s.end-s.saved > max(s.store.every, 16*s.size) {
			s.save()
		}
		s.leave()
		if err != errCreate {
			return err
		}
	}
}

// renew writes a distrusted log to a new file, each line verified.
func (s *session) renew() error {
	if s.n > 0 {
		if err := s.rewrite(s.head.Pruned); err != nil {
			return err
		}
	}
	s.store.distrust(s.name, false)
	return nil
}
