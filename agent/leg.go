package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
)

// A Leg bounds what one call of [Agent.Advance] does of a run. When the leg is over, or when the
// context ends, the run pauses at its next safe point with [machine.CodeLeg]: before a model call,
// or before tool calls that haven't started. The runs of its subagents pause with it.
type Leg struct {
	// Steps is how many model calls are begun, with those of subagents. Each subagent that runs may
	// exceed it by one. 0: no limit.
	Steps int
	// Time is how long the run is driven before it pauses. Calls in progress end first. 0: no
	// limit.
	Time time.Duration
	// Grace is how long model calls and tool calls in progress have after the end of the context.
	// Then their contexts end, and the run stays open as after a crash. A function that ignores
	// that is abandoned 5 s later. 0: 5 s.
	Grace time.Duration
	// AcceptChanges continues a run although the agent has changed since the run was started, as
	// [Resumption].AcceptChanges does: see [ChangedError].
	AcceptChanges bool
	// Event, if it isn't nil, is called for each event of the run, as [Agent.Stream] yields it. It
	// should return at once.
	Event func(Event)
}

// Next says what has to happen next with a run that was driven for a leg.
type Next string

// What has to happen next.
const (
	NextEnded Next = "ended" // nothing: the run has ended
	NextAgain Next = "again" // another leg, in a second
	NextWait  Next = "wait"  // a decision, or the expiry of a pause
	NextLater Next = "later" // another leg, when another process doesn't have the session any more
)

// Progressed says how a run stands after [Agent.Advance], and what has to happen next.
type Progressed struct {
	Next Next
	// At is when Advance should be called again: in a second for NextAgain, when the first pause
	// expires for NextWait, and when the lease of the other process ends for NextLater. It is at
	// least a second from now. It is zero if there is nothing to call Advance for: the run has
	// ended, or waits for a decision without an expiry.
	At time.Time
	// Key names the next call, in 32 characters: a queue that takes each key once has no copies of
	// it. It is empty if At is zero.
	Key string
	// Result is the result of the run so far; nil if it hasn't started. Its Err is
	// [machine.ErrRunning] for a run that was cut off.
	Result *Result
}

// A legState is what the drivers of a run and of its subagents know of the leg that they are part
// of. A nil legState has no end.
type legState struct {
	most int64 // model calls; 0: no limit
	time time.Duration
	// run is the open run that the input has started before; empty if it is new, or resumes. No
	// other run is driven, and one that its host has paused stays paused.
	run string

	queue *machine.Queue // set if the run is only queued: there is no leg then
	// fresh says of a run that is queued that its session must be new, and atOnce that it isn't
	// waited for, because a transaction is open.
	fresh, atOnce bool

	steps atomic.Int64
	over  atomic.Bool // its time is up, or its context has ended
	begun atomic.Bool // the run has begun, or was resumed

	end *Progressed // set when the run has been driven: how it stands, without At of NextLater and Key
	seq uint64      // the number of the newest fact then
}

// watch ends the leg when ctx ends, and cuts off what is still in progress after the grace. The
// caller must call stop.
func (l *legState) watch(ctx context.Context, grace time.Duration, cut context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-ctx.Done():
			if l.over.Store(true); !l.begun.Load() { // nothing is in progress
				grace = 0
			}
		case <-done:
			return
		}
		select {
		case <-time.After(grace):
			cut(session.ErrCut)
		case <-done:
		}
	})
	return func() {
		close(done)
		watcher.Wait()
	}
}

// limitTime ends the leg when its time is up. The caller must call stop.
func (l *legState) limitTime() (stop func() bool) {
	if l.time <= 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(l.time, func() { l.over.Store(true) }).Stop
}

// queued returns how the run is queued; nil if it is driven.
func (l *legState) queued() *machine.Queue {
	if l == nil {
		return nil
	}
	return l.queue
}

// isOver reports whether nothing should be begun any more.
func (l *legState) isOver() bool { return l != nil && l.over.Load() }

// begins counts a model call.
func (l *legState) begins() {
	if l != nil {
		l.steps.Add(1)
	}
}

// endsBefore reports whether a run pauses before an action.
func (l *legState) endsBefore(act machine.Action) bool {
	switch {
	case l == nil:
		return false
	case act.Kind == machine.ActCallModel && l.most > 0 && l.steps.Load() >= l.most:
		return true
	}
	switch act.Kind {
	case machine.ActCallModel, machine.ActRunCalls, machine.ActDoubt:
		return l.over.Load()
	}
	return false
}

// errLegOver is why a run is paused at the end of a leg.
var errLegOver = errors.New("agent: the leg is over; Advance, Continue or Recover resumes the run")

// firstExpiry returns when the first of the pauses expires; zero if none does.
func firstExpiry(pauses []Pause) (at time.Time) {
	for _, p := range pauses {
		if !p.Expires.IsZero() && (at.IsZero() || p.Expires.Before(at)) {
			at = p.Expires
		}
	}
	return at
}

// reportLeg notes how the run stands after its leg, while its session is still held.
func (x *driver) reportLeg(l *legState) {
	r, res := x.log.Run(), x.log.lastEnd.Result
	p := &Progressed{Result: res}
	switch {
	case !r.IsOpen():
		p.Next = NextEnded
	case r.Status == Running: // it was cut off, the lease was lost, or the journal has failed
		p.Next = NextAgain
		if x.log.Lost() && errors.Is(x.log.Err(), ErrBusy) {
			p.Next = NextLater
		}
		p.Result = x.log.Machine().Result(Running, res.Code, reasonOf(res))
	case r.IsQueued():
		p.Next, p.At = NextWait, r.Queue.At
	case r.Interrupted(), // or a decision comes after the last safe point
		slices.ContainsFunc(x.log.Inbox(), func(it session.Item) bool { return it.Kind == session.ItemDecide }):
		p.Next = NextAgain
	default:
		p.Next, p.At = NextWait, firstExpiry(r.Pending())
	}
	l.end, l.seq = p, x.log.State().Seq
}

// reasonOf returns the reason of a Result as an error; nil if there is none.
func reasonOf(r *Result) error {
	if r.Reason == "" {
		return nil
	}
	return errors.New(r.Reason)
}
