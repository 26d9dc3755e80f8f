package agent

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An exec drives one run of a session from an input to its end or to a pause. All but what mu guards belongs to the
// goroutine that ranges over the run's events; tool calls run on others, and only record what they did.
type exec struct {
	// fixed once the run has begun
	a      *Agent
	s      *session
	ctx    context.Context         // ends when the run is stopped at once
	jctx   context.Context         // for the journal: doesn't end
	own    context.Context         // behind both
	end    context.CancelCauseFunc // ends own; see cancel
	origin *Origin
	bound  struct { // methods that calls are given, bound once
		succeeded func(string) bool
		overdue   func(*tools.Call)
	}
	ledger *ledger   // nil without a journal
	began  time.Time // when this part of the run began

	parent *parentCall // the call that this run belongs to, of an agent that is a tool

	// of the driving goroutine
	yield   func(Event, error) bool
	left    bool // the consumer has left: yield must not be called again
	showing bool // the consumer's body is running; stays if that panics
	driving bool // begin is over
	ended   bool // RunEnded is recorded; written under mu
	hold    hold // what the host asked for

	// beside them, to save room
	notes     bool        // somebody looks at deltas; fixed
	childHold hold        // how the host of one of the agents that are tools paused it; guarded by mu
	revoking  atomic.Bool // a revocation was sent

	model   *modelCall          // nil before the run and after it
	recall  *recollection       // nil without Config.Memory and Config.Compose
	offered []*tools.Definition // in the newest model call
	told    []mail              // messages in the conversation that the model hasn't been asked about yet

	mu      sync.Mutex // guards what follows, and m while tool calls run; taken with lock
	m       *Machine
	queue   []Event     // recorded and not yet shown, and notes in their place among them
	errAt   error       // the journal refused an append: the run can't go on
	running *batch      // the calls that run
	here    *callRun    // the call that runs on the driving goroutine
	limit   *time.Timer // ends the run when Limits.Duration is over
	purse   *purse      // with the agents that are tools which it calls; nil before the first

	shown []Event                       // of the driving goroutine: an empty queue, to be used again
	wake  atomic.Pointer[chan struct{}] // what pokes the driving goroutine while it waits for calls; nil before it first does

	unread  []string // what was posted and is for none of what begin takes; of the driving goroutine
	claimed []string // pauses that are being decided on; guarded by Agent.mu

	wg sync.WaitGroup // goroutines of tool calls that weren't left behind
}

// Stream runs an input and yields what happens: facts once they are recorded, and notes in between. The last event of a
// run is a [RunEnded], with the [Result]; the error, which comes last and alone, is set for failed runs and for inputs that
// can't be taken. Leaving the loop stops the run, and leaves nothing behind. The sequence is ranged over once; a second
// range yields [provider.ErrConsumed].
func (a *Agent) Stream(ctx context.Context, in Input) iter.Seq2[Event, error] {
	var used atomic.Bool
	return func(yield func(Event, error) bool) {
		if used.Swap(true) {
			yield(nil, provider.ErrConsumed)
			return
		}
		a.drive(ctx, &in, true, yield)
	}
}

// drive runs an input. It is the one loop: Run collects what it yields.
func (a *Agent) drive(ctx context.Context, in *Input, notes bool, yield func(Event, error) bool) {
	if a == nil || a.registry == nil {
		yield(nil, errNoAgent)
		return
	}
	ctx = orBackground(ctx)
	x := &exec{a: a, yield: yield, notes: notes}
	x.own, x.end = context.WithCancelCause(ctx)
	x.ctx, x.jctx = runContext{x}, endlessContext{x}
	if a.memory != nil || a.cfg.Compose != nil {
		x.recall = new(recollection)
	}
	x.began = time.Now()
	x.bound.succeeded, x.bound.overdue = x.succeeded, x.overdue
	defer x.cancel(nil)
	x.model = x.a.takeModel(x)
	if err := x.begin(in); err != nil {
		if !x.left {
			yield(nil, err)
		}
		return
	}
	defer x.close()
	x.flush()
	x.loop()
}

// orBackground stands in for a context that a caller forgot.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// close leaves nothing behind, whatever happened: also if the consumer or a hook panicked.
func (x *exec) close() {
	defer x.leave() // whatever panics here
	if !x.ended {   // only after a panic
		x.left = true
		x.cancel(ErrAbandoned)
		if x.running != nil {
			x.wait(x.running)
		}
		x.finish(Stopped, CodeAbandoned, ErrAbandoned)
	}
	x.wg.Wait()
	x.lock()
	if x.limit != nil {
		x.limit.Stop()
	}
	x.mu.Unlock()
	x.giveModel()
	if x.revoking.Load() && x.errAt == nil {
		_, _ = x.takeSent(false) // what isn't taken here is when the next run begins
	}
}

// loop does what the machine says until the run has ended.
func (x *exec) loop() {
	for !x.ended {
		if x.left {
			x.finish(Stopped, CodeAbandoned, ErrAbandoned)
			return
		}
		if x.errAt != nil {
			x.finish(Failed, CodeJournal, x.errAt)
			return
		}
		if x.ctx.Err() != nil {
			x.finishCause(context.Cause(x.ctx))
			return
		}
		act := x.m.Next()
		if act.Kind == ActCallModel || act.Kind == ActRunCalls || act.Kind == ActWait || act.Kind == ActFinish && act.Status == Completed {
			came := x.readMail()
			if (x.hold == holdPause || x.hold == holdDrain) && act.Kind == ActWait {
				x.hold = holdNone // it pauses anyway
			}
			if x.hold != holdNone {
				x.obey()
				continue
			}
			if came {
				act = x.m.Next()
			}
		}
		switch act.Kind {
		case ActCallModel:
			if act.Final == "" && x.stopWhen() || x.overdrawn() {
				continue
			}
			x.callModel(act)
		case ActRunCalls:
			x.runCalls(act.Calls)
		case ActSettle:
			x.settle(act.Calls, tools.NotRun, "The call wasn't run: "+x.whyCut())
			x.flush()
		case ActDoubt:
			if x.childHold != holdNone { // with it pauses the call, which runs again when somebody goes on
				x.hold = x.childHold
				x.obey()
				continue
			}
			x.doubt(act.Calls)
		case ActWait:
			x.finish(Paused, "", nil)
		case ActFinish:
			x.conclude(act)
		default:
			x.finish(Failed, CodeHost, errors.New("agent: the run has ended, but not for its driver"))
		}
	}
}

// flush shows what was recorded. Only the driving goroutine may call it. What others record meanwhile is shown with the next
// flush: there is one after every call, and one after the end.
func (x *exec) flush() {
	x.lock()
	events := x.queue
	if len(events) > 0 {
		x.queue, x.shown = x.shown, nil
	}
	x.mu.Unlock()
	if len(events) == 0 {
		return
	}
	for i, ev := range events {
		x.show(ev)
		events[i] = nil
	}
	x.shown = events[:0]
}

// show yields one event, unless the consumer has left, and reports whether it is still there.
func (x *exec) show(ev Event) bool {
	if x.left {
		return false
	}
	x.showing = true
	if !x.yield(ev, nil) {
		x.left = true
		x.cancel(ErrAbandoned)
	}
	x.showing = false
	return !x.left
}

// poke wakes the driving goroutine, if it waits for calls.
func (x *exec) poke() {
	wake := x.wake.Load()
	if wake == nil {
		return
	}
	select {
	case *wake <- struct{}{}:
	default:
	}
}

// finishCause ends a run whose context has ended.
func (x *exec) finishCause(cause error) {
	var (
		limit   *LimitError
		busy    *BusyError
		refused *refusedError
		abort   *AbortError
		hook    *HookError
	)
	switch {
	case errors.As(cause, &abort):
		x.finish(Stopped, CodeAborted, abort)
	case errors.As(cause, &hook):
		x.finish(Failed, CodeAborted, hook)
	case errors.As(cause, &limit):
		x.finish(Stopped, CodeLimit, limit)
	case errors.As(cause, &busy), errors.As(cause, &refused): // the log is another's: whoever has it next goes on from what stands there
		x.lock()
		if x.errAt == nil {
			x.errAt = cause
		}
		x.mu.Unlock()
		x.finish(Failed, CodeJournal, cause)
	case errors.Is(cause, ErrAbandoned):
		x.finish(Stopped, CodeAbandoned, ErrAbandoned)
	default:
		x.finish(Stopped, CodeCanceled, &StopError{Code: CodeCanceled, Err: cause})
	}
}

// finish ends the run, or pauses it: open calls get a result, the end is recorded, and shown with the Result.
func (x *exec) finish(status Status, code string, reason error) {
	if x.ended {
		return
	}
	if status != Paused {
		x.closeCalls(reason)
	}
	end := RunEnded{Status: status, Code: code}
	if reason != nil {
		end.Reason = x.a.redact(reason.Error())
	}
	x.lock()
	end.Meta = x.stamp(0, "")
	end.Result = &Result{}
	err := x.recordLocked(nil, end)
	x.ended = true
	if err != nil { // the log ends before this fact: another process, or Continue, will end the run
		if !errors.Is(reason, err) {
			reason = errors.Join(err, reason)
		}
		status, code = Failed, CodeJournal
		end.Status, end.Code, end.Reason = status, code, reason.Error()
		x.queue = append(x.queue, end)
	}
	x.m.fill(end.Result, status, code, reason)
	x.mu.Unlock()
	x.afterRun(end.Result)
	x.flush()
	if status == Failed && !x.left {
		if reason == nil {
			reason = fault.New(fault.Permanent, "agent: the run failed")
		}
		x.yield(nil, reason)
		x.left = true
	}
}

// afterRun tells the hooks and the log of the end of a run.
func (x *exec) afterRun(res *Result) {
	for i := range x.a.cfg.Hooks {
		if h := &x.a.cfg.Hooks[i]; h.AfterRun != nil {
			if err := x.call(h, "AfterRun", func() error { return h.AfterRun(x.jctx, res) }); err != nil {
				x.a.log.WarnContext(x.jctx, "agent: AfterRun can't change how a run ended", "hook", h.Name, "error", err)
			}
		}
	}
	if x.a.log.Enabled(x.jctx, slog.LevelInfo) {
		x.a.log.InfoContext(x.jctx, "agent: run ended", "session", x.s.name, "run", res.Run, "trace", res.Trace,
			"status", res.Status, "code", res.Code, "steps", res.Steps, "tokens", res.Usage.Total())
	}
}

// closeCalls gives every open call its result, so that none is ever without.
func (x *exec) closeCalls(reason error) {
	r := x.m.s.Run
	if r.Stage == stageCalling { // the model call never came to an end
		x.lock()
		x.recordLocked(nil, StepFailed{Meta: x.stamp(0, ""), Class: fault.None, Error: "the run ended"})
		x.mu.Unlock()
	}
	if r.Stage != stageActing {
		return
	}
	defer x.abandonChildren(reason)()
	why := "the run ended"
	if reason != nil {
		why = x.a.redact(reason.Error())
	}
	var open []int
	for i := range r.Calls {
		switch c := &r.Calls[i]; c.Stand {
		case standDone:
		case standSuspended:
			res := undecided(c, "nobody decided on it before the run ended.")
			x.showHooks(c, res)
			x.lock()
			x.recordLocked(nil,
				Decided{Meta: x.stamp(0, c.Call.ID), Decision: Decision{ID: c.Pause.ID, Kind: Superseded, Reason: why}}, x.resultFact(1, c, res))
			x.mu.Unlock()
		case standStarted:
			x.settle([]int{i}, tools.InDoubt, "The call was started, and nobody knows how it ended: "+why)
		default:
			open = append(open, i)
		}
		if r.Stage != stageActing {
			return
		}
	}
	x.settle(open, tools.NotRun, "The call wasn't run: "+why)
}

// abandonChildren returns what ends the runs of agents that are tools whose calls are open now.
func (x *exec) abandonChildren(reason error) func() {
	var calls, names []string
	for i := range x.m.s.Run.Calls {
		if c := &x.m.s.Run.Calls[i]; c.Started && c.Stand != standDone && x.a.children[c.Call.Name] != nil {
			calls, names = append(calls, c.Call.ID), append(names, c.Call.Name)
		}
	}
	if len(calls) > 0 {
		x.bill()
	}
	return func() {
		if x.errAt != nil { // the log is another's, and so is what belongs to it
			return
		}
		why := "the run that it belongs to has ended"
		if reason != nil {
			why = reason.Error()
		}
		for i, call := range calls {
			x.a.children[names[i]].abandon(x.jctx, x.s.name, call, why)
		}
	}
}

// settle gives calls a result without running them. It shows nothing: the consumer may leave, or panic, only when what
// belongs together is recorded.
func (x *exec) settle(calls []int, status tools.Status, text string) {
	for _, i := range calls {
		c := &x.m.s.Run.Calls[i]
		cr := x.newCall(c)
		x.finishCall(cr, tools.Outcome{Status: status, Class: fault.None, Parts: []provider.Part{provider.TextPart(text)}})
	}
}

func (x *exec) whyCut() string {
	r := x.m.s.Run
	if r.Final != "" {
		return "the run is at its limit of " + r.Final
	}
	switch r.Stop {
	case provider.StopLength:
		return "your reply was cut at the output limit, so its calls may be incomplete. Make the call again, with less in it."
	case provider.StopFiltered:
		return "your reply was cut by a content filter"
	}
	return "your reply ended before it was complete (" + string(r.Stop) + ")"
}
