package lazyctx

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Context ends with its Parent or with End or Cancel, whichever comes first. It is safe for concurrent use, and must not be
// copied after its first use.
type Context struct {
	Parent context.Context // fixed at creation

	mu    sync.Mutex // held to write what follows; Err looks at it without
	ended atomic.Bool
	asked atomic.Pointer[standard] // nil until somebody asks for Done
	cause error                    // of the End that came first, if there was no standard context; set before ended
}

// A standard is the context that the context package knows, and what ends it.
type standard struct {
	context.Context
	cancel context.CancelCauseFunc
}

// End ends the context unless it has ended, and reports whether it has: Err returns context.Canceled from then on, and
// context.Cause returns cause, whose type has to be comparable; nil is context.Canceled.
func (c *Context) End(cause error) bool {
	if cause == nil {
		cause = context.Canceled
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.end(cause) {
		return false
	}
	std := c.asked.Load()
	return std == nil || context.Cause(std) == cause // else the parent ended just now
}

// Cancel is End for those who needn't know what came first. The cause may be of any type.
func (c *Context) Cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(cause)
}

// end reports whether the context hadn't ended. mu is held.
func (c *Context) end(cause error) bool {
	if c.look() != nil {
		return false
	}
	if std := c.asked.Load(); std != nil {
		std.cancel(cause)
	} else {
		c.cause = cause
		c.ended.Store(true)
	}
	return true
}

// Deadline returns the parent's.
func (c *Context) Deadline() (deadline time.Time, ok bool) { return c.Parent.Deadline() }

// Done returns the channel that is closed when the call should stop.
func (c *Context) Done() <-chan struct{} {
	if std := c.asked.Load(); std != nil {
		return std.Done()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.std().Done()
}

// Err returns context.Canceled after End, or what the parent returns if that has ended first.
func (c *Context) Err() error {
	if c.look() == nil {
		return nil
	}
	c.mu.Lock() // which of them was first
	defer c.mu.Unlock()
	return c.look()
}

// Value returns what the parent has, and lets the context package find the standard context and the cause.
func (c *Context) Value(key any) any {
	if std := c.asked.Load(); std != nil {
		return std.Value(key)
	}
	if !c.ended.Load() {
		return c.Parent.Value(key)
	}
	c.mu.Lock()
	std := c.std()
	c.mu.Unlock()
	return std.Value(key)
}

// look returns what Err does, if mu is held. Once there is a standard context, that decides whether the parent has ended, so
// that Err, Done and derived contexts agree.
func (c *Context) look() error {
	if std := c.asked.Load(); std != nil {
		return std.Err()
	}
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Parent.Err()
}

// std returns the standard context behind this one. mu is held.
func (c *Context) std() *standard {
	if std := c.asked.Load(); std != nil {
		return std
	}
	from := c.Parent
	if c.ended.Load() {
		from = context.WithoutCancel(from) // what happens to it from now on means nothing here
	}
	std := new(standard)
	std.Context, std.cancel = context.WithCancelCause(from)
	if c.ended.Load() {
		std.cancel(c.cause)
	}
	c.asked.Store(std)
	return std
}
