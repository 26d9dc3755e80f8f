package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

// conclude returns how a run ends as the machine says, unless its output or a hook sends the run
// back.
func (x *driver) conclude(act machine.Action) *outcome {
	if act.Status != Completed {
		err := act.Err
		if err == nil && act.Status == Failed {
			err = fault.New(fault.Permanent, "agent: the model call failed")
		}
		return ending(act.Status, act.Code, err)
	}
	if x.log.Run().Direct != nil { // there is no answer that could be sent back
		return completes
	}
	if back, err := x.checkOutput(); err != nil {
		return failing(machine.CodeOutput, err)
	} else if back != "" {
		return x.sendBack(&machine.SentBack{Why: machine.SendBackOutput, Text: back})
	}
	end, err := x.beforeFinish(false)
	if err != nil {
		return x.stops.abort(err)
	} else if end.back != nil {
		return x.sendBack(end.back)
	}
	if len(x.agent.hooksAt(func(h *Hooks) bool { return h.BeforeFinish != nil })) > 0 && len(x.log.Inbox()) > 0 {
		// posted while the hooks were asked: once it is carried out, the run is concluded again
		if x.inbox.read() || x.inbox.requested != requestNone {
			return goOn
		}
	}
	var out *outcome
	switch {
	case end.unproven != nil:
		out = stopping(machine.CodeUnproven, end.unproven)
	case !x.log.Machine().Answered():
		out = stopping(machine.CodeEmpty, machine.ErrNoAnswer)
	case len(end.missing) == 0:
		return completes
	default:
		out = ending(Completed, "", nil)
		x.agent.logger.WarnContext(x.log.ctx,
			"agent: the run completes although hooks want more: Limits.SendBacks is reached", "session", x.log.Name,
			"missing", strings.Join(end.missing, "\n"))
	}
	out.missing = end.missing
	return out
}

// conditionHolds calls the stop conditions, and returns how the run ends if one holds, or fails.
func (x *driver) conditionHolds() *outcome {
	r := x.log.Run()
	if len(x.agent.cfg.StopWhen) == 0 || r.Step == 0 || r.Stage != machine.StageReady {
		return nil
	}
	s := &stop.State{Steps: r.Step, Usage: r.Usage, Cost: r.Cost, Phase: x.log.State().Phase,
		Succeeded: make(map[string]int)}
	s.Messages = x.log.Machine().Result(Running, "", nil).Messages
	for name, t := range r.Tools {
		s.Succeeded[name] = t.OK
	}
	var why string
	var holds bool
	err := contained(func() error {
		why, holds = stop.AnyOf(x.agent.cfg.StopWhen...)(s)
		return nil
	})
	switch {
	case err != nil:
		return failing(machine.CodeAborted, fmt.Errorf("agent: a stop condition failed: %w", err))
	case holds:
		return x.concludeBy(why)
	}
	return nil
}

// sendBack appends what is missing, so that the model is called again.
func (x *driver) sendBack(f *machine.SentBack) *outcome {
	if x.agent.redact.Text(f.Text) == "" {
		f.Text = "Something is missing."
	}
	_ = x.log.append(f) // see stops.cutOff
	x.consumer.flush()
	return goOn
}

// finish ends or pauses the run: it gives open calls a result, appends the end, and shows it with
// the Result.
func (x *driver) finish(out *outcome) {
	status, code, reason := out.status, out.code, out.reason
	if x.log.Yields() { // whatever else ends the run here, it continues elsewhere
		x.log.Fail(context.Cause(x.log.ctx))
	}
	end := &RunEnded{Status: status, Code: code, Missing: out.missing}
	if at, again := x.requeues(reason); again && status == Failed {
		status, end.Status, end.Code, end.At = Paused, Paused, machine.CodeQueued, at
	}
	if status != Paused {
		x.log.closeRun(reason)
	}
	if reason != nil {
		end.Reason = tools.Cut(x.agent.redact.Text(reason.Error()), tools.DefaultMaxResult)
	}
	if limit, ok := errors.AsType[*LimitError](reason); ok && end.Code == machine.CodeLimit {
		end.Limit = limit.Limit
	}
	if spent, ok := errors.AsType[*budget.Error](reason); ok && spent.Unpriced && end.Code == machine.CodeBudget {
		end.Limit = machine.LimitRequirePrices
	}
	if code == machine.CodeProvider || code == machine.CodeContext {
		end.Problem = x.agent.problemOf(reason)
	}
	own := x.agent.sessions.Redact(end)
	x.log.Lock()
	x.log.endCause = reason
	x.log.Ending() // before its end can be read
	err := x.log.AppendLocked(nil, own)
	x.log.ended = true
	if err != nil { // the log ends before this fact: another process, or Continue, will end the run
		if !errors.Is(reason, err) {
			reason = errors.Join(err, reason)
		}
		status, code = Failed, machine.CodeJournal
		if errors.Is(err, session.ErrCut) {
			status, code, reason = Paused, machine.CodeLeg, session.ErrCut
		}
		var text string
		x.log.Unlocked(func() { text = x.agent.redact.Text(reason.Error()) })
		end = &RunEnded{Status: status, Code: code, Reason: text}
		x.log.Stamp(end)
		x.log.lastEnd = endEvent(end, x.log.Machine(), reason)
		x.log.queue = append(x.log.queue, x.log.lastEnd)
	}
	end = x.log.lastEnd
	x.log.Unlock()
	callerEnded := code == machine.CodeCanceled && x.stops.callerEnded(reason)
	x.log.afterRun(end.Result)
	x.consumer.flush()
	if x.spans.runEnd != nil {
		x.spans.runEnd(end.Result.Err())
	}
	switch {
	case x.consumer.left:
	case status == Failed:
		x.consumer.fail(reason)
	case callerEnded:
		x.consumer.fail(usable(x.stops.caller.Err()))
	}
}

// requeueDelays are between the attempts of a queued run.
var requeueDelays = backoff.Delays{Min: 10 * time.Second, Max: 10 * time.Minute}

// requeues reports whether a run that has failed is tried again, and when.
func (x *driver) requeues(reason error) (at time.Time, ok bool) {
	r := x.log.Run()
	if r.Status != Running || r.WhyNotRequeued() != "" {
		return at, false
	}
	wait := requeueDelays.After(r.Queue.Tried + 1)
	if asked, ok := fault.RetryAfter(reason); ok {
		wait = max(wait, min(asked, 24*time.Hour))
	}
	return time.Now().Add(wait).UTC().Round(0), true
}

// closeRun closes what a run leaves open: an open model call fails, and each open tool call gets a
// result. reason is why the run ends.
func (l *sessionLog) closeRun(reason error) {
	if l.Lost() { // the run stays open; another process resumes it
		return
	}
	r := l.Run()
	if r.Stage == machine.StageCalling {
		_ = l.append(&machine.StepFailed{Class: fault.None, Error: "the run ended"}) // the error stays in the log
	}
	if r.Stage != machine.StageActing {
		return
	}
	why := "the run ended"
	if reason != nil {
		why = reason.Error()
	}
	defer l.cancelOpenWork(why)()
	for i := range r.Calls {
		switch c := &r.Calls[i]; {
		case c.Status == machine.CallDone:
		case c.Status == machine.CallSuspended:
			res := c.Undecided("nobody decided on it before the run ended.")
			l.afterTool(l.ctx, l.hookCall(c), res)
			_ = l.append(&machine.Decided{Meta: Meta{Call: c.Call.ID},
				Decision: Decision{ID: c.Pause.ID, Kind: machine.Superseded, Reason: why}}, l.result(c, res))
		case c.Started: // now, or before a person let it run again
			l.closeCall(c, tools.InDoubt, "The call was started, and it is not known whether it had its effect: "+why)
		default:
			l.closeCall(c, tools.NotRun, "The call wasn't run: "+why)
		}
		if r.Stage != machine.StageActing { // that was the last one
			return
		}
	}
}

// closeCall gives a call a result without running it. The AfterTool hooks are called.
func (l *sessionLog) closeCall(c *machine.CallState, status tools.Status, text string) {
	res := c.ResultOf(status, fault.None, text)
	l.afterTool(l.ctx, l.hookCall(c), res)
	_ = l.append(l.result(c, res))
}

// supersede ends the open run of the session, because another takes its place.
func (l *sessionLog) supersede(why string) error {
	return l.endOpen(machine.CodeSuperseded, errors.New(why))
}

// endOpen ends the open run of the session, which nobody drives.
func (l *sessionLog) endOpen(code string, why error) error {
	l.closeRun(why)
	l.agent.lists.forget(l.Name)
	l.endCause = &StopError{Code: code, Err: why}
	return l.append(&RunEnded{Status: Stopped, Code: code, Reason: why.Error()})
}

// endChild ends the run of a subagent whose call is over.
func (a *Agent) endChild(ctx context.Context, session, why string) error {
	l, err := a.openKnown(ctx, session)
	if err != nil {
		return nil // it never began, or another process runs it and notices, or has died: nobody resumes it
	}
	if l.Run().IsOpen() {
		err = l.supersede(why)
	}
	l.Close()
	if a.sessions.InMemory {
		_ = a.Session(session).Delete(ctx)
	}
	return err
}

// outerLimit returns how the run ends if a run that has called it, or the input that has started
// it, has reached a limit.
func (x *driver) outerLimit() *outcome {
	err := error(nil)
	if x.log.parent != nil {
		err = x.log.parent.spending.limitReached()
	}
	if err == nil {
		err = x.log.place.limit(x.log.ctx)
	}
	if err == nil {
		return nil
	}
	return cmp.Or(x.stops.cutOff(), stopping(machine.CodeLimit, err))
}

// Require returns hooks with a condition without which no run completes, not even by
// Config.StopWhen. Whenever a run would complete, missing looks at what the run has done, and
// returns what is missing from it, in words for the model, or "" if the condition holds. The model
// is sent back to work with them as by [SendBack], at most Limits.SendBacks times (2); after that
// the run ends as stopped, with the code [machine.CodeUnproven], the answer in its Result, and what
// is missing in [Result].Missing. A stop condition ends such a run at once.
//
// An error of missing means that it isn't known whether the condition holds: see [Hooks]. The name
// is in the reason. Runs that make one call without a model have no conditions.
func Require(name string, missing func(ctx context.Context, r *Result) (string, error)) Hooks {
	h := Hooks{Name: name, required: true}
	if missing == nil { // New refuses it
		return h
	}
	h.BeforeFinish = func(ctx context.Context, r *Result) error {
		what, err := missing(ctx, r)
		if err != nil || what == "" {
			return err
		}
		return SendBack(what)
	}
	return h
}

// A finishing is what the BeforeFinish hooks say about a run that would complete.
type finishing struct {
	back     *machine.SentBack // the run goes on; nil: no hook that may send it back wants more
	missing  []string          // what hooks want that have sent it back as often as they may
	unproven error             // a condition doesn't hold, and the run ends
}

// beforeFinish calls the BeforeFinish hooks, or, for a stop condition, those of Require alone,
// which may not send the run back then.
func (x *driver) beforeFinish(byCondition bool) (end finishing, err error) {
	r, most := x.log.Run(), x.log.Run().Limits.SendBacks
	var texts, hooks []string
	for i := range x.agent.cfg.Hooks {
		h := &x.agent.cfg.Hooks[i]
		if h.BeforeFinish == nil || byCondition && !h.required {
			continue
		}
		res := x.log.Machine().Result(Completed, "", nil)
		_, err := x.log.callHook(h, "BeforeFinish", func() error { return h.BeforeFinish(x.log.ctx, res) })
		var send *sendBackError
		switch id := x.agent.hookID(i); {
		case err == nil:
		case !errors.As(err, &send):
			return end, err
		case byCondition || most >= 0 && r.SentBack+r.SentBackBy[id] >= most:
			end.missing = append(end.missing, send.what)
			if h.required && end.unproven == nil {
				end.unproven = fmt.Errorf("agent: the run doesn't meet the condition %q: %s", h.Name, send.what)
			}
		default:
			texts, hooks = append(texts, send.what), append(hooks, id)
		}
	}
	if len(texts) > 0 {
		end.back = &machine.SentBack{Why: machine.SendBackHook, Text: strings.Join(texts, "\n"), Hooks: hooks}
	}
	return end, nil
}

// hookID returns what the log calls a hook: its name, with a number if it isn't the first with that
// name, or has none.
func (a *Agent) hookID(i int) string {
	h, n := &a.cfg.Hooks[i], 1
	for _, o := range a.cfg.Hooks[:i] {
		if o.Name == h.Name {
			n++
		}
	}
	if name := machine.ValidText(h.Name); n == 1 && name != "" {
		return name
	}
	return fmt.Sprintf("%s#%d", machine.ValidText(h.Name), n)
}

// concludeBy returns how a run ends of which a stop condition holds. What Require asks for must
// hold, too.
func (x *driver) concludeBy(why string) *outcome {
	end, err := x.beforeFinish(true)
	switch {
	case err != nil:
		return x.stops.abort(err)
	case end.unproven != nil:
		out := stopping(machine.CodeUnproven, end.unproven)
		out.missing = end.missing
		return out
	}
	return ending(Completed, machine.CodeCondition, fmt.Errorf("agent: a stop condition holds: %s", why))
}
