package lazyctx

import (
	"context"
	"sync"
	"time"
)

// A Context ends with its Parent or with End, whichever comes first. It is safe for concurrent use, and must not be copied
// after its first use.
type Context struct {
	Parent context.Context // fixed at creation

	mu     sync.Mutex // guards what follows
	inner  context.Context
	cancel context.CancelCauseFunc
	cause  error // of the End that came first
}

// End ends the context unless it has ended, and reports whether it has: Err returns context.Canceled from then on, and
// context.Cause returns cause, whose type has to be comparable.
func (c *Context) End(cause error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.look() != nil {
		return false
	}
	if c.inner != nil {
		if c.cancel(cause); context.Cause(c.inner) != cause { // the parent ended just now
			return false
		}
	}
	c.cause = cause
	return true
}

// Deadline returns the parent's.
func (c *Context) Deadline() (deadline time.Time, ok bool) { return c.Parent.Deadline() }

// Done returns the channel that is closed when the call should stop.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.std().Done()
}

// Err returns context.Canceled after End, or what the parent returns if that has ended first.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.look()
}

// Value returns what the parent has, and lets the context package find the standard context and the cause.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	from := c.Parent
	if c.inner != nil || c.cause != nil {
		from = c.std()
	}
	c.mu.Unlock()
	return from.Value(key)
}

// look returns what Err does. Once there is a standard context, that decides whether the parent has ended, so that Err, Done
// and derived contexts agree. mu is held.
func (c *Context) look() error {
	switch {
	case c.cause != nil:
		return context.Canceled
	case c.inner != nil:
		return c.inner.Err()
	}
	return c.Parent.Err()
}

// std returns the standard context behind this one. mu is held.
func (c *Context) std() context.Context {
	if c.inner == nil {
		from := c.Parent
		if c.cause != nil {
			from = context.WithoutCancel(from) // what happens to it from now on means nothing here
		}
		c.inner, c.cancel = context.WithCancelCause(from)
		if c.cause != nil {
			c.cancel(c.cause)
		}
	}
	return c.inner
}
