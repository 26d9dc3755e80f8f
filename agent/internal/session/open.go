package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Log returns the log of a session that isn't held yet: [Log.Hold] follows.
func (s *Sessions) Log(ctx context.Context, session string) *Log {
	l := &Log{sessions: s, Name: session, Stored: context.WithoutCancel(ctx)}
	l.Ctx, l.Cancel = context.WithCancelCause(ctx)
	l.Reads = l.Ctx
	l.written.L = &l.mu
	return l
}

// Hold takes the session for this process, for a holder or for nil, and loads it. It ends with Ctx.
// After an error, it isn't held. If another holder has the session, Hold waits for it: see acquire.
func (l *Log) Hold(h Holder) error {
	asked, err := l.acquire(h)
	if err != nil {
		l.Cancel(nil)
		return err
	}
	if err := l.load(asked); err != nil {
		l.Close()
		return err
	}
	return nil
}

// load keeps the lease, which was asked for then, and replays the facts.
func (l *Log) load(asked time.Time) error {
	s := l.sessions
	if !s.InMemory { // no other process can take a session of this one
		// the margin is long enough for tools to return or to be abandoned
		l.renew = Renew(l.Stored, Renewing{Store: s.Store, Lease: l.lease, TTL: s.Lease,
			Margin: min(s.Grace+2*time.Second, s.Lease/4), Asked: asked,
			Lost: func(err error) { l.Cancel(busy(l.Name, err)) }, Logger: s.Logger})
	}
	state, err := s.read(l.Reads, l.Name, s.cache.pop(l.Name))
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
	l.exit()
}

// Remove deletes a session with what belongs to it, whether or not it can be read. If this or
// another process goes on holding it, the error has the code [machine.ErrBusy].
func (s *Sessions) Remove(ctx context.Context, session string) error {
	l := s.Log(ctx, session)
	defer l.Cancel(nil)
	if _, err := l.acquire(nil); err != nil {
		return err
	}
	defer l.exit()
	if err := s.delete(ctx, session); err != nil {
		_ = s.Store.Release(context.WithoutCancel(ctx), l.lease) // it ends by itself, too
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
func (s *Sessions) Forget(session string) { s.cache.pop(session) }

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
