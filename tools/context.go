package tools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A running is a call that is being executed. Its context ends once, for the first of three
// reasons: the context of the run has ended, the time limit is reached, or the call is over.
type running struct {
	context.Context // of the run; with Value, the parent of ctx

	// fixed at the start
	d       *Definition
	call    *Call
	began   time.Time
	ctx     context.Context // of the call
	cancel  context.CancelFunc
	timeout TimeoutError // the cause of ctx at its deadline

	// OnTimeout runs on its own goroutine. These fields stop it or wait for it; nil without
	// OnTimeout.
	stopNotice func() bool
	noticed    chan struct{}

	// of the goroutine that runs the call
	attempts int
	failures [fault.Denied + 1]int // attempts that failed and were followed by another

	mu    sync.Mutex    // guards what follows
	limit time.Duration // from began; progress moves it
	timer *time.Timer   // ends the context at limit; nil without Spec.Progress
}

type callKey struct{}

// start makes the context of a call that starts now. Its Deadline is the latest time to which
// progress can move the time limit, and a timer ends it at the current limit. The Deadline mustn't
// move, because a derived context with a later deadline has no timer of its own.
func start(parent context.Context, d *Definition, c *Call) *running {
	r := &running{d: d, call: c, began: time.Now(), Context: parent, limit: d.spec.Timeout}
	longest := r.limit
	if d.spec.Progress {
		longest = max(d.spec.ProgressLimit, longest)
	}
	r.timeout = TimeoutError{Tool: d.spec.Name, After: longest}
	r.ctx, r.cancel = context.WithDeadlineCause(r, r.began.Add(longest), &r.timeout)
	if d.spec.Progress {
		ctx, cancel := context.WithCancelCause(r.ctx)
		r.ctx = ctx
		r.timer = time.AfterFunc(r.limit, func() { r.expire(cancel) })
	}
	if c.OnTimeout != nil {
		r.noticed = make(chan struct{})
		r.stopNotice = context.AfterFunc(r.ctx, func() {
			defer close(r.noticed)
			if timeout, _ := r.ended(); timeout != nil {
				c.OnTimeout(c)
			}
		})
	}
	return r
}

// Value returns the running call itself for callKey, so that functions with ctx find the call.
func (r *running) Value(key any) any {
	if key == (callKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// end releases the context. OnTimeout isn't called after it.
func (r *running) end() {
	if r.stopNotice != nil && !r.stopNotice() {
		<-r.noticed
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.cancel()
}

// expire is called by the timer. It does nothing if progress has moved the limit meanwhile, and
// with it the timer.
func (r *running) expire(cancel context.CancelCauseFunc) {
	r.mu.Lock()
	limit := r.limit
	r.mu.Unlock()
	if time.Since(r.began) >= limit {
		cancel(&TimeoutError{Tool: r.d.spec.Name, After: limit})
	}
}

// extend moves the time limit of a call that has reported progress.
func (r *running) extend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	took := time.Since(r.began)
	if to := min(took+ProgressExtends, r.d.spec.ProgressLimit); r.timer != nil && took < r.limit && to > r.limit {
		r.limit = to
		r.timer.Reset(to - took)
	}
}

// deadline returns the current time limit of the call.
func (r *running) deadline() time.Time {
	r.mu.Lock()
	end := r.began.Add(r.limit)
	r.mu.Unlock()
	if outer, ok := r.ctx.Deadline(); ok && outer.Before(end) {
		return outer
	}
	return end
}

// awaitTimeout waits for the end of the context if the time is up: a tool that minds the deadline
// itself may be faster than the timer.
func (r *running) awaitTimeout() {
	if !time.Now().Before(r.deadline()) {
		<-r.ctx.Done()
	}
}

// ended returns why the context has ended, or nil. The timeout is set as well if the reason is the
// time limit of this call, and not of an enclosing call.
func (r *running) ended() (timeout *TimeoutError, cause error) {
	cause = context.Cause(r.ctx)
	if t, ok := cause.(*TimeoutError); ok && cause != context.Cause(r.Context) {
		timeout = t
	}
	return timeout, cause
}

// A TimeoutError is the cause with which the context of a call ends at its time limit.
type TimeoutError struct {
	Tool  string
	After time.Duration // the limit: Spec.Timeout, or as moved by progress
}

// Error names the tool and its time limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("tools: %s took longer than its time limit of %v", e.Tool, e.After)
}

// Fault returns Transient.
func (e *TimeoutError) Fault() fault.Class { return fault.Transient }

// Is reports whether target is [context.DeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
