package tools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Runner executes calls, one after the other, and keeps its timer from one to the next. The zero Runner is ready for
// use. It isn't safe for concurrent use, and must not be copied after its first use.
type Runner struct {
	// Breakers has the breakers that Execute asks; nil: none. It is shared by all that call the same resources.
	// circuit.Tool() has figures for it; its ProbeTimeout shouldn't be shorter than the longest time limit of a tool.
	Breakers *circuit.Set

	pass Pass // of Execute

	mu      sync.Mutex // guards what follows
	timer   *time.Timer
	current *callContext

	ringing sync.WaitGroup // of ring, while it deals with the current call
}

// Execute runs an admitted call on this goroutine and returns when the tool's function does, for the last time if it is
// tried again. It asks the tool's breaker, contains panics, ends the call's context at its time limit, and bounds the output.
// A tool that ends its goroutine (runtime.Goexit, as FailNow does) takes this function with it: callers that must not lose
// the call see to that in a defer. The Call mustn't be changed afterwards, because the tool may have kept it.
func (r *Runner) Execute(ctx context.Context, d *Definition, c *Call) Outcome {
	if refused := r.pass.Take(d, r.Breakers); refused != nil {
		return *refused
	}
	return r.ExecuteWith(ctx, d, c, &r.pass)
}

// ExecuteWith is [Runner.Execute] for a caller that has asked the tool's breaker itself. It ends the pass; nil is one of a
// tool without a breaker.
func (r *Runner) ExecuteWith(ctx context.Context, d *Definition, c *Call, pass *Pass) Outcome {
	defer pass.Cancel() // also if the tool ends its goroutine
	if d == nil || d.run == nil || c == nil {
		return *refuse(Unknown, fault.NotFound, "there is no tool")
	}
	if ctx == nil {
		ctx = context.Background()
	}
	cc := r.begin(ctx, d, c)
	defer r.end(cc)
	res, err := d.attempt(cc, c)
	for err != nil {
		r.ring() // a tool that minds the deadline itself may be faster than the timer
		if !r.again(cc, pass, err) {
			break
		}
		res, err = d.attempt(cc, c)
	}
	var out Outcome
	if err == nil {
		out = d.success(res)
	} else {
		out = d.failure(cc, err)
	}
	out.Attempts, out.Took = cc.attempts, time.Since(cc.began)
	pass.close(&out)
	return out
}

// begin makes the context of a call that starts now.
func (r *Runner) begin(ctx context.Context, d *Definition, call *Call) *callContext {
	now := time.Now()
	c := &callContext{parent: ctx, call: call, d: d, runner: r, began: now, deadline: now.Add(d.spec.Timeout)}
	d.letGo(now)
	c.latest = c.deadline
	if d.spec.Progress {
		c.latest = now.Add(max(ProgressLimit, d.spec.Timeout))
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

// end is called when the tool's function has returned. After it nobody is told of the call's time limit.
func (r *Runner) end(c *callContext) {
	r.mu.Lock()
	r.current = nil
	r.timer.Stop()
	r.mu.Unlock()
	r.ringing.Wait()
	c.finish(nil)
}

// ring ends a call whose time is up. It may come late, for a call that has ended, or twice, and then means nothing.
func (r *Runner) ring() {
	r.mu.Lock()
	c := r.current
	if c == nil || time.Now().Before(c.deadline) {
		r.mu.Unlock()
		return
	}
	limit := c.deadline.Sub(c.began)
	r.ringing.Add(1)
	r.mu.Unlock()
	defer r.ringing.Done()
	if c.finish(&TimeoutError{Tool: c.d.spec.Name, After: limit}) && c.call.OnTimeout != nil {
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
	if to.After(c.latest) {
		to = c.latest
	}
	if now.Before(c.deadline) && to.After(c.deadline) {
		c.deadline = to
		r.timer.Reset(to.Sub(now))
	}
}

// A TimeoutError is the cause with which the context of a call ends at its time limit.
type TimeoutError struct {
	Tool  string
	After time.Duration // the limit: Spec.Timeout, or what progress made of it
}

// Error says how long the call was given.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("tools: %s took longer than its time limit of %v", e.Tool, e.After)
}

// Fault returns Transient.
func (e *TimeoutError) Fault() fault.Class { return fault.Transient }

// Is reports a TimeoutError as [context.DeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
