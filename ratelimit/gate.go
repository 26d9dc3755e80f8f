package ratelimit

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/pawlkit/pawl/internal/backoff"
	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

// GateConfig configures a [Gate]. The zero GateConfig has 8 slots and no rates.
type GateConfig struct {
	// Name is the gate's name in events, errors and snapshots, such as "anthropic".
	Name string
	// Slots is how many calls may run at a time; 0 or less: 8, at most a million. For each call
	// that was preempted and doesn't end within a second, one more may run until it ends.
	Slots int
	// ReservedShare is the share of the slots that is reserved for interactive calls, rounded up,
	// but never all; 0: 0.2 of four slots or more, and none of fewer, where one slot is much of
	// what background work has. Less than 0 reserves none; more than 1 is taken as 1.
	ReservedShare float64
	// Overcommit lets interactive calls exceed the slots: they never wait for one. Background calls
	// are still preempted to compensate.
	Overcommit bool
	// RequestsPerMinute and TokensPerMinute are rates; 0 or less is no limit; more than 10^10 is
	// taken as 10^10. What may be used refills evenly.
	RequestsPerMinute, TokensPerMinute int64
	// Burst is the share of a minute's worth that may be used at once after idling; 0 or less:
	// 0.25; more than 1 is taken as 1. At least one request may always start. In a sliding minute,
	// at most 1 + Burst times the rate passes; a call of more tokens than the Burst starts when all
	// of it is there, and the next calls wait until what it used has refilled.
	Burst float64
	// MaxRetryAfter is the longest pause that requests wait for; 0 or less: 5 min. If a provider
	// asks for more, requests get a [*PauseTooLongError].
	MaxRetryAfter time.Duration
	// Queue is how many background requests may wait; 0 or less: 10,000. When it is full, a new
	// request gets a [*QueueFullError]. Calls that held a slot before (see [Lease.Requeue]) never
	// get one, and interactive requests aren't counted.
	Queue int
	// OnEvent, if not nil, is called with the gate's events: in order, one at a time, without a
	// lock held, in the goroutine of a caller of the gate or of a timer. It should be quick. It may
	// call the gate, but must not wait for it. If it panics, the method that called it panics, and
	// the gate stays consistent; in a timer's goroutine the panic ends the program.
	OnEvent func(Event)
}

const (
	defaultSlots         = 8
	maxSlots             = 1_000_000
	defaultReserved      = 0.2
	fewestReserved       = 4 // slots of which defaultReserved is reserved
	defaultBurst         = 0.25
	defaultQueue         = 10_000
	defaultMaxRetryAfter = 5 * time.Minute
)

// withDefaults returns c with defaults applied.
func (c GateConfig) withDefaults() GateConfig {
	if c.Slots <= 0 {
		c.Slots = defaultSlots
	}
	c.Slots = min(c.Slots, maxSlots)
	if math.IsNaN(c.ReservedShare) {
		c.ReservedShare = 0
	}
	if c.ReservedShare == 0 && c.Slots >= fewestReserved {
		c.ReservedShare = defaultReserved
	}
	if !(c.Burst > 0) {
		c.Burst = defaultBurst
	}
	c.Burst = min(c.Burst, 1)
	if c.Queue <= 0 {
		c.Queue = defaultQueue
	}
	if c.MaxRetryAfter <= 0 {
		c.MaxRetryAfter = defaultMaxRetryAfter
	}
	return c
}

// reserved returns how many slots are reserved for interactive calls.
func (c *GateConfig) reserved() int {
	share := min(max(c.ReservedShare, 0), 1)
	return min(int(math.Ceil(share*float64(c.Slots)-1e-9)), c.Slots-1)
}

// A Gate decides which calls to one provider and credential run now and which wait. Make one with
// [NewGate]. It is safe for concurrent use.
type Gate struct {
	// fixed at creation
	cfg      GateConfig
	reserved int            // slots for interactive calls
	delays   backoff.Delays // after rate limits; tests don't randomize them

	mu sync.Mutex // guards what follows

	queue queue
	calls calls

	backoff limits
	paused  []*hostPause // of the background lane, the oldest first
	rates   rates
	next    nextInLine
	totals  Totals

	closed bool
	news   chan struct{} // closed when the reason for waiting changes for many requests; nil unless one listens

	cancels []cancellation // made when mu is unlocked
	events  outbox
}

// A queue has the waiting requests of a gate.
type queue struct {
	arrivals    uint64 // number of requests so far
	interactive list.List[waiter]
	background  backlog
	// waiters for further use; one for each gate, because a test with a fake clock may not use
	// another's channels
	granted sync.Pool
}

// A calls has the running calls of a gate, and counts them.
type calls struct {
	starts uint64  // number of calls so far
	slots  []*slot // all slots that were ever in use at a time
	free   []*slot // the slots that aren't held

	held           int // slots in use
	leaving        int // of these: preempted, and expected to end
	overtaken      int // of these: preempted, and no longer expected to end soon
	interactive    int // of these: interactive calls
	sinceRateLimit int // of these: interactive calls started after the last rate limit, which show whether it is over
}

// A cancellation is a context to cancel when mu is unlocked.
type cancellation struct {
	cancel context.CancelCauseFunc
	cause  error
}

// NewGate returns a gate. Invalid figures of cfg are adjusted to their documented range.
func NewGate(cfg GateConfig) *Gate {
	cfg = cfg.withDefaults()
	return &Gate{
		cfg:      cfg,
		reserved: cfg.reserved(),
		delays:   delays,
		queue:    queue{interactive: list.List[waiter]{Links: inLane}},
		rates:    newRates(&cfg, time.Now()),
	}
}

// Acquire waits until the request may start, and returns its lease.
//
// When ctx ends first, the request leaves the queue, and the error is the context's cause. Other
// errors: a [*QueueFullError], a [*PauseTooLongError], and [ErrClosed].
func (g *Gate) Acquire(ctx context.Context, t AcquireRequest) (Lease, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return Lease{}, context.Cause(ctx)
	}
	t.Tokens = min(max(t.Tokens, 0), maxTokens)
	held, cancel := context.WithCancelCause(ctx)
	now := time.Now()

	g.mu.Lock()
	if err := g.refusal(now); err != nil {
		g.mu.Unlock()
		cancel(err)
		return Lease{}, err
	}
	g.queue.arrivals++
	r := arrival{req: t, rank: rank(t.Priority), seq: g.queue.arrivals, since: now}
	if g.startsAtOnce(&r, now) {
		s := g.hold(&r, cancel, now)
		gen := s.gen
		g.mu.Unlock() // there are no events or cancellations to deliver
		return Lease{slot: s, gen: gen, ctx: held}, nil
	}
	if !t.Interactive && g.queue.background.n >= g.cfg.Queue {
		err := &QueueFullError{Gate: g.cfg.Name, Queue: g.cfg.Queue, Priority: int(r.rank)}
		g.totals.Rejected++
		g.emit(Event{Kind: EventRejected, Session: t.Session, Priority: int(r.rank)})
		g.cancels = append(g.cancels, cancellation{cancel, err})
		g.unlock()
		return Lease{}, err
	}
	w := g.queue.newWaiter(&r, cancel)
	g.enqueue(w, now)
	return g.await(ctx, held, w)
}

// refusal returns the error that rejects all requests now, or nil.
func (g *Gate) refusal(now time.Time) error {
	if g.closed {
		return ErrClosed
	}
	return g.tooLong(now)
}

// startsAtOnce reports whether r needs no queue: nothing is ahead of it, it may start, and that
// changes no time that a waiting request was given.
func (g *Gate) startsAtOnce(r *arrival, now time.Time) bool {
	if g.backoff.paused || g.queue.interactive.Len > 0 || g.next.waiter != nil {
		return false
	}
	if r.req.Interactive {
		if g.calls.held-g.calls.overtaken >= g.cfg.Slots {
			return false
		}
	} else if g.queue.background.n > 0 || !g.backgroundMayStart() || !g.onTrial(now).IsZero() {
		return false
	}
	_, _, ok := g.rates.ready(r.req.Tokens, 0, 0, now)
	return ok
}

// enqueue puts w into its queue. It is called under mu.
func (g *Gate) enqueue(w *waiter, now time.Time) {
	if !w.req.Interactive {
		g.queue.background.push(w)
	} else {
		w.ahead = g.queue.interactive.Len
		if w.returned {
			w.ahead = 0
			insertReturned(&g.queue.interactive, w)
		} else {
			g.queue.interactive.PushBack(w)
		}
	}
	g.dispatch(now)
}

// leave removes w from the queue, or releases the slot that it was granted too late.
func (g *Gate) leave(w *waiter) {
	now := time.Now()
	g.mu.Lock()
	switch w.state {
	case failed:
		g.mu.Unlock()
		return
	case waiting:
		g.dequeue(w, false)
		w.state, w.err = failed, context.Canceled
	case granted:
		g.end(w.slot, verdict{Outcome: Outcome{Unsent: true}}, now)
	}
	g.totals.Abandoned++
	g.dispatch(now)
	g.unlock()
}

// dequeue removes w from its lane.
func (g *Gate) dequeue(w *waiter, starts bool) {
	if w.req.Interactive {
		g.queue.interactive.Remove(w)
	} else {
		g.queue.background.remove(w, starts)
	}
}

// fail removes w from the queue and rejects it.
func (g *Gate) fail(w *waiter, err error) {
	g.dequeue(w, false)
	w.state, w.err = failed, err
	w.signal()
}

// failAll rejects all waiting requests.
func (g *Gate) failAll(err error) {
	for g.queue.interactive.Head != nil {
		g.fail(g.queue.interactive.Head, err)
	}
	for w := g.queue.background.next(); w != nil; w = g.queue.background.next() {
		g.fail(w, err)
	}
	g.setNext(nil, "", time.Time{})
}

// inform wakes all requests that report why they wait.
func (g *Gate) inform() {
	if g.news != nil {
		close(g.news)
		g.news = nil
	}
}

// unlock unlocks mu, then makes the cancellations and delivers the events that were decided under
// it, because foreign code must run without a lock.
func (g *Gate) unlock() {
	cancels := g.cancels
	g.cancels = nil
	tells := g.events.ready()
	g.mu.Unlock()
	for _, c := range cancels {
		c.cancel(c.cause)
	}
	if tells {
		g.deliver()
	}
}
