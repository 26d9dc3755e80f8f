package ratelimit

import (
	"cmp"
	"context"
	"time"
)

// An AcquireRequest describes a request for a slot. The zero AcquireRequest is a background request
// of priority [Execution] in the session without a name.
type AcquireRequest struct {
	// Interactive says that a person is waiting. Priority, Session and NoPreempt then don't matter.
	Interactive bool
	// Priority orders background requests, higher first, from 1 to 255; 0 means [Execution]; other
	// figures are adjusted to the range.
	Priority int
	// Session is the session that the request belongs to; sessions of one priority take turns. All
	// requests without one count as one session.
	Session string
	// NoPreempt says that a background call can't be restarted. It is pinned from the start.
	NoPreempt bool
	// Tokens is an estimate of the call's input and output; it counts against the tokens per minute
	// until the call's [Outcome] reports the real usage. Less than 0 is taken as 0. A call that
	// needs more than the Burst starts when all of it is there: see [GateConfig].
	Tokens int64
	// OnWait, if not nil, is called with the reason why the request waits: before it blocks, and
	// again whenever the reason or its end changes. It is called in the goroutine that called
	// Acquire or Requeue, without a lock held, and not after these return.
	OnWait func(Delay)
}

// An Outcome says how a call ended. The zero Outcome is a call that was sent and has succeeded, of
// which nobody knows what it used: the rates keep all that was counted for it.
type Outcome struct {
	// Err is the call's error. An error of class fault.RateLimited pauses the gate for as long as
	// fault.RetryAfter says, once for all concurrent calls that ran into the limit. Other errors
	// don't affect the rate; nor do errors of another gate: a [*QueueFullError], a
	// [*PauseTooLongError].
	Err error
	// Unsent says that no request went to the provider, so that what was counted for it is returned
	// to the rates. A rate limit in Err overrules it.
	Unsent bool
	// Tokens is what the call has used, if it was sent. 0 or less: unknown, so the request's
	// estimate is kept.
	Tokens int64
	// Quota, if not nil, is the content of the provider's rate limit headers: see [ParseQuota].
	Quota *Quota
}

// A Lease is a slot of a [Gate] that a call holds while it runs. It is a value that may be copied;
// it ends once, with the first [Lease.Release] or [Lease.Requeue] of any copy. The zero Lease holds
// nothing. A Lease is safe for concurrent use.
type Lease struct {
	slot *slot
	gen  uint64 // if the slot's generation differs, this lease has ended
	ctx  context.Context
}

// hold assigns a slot to a request that starts now. It is called under mu.
func (g *Gate) hold(r *arrival, cancel context.CancelCauseFunc, now time.Time) *slot {
	var s *slot
	if last := len(g.calls.free) - 1; last >= 0 {
		s, g.calls.free = g.calls.free[last], g.calls.free[:last]
	} else {
		s = &slot{gate: g}
		g.calls.slots = append(g.calls.slots, s)
	}
	g.calls.starts++
	g.totals.Started++
	s.arrival, s.cancel = *r, cancel
	s.started, s.epoch, s.state = g.calls.starts, g.backoff.epoch, running
	s.pinned = r.req.Interactive || r.req.NoPreempt || r.preempts >= maxPreempts
	g.calls.held++
	if r.req.Interactive {
		g.calls.interactive++
		g.calls.sinceRateLimit++
		if b := &g.backoff; b.trialEnd.IsZero() && b.unproven.Load() {
			b.trialEnd = time.Now().Add(trial)
		}
	} else {
		g.queue.background.level(r.rank).running++
	}
	s.taken = g.rates.take(r.req.Tokens, now)
	return s
}

// end frees the slot, and updates rates and back-off by the outcome. It is called under mu, once
// per lease.
func (g *Gate) end(s *slot, v verdict, now time.Time) {
	switch s.state {
	case leaving:
		g.calls.leaving--
	case overtaken:
		g.calls.overtaken--
	}
	g.calls.held--
	if s.req.Interactive {
		g.calls.interactive--
		if s.epoch == g.backoff.epoch {
			g.calls.sinceRateLimit--
		}
	} else {
		g.queue.background.level(s.rank).running--
	}
	g.rates.settle(s.taken, s.req.Tokens, &v.Outcome, now)
	if v.Quota != nil {
		g.adopt(v.Quota, now)
	}
	g.learn(s, &v)
	s.gen++
	s.arrival, s.cancel, s.pinned = arrival{}, nil, true
	g.calls.free = append(g.calls.free, s)
}

// Context returns the context for the call. It is derived from that of Acquire or Requeue, and is
// also canceled with the cause [ErrPreempted] when the call is preempted, with [ErrClosed] when the
// gate is closed, and when the lease ends. For the zero Lease it is the background context.
func (l Lease) Context() context.Context {
	if l.ctx == nil {
		return context.Background()
	}
	return l.ctx
}

// lock locks the gate and reports whether the lease still holds its slot. If it doesn't, the gate
// isn't locked.
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

// Preempted reports whether this gate has preempted the call; the context's cause may come from
// another gate. It is false once the lease has ended.
func (l Lease) Preempted() bool {
	g, ok := l.lock()
	if !ok {
		return false
	}
	defer g.mu.Unlock()
	return l.slot.state != running
}

// Pin prevents the call from being preempted from now on, and reports whether it succeeded: false
// if the call is preempted already or the lease has ended. Pinning twice is harmless.
func (l Lease) Pin() bool {
	g, ok := l.lock()
	if !ok {
		return false
	}
	defer g.mu.Unlock()
	if l.slot.state != running {
		return false
	}
	l.slot.pinned = true
	return true
}

// Began reports that the provider has begun to answer the call, which shows that it grants calls
// again after a rate limit. Background calls, which stay back for up to 5 s after a rate limit,
// then start without waiting for the call's success. Only a success resets the count of rate limits
// in a row. Began may be called for every answer, and costs one atomic load if it changes nothing.
// On a lease that has ended it does nothing.
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

// Release ends the lease and frees the slot. Releasing a lease that has ended does nothing.
func (l Lease) Release(o Outcome) {
	v := classify(o)
	now := time.Now()
	g, ok := l.lock()
	if !ok {
		return
	}
	defer l.slot.cancel(nil) // also when OnEvent panics
	g.end(l.slot, v, now)
	g.dispatch(now)
	g.unlock()
}

// Requeue frees the slot and waits for another one, at the place in the queue that the request had
// when it first arrived. It is for calls that were preempted or rate limited. The AcquireRequest
// stays the same; ctx must be the caller's, since the context of l has ended. Errors are those of
// [Gate.Acquire] except [*QueueFullError], and one for a lease that has ended.
// l has ended in any case.
func (l Lease) Requeue(ctx context.Context, o Outcome) (Lease, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	v := classify(o)
	held, cancel := context.WithCancelCause(ctx)
	var left error
	if ctx.Err() != nil {
		left = context.Cause(ctx)
	}
	g, ok := l.lock()
	if !ok {
		cancel(nil)
		return Lease{}, errReleased
	}
	now := time.Now()
	w := g.queue.newWaiter(&l.slot.arrival, cancel)
	w.returned = true
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
