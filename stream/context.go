package stream

import (
	"context"
	"sync"
	"time"
)

// A callContext is what context.WithCancelCause returns, for calls of which most are over before anybody asks whether they
// should stop: the standard context is made when Done is called first. Value finds it then, so that contexts derived from
// this one cost no goroutine.
type callContext struct {
	parent context.Context

	mu     sync.Mutex // guards what follows
	inner  context.Context
	cancel context.CancelCauseFunc
	cause  error // why it has ended, before there was an inner and before the parent; nil: it hasn't
}

// Deadline returns the parent's.
func (c *callContext) Deadline() (deadline time.Time, ok bool) { return c.parent.Deadline() }

// Done returns the channel that is closed when the call should stop.
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.std().Done()
}

// Err returns context.Canceled once the call is over or late, or what the parent does if that has ended first.
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.behind().Err()
}

// Value returns what the parent has, and lets the context package find the cause.
func (c *callContext) Value(key any) any {
	c.mu.Lock()
	from := c.behind()
	c.mu.Unlock()
	return from.Value(key)
}

// end ends the context unless it has ended. A nil cause is context.Canceled.
func (c *callContext) end(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inner != nil:
		c.cancel(cause)
	case c.cause == nil && c.parent.Err() == nil:
		c.cause = cause
	}
}

// behind returns the context that knows how things stand. mu is held.
func (c *callContext) behind() context.Context {
	if c.inner == nil && c.cause == nil {
		return c.parent
	}
	return c.std()
}

// std returns the standard context. mu is held.
func (c *callContext) std() context.Context {
	if c.inner != nil {
		return c.inner
	}
	from := c.parent
	if c.cause != nil {
		from = context.WithoutCancel(from) // what happens to it from now on means nothing here
	}
	c.inner, c.cancel = context.WithCancelCause(from)
	if c.cause != nil {
		c.cancel(c.cause)
	}
	return c.inner
}
