package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
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
	if x.Run().Direct != nil { // there is no answer that could be sent back
		return completes
	}
	if back, err := x.checkOutput(); err != nil {
		return failing(machine.CodeOutput, err)
	} else if back != "" {
		return x.sendBack(&machine.SentBack{Why: machine.SendBackOutput, Text: back})
	}
	end, err := x.beforeFinish(false)
	if err != nil {
		return x.abort(err)
	} else if end.back != nil {
		return x.sendBack(end.back)
	}
	if len(x.agent.hooksAt(func(h *Hooks) bool { return h.BeforeFinish != nil })) > 0 && len(x.Inbox()) > 0 {
		// posted while the hooks were asked: once it is carried out, the run is concluded again
		if x.readInbox() || x.requested != requestNone {
			return goOn
		}
	}
	var out *outcome
	switch {
	case end.unproven != nil:
		out = stopping(machine.CodeUnproven, end.unproven)
	case !x.Machine().Answered():
		out = stopping(machine.CodeEmpty, machine.ErrNoAnswer)
	case len(end.missing) == 0:
		return completes
	default:
		out = ending(Completed, "", nil)
		x.agent.logger.WarnContext(x.ctx,
			"agent: the run completes although hooks want more: Limits.SendBacks is reached", "session", x.Name,
			"missing", strings.Join(end.missing, "\n"))
	}
	out.missing = end.missing
	return out
}

// conditionHolds calls the stop conditions, and returns how the run ends if one holds, or fails.
func (x *driver) conditionHolds() *outcome {
	r := x.Run()
	if len(x.agent.cfg.StopWhen) == 0 || r.Step == 0 || r.Stage != machine.StageReady {
		return nil
	}
	s := &stop.State{Steps: r.Step, Usage: r.Usage, Cost: r.Cost, Phase: x.State().Phase,
		Succeeded: make(map[string]int)}
	s.Messages = x.Machine().Result(Running, "", nil).Messages
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
	_ = x.append(f) // see cutOff
	x.flush()
	return goOn
}

// canceledBy returns why a run was canceled. If ctx has ended, the error also wraps ctx.Err(),
// which its cause needn't be.
func canceledBy(ctx context.Context, cause error) error {
	if err := usable(ctx.Err()); err != nil && !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	return &StopError{Code: machine.CodeCanceled, Err: cause}
}

// finish ends or pauses the run: it gives open calls a result, appends the end, and shows it with
// the Result.
func (x *driver) finish(out *outcome) {
	status, code, reason := out.status, out.code, out.reason
	if x.Yields() { // whatever else ends the run here, it continues elsewhere
		x.Fail(context.Cause(x.ctx))
	}
	end := &RunEnded{Status: status, Code: code, Missing: out.missing}
	if at, again := x.requeues(reason); again && status == Failed {
		status, end.Status, end.Code, end.At = Paused, Paused, machine.CodeQueued, at
	}
	if status != Paused {
		x.closeRun(reason)
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
	x.Lock()
	x.endCause = reason
	x.Ending() // before its end can be read
	err := x.AppendLocked(nil, own)
	x.ended = true
	if err != nil { // the log ends before this fact: another process, or Continue, will end the run
		if !errors.Is(reason, err) {
			reason = errors.Join(err, reason)
		}
		status, code = Failed, machine.CodeJournal
		if errors.Is(err, session.ErrCut) {
			status, code, reason = Paused, machine.CodeLeg, session.ErrCut
		}
		var text string
		x.Unlocked(func() { text = x.agent.redact.Text(reason.Error()) })
		end = &RunEnded{Status: status, Code: code, Reason: text}
		x.Stamp(end)
		x.lastEnd = endEvent(end, x.Machine(), reason)
		x.queue = append(x.queue, x.lastEnd)
	}
	end = x.lastEnd
	x.Unlock()
	callerEnded := code == machine.CodeCanceled && x.callerEnded(reason)
	x.afterRun(end.Result)
	x.flush()
	if x.runEnd != nil {
		x.runEnd(end.Result.Err())
	}
	switch {
	case x.left:
	case status == Failed:
		x.fail(reason)
	case callerEnded:
		x.fail(usable(x.caller.Err()))
	}
}

// callerEnded reports whether a run that was canceled has ended because the context of Run or
// Stream did, and not because of [Session.Cancel]. reason is why it ended. If both happened, the
// cause of the run's context says which came first.
func (x *driver) callerEnded(reason error) bool {
	if x.caller.Err() == nil {
		return false
	}
	byCancel := errors.Is(reason, errCanceled)
	return !byCancel || errors.Is(causeOf(x.ctx), causeOf(x.caller))
}

const (
	firstDelay   = 10 * time.Second // before the second attempt of a queued run
	longestDelay = 10 * time.Minute
)

// requeues reports whether a run that has failed is tried again, and when.
func (l *sessionLog) requeues(reason error) (at time.Time, ok bool) {
	r := l.Run()
	if r.Status != Running || r.WhyNotRequeued() != "" {
		return at, false
	}
	wait := min(firstDelay<<min(r.Queue.Tried, 20), longestDelay)
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

// checkOutput checks a structured answer. It returns what the model reads if it should try again.
func (l *sessionLog) checkOutput() (back string, err error) {
	r := l.Run()
	if len(r.Output) == 0 {
		return "", nil
	}
	s, err := schema.Parse(r.Output)
	if err != nil {
		return "", fmt.Errorf("agent: the schema of the answer: %w", err)
	}
	text := l.Machine().Result(Completed, "", nil).Text()
	_, problem := output.Accept(s, text)
	switch {
	case problem == nil:
		return "", nil
	case r.Limits.OutputCorrections >= 0 && r.Corrected >= r.Limits.OutputCorrections:
		return "", &OutputError{Text: text, Err: problem}
	}
	return output.Correction(problem), nil
}

// outerLimit returns how the run ends if a run that has called it, or the input that has started
// it, has reached a limit.
func (x *driver) outerLimit() *outcome {
	err := error(nil)
	if x.parent != nil {
		err = x.parent.spending.limitReached()
	}
	if err == nil {
		err = x.treeLimit(x.ctx)
	}
	if err == nil {
		return nil
	}
	return cmp.Or(x.cutOff(), stopping(machine.CodeLimit, err))
}

// reportLeg notes how the run stands after its leg, while its session is still held.
func (x *driver) reportLeg(l *legState) {
	r, res := x.Run(), x.lastEnd.Result
	p := &Progressed{Result: res}
	switch {
	case !r.IsOpen():
		p.Next = NextEnded
	case r.Status == Running: // it was cut off, the lease was lost, or the journal has failed
		p.Next = NextAgain
		if x.Lost() && errors.Is(x.Err(), ErrBusy) {
			p.Next = NextLater
		}
		p.Result = x.Machine().Result(Running, res.Code, reasonOf(res))
	case r.IsQueued():
		p.Next, p.At = NextWait, r.Queue.At
	case r.Interrupted(), // or a decision comes after the last safe point
		slices.ContainsFunc(x.Inbox(), func(it session.Item) bool { return it.Kind == session.ItemDecide }):
		p.Next = NextAgain
	default:
		p.Next, p.At = NextWait, firstExpiry(r.Pending())
	}
	l.end, l.seq = p, x.State().Seq
}

// reasonOf returns the reason of a Result as an error; nil if there is none.
func reasonOf(r *Result) error {
	if r.Reason == "" {
		return nil
	}
	return errors.New(r.Reason)
}
