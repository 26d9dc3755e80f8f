package agent

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A batch is the calls that run beside each other. One goroutine takes them one after the other; only if that takes longer
// than helpersAfter do more join, because most tools are done before a goroutine has even been woken.
type batch struct {
	x     *exec
	calls []*callRun
	room  [1]*callRun // most batches have one call

	// guarded by exec.mu
	next    int // the first call that nobody has taken
	workers int // goroutines that take calls, and aren't left behind with one
	helpers *time.Timer
}

const (
	helpersAfter = 100 * time.Microsecond
	// grace is how long a call has to return after its context has ended, before it is left behind.
	grace = 5 * time.Second
)

// runTogether runs calls and returns when each has its result, is suspended, or was left behind.
func (x *exec) runTogether(calls []*callRun) {
	if len(calls) == 0 || x.left || x.ctx.Err() != nil {
		return
	}
	if len(calls) == 1 {
		cr := calls[0]
		defer cr.pass.Cancel() // for a call that isn't run, whatever is the reason
		if !x.start(cr) {
			x.flush()
			return
		}
		x.flush()
		if x.left || x.ctx.Err() != nil {
			x.finishCall(cr, tools.Outcome{Status: tools.NotRun, Parts: []provider.Part{provider.TextPart("The call wasn't run: the run was stopped.")}})
			cr.abandonChild()
			return
		}
		if cr.d.Spec().Inline {
			x.runHere(cr)
			return
		}
	}
	if x.wake.Load() == nil {
		x.wake.Store(new(make(chan struct{}, 1)))
	}
	b := &batch{x: x}
	b.calls = append(b.room[:0], calls...)
	if x.notes {
		for _, cr := range calls {
			cr.call.OnProgress = x.progress
		}
	}
	x.lock()
	x.running = b
	b.spawn(1)
	if len(calls) > 1 && x.parallel() > 1 {
		x.wg.Add(1)
		b.helpers = time.AfterFunc(helpersAfter, b.help)
	}
	x.mu.Unlock()
	x.wait(b)
	x.lock()
	x.running = nil
	x.mu.Unlock()
	if b.helpers != nil && b.helpers.Stop() {
		x.wg.Done()
	}
}

// runHere runs a call on the driving goroutine.
func (x *exec) runHere(cr *callRun) {
	x.lock()
	x.here = cr
	x.mu.Unlock()
	cr.run()
	x.lock()
	x.here = nil
	if !cr.overdue.IsZero() {
		x.a.left.Add(-1)
	}
	x.mu.Unlock()
	x.flush()
}

// parallel returns how many calls may run at a time.
func (x *exec) parallel() int {
	if n := x.m.s.Run.Limits.ParallelCalls; n > 0 {
		return n
	}
	return 1 << 20
}

// spawn starts n workers. exec.mu is held.
func (b *batch) spawn(n int) {
	b.workers += n
	b.x.wg.Add(n)
	for range n {
		go b.work()
	}
}

// help starts more workers, for calls that nobody has taken.
func (b *batch) help() {
	defer b.x.wg.Done()
	b.x.lock()
	defer b.x.mu.Unlock()
	if n := min(len(b.calls)-b.next, b.x.parallel()-b.workers); n > 0 {
		b.spawn(n)
	}
}

// work takes calls until there are none.
func (b *batch) work() {
	x := b.x
	var cr *callRun
	defer func() { // also if a tool ended this goroutine
		x.lock()
		defer x.mu.Unlock()
		if cr != nil && cr.gone { // counted out when it was left behind
			x.a.left.Add(-1)
			x.a.log.Warn("agent: a tool call that was left behind has returned; its result is dropped", "session", x.s.name, "call", cr.call.ID, "tool", cr.call.Name)
			return
		}
		b.workers--
		if b.next < len(b.calls) && b.workers == 0 {
			b.spawn(1)
		}
		x.poke()
		x.wg.Done()
	}()
	for {
		x.lock()
		if b.next == len(b.calls) || cr != nil && cr.gone {
			x.mu.Unlock()
			return
		}
		cr = b.calls[b.next]
		b.next++
		x.mu.Unlock()
		cr.run()
		if len(b.calls) > 1 {
			x.poke()
		}
	}
}

// run runs the call on this goroutine.
func (cr *callRun) run() {
	x := cr.x
	returned := false
	defer func() {
		if !returned {
			cr.ensureOver()
		}
	}()
	if x.ctx.Err() != nil && !cr.started {
		x.lock()
		cr.over = true // it stays open: the end of the run gives it its result
		x.mu.Unlock()
	} else if cr.started || x.start(cr) {
		out := tools.Execute(x.ctx, cr.d, &cr.call, &cr.pass)
		x.finishCall(cr, out)
		if out.Suspend == nil && out.Status != tools.OK {
			cr.abandonChild()
		}
	}
	returned = true
}

// wait shows what calls do until all of a batch are over. It is for the driving goroutine.
func (x *exec) wait(b *batch) {
	done, wake := x.ctx.Done(), *x.wake.Load()
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	var ring <-chan time.Time
	for {
		x.showProgress(b)
		x.flush()
		next, over := x.overdueIn(b)
		if over {
			x.showProgress(b)
			x.flush()
			return
		}
		if next > 0 && timer == nil {
			timer = time.NewTimer(next)
			ring = timer.C
		} else if next > 0 {
			timer.Reset(next)
		}
		select {
		case <-wake:
		case <-done:
			done = nil
			x.canceled(b)
		case <-ring:
			x.leaveBehind(b)
		}
	}
}

// overdueIn returns when the next call is to be left behind (0: none is overdue), and whether all are over.
func (x *exec) overdueIn(b *batch) (next time.Duration, over bool) {
	x.lock()
	defer x.mu.Unlock()
	over = true
	for _, cr := range b.calls {
		if cr.over || cr.gone {
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

// overdue notes that a call has reached its time limit. Any goroutine may call it.
func (x *exec) overdue(c *tools.Call) {
	x.lock()
	if cr := x.here; cr != nil && &cr.call == c {
		cr.overdue = time.Now()
		x.a.left.Add(1)
		x.a.log.Error("agent: an inline tool call has reached its time limit; its run goes on when it returns", "session", x.s.name, "call", c.ID, "tool", c.Name)
	}
	if b := x.running; b != nil {
		for _, cr := range b.calls {
			if &cr.call == c && cr.overdue.IsZero() {
				cr.overdue = time.Now()
			}
		}
	}
	x.mu.Unlock()
	x.poke()
}

// canceled notes that the run was stopped while calls ran.
func (x *exec) canceled(b *batch) {
	x.lock()
	defer x.mu.Unlock()
	for _, cr := range b.calls {
		if cr.overdue.IsZero() {
			cr.overdue = time.Now()
		}
	}
}

// leaveBehind gives up the calls that haven't returned in time: what they do from now on is dropped.
func (x *exec) leaveBehind(b *batch) {
	var doubtful []*callRun
	x.lock()
	for _, cr := range b.calls {
		if cr.over || cr.gone || cr.overdue.IsZero() || time.Since(cr.overdue) < grace {
			continue
		}
		if !cr.started { // nobody has taken it: all workers hang
			cr.over = true
			continue
		}
		cr.gone = true
		b.workers--
		x.wg.Done()
		x.a.left.Add(1)
		x.a.log.Error("agent: a tool call ignores the end of its context and is left behind", "session", x.s.name, "call", cr.call.ID, "tool", cr.call.Name)
		doubtful = append(doubtful, cr)
	}
	if b.next < len(b.calls) && b.workers == 0 && x.ctx.Err() == nil {
		b.spawn(1)
	}
	x.mu.Unlock()
	for _, cr := range doubtful {
		cr.givenUp(x.ctx)
		stand := &callRun{x: x, d: cr.d, hooked: cr.hooked, call: cr.call, told: cr.told, st: cr.st, note: cr.note, edited: cr.edited, again: cr.again}
		const why = "it didn't return within its time limit, nor when it was told to stop"
		switch {
		case cr.d.Spec().Repeatable():
			x.finishCall(stand, tools.Outcome{Status: tools.TimedOut, Class: fault.Transient, Took: time.Since(time.Unix(0, cr.began)),
				Parts: []provider.Part{provider.TextPart("The call was given up: " + why + ".")}})
		case x.ctx.Err() != nil:
			x.finishCall(stand, inDoubt(why))
		default:
			x.doubtful(stand, why)
		}
	}
}

// progress notes what a call reports. Any goroutine may call it; of several reports the newest is shown.
func (x *exec) progress(c *tools.Call, note tools.ProgressReport) {
	x.lock()
	if b := x.running; b != nil {
		for _, cr := range b.calls {
			if &cr.call == c && !cr.over && !cr.gone {
				cr.progress = &Progress{Meta: Meta{Origin: x.origin, Step: c.Step, Call: c.ID}, Tool: c.Name, Text: note.Text, Done: note.Done}
			}
		}
	}
	x.mu.Unlock()
	x.poke()
}

func (x *exec) showProgress(b *batch) {
	if !x.notes {
		return
	}
	for _, cr := range b.calls {
		x.lock()
		for cr.progress != nil && len(x.queue) > 0 { // facts before it come first
			x.mu.Unlock()
			x.flush()
			x.lock()
		}
		p := cr.progress
		if cr.progress = nil; cr.over {
			p = nil // its result is shown, or comes next
		}
		x.mu.Unlock()
		if p != nil {
			x.show(*p)
		}
	}
}

// ensureOver gives a call its result if the tool, a hook or a policy ended the goroutine (runtime.Goexit).
func (cr *callRun) ensureOver() {
	x := cr.x
	if cr.dropped() {
		return
	}
	out := tools.Outcome{Status: tools.Failed, Class: fault.Permanent,
		Err:   fmt.Errorf("agent: the tool %s, or a hook or policy of it, ended its goroutine", cr.call.Name),
		Parts: []provider.Part{provider.TextPart("The tool failed: an internal error. Trying the same again won't help.")}}
	res := x.toolResult(cr, &out)
	x.redactResult(res)
	x.lock()
	defer x.mu.Unlock()
	if !cr.over && !cr.gone {
		cr.over = true
		x.recordLocked(nil, x.finishedLocked(cr, res, &out))
	}
}
