package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// open opens a session, which needn't exist. If this or another process holds it, the error is a
// [ErrBusy]. The caller must close it.
func (a *Agent) open(ctx context.Context, session string) (*sessionLog, error) {
	l := a.newLog(ctx, session)
	return l, l.hold(nil)
}

func (a *Agent) newLog(ctx context.Context, session string) *sessionLog {
	l := &sessionLog{agent: a, name: session, stored: withoutRun(context.WithoutCancel(ctx))}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.retried, l.closed = sync.NewCond(&l.mu), make(chan struct{})
	return l
}

// hold claims the session in this process, for a driver or for nil, and loads it. After an error,
// it isn't held.
func (l *sessionLog) hold(x *driver) error {
	if err := l.enter(x); err != nil {
		l.cancel(nil)
		return err
	}
	if err := l.load(); err != nil {
		l.close()
		return err
	}
	return nil
}

// A claim is what other goroutines see of a session that is held.
type claim struct {
	driver *driver       // of the run; nil without one; guarded by Agent.mu
	ending bool          // there is no run, or it has ended, so that close follows; guarded by Agent.mu
	closed chan struct{} // closed by close
}

// handover is how long enter waits at most for a session whose run has ended, but whose AfterRun
// hooks and consumer aren't done with it, and for one that is held without a run.
const handover = 2 * time.Second

// enter enters the session into Agent.held. If it is held, the error is [ErrBusy].
func (l *sessionLog) enter(x *driver) error {
	a := l.agent
	var late <-chan time.Time
	for {
		a.mu.Lock()
		if a.draining {
			a.mu.Unlock()
			return &SessionError{Session: l.name, Code: ErrDraining}
		}
		held := a.held[l.name]
		if held == nil {
			a.held[l.name], l.driver, l.ending = l, x, x == nil
			a.mu.Unlock()
			return nil
		}
		ending := held.ending
		a.mu.Unlock()
		if !ending {
			return &SessionError{Session: l.name, Code: ErrBusy}
		}
		if late == nil {
			late = time.After(handover)
		}
		select {
		case <-held.closed:
		case <-late:
			return &SessionError{Session: l.name, Code: ErrBusy}
		case <-l.ctx.Done():
			return causeOf(l.ctx)
		}
	}
}

// openKnown is open for a session that must exist. If it doesn't, the error is a
// [ErrNothingOpen].
func (a *Agent) openKnown(ctx context.Context, session string) (*sessionLog, error) {
	if err := a.exists(ctx, session); err != nil {
		return nil, err
	}
	return a.open(ctx, session)
}

// exists returns [ErrNothingOpen] if the store has no such session.
func (a *Agent) exists(ctx context.Context, session string) error {
	_, err := a.store.Head(ctx, session)
	if errors.Is(err, journal.ErrNoSession) {
		return &SessionError{Session: session, Code: ErrNothingOpen}
	}
	if err != nil {
		return fmt.Errorf("agent: session %q: reading its head: %w", session, err)
	}
	return nil
}

// load takes the lease and replays the facts.
func (l *sessionLog) load() error {
	asked := time.Now()
	lease, err := l.agent.takeLease(l.stored, l.name)
	if err != nil {
		return err
	}
	l.lease = lease
	if !l.agent.inMemory { // no other process can take a session of this one
		l.renew = startRenewal(l, lease, asked)
	}
	s, err := l.agent.read(l.stored, l.name, l.agent.cache.take(l.name))
	if err != nil {
		return err
	}
	l.loadedState = s
	if r := l.run(); r != nil {
		l.origin = &machine.Origin{Session: l.name, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace,
			Labels: l.state().Labels}
	}
	return nil
}

// close releases the session, and takes a snapshot if one is due. It deletes a session without
// facts, and one without a name that has no open run.
func (l *sessionLog) close() {
	a := l.agent
	if l.renew != nil {
		l.snapshotIfDue()
		l.renew.end()
	}
	if l.lease.Fence > 0 {
		ctx, cancel := context.WithTimeout(l.stored, grace) // the lease ends by itself, too
		if l.forgettable() {
			if err := a.delete(ctx, a.store, l.name); err != nil {
				a.logger.WarnContext(l.ctx, "agent: removing a session", "session", l.name, "error", err)
			}
		} else {
			l.remember()
			if err := a.store.Release(ctx, l.lease); err != nil {
				a.logger.WarnContext(l.ctx, "agent: releasing a lease", "session", l.name, "error", err)
			}
		}
		cancel()
	}
	l.cancel(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.held, l.name)
	close(l.closed)
	if a.draining {
		a.drained()
	}
}

// forgettable reports whether close deletes the session.
func (l *sessionLog) forgettable() bool {
	l.lock()
	defer l.mu.Unlock()
	// After an error of the store, without a state, or when another process has the session, it
	// isn't known what the session contains.
	if l.err != nil || l.machine == nil || l.leaseLost() {
		return false
	}
	return l.state().Seq == 0 || strings.HasPrefix(l.name, machine.UnnamedPrefix) && !l.run().IsOpen()
}

// factsAfter returns the facts of a session with numbers above after, or those from the snapshot on
// if earlier ones were pruned: the first most of them, or all if most is 0. An unknown session has
// none.
func (a *Agent) factsAfter(ctx context.Context, session string, after uint64, most int) ([]Fact, error) {
	recs, err := records(ctx, a.store, session, after, most)
	if err != nil {
		return nil, err
	}
	facts := make([]Fact, len(recs))
	for i, rec := range recs {
		if facts[i], err = machine.Decode(session, rec); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// records returns the records of a session with numbers above after, or those from the snapshot on
// if earlier ones were pruned: the first most of them, or all if most is 0.
func records(ctx context.Context, store journal.Store, session string, after uint64, most int) (recs []journal.Record,
	err error) {
	for rec, err := range store.Read(ctx, session, after) {
		var pruned *journal.PrunedError
		if errors.As(err, &pruned) { // perhaps only while it was read
			return records(ctx, store, session, pruned.UpTo, most)
		}
		if err != nil {
			return nil, fmt.Errorf("agent: session %q: reading its journal: %w", session, err)
		}
		if recs = append(recs, rec); len(recs) == most {
			break
		}
	}
	return recs, nil
}
