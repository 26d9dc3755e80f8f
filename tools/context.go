package tools

import (
	"context"
	"sync"
	"time"
)

// callContext is the context of a running call. Most calls are over before anybody asks whether they should stop, so what
// is needed for that, a standard cancelCtx, is made when Done is called first. Value finds it then, and contexts derived
// from this one cost no goroutine.
//
// It ends once, for the first of three reasons: the run's context has ended, the time limit is reached, or the call is
// over. Of the standard context only a deadline of its own can end with DeadlineExceeded, and ours moves; so after the
// time limit Err returns that, while a derived context returns Canceled. The cause of both is the *TimeoutError.
type callContext struct {
	parent context.Context
	call   *Call
	d      *Definition
	runner *Runner
	began  time.Time

	// of the goroutine that runs the call
	attempts int
	failures [retryClasses]uint8 // attempts that failed and were followed by another

	limit time.Duration // guarded by runner.mu: from began to the deadline

	mu      sync.Mutex // guards what follows
	inner   context.Context
	cancel  context.CancelCauseFunc
	err     error // the context has ended: what Err returns from then on
	cause   error
	timeout *TimeoutError // it has ended at the time limit
}

type callKey struct{}

// Done returns the channel that is closed when the call should stop.
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.std().Done()
}

// Err returns context.DeadlineExceeded after the call's time limit, and else what the run's context does.
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.look()
}

// Value returns the callContext itself for callKey, else what the run's context has.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c
	}
	c.mu.Lock()
	from := c.parent
	if c.inner != nil || c.err != nil {
		from = c.std() // where the context package finds the cause
	}
	c.mu.Unlock()
	return from.Value(key)
}

// Deadline returns when the call's time is up at the latest. It stays the same if progress moves the time limit: else a
// context derived with a later deadline would rely on this one's, and outlive its own.
func (c *callContext) Deadline() (time.Time, bool) {
	latest := c.began.Add(c.d.longest())
	if outer, ok := c.parent.Deadline(); ok && outer.Before(latest) {
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

// std returns the standard context behind this one. mu is held.
func (c *callContext) std() context.Context {
	if c.inner == nil {
		from := c.parent
		if c.err != nil {
			from = context.WithoutCancel(from) // what happens to the run from now on means nothing here
		}
		c.inner, c.cancel = context.WithCancelCause(from)
		if c.err != nil {
			c.cancel(c.cause)
		}
	}
	return c.inner
}

// look notes whether the run's context has ended, and returns what Err does. Once there is a standard context, that decides,
// so that Err, Done and derived contexts agree. mu is held.
func (c *callContext) look() error {
	if c.err != nil {
		return c.err
	}
	from := c.parent
	if c.inner != nil {
		from = c.inner
	}
	if err := from.Err(); err != nil {
		c.err, c.cause = err, context.Cause(from)
	}
	return c.err
}

// finish ends the context: at the time limit, or, if timeout is nil, because the call is over. It reports whether that was
// the first reason.
func (c *callContext) finish(timeout *TimeoutError) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.look() != nil {
		return false
	}
	err, cause := context.Canceled, context.Canceled
	if timeout != nil {
		err, cause = context.DeadlineExceeded, timeout
	}
	if c.inner != nil {
		c.cancel(cause)
		if got := context.Cause(c.inner); !identical(got, timeout) { // also if the run's context ended just now
			c.err, c.cause = c.inner.Err(), got
			return timeout == nil
		}
	}
	c.err, c.cause, c.timeout = err, cause, timeout
	return true
}

// identical reports whether err is this very TimeoutError. Causes are foreign errors, which may not be comparable.
func identical(err error, timeout *TimeoutError) bool {
	e, ok := err.(*TimeoutError)
	return ok && timeout != nil && e == timeout
}

// why returns why the call should stop, or nil, and whether that is its own time limit.
func (c *callContext) why() (timeout *TimeoutError, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.timeout, c.cause
}
