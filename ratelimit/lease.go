package ratelimit

import (
	"cmp"
	"context"
	"time"
)

// An AcquireRequest is what a request says of itself when it asks for a slot. The zero AcquireRequest is a background request of priority
// [Execution] of the nameless session.
type AcquireRequest struct {
	// Interactive says that a person is waiting. Priority, Session and NoPreempt then don't matter.
	Interactive bool
	// Priority orders background requests, higher first, from 1 to 255; 0 stands for [Execution], and what is out of range
	// is brought into it.
	Priority int
	// Session is whose turn it is. All requests without one take turns as one session.
	Session string
	// NoPreempt says that a background call, once started, can't be started again. It is as if pinned from the start.
	NoPreempt bool
	// Tokens is what the call will use, input and output, as far as can be told; it counts against the tokens per minute
	// until the call's [Outcome] says what was really used. Less than 0 counts as 0. A call that needs more than a minute's
	// worth goes when the bucket is full.
	Tokens int64
	// OnWait, if not nil, is told why the request waits: before it blocks, and again whenever the reason or its end
	// changes. It is called in the goroutine that called Acquire or Requeue, with no lock held, and not after these return.
	OnWait func(Wait)
}

// An Outcome says how a call ended. The zero Outcome is a call that was never made: what was counted for it is given back.
type Outcome struct {
	// Err is the call's error. One that is a rate limit (fault.RateLimited) pauses the gate, once for all calls that ran
	// into it together, for as long as fault.RetryAfter says. Other errors say nothing about the rate, nor do those of
	// another gate: a [*QueueFullError], a [*PauseTooLongError].
	Err error
	// Sent says that the request went to the provider, so that it counts as one. A rate limit in Err implies it.
	Sent bool
	// Tokens is what the call has used, if it was sent. Less than 0: unknown, the request's estimate stands.
	Tokens int64
	// Quota, if not nil, is what the provider's headers said: see [ParseQuota].
	Quota *Quota
}

// A Lease is a slot of a [Gate] that a call holds while it runs. It is a value that may be copied; it ends once, with
// [Lease.Release] or [Lease.Requeue], on whichever copy that is called first. The zero Lease holds nothing. A Lease is safe
// for concurrent use.
type Lease struct {
	slot *slot
	gen  uint64 // the slot is another lease's when its own generation differs
	ctx  context.Context
}

// hold gives a slot to a request that starts now. It is called under mu.
func (g *Gate) hold(r *arrival, cancel context.CancelCauseFunc, now time.Time) *slot {
	var s *slot
	if last := len(g.free) - 1; last >= 0 {
		s, g.free = g.free[last], g.free[:last]
	} else {
		s = &slot{gate: g}
		g.slots = append(g.slots, s)
	}
	g.starts++
	g.totals.Started++
	s.arrival, s.cancel = *r, cancel
	s.started, s.epoch, s.state, s.at = g.starts, g.backoff.epoch, running, -1
	g.held++
	if r.req.Interactive {
		g.peopleRunning++
		g.peopleSince++
		if b := &g.backoff; b.trialEnd.IsZero() && b.unproven.Load() {
			b.trialEnd = time.Now().Add(trial)
		}
	} else {
		g.background.level(r.rank).running++
		if !r.req.NoPreempt && r.preempts < mostPreempts {
			g.victims.push(s)
		}
	}
	s.taken = g.rates.take(r.req.Tokens, now)
	return s
}

// end takes the slot back, and learns from how the call ended. It is called under mu, once a lease.
func (g *Gate) end(s *slot, v verdict, now time.Time) {
	g.victims.remove(s)
	switch s.state {
	case leaving:
		g.leaving--
	case overtaken:
		g.overtaken--
	}
	g.held--
	if s.req.Interactive {
		g.peopleRunning--
		if s.epoch == g.backoff.epoch {
			g.peopleSince--
		}
	} else {
		g.background.level(s.rank).running--
	}
	g.rates.settle(s.taken, s.req.Tokens, &v.Outcome, v.Sent, now)
	if v.Sent && len(g.soft) > 0 {
		g.count(s.req.Tokens, &v.Outcome, time.Now())
	}
	if v.Quota != nil {
		g.adopt(v.Quota, now)
	}
	g.learn(s, &v)
	s.gen++
	s.arrival, s.cancel = arrival{}, nil
	g.free = append(g.free, s)
	if g.held == 0 && g.closed && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Context returns the context to make the call with: that of Acquire or Requeue, canceled besides with the cause
// [ErrPreempted] when the slot is wanted, with [ErrClosed] when the gate is closed, and when the lease ends. Of the zero
// Lease it is the background context.
func (l Lease) Context() context.Context {
	if l.ctx == nil {
		return context.Background()
	}
	return l.ctx
}

// lock locks the gate and reports whether the lease still holds its slot. If not, nothing is locked.
func (l Lease) lock() (*Gate, bool) {
	if l.slot == nil {
		return nil, false
	}
	g := l.slot.gate
	g.mu.Lock()
	if l.slot.gen != l.gen {
		g.mu.Unlock()
		return nil, false
	}
	return g, true
}

// Preempted reports whether a person's request wants the slot. Unlike the context's cause it doesn't speak of other gates.
// It is false once the lease has ended.
func (l Lease) Preempted() bool {
	g, ok := l.lock()
	if !ok {
		return false
	}
	defer g.mu.Unlock()
	return l.slot.state != running
}

// Pin makes sure that the call is not preempted from now on, and reports whether it came in time: false if the slot is
// wanted already, or the lease has ended. Pinning twice is harmless.
func (l Lease) Pin() bool {
	g, ok := l.lock()
	if !ok {
		return false
	}
	defer g.mu.Unlock()
	if l.slot.state != running {
		return false
	}
	g.victims.remove(l.slot)
	return true
}

// Began says that the provider has begun to answer the call, which shows that it grants calls again after a rate limit.
// Background work, which leaves that to people for up to 5 s, starts then, instead of when the call has succeeded. The row of
// rate limits only ends with a success. It may be called at every answer, and costs an atomic load if there is nothing to
// learn from it. On a lease that has ended it does nothing.
func (l Lease) Began() {
	if l.slot == nil || !l.slot.gate.backoff.unproven.Load() {
		return
	}
	g, ok := l.lock()
	if !ok {
		return
	}
	b := &g.backoff
	if l.slot.epoch != b.epoch || b.paused || !b.unproven.Load() {
		g.mu.Unlock()
		return
	}
	b.unproven.Store(false)
	g.dispatch(time.Now())
	g.unlock()
}

// Release gives the slot back. Releasing a lease that has ended does nothing.
func (l Lease) Release(o Outcome) {
	v := judge(o)
	g, ok := l.lock()
	if !ok {
		return
	}
	var now time.Time
	switch {
	case g.people.n+g.background.n > 0:
		now = time.Now()
	case g.rates.limited() || v.Quota != nil:
		now = g.now() // otherwise nobody asks
	}
	defer l.slot.cancel(nil) // also when OnEvent panics
	g.end(l.slot, v, now)
	g.dispatch(now)
	g.unlock()
}

// Requeue gives the slot back and waits for another one, at the head of its session: in the place that the request had when
// it first came. It is for calls that were preempted or rate limited. The AcquireRequest stays as it was; ctx is that of the
// caller, as l's own has ended. Errors are those of [Gate.Acquire], but never a [*QueueFullError], and [ErrReleased]. In any
// case l has ended.
func (l Lease) Requeue(ctx context.Context, o Outcome) (Lease, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	v := judge(o)
	held, cancel := context.WithCancelCause(ctx)
	var left error
	if ctx.Err() != nil {
		left = context.Cause(ctx)
	}
	g, ok := l.lock()
	if !ok {
		cancel(nil)
		return Lease{}, ErrReleased
	}
	now := time.Now()
	w := &waiter{arrival: l.slot.arrival, returned: true, cancel: cancel}
	g.cancels = append(g.cancels, cancellation{l.slot.cancel, nil})
	g.end(l.slot, v, now)
	if err := cmp.Or(g.refusal(now), left); err != nil {
		g.cancels = append(g.cancels, cancellation{cancel, err})
		g.dispatch(now)
		g.unlock()
		return Lease{}, err
	}
	g.enqueue(w, now)
	return g.await(ctx, held, w)
}
