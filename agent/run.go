package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A driver drives one run of a session, from an input to its end or to a pause: it asks the machine
// what must happen, does it, and appends the outcome to the log. It belongs to the goroutine of Run
// or Stream. Tool calls run on other goroutines; they use only the log and what its lock guards.
type driver struct {
	agent     *Agent
	log       *sessionLog // the session's; other goroutines use only what its lock guards
	consumer  consumer    // who ranges over the events
	spans     spans
	stops     stops   // what ends the run besides its own work
	inbox     inbox   // what was sent to it
	window    window  // the conversation that the model is shown, and its memory
	workers   workers // the tool calls
	model     model
	decisions decisions // that people have made
	pending   pending   // facts that wait for the next append

	begun bool // the run has begun; of the driving goroutine
}

// newDriver returns the driver of a run that is about to begin.
func (a *Agent) newDriver(ctx context.Context, j *job, deltas bool, yield func(Event, error) bool) *driver {
	ctx = orBackground(ctx)
	l := a.newLog(ctx, cmp.Or(j.session, newID(machine.UnnamedPrefix)))
	l.deltas, l.parent, l.leg, l.tools = deltas, j.parent, j.leg, &runTools{log: l, set: a.own}
	switch {
	case j.parent != nil:
		l.leg, l.Patience = j.parent.leg, a.patience()
	case j.leg != nil && (j.leg.queue == nil || j.leg.atOnce), j.recovers: // a worker, or Recover, comes again
		l.Patience = -1
	}
	x := &driver{agent: a, log: l, pending: a.pending, decisions: decisions{log: l}}
	x.pending.log = l
	l.ctx = work.WithRun(l.ctx, x)
	x.consumer = consumer{log: l, yield: yield, wake: make(chan struct{}, 1)}
	x.spans = spans{log: l}
	x.stops = newStops(l, &x.consumer, ctx)
	x.inbox = inbox{log: l, consumer: &x.consumer, stops: &x.stops, decisions: &x.decisions, pending: &x.pending}
	x.window = window{agent: a, log: l, consumer: &x.consumer, spans: &x.spans, stops: &x.stops, inbox: &x.inbox}
	x.workers = workers{agent: a, log: l, consumer: &x.consumer, pending: &x.pending}
	x.model = model{agent: a, log: l, consumer: &x.consumer, spans: &x.spans, stops: &x.stops, inbox: &x.inbox,
		window: &x.window, pending: &x.pending}
	x.workers.succeededTool, x.consumer.room.L, x.model.reply.receive = x.workers.succeeded, l, x.model.receive
	return x
}

// Stream does work and yields its events: facts after they are stored, and notes in between.
// The last event of a run is a [RunEnded] with the [Result]. An error comes after all events and
// without one: if the work is refused, if the run failed, or, as ctx.Err(), if the run was stopped
// because ctx ended. Leaving the loop stops the run; when the loop statement has ended, no
// goroutine of the run remains, except for functions that were abandoned ([Agent.Abandoned]). The
// sequence can be ranged over once; a second range yields [provider.ErrConsumed].
//
// The body of the loop runs on the goroutine of the loop statement, and so do hooks and other
// functions of the host. A panic or runtime.Goexit in the body ends the run first, and then has the
// same effect as usual. A panic in a function of the host is an error. A runtime.Goexit in one, for
// example by a test's FailNow, fails the run, or the call of a tool that isn't Inline, and ends the
// goroutine.
func (a *Agent) Stream(ctx context.Context, w Work) iter.Seq2[Event, error] {
	var used atomic.Bool
	return func(yield func(Event, error) bool) {
		if used.Swap(true) {
			yield(nil, provider.ErrConsumed)
			return
		}
		j, err := a.job(w)
		if err != nil {
			yield(nil, err)
			return
		}
		a.drive(ctx, j, true, yield)
	}
}

// Run does work, such as an [Input], until the run ends or pauses. The error is nil only if the run
// completed. Otherwise it is [Result.Err], and the Result beside it is complete, with the messages,
// the usage and the steps so far. A pause is a *[PausedError]. A limit, a refusal or the end of ctx
// is a *[StopError]. A failure is the error behind it, such as that of the provider. The Result is
// nil only if no run was started; then the error says why.
//
//	res, err := a.Run(ctx, in)
//	var paused *agent.PausedError
//	switch {
//	case err == nil:
//		fmt.Println(res.Text())
//	case errors.As(err, &paused) && paused.Started:
//		fmt.Println("waits for decisions:", res.Pending)
//	default:
//		return err
//	}
//
// A call that needs a decision in a session without a name pauses the run too; the error says so.
// Such a session has a name that was made up, [Result].Session.
//
// Run is safe for concurrent use. While a run of the session is in progress, a second one gets
// [ErrBusy]. A session that is held with no run in progress, in this or another process, is waited
// for, at most two seconds: its run has ended or paused, but the AfterRun hooks haven't returned
// yet, or the session is being changed.
func (a *Agent) Run(ctx context.Context, w Work) (*Result, error) {
	j, err := a.job(w)
	if err != nil {
		return nil, err
	}
	return a.run(ctx, j)
}

// run is Run of a job.
func (a *Agent) run(ctx context.Context, j *job) (*Result, error) {
	res, err := a.collect(ctx, j, nil)
	if res != nil {
		return res, res.Err()
	}
	return nil, err
}

// collect does a job, and calls event for its events if that isn't nil. The error is that of
// Stream.
func (a *Agent) collect(ctx context.Context, j *job, event func(Event)) (res *Result, err error) {
	a.drive(ctx, j, event != nil, func(ev Event, e error) bool {
		if e != nil {
			err = e
			return true
		}
		if event != nil {
			event(ev)
		}
		if end, ok := ev.(*RunEnded); ok {
			res = end.Result // the last one is that of the run itself
		}
		return true
	})
	return res, err
}

// drive does a job. It is the one loop: Run collects what it yields.
func (a *Agent) drive(ctx context.Context, j *job, deltas bool, yield func(Event, error) bool) {
	x := a.newDriver(ctx, j, deltas, yield)
	defer x.log.Cancel(nil)
	defer x.stops.haltNow()
	if err := x.begin(j); err != nil {
		yield(nil, err)
		return
	}
	defer x.close()
	span := Span{NoteMeta: NoteMeta{Origin: x.log.Origin()}, Kind: "run", Resumed: j.resumes()}
	x.log.ctx, x.spans.runEnd = x.log.around(x.log.ctx, span)
	x.consumer.flush()
	if j.leg == nil {
		x.loop()
		return
	}
	defer j.leg.limitTime()()
	x.loop()
	x.reportLeg(j.leg)
}

// loop performs the machine's actions until the run ends or pauses.
func (x *driver) loop() {
	for {
		if out := x.next(); out.ends() {
			x.finish(out)
			return
		}
	}
}

// next performs the machine's next action, after what was sent to the run.
func (x *driver) next() *outcome {
	act := x.log.Machine().Next()
	if x.pending.quiet = x.beginsAtOnce(act); !x.pending.quiet {
		x.log.Flush()
	}
	if out := x.stops.cutOff(); out != nil {
		return out
	}
	if !x.pending.quiet && atSafePoint(act) {
		done := x.inbox.read()
		if act.Kind == machine.ActWait && (x.inbox.requested == requestPause || x.inbox.requested == requestDrain) {
			x.inbox.requested = requestNone // it pauses anyway
		}
		if x.inbox.requested != requestNone {
			return x.inbox.granted()
		}
		if done {
			act = x.log.Machine().Next()
		}
	}
	if x.log.leg.endsBefore(act) {
		x.inbox.requested = requestLeg
		return x.inbox.granted()
	}
	return x.perform(act)
}

// beginsAtOnce reports whether an action begins with an append that looks into the inbox itself,
// and nothing slow lies before that.
func (x *driver) beginsAtOnce(act machine.Action) bool {
	p := &x.pending
	if p.unread || x.consumer.left || x.inbox.requested != requestNone || x.log.ctx.Err() != nil ||
		x.log.drains() || x.log.leg.endsBefore(act) {
		return false
	}
	return act.Kind == machine.ActCallModel && p.resultWaits && act.Final == "" && !act.Again ||
		act.Kind == machine.ActRunCalls && p.replyWaits
}

// atSafePoint reports whether no call is in progress before an action, so that the inbox may be
// read.
func atSafePoint(act machine.Action) bool {
	return act.Kind == machine.ActCallModel || act.Kind == machine.ActRunCalls || act.Kind == machine.ActWait ||
		act.Kind == machine.ActFinish && act.Status == Completed
}

// perform performs an action of the machine.
func (x *driver) perform(act machine.Action) *outcome {
	switch act.Kind {
	case machine.ActCallModel:
		if act.Final == "" {
			if out := x.conditionHolds(); out != nil {
				return out
			}
		}
		if out := x.outerLimit(); out != nil {
			return out
		}
		return x.model.step(act)
	case machine.ActRunCalls:
		x.workers.runCalls(act.Calls)
	case machine.ActSettle:
		for _, c := range x.workers.callStates(act.Calls) {
			x.log.closeCall(c, tools.NotRun, "The call wasn't run: "+x.log.Run().WhyCut())
		}
		x.consumer.flush()
	case machine.ActDoubt:
		if x.workers.held != requestNone { // the call pauses with its work, and runs again when the session is resumed
			out := x.workers.held.outcome()
			if x.workers.held == requestDrain {
				out.reason = cmp.Or(x.workers.heldBy, out.reason)
			}
			return out
		}
		x.workers.resolveDoubt(act.Calls)
	case machine.ActWait:
		return ending(Paused, "", nil)
	case machine.ActFinish:
		return x.conclude(act)
	default:
		return failing(machine.CodeHost, errors.New("agent: the machine has nothing to do, but the run hasn't ended"))
	}
	return goOn
}

// close ends the run if it is still open, waits for its goroutines, and releases the session, also
// if the consumer or a hook panicked.
func (x *driver) close() {
	defer x.log.Close()
	defer x.log.place.leave()
	defer x.agent.lists.keep(x.log)
	defer x.inbox.dropMessages(true)
	defer x.inbox.takeLate()
	if !x.log.ended { // only after a panic or runtime.Goexit
		out := stopping(machine.CodeAbandoned, errLeft)
		if !x.consumer.left && !x.consumer.yielding { // panics of the host's functions are contained
			out = failing(machine.CodeAborted, errGoexit)
			x.agent.logger.ErrorContext(x.log.Stored, "agent: the run has failed", "session", x.log.Name,
				"error", out.reason)
		}
		x.consumer.left = true
		x.log.Cancel(out.reason)
		if x.workers.running != nil {
			x.workers.wait(x.workers.running)
		}
		x.finish(out)
	}
	x.workers.calls.Wait()
	x.stops.close()
	x.log.Leave()
}

// Ancestors implements [work.Run].
func (x *driver) Ancestors() []machine.Ancestor { return x.log.place.Ancestors() }

// CallLabels implements [work.Run].
func (x *driver) CallLabels(kind string) provider.Labels {
	x.log.Lock()
	defer x.log.Unlock()
	return x.log.labels(x.log.Run().Step, kind)
}

// Poke implements [session.Holder].
func (x *driver) Poke() { x.consumer.Poke() }

// Posted implements [session.Holder].
func (x *driver) Posted(items []session.Item) { x.inbox.Posted(items) }

// attemptFailed implements runner.
func (x *driver) attemptFailed(err error) {
	x.model.reply.attempts = append(x.model.reply.attempts, err)
}

// session implements runner.
func (x *driver) session() string { return x.log.Name }

// afterRunTime is how long an AfterRun hook has.
const afterRunTime = 30 * time.Second

// afterRun calls the AfterRun hooks and logs the end of a run.
func (l *sessionLog) afterRun(res *Result) {
	for _, h := range l.agent.hooksAt(func(h *Hooks) bool { return h.AfterRun != nil }) {
		ctx, cancel := context.WithTimeout(withoutRun(context.WithoutCancel(l.ctx)), afterRunTime)
		_, err := l.callHook(h, "AfterRun", func() error { return h.AfterRun(ctx, res) })
		cancel()
		if err != nil {
			l.agent.logger.WarnContext(l.Stored, "agent: AfterRun can't change how a run ended", "hook", h.Name,
				"error", err)
		}
	}
	if l.agent.logger.Enabled(l.Stored, slog.LevelInfo) {
		l.agent.logger.InfoContext(l.Stored, "agent: run ended", "session", l.Name, "run", res.Run, "trace", res.Trace,
			"status", res.Status, "code", res.Code, "steps", res.Steps, "tokens", res.Usage.Total())
	}
}

// driverIn returns the driver of the run that ctx belongs to, or nil.
func driverIn(ctx context.Context) *driver {
	if ctx == nil {
		return nil
	}
	x, _ := work.RunOf(ctx).(*driver)
	return x
}

// drains reports whether the agent, or that of a parent run, is being drained.
func (l *sessionLog) drains() bool {
	return l.agent.sessions.Draining() || l.parent != nil && l.parent.drains()
}

// maxDepth is how deep runs can be nested.
const maxDepth = 8

// depth returns how deep the run is nested: in runs whose calls are subagents, and in runs in
// progress whose functions have called the agent with their context.
func (x *driver) depth() int {
	if x.log.parent != nil {
		return x.log.parent.depth
	}
	outer := driverIn(x.stops.caller)
	if outer == nil {
		return 0
	}
	if outer.log.ctx.Err() != nil { // it has ended, and what it has started goes on
		return outer.depth()
	}
	return outer.depth() + 1
}

// errTooDeep refuses a run.
var errTooDeep = fault.New(fault.Denied,
	fmt.Sprintf("agents can be nested %d deep; do it without another one", maxDepth))
