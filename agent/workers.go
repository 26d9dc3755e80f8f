package agent

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A batch is a number of calls that may run in parallel. One worker runs them in order. If that
// takes longer than helpersAfter, more workers start. Fast tools therefore run in call order.
type batch struct {
	w     *workers
	calls []*callRun

	// guarded by the lock of the log
	next    int // the first call that no worker has taken
	workers int // that run calls and weren't abandoned
	helpers *time.Timer
}

// workers execute the tool calls of a run.
type workers struct {
	agent    *Agent
	log      *sessionLog
	consumer *consumer

	pending *pending

	running       *batch                // the calls that run on other goroutines; guarded
	inline        *callRun              // or the one that runs on the driving goroutine; guarded
	succeededTool func(tool string) int // workers.succeeded, made once
	held          hostRequest           // the run pauses, because the work of a call was stopped; guarded
	heldBy        error                 // why; nil if the request says it; guarded
	calls         sync.WaitGroup        // goroutines of tool calls that weren't abandoned
}

const helpersAfter = 100 * time.Microsecond

// runTogether runs calls and returns when each has its result, is suspended, or was abandoned.
// Those that can run at once are started in one append, and their starts are shown before they run.
func (w *workers) runTogether(calls []*callRun) {
	if len(calls) == 0 || w.consumer.left || w.pending.unread || w.log.ctx.Err() != nil {
		return
	}
	defer func() { // of calls that aren't run, whatever the reason
		for _, cr := range calls {
			cr.pass.Cancel()
		}
	}()
	w.pending.unread = !w.startCalls(w.pending.quiet, calls[:w.startable(calls)]...)
	w.pending.quiet = false
	w.consumer.flush()
	if w.pending.unread {
		return
	}
	open, isOver := calls, func(cr *callRun) bool { return cr.over }
	if slices.ContainsFunc(calls, isOver) {
		open = slices.DeleteFunc(slices.Clone(calls), isOver)
	}
	switch {
	case len(open) == 0:
	case w.consumer.left || w.log.ctx.Err() != nil:
		for _, cr := range open {
			if cr.started {
				cr.finishRefused(notRun(stoppedBefore))
			}
		}
		w.consumer.flush()
	case len(open) == 1 && open[0].d.Spec().Inline:
		w.setRunning(nil, open[0]) // on the driving goroutine: see tools.Spec.Inline
		open[0].run()
		w.setRunning(nil, nil)
		w.consumer.flush()
	default:
		w.runBatch(slices.Clone(open))
	}
}

// startable returns how many of the calls are started before any of them runs. Functions of the
// host that may take long are called beside other calls.
func (w *workers) startable(calls []*callRun) int {
	judges := func(cr *callRun) bool { return cr.d.Judges() }
	if len(calls) > 1 && (!w.pending.replyWaits || slices.ContainsFunc(calls, judges)) {
		return 0
	}
	return min(len(calls), w.parallel())
}

// runBatch runs calls on other goroutines.
func (w *workers) runBatch(calls []*callRun) {
	b := &batch{w: w, calls: calls}
	if w.log.deltas {
		for _, cr := range calls {
			cr.call.OnProgress = w.progress
		}
	}
	w.log.Lock()
	w.running = b
	b.spawn(1)
	if len(calls) > 1 && w.parallel() > 1 {
		w.calls.Add(1)
		b.helpers = time.AfterFunc(helpersAfter, b.help)
	}
	w.log.Unlock()
	w.wait(b)
	w.setRunning(nil, nil)
	if b.helpers != nil && b.helpers.Stop() {
		w.calls.Done()
	}
}

func (w *workers) setRunning(b *batch, inline *callRun) {
	w.log.Lock()
	defer w.log.Unlock()
	w.running, w.inline = b, inline
}

// parallel returns how many calls may run at a time.
func (w *workers) parallel() int {
	if n := w.log.Run().Limits.ParallelCalls; n > 0 {
		return n
	}
	return 1 << 20
}

// spawn starts n workers. The caller holds the lock.
func (b *batch) spawn(n int) {
	b.workers += n
	b.w.calls.Add(n)
	for range n {
		go b.work()
	}
}

// help starts more workers for the calls that no worker has taken.
func (b *batch) help() {
	defer b.w.calls.Done()
	b.w.log.Lock()
	defer b.w.log.Unlock()
	if n := min(len(b.calls)-b.next, b.w.parallel()-b.workers); n > 0 {
		b.spawn(n)
	}
}

// work runs calls until none is left.
func (b *batch) work() {
	w := b.w
	var cr *callRun
	defer func() { // also if a tool ends this goroutine
		w.log.Lock()
		defer w.log.Unlock()
		if cr != nil && cr.abandoned { // counted out when it was abandoned
			w.agent.abandoned.Add(-1)
			w.log.Unlocked(func() {
				w.agent.logger.Warn("agent: a tool call that was abandoned has returned; its result is dropped",
					"session", w.log.Name, "call", cr.call.ID, "tool", cr.call.Name)
			})
			return
		}
		b.workers--
		if b.next < len(b.calls) && b.workers == 0 {
			b.spawn(1)
		}
		w.consumer.Wake()
		w.calls.Done()
	}()
	for {
		w.log.Lock()
		if b.next == len(b.calls) || cr != nil && cr.abandoned {
			w.log.Unlock()
			return
		}
		cr = b.calls[b.next]
		b.next++
		w.log.Unlock()
		cr.run()
		if len(b.calls) > 1 {
			w.consumer.Wake()
		}
	}
}

// run executes the call on this goroutine.
func (cr *callRun) run() {
	w := cr.w
	returned := false
	defer func() {
		if !returned {
			cr.goexit()
		}
	}()
	if stopped := w.log.ctx.Err() != nil; stopped && cr.started {
		cr.finishRefused(notRun(stoppedBefore))
	} else if (stopped || w.log.leg.isOver()) && !cr.started {
		cr.drop() // the end of the run gives it its result, or the next leg runs it
	} else if cr.started || w.startCalls(false, cr) && cr.started {
		out, unfinished := cr.execute(cr.beginSpan())
		if unfinished != nil {
			w.finishSuspended(cr, &out, unfinished)
			cr.endSpan(&out)
		} else if cr.cutOff(&out) {
			cr.drop()
			cr.endSpan(&out)
		} else {
			w.finishCall(cr, out)
		}
		if out.Suspend == nil && out.Status != tools.OK {
			cr.cancelWork()
		}
	}
	returned = true
}

// cutOff reports whether a call failed because the run goes on elsewhere, so that nothing is
// recorded: there it runs again, or is in doubt.
func (cr *callRun) cutOff(out *tools.Outcome) bool {
	if out.Status.Good() || out.Suspend != nil || !cr.w.log.Yields() {
		return false
	}
	return cr.d.Spec().Repeatable() ||
		out.Status == tools.Canceled || out.Status == tools.TimedOut || out.Status == tools.Unverified
}

// wait shows what the calls of a batch do until all have ended. Only the driving goroutine calls
// it.
func (w *workers) wait(b *batch) {
	done := w.log.ctx.Done()
	var ring <-chan time.Time
	for {
		w.showProgress(b)
		w.consumer.flush()
		next, over := w.abandonOverdue(b)
		if over {
			w.showProgress(b)
			w.consumer.flush()
			return
		}
		if next > 0 {
			ring = time.After(next)
		}
		select {
		case <-w.consumer.wake:
		case <-done:
			done = nil
			w.stopped(b)
		case <-ring:
		}
	}
}

// overdue records that a call has reached its time limit. Any goroutine may call it.
func (w *workers) overdue(c *tools.Call) {
	w.log.Lock()
	if cr := w.runningCall(c); cr != nil && cr.overdue.IsZero() {
		cr.overdue = time.Now()
	}
	w.log.Unlock()
	w.consumer.Wake()
}

// runningCall returns the callRun of a running call, or nil if it has ended. The caller holds the
// lock.
func (w *workers) runningCall(c *tools.Call) *callRun {
	calls := []*callRun{w.inline}
	if w.running != nil {
		calls = w.running.calls
	}
	for _, cr := range calls {
		if cr != nil && &cr.call == c && !cr.over && !cr.abandoned {
			return cr
		}
	}
	return nil
}

// stopped records that the run was stopped while calls ran.
func (w *workers) stopped(b *batch) {
	w.log.Lock()
	defer w.log.Unlock()
	for _, cr := range b.calls {
		if cr.overdue.IsZero() {
			cr.overdue = time.Now()
		}
	}
}

// abandonOverdue abandons the calls that haven't returned in time. What they return later is
// dropped. It returns how long it is until the next call must be abandoned (0: none is overdue),
// and whether all have ended.
func (w *workers) abandonOverdue(b *batch) (next time.Duration, over bool) {
	var given []*callRun
	over = true
	w.log.Lock()
	for i, cr := range b.calls {
		left := time.Until(cr.overdue.Add(grace))
		switch {
		case cr.over || cr.abandoned:
		case cr.overdue.IsZero():
			over = false
		case left > 0:
			over = false
			if next == 0 || left < next {
				next = left
			}
		case !cr.started || i >= b.next: // no worker has taken it: all of them hang
			cr.over = true
		default:
			cr.abandoned = true
			b.workers--
			w.calls.Done()
			w.agent.abandoned.Add(1)
			given = append(given, cr)
		}
	}
	if b.next < len(b.calls) && b.workers == 0 && w.log.ctx.Err() == nil {
		b.spawn(1)
	}
	w.log.Unlock()
	for _, cr := range given {
		w.agent.logger.Error("agent: a tool call ignores the end of its context and is abandoned", "session", w.log.Name,
			"call", cr.call.ID, "tool", cr.call.Name)
		w.finishAbandoned(cr)
	}
	return next, over
}

// finishAbandoned gives an abandoned call its result. It uses a copy of the callRun, because the
// call's goroutine may still use the original.
func (w *workers) finishAbandoned(cr *callRun) {
	if w.log.ctx.Err() != nil { // a stopped call is no failure for the breaker
		cr.pass.Cancel()
	} else {
		cr.pass.Done(&tools.TimeoutError{Tool: cr.call.Name, After: cr.d.Spec().Timeout})
	}
	w.log.Lock()
	hooked, span := cr.hooked, cr.span
	w.log.Unlock()
	own := &callRun{w: w, d: cr.d, hooked: hooked, span: span, call: cr.call, stored: cr.stored, state: cr.state,
		warning: cr.warning, again: cr.again}
	// if it is in doubt
	defer own.endSpan(&tools.Outcome{Err: &tools.TimeoutError{Tool: cr.call.Name, After: cr.d.Spec().Timeout}})
	const why = "it didn't return within its time limit, nor when it was told to stop"
	switch {
	case w.log.Yields(): // the call stays open: the process that has the session next runs it again, or asks
	case cr.d.Spec().Repeatable():
		w.finishCall(own, tools.Outcome{Status: tools.TimedOut, Class: fault.Transient, Took: time.Since(cr.began),
			Parts: []provider.Part{provider.TextPart("The call was given up: " + why + ".")}})
	case w.log.ctx.Err() != nil:
		w.finishCall(own, doubtful(why))
	default:
		w.inDoubt(own, why)
	}
}

// goexit gives a call its result if the tool, a hook or a policy ended the goroutine
// (runtime.Goexit).
func (cr *callRun) goexit() {
	cr.w.log.Lock()
	cr.hooked = true // a hook may have ended it
	cr.w.log.Unlock()
	cr.w.finishCall(cr, tools.Outcome{Status: tools.Failed, Class: fault.Permanent,
		Err:   fmt.Errorf("agent: the tool %s, or a hook or policy of it, ended its goroutine", cr.call.Name),
		Parts: []provider.Part{provider.TextPart(internalError)}})
}

// retrying shows that a call waits for another attempt. It is called on the goroutine of the call.
func (w *workers) retrying(c *tools.Call, next tools.Retrying) {
	wait := provider.Wait{Reason: provider.WaitBackingOff, Until: time.Now().Add(next.Wait), Attempt: next.Attempt,
		Detail: "retrying after a " + next.Class.String() + " failure"}
	if next.Class == fault.RateLimited {
		wait.Reason = provider.WaitRateLimited
	}
	w.log.warn("agent: a tool call failed and is made again", next.Err, "call", c.ID, "tool", c.Name,
		"attempt", next.Attempt-1, "class", next.Class, "wait", next.Wait)
	w.log.Lock()
	cr := w.runningCall(c)
	if cr != nil {
		cr.attempts = append(cr.attempts, next.Err)
		w.log.note(&Waiting{NoteMeta: w.log.callMeta(c), Wait: wait})
	}
	w.log.Unlock()
	if cr != nil && cr.d.Spec().Inline {
		w.consumer.flush()
	} else {
		w.consumer.Wake()
	}
}

// progress records what a call reports. Any goroutine may call it. Of several reports, only the
// newest is shown.
func (w *workers) progress(c *tools.Call, note tools.ProgressReport) {
	w.log.Lock()
	if cr := w.runningCall(c); cr != nil {
		cr.progress = &Progress{NoteMeta: w.log.callMeta(c), Tool: c.Name, Text: note.Text, Done: note.Done}
	}
	w.log.Unlock()
	w.consumer.Wake()
}

func (w *workers) showProgress(b *batch) {
	if !w.log.deltas {
		return
	}
	for _, cr := range b.calls {
		w.log.Lock()
		for cr.progress != nil && len(w.log.queue) > 0 { // facts before it come first
			w.log.Unlock()
			w.consumer.flush()
			w.log.Lock()
		}
		if cr.progress != nil && !cr.over { // else its result is shown, or comes next
			w.log.note(cr.progress)
		}
		cr.progress = nil
		w.log.Unlock()
		w.consumer.flush()
	}
}
