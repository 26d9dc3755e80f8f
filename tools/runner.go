package tools

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/alarm"
	"github.com/pawlkit/pawl/internal/lazyctx"
)

// A Runner executes calls, one after the other. The zero Runner is ready for use. It isn't safe for concurrent use, and must
// not be copied after its first use.
type Runner struct {
	// Breakers has the breakers that Execute asks; nil: none. It is shared by all that call the same resources.
	// circuit.Tool() has figures for it; its ProbeTimeout shouldn't be shorter than the longest time limit of a tool.
	Breakers *circuit.Set

	pass   *Pass        // of Execute
	clock  *alarm.Clock // fixed with the first call
	shared bool         // the clock is of others, too

	mu      sync.Mutex // guards what follows
	current *callContext
	ringing sync.WaitGroup // of ring, while it deals with the current call
}

// Share has the Runner use a clock that is of others, too, and that they stop. It is called before the first call. Without it,
// each call that ends stops a timer that the next has to start again.
func (r *Runner) Share(c *alarm.Clock) { r.clock, r.shared = c, true }

// Execute runs an admitted call on this goroutine and returns when the tool's function does, for the last time if it is
// tried again. It asks the tool's breaker, contains panics, ends the call's context at its time limit, and bounds the output.
// A tool that ends its goroutine (runtime.Goexit, as FailNow does) takes this function with it: callers that must not lose
// the call see to that in a defer. The Call mustn't be changed afterwards, because the tool may have kept it.
func (r *Runner) Execute(ctx context.Context, d *Definition, c *Call) Outcome {
	if r.pass == nil {
		r.pass = new(Pass)
	}
	if refused := r.pass.Take(d, r.Breakers); refused != nil {
		return *refused
	}
	return r.ExecuteWith(ctx, d, c, r.pass)
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
	out.Attempts, out.Took = cc.attempts, r.clock.Now()-cc.began
	pass.close(&out)
	return out
}

// begin makes the context of a call that starts now.
func (r *Runner) begin(ctx context.Context, d *Definition, call *Call) *callContext {
	if r.clock == nil {
		r.clock = alarm.New()
	}
	c := &callContext{Context: lazyctx.Context{Parent: ctx}, call: call, d: d, runner: r, began: r.clock.Now(), limit: d.spec.Timeout}
	d.letGo(r.clock.Time(c.began))
	r.mu.Lock()
	r.current = c
	r.mu.Unlock()
	r.clock.Set((*ringer)(r), c.began, c.limit)
	return c
}

// forever is longer than any limit, and short enough to add to a time.
const forever = math.MaxInt64 / 4

// end is called when the tool's function has returned. After it nobody is told of the call's time limit.
func (r *Runner) end(c *callContext) {
	r.mu.Lock()
	r.current = nil
	r.mu.Unlock()
	if !r.shared {
		r.clock.Stop()
	}
	r.ringing.Wait()
	c.finish(nil)
}

// A ringer is a Runner as its clock sees it.
type ringer Runner

// Ring is called when the time of a call may be up.
func (r *ringer) Ring(*alarm.Clock) { (*Runner)(r).ring() }

// ring ends a call whose time is up. It may come late, for a call that has ended, or early, and then means nothing but that
// the timer has to run on.
func (r *Runner) ring() {
	r.mu.Lock()
	c := r.current
	if c == nil {
		r.mu.Unlock()
		return
	}
	now, limit := r.clock.Now(), c.limit
	if rest := limit - (now - c.began); rest > 0 {
		r.clock.Set((*ringer)(r), now, rest)
		r.mu.Unlock()
		return
	}
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
	took := r.clock.Now() - c.began
	if to := min(took+ProgressExtends, c.d.longest()); took < c.limit && to > c.limit {
		c.limit = to // the timer finds out when it rings
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
