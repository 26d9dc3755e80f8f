package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A callRun takes one tool call from its check to its result: admit, startCalls, run, finishCall.
type callRun struct {
	// fixed at creation
	w     *workers
	set   *toolset
	d     *tools.Definition // noTool for an unknown one
	state *machine.CallState
	again bool // it was started before

	// of the goroutine that admits and runs the call
	call       tools.Call
	stored     *provider.ToolCall // the call as the state has it, with the input that runs
	warning    string             // what hooks want the model to know
	answer     *tools.Result      // of a hook, in the tool's place
	answeredBy string
	pass       tools.Pass

	// guarded by the lock of the log
	started   bool
	over      bool // it has its result, or is suspended
	abandoned bool
	hooked    bool // the AfterTool hooks are being called with it, or were called
	began     time.Time
	overdue   time.Time // when its time limit was reached
	progress  *Progress // the newest that wasn't shown yet
	attempts  []error   // of the attempts that were followed by another
	span      callSpan
}

// newCall returns the callRun of a call of the newest reply.
func (w *workers) newCall(c *machine.CallState) *callRun {
	set := w.log.toolset()
	d := set.lookup(c.Call.Name)
	cr := &callRun{w: w, set: set, d: d, stored: c.Call, state: c, again: c.Started, call: w.log.toolCall(c)}
	cr.call.Succeeded = w.succeededTool
	if r := w.log.Run(); r.Direct != nil && r.Direct.Key != "" {
		cr.call.IdempotencyKey = r.Direct.Key
	}
	if len(c.Answers) > 0 && w.agent.owners[c.Call.Name] == nil {
		cr.call.Resumed = resumption(c)
	}
	if len(d.Spec().Approvers) > 0 {
		cr.call.MayApprove = w.mayApprove
	}
	if d.Spec().Repeatable() {
		cr.call.OnRetry = w.retrying
	}
	if !d.Spec().Inline { // an inline call isn't abandoned
		cr.call.OnTimeout = w.overdue
	}
	return cr
}

// resumption returns what a call runs again with; nil if it has to begin again, because this
// process doesn't have the answer.
func resumption(c *machine.CallState) *tools.Resumption {
	answer := c.Answers[len(c.Answers)-1]
	if answer.Secret {
		kept, ok := secrets.Load(answer.ID)
		if !ok {
			return nil
		}
		answer.Value = kept.(*keptSecret).value
	}
	return &tools.Resumption{State: slices.Clone(c.State), Answer: slices.Clone(answer.Value), By: answer.User}
}

// toolCall returns a call of the newest reply as its tool gets it.
func (l *sessionLog) toolCall(c *machine.CallState) tools.Call {
	r, s := l.Run(), l.State()
	return tools.Call{Session: l.Name, Run: r.ID, Step: r.Step, Index: c.Index(), ID: c.Call.ID, Name: c.Call.Name,
		Input: c.Call.Input, IdempotencyKey: c.Call.ID, Fence: l.Fence(), By: c.By, User: r.User, Labels: s.Labels,
		Outside: s.OutsideFrom(), Mode: s.Mode}
}

// succeeded returns how often a tool has succeeded in this run.
func (w *workers) succeeded(tool string) int {
	w.log.Lock()
	defer w.log.Unlock()
	return w.log.Run().Tools[tool].OK
}

// runCalls runs the calls that need no approval, in call order, and in parallel where their tools
// permit it. The others get a result without running, or are suspended.
func (w *workers) runCalls(indexes []int) {
	var together []*callRun
	w.log.tools.checkSources()
	set := w.log.toolset()
	for _, c := range w.callStates(indexes) {
		parallel := set.lookup(c.Call.Name).Spec().Parallel()
		if !parallel { // a barrier: what comes before it ends first
			w.runTogether(together)
			together = nil
		}
		if w.consumer.left || w.pending.unread || w.log.ctx.Err() != nil || w.log.Lost() || w.log.leg.isOver() {
			return
		}
		cr := w.newCall(c)
		switch {
		case w.log.Run().Stuck == c.Call.Name:
			w.refuse(cr, tools.NotRun, fault.None, "the same call was made too often in a row.")
		case w.log.Run().Limits.ReplyCalls > 0 && cr.call.Index >= w.log.Run().Limits.ReplyCalls:
			w.refuse(cr, tools.NotRun, fault.None,
				fmt.Sprintf(
					"only the first %d calls of a reply are run. Make it again in your next reply, with fewer calls.",
					w.log.Run().Limits.ReplyCalls))
		case !w.admit(cr):
		case parallel:
			together = append(together, cr)
		default:
			w.runTogether([]*callRun{cr})
		}
	}
	w.runTogether(together)
}

// admit checks a call and reports whether it may run. If not, the call has its result or is
// suspended.
func (w *workers) admit(cr *callRun) bool {
	r, c := w.log.Run(), cr.state
	approved := c.Status == machine.CallApproved
	if approved && !w.approverLetsRun(cr) {
		if approved, cr.call.By = false, ""; c.Started {
			w.inDoubt(cr, "the process that ran it ended, and who has let it run again may not decide on it")
			return false
		}
	}
	if approved && (!c.Edited || len(c.Answers) > 0) {
		return w.readmit(cr)
	}
	if why := barred(r, c); why != "" && !c.Edited {
		return w.refuse(cr, tools.Unavailable, fault.Denied, why)
	}
	if c.Call.Invalid != "" && !c.Edited {
		cr.call.Input = []byte(c.Call.Invalid) // the registry says what is wrong with it
	}
	gone := func(f machine.ToolFingerprint) bool { return f.Gone && f.Name == c.Call.Name }
	if slices.ContainsFunc(cr.set.fingerprints, gone) {
		return w.refuse(cr, tools.Unknown, fault.NotFound,
			"the tool \""+c.Call.Name+"\" is no longer available. Go on without it.")
	}
	offered := w.log.tools.hooked
	if offered == nil {
		offered = w.log.offer(w.log.currentMode()).tools
	}
	var change func() error
	if len(w.agent.hooksAt(func(h *Hooks) bool { return h.BeforeTool != nil })) > 0 {
		change = func() error { return w.beforeTool(cr) }
	}
	if cr.d.Judges() { // its functions may take long
		w.log.Flush()
	}
	adm, err := cr.set.registry.Admit(w.log.withOutermost(w.log.ctx), &cr.call, offered, change, w.agent.cfg.Policies)
	if err == errAnswered {
		out := cr.d.Answer(*cr.answer)
		return w.refuseWith(cr, &out)
	}
	if err != nil {
		w.log.Cancel(err)
		return false
	}
	if adm.Rejected != nil {
		w.refused(cr, adm.Rejected)
		return false
	}
	if string(cr.call.Input) != string(c.Call.Input) || c.Call.Invalid != "" {
		call := *c.Call
		call.Input, call.Invalid = cr.call.Input, ""
		cr.stored = &call
	}
	if adm.Verdict.Effect == tools.Ask && !approved {
		return w.ruled(cr, &adm.Verdict)
	}
	return true
}

// readmit checks a call that may run because of what was recorded earlier: the tool may have
// changed since. If it may not run any more, it has its result.
func (w *workers) readmit(cr *callRun) bool {
	refused := cr.set.registry.Readmit(&cr.call)
	return refused == nil || w.refuseWith(cr, refused)
}

// refused gives a call the result of the registry's refusal, or asks a person to correct the input.
func (w *workers) refused(cr *callRun, out *tools.Outcome) {
	l, invalid := w.log.Run().Limits, w.log.Run().Tools[cr.call.Name].Invalid
	if out.Status == tools.Invalid && l.AskAfterCorrections && l.Corrections >= 0 && invalid >= l.Corrections &&
		!cr.state.Edited {
		w.suspend(cr, Pause{Kind: PauseCorrection, Reason: "the model couldn't make a call that fits: " +
			partsText(out.Parts)}, 0)
		return
	}
	w.refuseWith(cr, out)
}

// refuse gives a call a result that says why it doesn't run. It returns false, for admit.
func (w *workers) refuse(cr *callRun, status tools.Status, class fault.Class, why string) bool {
	out := notRun(why)
	out.Status, out.Class = status, class
	return w.refuseWith(cr, out)
}

// notRun returns the outcome of a call that isn't run.
func notRun(why string) *tools.Outcome {
	return &tools.Outcome{Status: tools.NotRun,
		Parts: []provider.Part{provider.TextPart("The call wasn't run: " + why)}}
}

const stoppedBefore = "the run was stopped."

// refuseWith gives a call a result without running it. It returns false, for admit.
func (w *workers) refuseWith(cr *callRun, out *tools.Outcome) bool {
	cr.finishRefused(out)
	w.consumer.flush()
	return false
}

// finishRefused gives a call that doesn't run its result. A call that was started before stays in
// doubt.
func (cr *callRun) finishRefused(out *tools.Outcome) {
	if cr.w.log.Yields() { // nothing is recorded: the process that has the session next runs the call
		cr.drop()
		return
	}
	if cr.again {
		out.Status = tools.InDoubt
		if len(out.Parts) > 0 {
			out.Parts[0].Text = strings.Replace(out.Parts[0].Text, "wasn't run: ", "wasn't run again: ", 1)
		}
		out.Parts = append(out.Parts,
			provider.TextPart("\nIt was started before, and it is not known whether it had its effect then."))
	}
	cr.w.finishCall(cr, *out)
	cr.cancelWork()
}

// startCalls checks calls once more, also against what a person was shown, asks their breakers, and
// appends that they start. Those that don't get a result instead, or are suspended again. The
// breakers are asked before the append, so that a call that they refuse is never in doubt.
//
// With quiet, it returns false if no call starts, because something is in the inbox, or because
// none may: nothing was appended then that looked into the inbox. Calls that may not start stay as
// they are, to be checked again without quiet.
func (w *workers) startCalls(quiet bool, calls ...*callRun) bool {
	var ready []*callRun
	for i, cr := range calls {
		refused := cr.set.registry.Recheck(w.log.withOutermost(w.log.ctx), &cr.call, w.agent.cfg.Policies)
		switch {
		case refused != nil && quiet:
		case refused != nil:
			cr.finishRefused(refused)
		case w.asShown(cr) && w.askBreaker(cr, quiet || i > 0):
			ready = append(ready, cr)
		}
	}
	if len(ready) == 0 {
		return !quiet
	}
	return !errors.Is(w.appendStarts(quiet, ready), journal.ErrInbox)
}

// askBreaker asks the breaker of a call for a permit. It returns false if the call got a result
// instead, or, if it is asked again later, none: the call before it may close the breaker.
func (w *workers) askBreaker(cr *callRun, again bool) bool {
	refused := cr.pass.Take(cr.d, w.agent.breakers)
	if refused == nil || again {
		return refused == nil
	}
	note := &BreakerOpen{NoteMeta: w.log.callMeta(&cr.call), Tool: cr.call.Name}
	if errors.As(refused.Err, &note.Err) {
		note.Until = note.Err.Until
	}
	w.log.Lock()
	w.log.note(note)
	w.log.Unlock()
	cr.finishRefused(refused)
	return false
}

func (w *workers) appendStarts(quiet bool, calls []*callRun) (err error) {
	w.log.Lock()
	defer w.log.Unlock()
	var facts []session.Redacted
	// if the run was stopped while they were checked, the end of the run gives them their results
	may := !w.log.ended && w.log.ctx.Err() == nil
	for _, cr := range calls {
		if cr.started = may && !cr.over; cr.started {
			facts = append(facts, session.Clean(&ToolStarted{Meta: Meta{Call: cr.call.ID, By: cr.call.By},
				Call: cr.stored, IdempotencyKey: cr.call.IdempotencyKey, Repeatable: cr.d.Spec().Repeatable(),
				ReadOnly: cr.d.Spec().ReadOnly}))
		}
	}
	err = w.log.AppendQuietLocked(quiet, facts...)
	for _, cr := range calls {
		cr.started = cr.started && err == nil
		cr.began, cr.over = time.Now(), !cr.started
		if cr.started && cr.call.Resumed != nil {
			forgetSecret(cr.state.Answers[len(cr.state.Answers)-1].ID)
		}
	}
	return err
}

// finishCall appends the result of a call, or that its tool suspends it. Any goroutine may call it.
// It does nothing for a call that was abandoned.
func (w *workers) finishCall(cr *callRun, out tools.Outcome) {
	defer cr.endSpan(&out)
	if out.Suspend != nil && w.finishSuspended(cr, &out, nil) {
		return
	}
	if cr.again && w.agent.children[cr.call.Name] != nil {
		w.log.place.bill() // what the subagent used before this process resumed the run, if it doesn't run again
	}
	res := w.toolResult(cr, &out)
	if !cr.showHooks(res) {
		return
	}
	if out.Err != nil { // else what is logged would be allocated for nothing
		w.log.warn("agent: tool call", out.Err, "call", cr.call.ID, "tool", cr.call.Name, "status", out.Status)
	}
	var escalated Event
	if res.Error && res.Class == fault.UserFixable && !cr.dropped() {
		escalated = w.log.escalation(w.log.callMeta(&cr.call), cr.call.Name, res.Class, out.Err, partsText(res.Parts),
			out.Attempts, cr.attempts)
	}
	res = w.log.bounded(res)
	w.log.Lock()
	defer w.log.Unlock()
	if cr.over || cr.abandoned {
		return
	}
	cr.over = true
	if escalated != nil {
		w.log.note(escalated)
	}
	w.appendResult(cr, res, &out)
}

const internalError = "The tool failed: an internal error. Trying the same again won't help."

// showHooks calls the AfterTool hooks, once for each call. It reports whether the call still needs
// its result.
func (cr *callRun) showHooks(res *ToolResult) bool {
	w := cr.w
	if len(w.agent.hooksAt(func(h *Hooks) bool { return h.AfterTool != nil })) == 0 {
		return !cr.dropped()
	}
	w.log.Lock()
	dropped, shown := cr.over || cr.abandoned, cr.hooked
	cr.hooked = shown || !dropped
	w.log.Unlock()
	if !dropped && !shown {
		c := hookCall(&cr.call, cr.d)
		c.AnsweredBy, c.Ran = cr.answeredBy, cr.again || cr.call.Resumed != nil
		if w.log.afterTool(cr.spanCtx(), c, res) && cr.d.Spec().Repeatable() && w.log.Yields() {
			cr.drop() // the guard may have failed because it was cut off: where the run goes on, the call runs again
			return false
		}
	}
	return !dropped
}

// drop leaves a call open.
func (cr *callRun) drop() {
	cr.w.log.Lock()
	defer cr.w.log.Unlock()
	cr.over = true
}

// dropped reports whether the call has its result, is suspended or was abandoned, so that another
// result is ignored.
func (cr *callRun) dropped() bool {
	cr.w.log.Lock()
	defer cr.w.log.Unlock()
	return cr.over || cr.abandoned
}

// maxMedia bounds the media of one result, in bytes, so that its encoding fits into a record of a
// journal.
const maxMedia = 32 << 20

// callStates returns the calls of the newest reply with these indexes.
func (w *workers) callStates(indexes []int) []*machine.CallState {
	out := make([]*machine.CallState, len(indexes))
	for i, n := range indexes {
		out[i] = &w.log.Run().Calls[n]
	}
	return out
}
