package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A batch is a number of calls that may run in parallel. One worker runs them in order. If that
// takes longer than helpersAfter, more workers start. Fast tools therefore run in call order.
type batch struct {
	x     *driver
	calls []*callRun

	// guarded by mu
	next    int // the first call that no worker has taken
	workers int // that run calls and weren't abandoned
	helpers *time.Timer
}

// runningCalls are the calls that run: a batch on other goroutines, or one on the driving
// goroutine.
type runningCalls struct {
	succeeded func(tool string) bool // driver.succeeded, made once
	batch     *batch
	inline    *callRun
}

const (
	helpersAfter = 100 * time.Microsecond
	// grace is how long a call has to return after its context has ended, before it is abandoned.
	grace = 5 * time.Second
)

// runTogether runs calls and returns when each has its result, is suspended, or was abandoned.
func (x *driver) runTogether(calls []*callRun) {
	switch len(calls) {
	case 0:
	case 1:
		x.runAlone(calls[0])
	default:
		x.runBatch(calls)
	}
}

// runAlone is runTogether for one call. Its start is shown before it runs.
func (x *driver) runAlone(cr *callRun) {
	if x.left || x.ctx.Err() != nil {
		return
	}
	defer cr.pass.Cancel() // of a call that isn't run, whatever the reason
	if !x.startCall(cr) {
		x.flush()
		return
	}
	x.flush()
	switch {
	case x.left || x.ctx.Err() != nil:
		x.refuse(cr, tools.NotRun, fault.None, "the run was stopped.")
	case cr.d.Spec().Inline:
		x.runInline(cr)
	default:
		x.runBatch([]*callRun{cr})
	}
}

// runBatch runs calls on other goroutines.
func (x *driver) runBatch(calls []*callRun) {
	if x.left || x.ctx.Err() != nil {
		return
	}
	b := &batch{x: x, calls: calls}
	if x.deltas {
		for _, cr := range calls {
			cr.call.OnProgress = x.progress
		}
	}
	x.Lock()
	x.running.batch = b
	b.spawn(1)
	if len(calls) > 1 && x.parallel() > 1 {
		x.calls.Add(1)
		b.helpers = time.AfterFunc(helpersAfter, b.help)
	}
	x.Unlock()
	x.wait(b)
	x.Lock()
	x.running.batch = nil
	x.Unlock()
	if b.helpers != nil && b.helpers.Stop() {
		x.calls.Done()
	}
}

// runInline runs a call on the driving goroutine: see tools.Spec.Inline.
func (x *driver) runInline(cr *callRun) {
	x.setInline(cr)
	cr.run()
	x.setInline(nil)
	x.flush()
}

func (x *driver) setInline(cr *callRun) {
	x.Lock()
	defer x.Unlock()
	x.running.inline = cr
}

// parallel returns how many calls may run at a time.
func (x *driver) parallel() int {
	if n := x.Run().Limits.ParallelCalls; n > 0 {
		return n
	}
	return 1 << 20
}

// spawn starts n workers. The caller holds mu.
func (b *batch) spawn(n int) {
	b.workers += n
	b.x.calls.Add(n)
	for range n {
		go b.work()
	}
}

// help starts more workers for the calls that no worker has taken.
func (b *batch) help() {
	defer b.x.calls.Done()
	b.x.Lock()
	defer b.x.Unlock()
	if n := min(len(b.calls)-b.next, b.x.parallel()-b.workers); n > 0 {
		b.spawn(n)
	}
}

// work runs calls until none is left.
func (b *batch) work() {
	x := b.x
	var cr *callRun
	defer func() { // also if a tool ends this goroutine
		x.Lock()
		defer x.Unlock()
		if cr != nil && cr.abandoned { // counted out when it was abandoned
			x.agent.abandoned.Add(-1)
			x.Unlocked(func() {
				x.agent.logger.Warn("agent: a tool call that was abandoned has returned; its result is dropped",
					"session", x.Name, "call", cr.call.ID, "tool", cr.call.Name)
			})
			return
		}
		b.workers--
		if b.next < len(b.calls) && b.workers == 0 {
			b.spawn(1)
		}
		x.Wake()
		x.calls.Done()
	}()
	for {
		x.Lock()
		if b.next == len(b.calls) || cr != nil && cr.abandoned {
			x.Unlock()
			return
		}
		cr = b.calls[b.next]
		b.next++
		x.Unlock()
		cr.run()
		if len(b.calls) > 1 {
			x.Wake()
		}
	}
}

// run executes the call on this goroutine.
func (cr *callRun) run() {
	x := cr.x
	returned := false
	defer func() {
		if !returned {
			cr.goexit()
		}
	}()
	if x.ctx.Err() != nil && !cr.started {
		cr.drop() // the end of the run gives it its result
	} else if cr.started || x.startCall(cr) {
		out := tools.Execute(cr.beginSpan(), cr.d, &cr.call, &cr.pass)
		if !out.Status.Good() && cr.d.Spec().Repeatable() && x.LeaseLost() {
			// the loss has stopped it: the process that has the session next runs it again
			cr.drop()
			cr.endSpan(&out)
		} else {
			x.finishCall(cr, out)
		}
		if out.Suspend == nil && out.Status != tools.OK {
			cr.abandonChild()
		}
	}
	returned = true
}

// wait shows what the calls of a batch do until all have ended. Only the driving goroutine calls
// it.
func (x *driver) wait(b *batch) {
	done := x.ctx.Done()
	var ring <-chan time.Time
	for {
		x.showProgress(b)
		x.flush()
		next, over := x.nextAbandon(b)
		if over {
			x.showProgress(b)
			x.flush()
			return
		}
		if next > 0 {
			ring = time.After(next)
		}
		select {
		case <-x.wake:
		case <-done:
			done = nil
			x.stopped(b)
		case <-ring:
			x.abandonOverdue(b)
		}
	}
}

// nextAbandon returns how long it is until the next call must be abandoned (0: none is overdue),
// and whether all have ended.
func (x *driver) nextAbandon(b *batch) (next time.Duration, over bool) {
	x.Lock()
	defer x.Unlock()
	over = true
	for _, cr := range b.calls {
		if cr.over || cr.abandoned {
			continue
		}
		over = false
		if cr.overdue.IsZero() {
			continue
		}
		if d := max(time.Until(cr.overdue.Add(grace)), time.Nanosecond); next == 0 || d < next {
			next = d
		}
	}
	return next, over
}

// overdue records that a call has reached its time limit. Any goroutine may call it.
func (x *driver) overdue(c *tools.Call) {
	x.Lock()
	if cr := x.runningCall(c); cr != nil && cr.overdue.IsZero() {
		cr.overdue = time.Now()
	}
	x.Unlock()
	x.Wake()
}

// runningCall returns the callRun of a running call, or nil if it has ended. The caller holds mu.
func (x *driver) runningCall(c *tools.Call) *callRun {
	mine := func(cr *callRun) bool { return &cr.call == c && !cr.over && !cr.abandoned }
	if x.running.inline != nil && mine(x.running.inline) {
		return x.running.inline
	}
	if x.running.batch != nil {
		if i := slices.IndexFunc(x.running.batch.calls, mine); i >= 0 {
			return x.running.batch.calls[i]
		}
	}
	return nil
}

// stopped records that the run was stopped while calls ran.
func (x *driver) stopped(b *batch) {
	x.Lock()
	defer x.Unlock()
	for _, cr := range b.calls {
		if cr.overdue.IsZero() {
			cr.overdue = time.Now()
		}
	}
}

// abandonOverdue abandons the calls that haven't returned in time. What they return later is
// dropped.
func (x *driver) abandonOverdue(b *batch) {
	var given []*callRun
	x.Lock()
	for _, cr := range b.calls {
		if cr.over || cr.abandoned || cr.overdue.IsZero() || time.Since(cr.overdue) < grace {
			continue
		}
		if !cr.started { // no worker has taken it: all of them hang
			cr.over = true
			continue
		}
		cr.abandoned = true
		b.workers--
		x.calls.Done()
		x.agent.abandoned.Add(1)
		given = append(given, cr)
	}
	if b.next < len(b.calls) && b.workers == 0 && x.ctx.Err() == nil {
		b.spawn(1)
	}
	x.Unlock()
	for _, cr := range given {
		x.agent.logger.Error("agent: a tool call ignores the end of its context and is abandoned", "session", x.Name,
			"call", cr.call.ID, "tool", cr.call.Name)
		x.finishAbandoned(cr)
	}
}

// finishAbandoned gives an abandoned call its result. It uses a copy of the callRun, because the
// call's goroutine may still use the original.
func (x *driver) finishAbandoned(cr *callRun) {
	if x.ctx.Err() != nil { // a stopped call is no failure for the breaker
		cr.pass.Cancel()
	} else {
		cr.pass.Done(&tools.TimeoutError{Tool: cr.call.Name, After: cr.d.Spec().Timeout})
	}
	x.Lock()
	hooked, span := cr.hooked, cr.span
	x.Unlock()
	own := &callRun{x: x, d: cr.d, hooked: hooked, span: span, call: cr.call, stored: cr.stored, state: cr.state,
		warning: cr.warning, again: cr.again}
	// if it is in doubt
	defer own.endSpan(&tools.Outcome{Err: &tools.TimeoutError{Tool: cr.call.Name, After: cr.d.Spec().Timeout}})
	const why = "it didn't return within its time limit, nor when it was told to stop"
	switch {
	case cr.d.Spec().Repeatable():
		x.finishCall(own, tools.Outcome{Status: tools.TimedOut, Class: fault.Transient, Took: time.Since(cr.began),
			Parts: []provider.Part{provider.TextPart("The call was given up: " + why + ".")}})
	case x.ctx.Err() != nil:
		x.finishCall(own, doubtful(why))
	default:
		x.inDoubt(own, why)
	}
}

// goexit gives a call its result if the tool, a hook or a policy ended the goroutine
// (runtime.Goexit).
func (cr *callRun) goexit() {
	cr.x.Lock()
	cr.hooked = true // a hook may have ended it
	cr.x.Unlock()
	cr.x.finishCall(cr, tools.Outcome{Status: tools.Failed, Class: fault.Permanent,
		Err:   fmt.Errorf("agent: the tool %s, or a hook or policy of it, ended its goroutine", cr.call.Name),
		Parts: []provider.Part{provider.TextPart(internalError)}})
}

// retrying shows that a call waits for another attempt. It is called on the goroutine of the call.
func (x *driver) retrying(c *tools.Call, next tools.Retrying) {
	w := provider.Wait{Reason: provider.WaitBackingOff, Until: time.Now().Add(next.Wait), Attempt: next.Attempt,
		Detail: "retrying after a " + next.Class.String() + " failure"}
	if next.Class == fault.RateLimited {
		w.Reason = provider.WaitRateLimited
	}
	x.agent.logger.WarnContext(x.ctx, "agent: a tool call failed and is made again", "session", x.Name, "call", c.ID,
		"tool", c.Name,
		"attempt", next.Attempt-1, "class", next.Class, "wait", next.Wait, "error", next.Err)
	x.Lock()
	cr := x.runningCall(c)
	if cr != nil {
		cr.attempts = append(cr.attempts, next.Err)
		x.note(&Waiting{NoteMeta: x.callMeta(c), Wait: w})
	}
	x.Unlock()
	if cr != nil && cr.d.Spec().Inline {
		x.flush()
	} else {
		x.Wake()
	}
}
