package tools

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/internal/lazyctx"
)

// callContext is the context of a running call. It ends once, for the first of three reasons: the run's context has ended,
// the time limit is reached, or the call is over.
//
// Of the standard contexts only a deadline of their own can end with DeadlineExceeded, and ours moves; so after the time limit
// Err returns that, while a context that was derived before returns Canceled. The cause of both is the *TimeoutError.
type callContext struct {
	lazyctx.Context // its Parent is the run's
	call            *Call
	d               *Definition
	runner          *Runner
	began           time.Duration // by the runner's clock

	// of the goroutine that runs the call
	attempts int
	failures [retryClasses]uint8 // attempts that failed and were followed by another

	limit time.Duration // guarded by runner.mu: from began to the deadline

	late atomic.Pointer[TimeoutError] // the time limit is reached; the cause, unless something else was faster
}

type callKey struct{}

// Value returns the callContext itself for callKey, else what the run's context has.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// Deadline returns when the call's time is up at the latest. It stays the same if progress moves the time limit: else a
// context derived with a later deadline would rely on this one's, and outlive its own.
func (c *callContext) Deadline() (time.Time, bool) {
	latest := c.runner.clock.Time(c.began + min(c.d.longest(), forever))
	if outer, ok := c.Parent.Deadline(); ok && outer.Before(latest) {
		return outer, true
	}
	return latest, true
}

// longest returns how long a call may take at the most, with all the progress in the world.
func (d *Definition) longest() time.Duration {
	if d.spec.Progress {
		return max(ProgressLimit, d.spec.Timeout)
	}
	return d.spec.Timeout
}

// Err returns context.DeadlineExceeded after the call's time limit, and else what the run's context does.
func (c *callContext) Err() error {
	err := c.Context.Err()
	if err == nil {
		return nil
	}
	if timeout, _ := c.why(); timeout != nil {
		return context.DeadlineExceeded
	}
	return err
}

// finish ends the context: at the time limit, or, if timeout is nil, because the call is over. It reports whether that was
// the first reason.
func (c *callContext) finish(timeout *TimeoutError) bool {
	if timeout == nil {
		return c.End(context.Canceled)
	}
	c.late.CompareAndSwap(nil, timeout)
	return c.End(c.late.Load())
}

// why returns why the call should stop, or nil, and whether that is its own time limit.
func (c *callContext) why() (timeout *TimeoutError, cause error) {
	cause = context.Cause(&c.Context)
	if e, ok := cause.(*TimeoutError); ok && e == c.late.Load() { // and not that of a call which this one is part of
		timeout = e
	}
	return timeout, cause
}
