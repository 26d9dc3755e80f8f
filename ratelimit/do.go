package ratelimit

import (
	"context"

	"github.com/pawlkit/pawl/circuit/fault"
)

// maxAttempts is how often Do makes a call that runs into rate limits, including the first time.
const maxAttempts = 10

// Do waits for a slot of g, calls fn, and returns its result. It is for services that use a gate
// without an agent.
//
// When the call is preempted, fn's context is canceled with the cause [ErrPreempted]; if fn then
// returns an error, it is called again with the next slot. So fn should have no effect before it
// succeeds, or t.NoPreempt should be set. A call that is preempted and doesn't end within a second
// runs beside the one that has its slot. An error of class fault.RateLimited pauses the gate, and
// fn is called again after the pause, at most ten times in all. Any other error is returned
// unchanged; errors of the gate are those of [Gate.Acquire]. fn counts as one request and t.Tokens
// tokens each time.
func Do[T any](ctx context.Context, g *Gate, t AcquireRequest, fn func(context.Context) (T, error)) (T, error) {
	var none T
	if g == nil || fn == nil {
		return none, fault.New(fault.Permanent, "ratelimit: Do needs a gate and a function")
	}
	lease, err := g.Acquire(ctx, t)
	for attempt := 1; err == nil; {
		value, failure := run(lease, fn)
		done := Outcome{Err: failure}
		switch {
		case failure == nil:
			lease.Release(done)
			return value, nil
		case lease.Preempted():
		case classify(done).limited && attempt < maxAttempts:
			attempt++
		default:
			lease.Release(done)
			return value, failure
		}
		lease, err = lease.Requeue(ctx, done)
	}
	return none, err
}

// run calls fn, and gives the slot back if fn doesn't return.
func run[T any](lease Lease, fn func(context.Context) (T, error)) (T, error) {
	returned := false
	defer func() {
		if !returned {
			lease.Release(Outcome{Err: context.Canceled}) // it neither succeeded nor failed
		}
	}()
	value, err := fn(lease.Context())
	returned = true
	return value, err
}
