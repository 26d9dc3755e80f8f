package tools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Runner executes calls, one after the other, and keeps its timer from one to the next. The zero Runner is ready for
// use. It isn't safe for concurrent use.
type Runner struct {
	timer *time.Timer

	mu      sync.Mutex // guards current
	current *callContext
}

// begin makes the context of a call that starts now.
func (r *Runner) begin(ctx context.Context, d *Definition, call *Call) *callContext {
	now := time.Now()
	c := &callContext{parent: ctx, call: call, d: d, runner: r, began: now, deadline: now.Add(d.spec.Timeout)}
	if d.spec.Progress {
		c.limit = now.Add(max(ProgressLimit, d.spec.Timeout))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = c
	if r.timer == nil {
		r.timer = time.AfterFunc(d.spec.Timeout, r.ring)
	} else {
		r.timer.Reset(d.spec.Timeout)
	}
	return c
}

// end is called when the tool's function has returned.
func (r *Runner) end(c *callContext) {
	r.mu.Lock()
	r.current = nil
	r.timer.Stop()
	r.mu.Unlock()
	c.finish(context.Canceled, context.Canceled)
}

// ring is the timer's. It may come late, for a call that has ended, and then means nothing.
func (r *Runner) ring() {
	r.mu.Lock()
	c := r.current
	late := c != nil && !time.Now().Before(c.deadline)
	r.mu.Unlock()
	if !late {
		return
	}
	c.finish(context.DeadlineExceeded, &TimeoutError{Tool: c.d.spec.Name, After: time.Since(c.began).Round(time.Millisecond)})
	if c.call.OnTimeout != nil {
		c.call.OnTimeout(c.call)
	}
}

// extend moves the deadline of a call that has shown a sign of progress.
func (r *Runner) extend(c *callContext) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != c || !c.d.spec.Progress {
		return
	}
	now := time.Now()
	to := now.Add(ProgressExtends)
	if to.After(c.limit) {
		to = c.limit
	}
	if now.Before(c.deadline) && to.After(c.deadline) {
		c.deadline = to
		r.timer.Reset(to.Sub(now))
	}
}

// callContext is the context of a running call. Most calls are over before anybody asks whether they should stop, so what
// is needed for that, a standard cancelCtx, is made when Done is called first. Value finds it then, and contexts derived
// from this one cost no goroutine.
type callContext struct {
	parent context.Context
	call   *Call
	d      *Definition
	runner *Runner
	began  time.Time

	// guarded by runner.mu
	deadline time.Time
	limit    time.Time // progress moves the deadline no further

	mu     sync.Mutex // guards what follows
	inner  context.Context
	cancel context.CancelCauseFunc
	err    error // the call has ended: what Err returns
	cause  error
}

type callKey struct{}

// Done returns the channel that is closed when the call should stop.
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithCancelCause(c.parent)
		if c.err != nil {
			c.cancel(c.cause)
		}
	}
	return c.inner.Done()
}

// Err returns context.DeadlineExceeded after the call's time limit, and else what the run's context does.
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return c.parent.Err()
}

// Value returns the callContext itself for callKey, else what the run's context has.
func (c *callContext) Value(key any) any {
	if _, ok := key.(callKey); ok {
		return c
	}
	c.mu.Lock()
	inner := c.inner
	c.mu.Unlock()
	if inner != nil {
		return inner.Value(key)
	}
	return c.parent.Value(key)
}

// Deadline returns when the call's time is up, as things stand.
func (c *callContext) Deadline() (time.Time, bool) {
	c.runner.mu.Lock()
	deadline := c.deadline
	c.runner.mu.Unlock()
	if outer, ok := c.parent.Deadline(); ok && outer.Before(deadline) {
		return outer, true
	}
	return deadline, true
}

// finish ends the context. Of several reasons the first counts.
func (c *callContext) finish(err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err, c.cause = err, cause
	if c.cancel != nil {
		c.cancel(cause)
	}
}

// why returns why the call should stop, or nil.
func (c *callContext) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	return context.Cause(c.parent)
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
