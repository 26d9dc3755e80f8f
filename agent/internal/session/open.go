package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A claim is what other goroutines see of a session that is held. Sessions.mu guards it.
type claim struct {
	holder   Holder        // of the run; nil without one
	ending   bool          // there is no run, or it has ended, so that Close follows
	closed   chan struct{} // closed by Close; nil if nobody waits for that
	expected []string      // the ids of the items that this process has sent to the run
}

// handover is how long enter waits at most for a session whose run has ended, but whose holder
// isn't done with it, and for one that is held without a run.
const handover = 2 * time.Second

// Log returns the log of a session that isn't held yet: [Log.Hold] follows.
func (s *Sessions) Log(ctx context.Context, session string) *Log {
	l := &Log{sessions: s, Name: session, Stored: context.WithoutCancel(ctx)}
	l.Ctx, l.Cancel = context.WithCancelCause(ctx)
	l.Reads = l.Ctx
	l.written.L = &l.mu
	return l
}

// Hold claims the session in this process, for a holder or for nil, and loads it. It ends with Ctx.
// After an error, it isn't held.
func (l *Log) Hold(h Holder) error {
	if err := l.enter(h); err != nil {
		l.Cancel(nil)
		return err
	}
	if err := l.load(); err != nil {
		l.Close()
		return err
	}
	return nil
}

// enter enters the session into Sessions.held.
func (l *Log) enter(h Holder) error {
	s := l.sessions
	var late <-chan time.Time
	for {
		s.mu.Lock()
		if s.draining {
			s.mu.Unlock()
			return &machine.SessionError{Session: l.Name, Code: machine.ErrDraining}
		}
		held := s.held[l.Name]
		if held == nil {
			s.held[l.Name], l.holder, l.ending = l, h, h == nil
			s.mu.Unlock()
			return nil
		}
		ending := held.ending
		if ending && held.closed == nil {
			held.closed = make(chan struct{})
		}
		closed := held.closed
		s.mu.Unlock()
		if !ending {
			return busy(l.Name, nil)
		}
		if late == nil {
			late = time.After(handover)
		}
		select {
		case <-closed:
		case <-late:
			return busy(l.Name, nil)
		case <-l.Ctx.Done():
			return contain.CauseOf(l.Ctx)
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

// load takes the lease and replays the facts.
func (l *Log) load() error {
	s, asked := l.sessions, time.Now()
	lease, err := s.takeLease(l.Reads, l.Name)
	if err != nil {
		return err
	}
	l.lease = lease
	if !s.InMemory { // no other process can take a session of this one
		// the margin is long enough for tools to return or to be abandoned
		l.renew = Renew(l.Stored, Renewing{Store: s.Store, Lease: lease, TTL: s.Lease,
			Margin: min(s.Grace+2*time.Second, s.Lease/4), Asked: asked,
			Lost: func(err error) { l.Cancel(busy(l.Name, err)) }, Logger: s.Logger})
	}
	state, err := s.read(l.Reads, l.Name, s.cache.take(l.Name))
	if err != nil && l.leaseLost() {
		return contain.CauseOf(l.Ctx)
	}
	if err != nil {
		return err
	}
	l.loadedState = state
	l.setOrigin()
	return nil
}

// setOrigin sets the origin to that of the newest run.
func (l *Log) setOrigin() {
	switch r := l.Run(); {
	case r == nil:
		l.origin = nil
	case l.origin == nil || l.origin.Run != r.ID:
		l.origin = &machine.Origin{Session: l.Name, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace,
			Labels: l.State().Labels}
	}
}

// Close releases the session, and takes a snapshot if one is due. It deletes a session without
// facts, and one without a name that has no open run.
func (l *Log) Close() {
	s := l.sessions
	if l.renew != nil {
		l.snapshotIfDue()
		if l.unwatch != nil {
			l.unwatch()
		}
		l.renew.End()
	}
	if l.lease.Fence > 0 {
		ctx, cancel := l.Stored, context.CancelFunc(func() {})
		if !s.InMemory { // the lease ends by itself, too
			ctx, cancel = context.WithTimeout(ctx, s.Grace)
		}
		if l.forgettable() {
			if err := s.delete(ctx, l.Name); err != nil {
				s.Logger.WarnContext(l.Ctx, "agent: removing a session", "session", l.Name, "error", err)
			}
		} else {
			l.remember()
			if err := s.Store.Release(ctx, l.lease); err != nil {
				s.Logger.WarnContext(l.Ctx, "agent: releasing a lease", "session", l.Name, "error", err)
			}
		}
		cancel()
	}
	l.Cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, l.Name)
	if l.closed != nil {
		close(l.closed)
	}
	if s.draining {
		s.drained()
	}
}

// Remove deletes a session with what belongs to it, whether or not it can be read. If this or
// another process holds it, the error has the code [machine.ErrBusy].
func (s *Sessions) Remove(ctx context.Context, session string) error {
	l := s.Log(ctx, session)
	if err := l.enter(nil); err != nil {
		l.Cancel(nil)
		return err
	}
	defer l.Close()
	lease, err := s.takeLease(ctx, session)
	if err != nil {
		return err
	}
	if err := s.delete(ctx, session); err != nil {
		_ = s.Store.Release(context.WithoutCancel(ctx), lease) // it ends by itself, too
		return fmt.Errorf("agent: deleting session %q: %w", session, err)
	}
	return nil
}

func (s *Sessions) delete(ctx context.Context, session string) error {
	if s.Delete != nil {
		return s.Delete(ctx, session)
	}
	s.Forget(session)
	return s.Store.Delete(ctx, session, journal.All)
}

// Forget drops what is kept of a session that is about to be deleted.
func (s *Sessions) Forget(session string) { s.cache.take(session) }

// forgettable reports whether Close deletes the session.
func (l *Log) forgettable() bool {
	l.Lock()
	defer l.Unlock()
	// After an error of the store, without a state, or when another process has the session, it
	// isn't known what the session contains.
	if l.err != nil || l.machine == nil || l.leaseLost() {
		return false
	}
	return l.State().Seq == 0 || strings.HasPrefix(l.Name, machine.UnnamedPrefix) && !l.Run().IsOpen()
}
