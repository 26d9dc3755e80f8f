package ratelimit

import (
	"context"
	"time"
)

// GateConfig says what a [Gate] holds its calls to. The zero GateConfig is 8 slots and no rates.
type GateConfig struct {
	// Name names the gate in events, errors and snapshots, such as "anthropic".
	Name string
	// Slots is how many calls may run at a time; 0 or less: 8.
	Slots int
	// Keep is the share of the slots that is kept free for people, rounded up, from two slots on at least one and never
	// all; 0: 0.2. Less than 0 keeps none, more than 1 counts as 1.
	Keep float64
	// Overcommit lets people's calls exceed the slots: they never wait for one. Background calls are still preempted to make up for it.
	Overcommit bool
	// RequestsPerMinute and TokensPerMinute are rates; 0 or less is no limit. A minute's worth may go at once.
	RequestsPerMinute, TokensPerMinute int64
	// MaxRetryAfter is the longest pause asked for by a provider that requests wait for; 0 or less: 5 min. If it asks for
	// more, they get a [*PauseTooLongError].
	MaxRetryAfter time.Duration
	// Queue is how many background requests may wait; 0 or less: 10,000. Past it, those of the lowest priority are refused
	// with a [*QueueFullError], the last that came first; calls that were preempted or rate limited never are. People's
	// requests aren't counted.
	Queue int
	// SoftLimits warn when use comes near them.
	SoftLimits []SoftLimit
	// OnEvent, if not nil, is told what happens to the gate: in order, one event at a time, with no lock held, in the
	// goroutine of whoever caused it or of a timer. It should be quick; it may call the gate, but not wait for it.
	OnEvent func(Event)
}

// A Gate decides which calls to one provider and credential run now and which wait. Make one with [NewGate]. It is safe for
// concurrent use.
type Gate struct {
	cfg GateConfig
}

type slot struct{}

// NewGate returns a gate. A figure of cfg that makes no sense is brought into its documented range.
func NewGate(cfg GateConfig) *Gate { return &Gate{cfg: cfg} }

// Acquire waits until the request may start, and returns its lease.
//
// When ctx ends first, the request is gone from the queue, and the error is the context's cause. Other errors: a
// [*QueueFullError], a [*PauseTooLongError], and [ErrClosed].
func (g *Gate) Acquire(ctx context.Context, t Ticket) (Lease, error) { return Lease{}, ErrClosed }

// Context returns the context to make the call with: that of Acquire or Again, and cancelled with the cause [ErrPreempted] when the
// slot is wanted, with [ErrClosed] when the gate is closed, and when the lease ends. Of the zero Lease it is the background
// context.
func (l Lease) Context() context.Context { return context.Background() }

// Preempted reports whether a person's request wants the slot. Unlike the context's cause it doesn't speak of other gates.
func (l Lease) Preempted() bool { return false }

// Pin makes sure that the call is not preempted from now on, and reports whether it came in time: false if the slot is
// wanted already, or the lease has ended. Pinning twice is harmless.
func (l Lease) Pin() bool { return false }

// Release gives the slot back. Releasing a lease that has ended does nothing.
func (l Lease) Release(o Outcome) {}

// Again gives the slot back and waits for another one, at the head of its session: in the place that the request had when it
// first came. It is for calls that were preempted or rate limited. The estimate, OnWait and the rest of the ticket stay
// as they were. Errors are those of [Gate.Acquire], but never a [*QueueFullError], and [ErrReleased].
func (l Lease) Again(ctx context.Context, o Outcome) (Lease, error) { return Lease{}, ErrReleased }

// PauseBackground keeps background requests from starting until resume is called, for a reason that is shown in waits and
// snapshots. What runs goes on. Pauses overlap: the lane opens when the last one is lifted. Calling resume again does
// nothing.
func (g *Gate) PauseBackground(reason string) (resume func()) { return func() {} }

// Pause keeps everything from starting for d, as a rate limit would, but leaves the steps of the back-off alone. It
// never shortens a pause. It is for a rate limit that is known from elsewhere, such as another gate of the same account.
func (g *Gate) Pause(d time.Duration) {}

// Drain closes the gate to new requests, releases every one that waits with [ErrClosed], and waits until the calls that run have ended. If
// ctx ends first, the error is its cause.
func (g *Gate) Drain(ctx context.Context) error { return nil }

// Close closes the gate: it releases every request that waits with [ErrClosed], and cancels the contexts of the calls that
// run with that cause, without waiting for them. Closing twice is harmless.
func (g *Gate) Close() {}

// Snapshot returns what the gate is doing.
func (g *Gate) Snapshot() Snapshot { return Snapshot{} }

// Do runs fn with a slot of g and returns what it returned.
func Do[T any](ctx context.Context, g *Gate, t Ticket, fn func(context.Context) (T, error)) (T, error) {
	return fn(ctx)
}
