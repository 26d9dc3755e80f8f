package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Call is one call on its way. Whoever makes it fills in what it knows; the input is set by [Registry.Admit].
type Call struct {
	Session string
	Run     string
	Step    int
	Index   int // among the calls of the reply, from 0
	ID      string
	Name    string
	Input   json.RawMessage

	// Key is the idempotency key: the same for every attempt at this call, and for no other call.
	Key string
	// Fence grows whenever the session gets another writer; systems that remember the highest can refuse a stale writer.
	Fence uint64
	// By is who approved the call, if somebody had to.
	By string

	Mode string
	// Succeeded reports whether a tool has succeeded in this run, for prerequisites; nil: none has.
	Succeeded func(tool string) bool
	// OnProgress is told of progress, and OnTimeout that the time limit was reached and the call's context has ended; each
	// may be nil. They are called from any goroutine while the call runs.
	OnProgress func(*Call, ProgressNote)
	OnTimeout  func(*Call)
}

// A ProgressNote is what a running call reports.
type ProgressNote struct {
	Text string
	Done float64 // from 0 to 1; 0 if unknown
}

// callContext is the context of a running call. It wraps a standard cancelCtx, and Value still finds that, so contexts
// derived from it cost no goroutine.
type callContext struct {
	context.Context
	call *Call
	d    *Definition

	mu       sync.Mutex // guards what follows
	timer    *time.Timer
	deadline time.Time
	limit    time.Time // progress moves the deadline no further
	ended    bool
}

type callKey struct{}

// Value returns the callContext itself for callKey, else what the wrapped context has.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// Deadline returns when the call's time is up, as things stand.
func (c *callContext) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if outer, ok := c.Context.Deadline(); ok && outer.Before(c.deadline) {
		return outer, true
	}
	return c.deadline, true
}

// A TimeoutError is the cause with which the context of a call ends at its time limit.
type TimeoutError struct {
	Tool  string
	After time.Duration
}

// Error says how long the call was given.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("tools: %s took longer than its time limit of %v", e.Tool, e.After)
}

// Fault returns Transient.
func (e *TimeoutError) Fault() fault.Class { return fault.Transient }

// Is reports a TimeoutError as context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// withCall returns the context of a call that starts now, and what ends it.
func withCall(ctx context.Context, d *Definition, c *Call) (*callContext, func()) {
	inner, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	cc := &callContext{Context: inner, call: c, d: d, deadline: now.Add(d.spec.Timeout)}
	if d.spec.Progress {
		cc.limit = now.Add(max(ProgressLimit, d.spec.Timeout))
	}
	cc.timer = time.AfterFunc(d.spec.Timeout, func() {
		cancel(&TimeoutError{Tool: d.spec.Name, After: time.Since(now).Round(time.Millisecond)})
		if c.OnTimeout != nil {
			c.OnTimeout(c)
		}
	})
	return cc, func() {
		cc.mu.Lock()
		cc.ended = true
		cc.timer.Stop()
		cc.mu.Unlock()
		cancel(nil)
	}
}

// extend moves the deadline after a sign of progress.
func (c *callContext) extend() {
	if !c.d.spec.Progress {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.Context.Err() != nil {
		return
	}
	now := time.Now()
	to := now.Add(ProgressExtends)
	if to.After(c.limit) {
		to = c.limit
	}
	if to.After(c.deadline) && c.timer.Reset(to.Sub(now)) {
		c.deadline = to
	}
}

// CallOf returns the call that ctx belongs to. What it points to mustn't be changed.
func CallOf(ctx context.Context) (*Call, bool) {
	if c, ok := ctx.Value(callKey{}).(*callContext); ok {
		return c.call, true
	}
	return nil, false
}

// Key returns the idempotency key of the call that ctx belongs to, or "" outside of a call. It is the same for every
// attempt at the call, in every process: give it to systems that remember such keys.
func Key(ctx context.Context) string {
	if c, ok := CallOf(ctx); ok {
		return c.Key
	}
	return ""
}

// Fence returns the fencing number of the run that the call belongs to, or 0 outside of a call. It grows whenever
// another process takes a session over.
func Fence(ctx context.Context) uint64 {
	if c, ok := CallOf(ctx); ok {
		return c.Fence
	}
	return 0
}

// Progress reports what a running call is doing. With Spec.Progress it also moves the call's time limit. Outside of a
// call it does nothing.
func Progress(ctx context.Context, note ProgressNote) {
	c, ok := ctx.Value(callKey{}).(*callContext)
	if !ok {
		return
	}
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	if ended {
		return
	}
	c.extend()
	if c.call.OnProgress != nil {
		c.call.OnProgress(c.call, note)
	}
}
