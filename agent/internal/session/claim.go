package session

import (
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Who needs a session that another holder has waits for handover at most, and looks 400 times in
// that time whether another process has released it.
const (
	handover = 2 * time.Second
	looks    = 400
)

// A claim is what other goroutines see of a session that is held. Sessions.mu guards it.
type claim struct {
	holder   Holder        // of the run; nil without one
	ending   bool          // there is no run, or it has ended, so that Close follows
	closed   chan struct{} // closed by Close; nil if nobody waits for that
	expected []string      // the ids of the items that this process has sent to the run
}

// acquire enters the session into Sessions.held, for a holder or for nil, and takes its lease. It
// returns the time at which it has asked for that.
//
// If another holder has the session, in this or another process, acquire waits for its release, for
// 2 s at most, and then returns an error with the code [machine.ErrBusy]. While a run is in
// progress, it returns that at once, unless Patience is more than 0: then it waits that long for
// any holder, but not while the call should stop whose work this is. With Patience less than 0 it
// doesn't wait for another process.
func (l *Log) acquire(h Holder) (asked time.Time, err error) {
	var late <-chan time.Time
	for {
		released, err := l.enter(h)
		if err == nil {
			asked = time.Now()
			var lease journal.Lease
			if lease, err = l.sessions.takeLease(l.Reads, l.Name); err == nil {
				l.lease = lease
				return asked, nil
			}
			l.exit()
		}
		if released == nil && (l.Patience < 0 || !errors.As(err, new(*journal.HeldError))) {
			return asked, err
		}
		if late == nil {
			late = time.After(max(handover, l.Patience))
		}
		if !l.await(released, late) {
			if l.Ctx.Err() != nil {
				err = contain.CauseOf(l.Ctx)
			}
			return asked, err
		}
	}
}

// enter enters the session into Sessions.held. If that has it already, the error has the code
// [machine.ErrBusy], and released is closed when it is released; it is nil if that isn't worth
// waiting for.
func (l *Log) enter(h Holder) (released <-chan struct{}, err error) {
	s := l.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, &machine.SessionError{Session: l.Name, Code: machine.ErrDraining}
	}
	held := s.held[l.Name]
	if held == nil {
		s.held[l.Name], l.holder, l.ending = l, h, h == nil
		return nil, nil
	}
	if !held.ending && l.Patience <= 0 {
		return nil, busy(l.Name, nil)
	}
	if held.closed == nil {
		held.closed = make(chan struct{})
	}
	return held.closed, busy(l.Name, nil)
}

// exit takes the session out of Sessions.held.
func (l *Log) exit() {
	s := l.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, l.Name)
	if l.closed != nil {
		close(l.closed)
		l.closed = nil
	}
	if s.draining {
		s.drained()
	}
}

// await waits until the session may be free: released is closed, or, if it is nil, the head of the
// session says so. It returns false when late fires or Ctx ends, or if that isn't worth waiting
// for.
func (l *Log) await(released <-chan struct{}, late <-chan time.Time) bool {
	s := l.sessions
	for first := true; ; first = false {
		if released == nil {
			head, err := s.Store.Head(l.Reads, l.Name)
			if errors.Is(err, journal.ErrNoSession) { // it was deleted
				err, head = nil, journal.Head{}
			}
			if err != nil || head.Status == string(machine.Running) && l.Patience <= 0 {
				return false
			}
			if free := head.Owner == "" || !time.Now().Before(head.Until); free && !first {
				return true
			}
		}
		if l.Patience > 0 && work.Stopping(l.Ctx) {
			return false
		}
		select {
		case <-released:
			return true
		case <-late:
			return false
		case <-l.Ctx.Done():
			return false
		case <-time.After(max(handover, l.Patience) / looks):
		}
		if s.Draining() {
			return true // enter says so
		}
	}
}

// Expects reports whether this process has sent an item to the run for which the session is held,
// rather than to an earlier one.
func (l *Log) Expects(it *Item) bool {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	return slices.Contains(l.expected, it.ID)
}

// Ending says that the run of the session has ended, so that Close follows soon. Who wants the
// session waits for that instead of getting an error.
func (l *Log) Ending() {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	l.ending = true
}

// Leave takes the holder away: nothing that is posted from now on is for its run.
func (l *Log) Leave() {
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	l.holder, l.ending = nil, true
}
