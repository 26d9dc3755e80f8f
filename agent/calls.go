package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A callRun takes one tool call from its check to its result: admit, startCall, run, finishCall.
type callRun struct {
	// fixed at creation
	x     *driver
	set   *toolset
	d     *tools.Definition // nil for an unknown tool
	state *machine.CallState
	again bool // it was started before

	// of the goroutine that admits and runs the call
	call       tools.Call
	stored     *provider.ToolCall // the call as the state has it, with the input that runs
	warning    string             // what hooks want the model to know
	answer     *tools.Result      // of a hook, in the tool's place
	answeredBy string
	pass       tools.Pass

	// guarded by mu
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
func (x *driver) newCall(c *machine.CallState) *callRun {
	r := x.Run()
	set := x.toolset()
	d, _ := set.registry.Lookup(c.Call.Name)
	cr := &callRun{x: x, set: set, d: d, stored: c.Call, state: c, again: c.Started}
	cr.call = tools.Call{
		Session: x.Name, Run: r.ID, Step: r.Step, Index: c.Index(), ID: c.Call.ID, Name: c.Call.Name,
		Input:          c.Call.Input,
		IdempotencyKey: c.Call.ID, Fence: x.Fence(), By: c.By, User: r.User, Labels: x.State().Labels,
		Mode: x.State().Mode, Succeeded: x.running.succeeded,
	}
	if r.Direct != nil && r.Direct.Key != "" {
		cr.call.IdempotencyKey = r.Direct.Key
	}
	if d == nil {
		return cr
	}
	if len(c.Answers) > 0 && x.agent.children[c.Call.Name] == nil {
		answer := c.Answers[len(c.Answers)-1]
		cr.call.Resumed = &tools.Resumption{State: slices.Clone(c.State), Answer: slices.Clone(answer.Value),
			By: answer.User}
	}
	if d.Spec().Repeatable() {
		cr.call.OnRetry = x.retrying
	}
	if !d.Spec().Inline { // an inline call isn't abandoned
		cr.call.OnTimeout = x.overdue
	}
	return cr
}

// hookCall returns the call for hooks.
func (cr *callRun) hookCall() *ToolCall {
	c := &ToolCall{Session: cr.call.Session, Run: cr.call.Run, Step: cr.call.Step, Index: cr.call.Index,
		ID: cr.call.ID, Name: cr.call.Name, Input: cr.call.Input, User: cr.call.User, Labels: cr.call.Labels,
		AnsweredBy: cr.answeredBy}
	if cr.d != nil {
		c.Spec = cr.d.Spec()
	}
	return c
}

// succeeded reports whether a tool has succeeded in this run.
func (x *driver) succeeded(tool string) bool {
	x.Lock()
	defer x.Unlock()
	return x.Run().Tools[tool].OK > 0
}

// runCalls runs the calls that need no approval, in call order, and in parallel where their tools
// permit it. The others get a result without running, or are suspended.
func (x *driver) runCalls(indexes []int) {
	var together []*callRun
	x.checkSources()
	registry := x.toolset().registry
	for _, c := range x.callStates(indexes) {
		d, _ := registry.Lookup(c.Call.Name)
		parallel := d != nil && d.Spec().Parallel()
		if !parallel { // a barrier: what comes before it ends first
			x.runTogether(together)
			together = nil
		}
		if x.left || x.ctx.Err() != nil || x.Lost() {
			return
		}
		cr := x.newCall(c)
		switch {
		case x.Run().Stuck == c.Call.Name:
			x.refuse(cr, tools.NotRun, fault.None, "the same call was made too often in a row.")
		case x.Run().Limits.ReplyCalls > 0 && cr.call.Index >= x.Run().Limits.ReplyCalls:
			x.refuse(cr, tools.NotRun, fault.None,
				fmt.Sprintf(
					"only the first %d calls of a reply are run. Make it again in your next reply, with fewer calls.",
					x.Run().Limits.ReplyCalls))
		case !x.admit(cr):
		case parallel:
			together = append(together, cr)
		default:
			x.runAlone(cr)
		}
	}
	x.runTogether(together)
}

// admit checks a call and reports whether it may run. If not, the call has its result or is
// suspended.
func (x *driver) admit(cr *callRun) bool {
	r, c := x.Run(), cr.state
	if c.Status == machine.CallApproved && (!c.Edited || len(c.Answers) > 0) {
		if cr.d == nil {
			return x.refuse(cr, tools.Unknown, fault.NotFound, "there is no such tool any more")
		}
		if _, err := cr.d.Accept(c.Call.Input); err != nil { // the tool may have changed since it was asked about
			return x.refuse(cr, tools.Invalid, fault.Invalid, err.Error())
		}
		return true
	}
	l := r.Limits
	if invalid := r.Tools[c.Call.Name].Invalid; l.Corrections >= 0 && invalid > l.Corrections &&
		!l.AskAfterCorrections && !c.Edited {
		return x.refuse(cr, tools.Unavailable, fault.Denied,
			"this tool is not available in this run: too many calls of it didn't fit its schema. Go on without it.")
	}
	if why := unavailable(r, c); why != "" {
		return x.refuse(cr, tools.Unavailable, fault.Denied, why)
	}
	if c.Call.Invalid != "" && !c.Edited {
		cr.call.Input = []byte(c.Call.Invalid) // the registry says what is wrong with it
	}
	if cr.set.isGone(c.Call.Name) {
		return x.refuse(cr, tools.Unknown, fault.NotFound,
			"the tool \""+c.Call.Name+"\" is no longer available. Go on without it.")
	}
	offered := x.tools.hooked
	if offered == nil {
		offered = x.offer(x.currentMode()).tools
	}
	var change func() error
	if len(x.agent.cfg.Hooks) > 0 {
		change = func() error { return x.beforeTool(cr) }
	}
	adm, err := cr.set.registry.Admit(x.ctx, &cr.call, offered, change, x.agent.cfg.Policies)
	if err == errAnswered {
		out := cr.d.Answer(*cr.answer)
		return x.refuseWith(cr, &out)
	}
	if err != nil {
		x.Cancel(err)
		return false
	}
	if adm.Rejected != nil {
		x.refused(cr, adm.Rejected)
		return false
	}
	if string(cr.call.Input) != string(c.Call.Input) || c.Call.Invalid != "" {
		call := *c.Call
		call.Input, call.Invalid = cr.call.Input, ""
		cr.stored = &call
	}
	if adm.Verdict.Effect == tools.Ask && c.Status != machine.CallApproved {
		return x.ruled(cr, &adm.Verdict)
	}
	return true
}

// refused gives a call the result of the registry's refusal, or asks a person to correct the input.
func (x *driver) refused(cr *callRun, out *tools.Outcome) {
	l, invalid := x.Run().Limits, x.Run().Tools[cr.call.Name].Invalid
	if out.Status == tools.Invalid && l.AskAfterCorrections && l.Corrections >= 0 && invalid >= l.Corrections &&
		!cr.state.Edited {
		x.suspend(cr, Pause{Kind: PauseCorrection, Reason: "the model couldn't make a call that fits: " +
			partsText(out.Parts)}, 0)
		return
	}
	cr.finishRefused(out)
	x.flush()
}

// refuse gives a call a result that says why it doesn't run. It returns false, for admit.
func (x *driver) refuse(cr *callRun, status tools.Status, class fault.Class, why string) bool {
	return x.refuseWith(cr, &tools.Outcome{Status: status, Class: class,
		Parts: []provider.Part{provider.TextPart("The call wasn't run: " + why)}})
}

// refuseWith gives a call a result without running it. It returns false, for admit.
func (x *driver) refuseWith(cr *callRun, out *tools.Outcome) bool {
	cr.finishRefused(out)
	cr.abandonChild()
	x.flush()
	return false
}

// finishRefused gives a call that doesn't run its result. A call that was started before stays in
// doubt.
func (cr *callRun) finishRefused(out *tools.Outcome) {
	if cr.x.LeaseLost() { // nothing is recorded: the process that has the session next runs the call
		cr.drop()
		return
	}
	if cr.again {
		out.Status = tools.InDoubt
		out.Parts = append(out.Parts,
			provider.TextPart("\nIt was started before, and it is not known whether it had its effect then."))
	}
	cr.x.finishCall(cr, *out)
}

// startCall checks a call once more, asks its breaker, and appends that the call starts. It returns
// false if the call got a result instead. The breaker is asked before the append, so that a call
// that it refuses is never in doubt.
func (x *driver) startCall(cr *callRun) bool {
	if refused := cr.set.registry.Recheck(x.ctx, &cr.call, x.agent.cfg.Policies); refused != nil {
		cr.finishRefused(refused)
		cr.abandonChild()
		return false
	}
	if !x.askBreaker(cr) {
		return false
	}
	if !x.appendStart(cr) {
		cr.pass.Cancel() // not under the lock: it may call OnChange of the breaker
		return false
	}
	return true
}

// askBreaker asks the breaker of a call for a permit. It returns false if the call got a result
// instead.
func (x *driver) askBreaker(cr *callRun) bool {
	refused := cr.pass.Take(cr.d, x.agent.breakers)
	if refused == nil {
		return true
	}
	note := &BreakerOpen{NoteMeta: x.callMeta(&cr.call), Tool: cr.call.Name}
	if errors.As(refused.Err, &note.Err) {
		note.Until = note.Err.Until
	}
	x.Lock()
	x.note(note)
	x.Unlock()
	cr.finishRefused(refused)
	return false
}

func (x *driver) appendStart(cr *callRun) bool {
	x.Lock()
	defer x.Unlock()
	if cr.over || x.ended || x.ctx.Err() != nil {
		// the run was stopped while the call was checked: the end of the run gives it its result
		cr.over = true
		return false
	}
	f := &ToolStarted{Meta: Meta{Call: cr.call.ID, By: cr.call.By}, Call: cr.stored,
		IdempotencyKey: cr.call.IdempotencyKey, Repeatable: cr.d.Spec().Repeatable()}
	if x.appendLocked(nil, session.Clean(f)) != nil {
		cr.over = true
		return false
	}
	cr.began, cr.started = time.Now(), true
	return true
}

// finishCall appends the result of a call, or that its tool suspends it. Any goroutine may call it.
// It does nothing for a call that was abandoned.
func (x *driver) finishCall(cr *callRun, out tools.Outcome) {
	defer cr.endSpan(&out)
	if out.Suspend != nil && x.finishSuspended(cr, &out) {
		return
	}
	cr.bill()
	res := x.toolResult(cr, &out)
	if !cr.showHooks(res) {
		return
	}
	if len(res.Data) > 0 && (!json.Valid(res.Data) || machine.TooDeep(res.Data)) {
		res.Data, res.Cause = nil,
			machine.JoinLines(res.Cause, "agent: Data is no JSON, or nested too deep, and left out")
	}
	if out.Err != nil {
		x.agent.logger.WarnContext(x.ctx, "agent: tool call", "session", x.Name, "call", cr.call.ID,
			"tool", cr.call.Name, "status", out.Status, "error", out.Err)
	}
	var escalated Event
	if res.Error && res.Class == fault.UserFixable && !cr.dropped() {
		escalated = x.escalation(x.callMeta(&cr.call), cr.call.Name, res.Class, out.Err, partsText(res.Parts),
			out.Attempts, cr.attempts)
	}
	res = x.agent.redact.Result(res)
	x.Lock()
	defer x.Unlock()
	if cr.over || cr.abandoned {
		return
	}
	cr.over = true
	if escalated != nil {
		x.note(escalated)
	}
	x.appendResult(cr, res, &out)
}

const internalError = "The tool failed: an internal error. Trying the same again won't help."

// showHooks calls the AfterTool hooks, once for each call. It reports whether the call still needs
// its result.
func (cr *callRun) showHooks(res *ToolResult) bool {
	x := cr.x
	if len(x.agent.hooksAt(func(h *Hooks) bool { return h.AfterTool != nil })) == 0 {
		return !cr.dropped()
	}
	x.Lock()
	dropped, shown := cr.over || cr.abandoned, cr.hooked
	cr.hooked = shown || !dropped
	x.Unlock()
	if !dropped && !shown {
		x.afterTool(cr.spanCtx(), cr.hookCall(), res)
	}
	return !dropped
}

// drop leaves a call open.
func (cr *callRun) drop() {
	cr.x.Lock()
	defer cr.x.Unlock()
	cr.over = true
}

// dropped reports whether the call has its result, is suspended or was abandoned, so that another
// result is ignored.
func (cr *callRun) dropped() bool {
	cr.x.Lock()
	defer cr.x.Unlock()
	return cr.over || cr.abandoned
}

// maxMedia bounds the media of one result, in bytes, so that its encoding fits into a record of a
// journal.
const maxMedia = 32 << 20
