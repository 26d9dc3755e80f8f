package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A Log is a session that this process holds: see [Log.Hold]. It is a [sync.Locker]; several
// goroutines may use it at a time.
type Log struct {
	claim

	// fixed
	sessions *Sessions
	Name     string
	Ctx      context.Context         // ends with the caller's, and when the lease is lost
	Cancel   context.CancelCauseFunc // of Ctx
	Stored   context.Context         // for what is written: doesn't end; the caller may set it before Hold
	Reads    context.Context         // for what is read: ends with Ctx; the caller may set it before Hold
	// Patience is how long Hold waits for a holder that has a run in progress; 0: not at all. Less
	// than 0: it waits for no other process either. The caller may set it before.
	Patience time.Duration
	lease    journal.Lease
	renew    *Renewal // nil for a store in memory
	unwatch  func()   // ends WatchInbox; nil before that
	Observer Observer // nil: none; the caller sets it before Hold

	mu sync.Mutex // guards what follows; taken with Lock
	loadedState
	origin  *machine.Origin // of the newest run; nil before the first
	err     error           // why nothing can be appended any more
	storing bool            // an append is being stored: the lock is held, without mu
	changed bool            // the deferred facts may change the head
	written sync.Cond       // what was being stored has been

	next *batch // the append to come; nil if no fact is deferred
}

// A batch is an append to come: facts that are applied and not stored, and their records. Its
// memory is used again.
type batch struct {
	facts   []machine.Fact
	records []journal.Record
}

// deferred returns how many facts are applied and not stored.
func (l *Log) deferred() int {
	if l.next == nil {
		return 0
	}
	return len(l.next.facts)
}

// An Observer learns what is appended to a Log. Its methods are called while the Log is locked.
type Observer interface {
	// Applied is called for each fact of an append after it was applied, and before the append is
	// stored.
	Applied(machine.Fact)
	// Appended is called after each append: whether its facts are stored. If they aren't, nothing
	// of the append counts.
	Appended(stored bool)
}

// Machine returns the machine of the session. It belongs to the Log, which alone applies facts to
// it.
func (l *Log) Machine() *machine.Machine { return l.machine }

// State returns the state of the session.
func (l *Log) State() *machine.State { return l.machine.State() }

// Run returns the newest run; nil before the first.
func (l *Log) Run() *machine.RunState { return l.machine.State().Run }

// Origin returns the origin of the newest run; nil before the first.
func (l *Log) Origin() *machine.Origin { return l.origin }

// Fence returns the fencing token of the lease.
func (l *Log) Fence() uint64 { return l.lease.Fence }

// Lock locks the Log. It waits while an append is stored, for as long as the store takes: nothing
// else may take its number. It waits for that on a Cond, because under the fake time of
// testing/synctest a goroutine that waits for a Mutex stops the clock, and a store may wait.
func (l *Log) Lock() {
	l.mu.Lock()
	for l.storing {
		l.written.Wait()
	}
}

// Unlock unlocks the Log.
func (l *Log) Unlock() { l.mu.Unlock() }

// Unlocked calls a function of the host without the lock, which the caller holds, because that
// function may call the agent.
func (l *Log) Unlocked(fn func()) {
	l.Unlock()
	defer l.Lock()
	fn()
}

// Err returns why nothing can be appended any more; nil if something can. The caller holds the
// lock, or knows that there is an error ([Log.Lost]): it doesn't change any more.
func (l *Log) Err() error { return l.err }

// Lost reports whether nothing can be appended any more.
func (l *Log) Lost() bool {
	l.Lock()
	defer l.Unlock()
	return l.err != nil
}

// Fail has every append from now on return err, if none has failed before. What was deferred is
// stored first.
func (l *Log) Fail(err error) {
	l.Lock()
	defer l.Unlock()
	if l.err == nil && l.FlushLocked() == nil {
		l.err = err
	}
}

// ErrCut is the cause of the end of a context that cuts off what is in progress, but doesn't end
// the run.
var ErrCut = errors.New("agent: the leg is over, and what was in progress is cut off; the next leg goes on")

// Yields reports whether the run goes on elsewhere, so that nothing else may be recorded because of
// the end of Ctx: another process may have the session, or Ctx has ended with [ErrCut].
func (l *Log) Yields() bool { return l.leaseLost() || l.cut() }

// cut reports whether Ctx has ended with [ErrCut].
func (l *Log) cut() bool { return errors.Is(contain.CauseOf(l.Ctx), ErrCut) }

// leaseLost reports whether another process may have the session.
func (l *Log) leaseLost() bool { return errors.Is(contain.CauseOf(l.Ctx), machine.ErrBusy) }

// broken records that nothing can be appended any more, and ends Ctx.
func (l *Log) broken(err error) error {
	l.err = err
	l.Cancel(err)
	return err
}
