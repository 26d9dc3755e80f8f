package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A callRun is one tool call on its way.
type callRun struct {
	x        *exec
	d        *tools.Definition // nil for an unknown tool
	call     tools.Call
	shown    *provider.ToolCall // the call as the state has it, with the input that runs
	st       *CallState         // while the call has no result: the next step's calls take its place
	hookText string             // what hooks want the model to know
	pass     tools.Pass

	edited bool // by a person; fixed at creation
	again  bool // it was started before; fixed at creation

	// guarded by exec.mu
	started   bool
	over      bool      // it has its result, or is suspended
	abandoned bool      // left behind
	hooked    bool      // AfterTool has it, or had it
	began     int64     // in nanoseconds since 1970
	overdue   time.Time // when its time limit was reached
	progress  *Progress // the newest that wasn't shown yet
	attempts  []error   // of the attempts that were followed by another
}

// newCall returns the callRun of a call of the newest reply.
func (x *exec) newCall(c *CallState) *callRun {
	r := x.m.s.Run
	d, _ := x.a.registry.Lookup(c.Call.Name)
	cr := &callRun{x: x, d: d, shown: c.Call, st: c, edited: c.Edited, again: c.Started}
	cr.call = tools.Call{
		Session: x.s.name, Run: r.ID, Step: r.Step, Index: x.indexOf(c), ID: c.Call.ID, Name: c.Call.Name, Input: c.Call.Input,
		IdempotencyKey: c.Call.ID, Fence: x.fence(), By: c.By, Mode: x.m.s.Mode,
		Succeeded: x.bound.succeeded, OnTimeout: x.bound.overdue,
	}
	if d != nil && d.Spec().Repeatable() {
		cr.call.OnRetry = x.retrying
	}
	return cr
}

func (x *exec) indexOf(c *CallState) int {
	calls := x.m.s.Run.Calls
	for i := range calls {
		if &calls[i] == c {
			return i
		}
	}
	return 0
}

// succeeded reports whether a tool has succeeded in this run.
func (x *exec) succeeded(tool string) bool {
	x.lock()
	defer x.mu.Unlock()
	return x.m.s.Run.Tools.of(tool).OK > 0
}

// runCalls takes calls further: those that need no approval run, in call order, beside each other where they may; the others
// get their result or are suspended.
func (x *exec) runCalls(calls []int) {
	var room [4]*callRun
	together := room[:0]
	for _, i := range calls {
		c := &x.m.s.Run.Calls[i]
		d, _ := x.a.registry.Lookup(c.Call.Name)
		parallel := d != nil && d.Spec().Parallel()
		if !parallel { // a barrier: what comes before it ends first
			x.runTogether(together)
			together = together[:0]
		}
		if x.abandoned || x.ctx.Err() != nil || x.errAt != nil {
			return
		}
		if x.m.s.Run.Stuck == c.Call.Name {
			x.refuse(x.newCall(c), tools.NotRun, fault.None, "the same call was made too often in a row.")
			continue
		}
		cr := x.newCall(c)
		if !x.admit(cr) {
			continue
		}
		if parallel {
			together = append(together, cr)
			continue
		}
		x.runTogether(append(together, cr))
	}
	x.runTogether(together)
}

// admit reports whether a call may run. One that may not has its result, or is suspended.
func (x *exec) admit(cr *callRun) bool {
	r, c := x.m.s.Run, cr.st
	if c.Status == callApproved && !c.Edited {
		if cr.d == nil {
			return x.refuse(cr, tools.Unknown, fault.NotFound, "there is no such tool any more")
		}
		if _, err := cr.d.Accept(c.Call.Input); err != nil { // the tool may have changed since it was asked about
			return x.refuse(cr, tools.Invalid, fault.Invalid, err.Error())
		}
		return true
	}
	l := r.Limits
	if t := r.Tools.of(c.Call.Name); l.Corrections >= 0 && t.Invalid > l.Corrections && !l.AskAfterCorrections && !c.Edited {
		return x.refuse(cr, tools.Unavailable, fault.Denied, "this tool is not available in this run: too many calls of it didn't fit its schema. Continue without it.")
	}
	if c.Call.Invalid != "" && !c.Edited {
		cr.call.Input = []byte(c.Call.Invalid) // the registry says what is wrong with it
	}
	offered := x.offered
	if offered == nil {
		offered = x.currentMode().offered
	}
	var change func() error
	if x.a.hooked.tool {
		change = func() error { return x.beforeTool(cr) }
	}
	adm, err := x.a.registry.Admit(x.ctx, &cr.call, offered, change, x.a.cfg.Policies)
	if err != nil {
		x.cancel(err)
		return false
	}
	if adm.Rejected != nil {
		t := r.Tools.of(c.Call.Name)
		if adm.Rejected.Status == tools.Invalid && l.AskAfterCorrections && l.Corrections >= 0 && t.Invalid >= l.Corrections && !c.Edited {
			x.suspend(cr, Pause{Kind: PauseCorrection, Reason: "the model couldn't make a call that fits: " + partsText(adm.Rejected.Parts)}, 0)
			return false
		}
		x.finishCall(cr, *adm.Rejected)
		x.flush()
		return false
	}
	if string(cr.call.Input) != string(c.Call.Input) || c.Call.Invalid != "" {
		call := *c.Call
		call.Input, call.Invalid = cr.call.Input, ""
		cr.shown = &call
	}
	if adm.Verdict.Effect == tools.Ask && c.Status != callApproved && !x.standingApproval(cr) {
		s := cr.d.Spec()
		x.suspend(cr, Pause{
			Kind: PauseApproval, Reason: adm.Verdict.Reason, Always: s.Risk < tools.High || s.AllowAlways,
		}, s.Expires)
		return false
	}
	return true
}

// standingApproval reports whether a standing rule lets the call run without asking.
func (x *exec) standingApproval(cr *callRun) bool {
	s := cr.d.Spec()
	holds := func(r Rule) bool { return r.Tool == s.Name && r.Schema == cr.d.SchemaHash() }
	return (s.Risk < tools.High || s.AllowAlways) && (slices.ContainsFunc(x.m.s.Rules, holds) || slices.ContainsFunc(x.a.cfg.Rules, holds))
}

// refuse gives a call a result that says why it wasn't run. It returns false.
func (x *exec) refuse(cr *callRun, status tools.Status, class fault.Class, why string) bool {
	x.finishCall(cr, tools.Outcome{Status: status, Class: class, Parts: []provider.Part{provider.TextPart("The call wasn't run: " + why)}})
	cr.abandonChild()
	x.flush()
	return false
}

// suspend records that a call waits for a decision.
func (x *exec) suspend(cr *callRun, p Pause, expires time.Duration) {
	p.Reason = x.a.redact(p.Reason)
	x.lock()
	x.suspendLocked(cr, p, expires)
	x.mu.Unlock()
	x.flush()
}

// suspendLocked is suspend for a Pause whose Reason is redacted. It shows nothing.
func (x *exec) suspendLocked(cr *callRun, p Pause, expires time.Duration) {
	if expires == 0 {
		expires = x.a.cfg.PauseExpires
	}
	meta := x.stamp(0, cr.call.ID)
	p.Call = *cr.shown
	p.ID = pauseID(x.s.name, &p.Call, p.Kind, cr.st.Pauses)
	p.Kind = PauseKind(valid(string(p.Kind)))
	if cr.d != nil {
		p.Risk, p.Tool = cr.d.Spec().Risk.String(), cr.d.SchemaHash()
	}
	if expires > 0 {
		p.Expires = time.Now().UTC().Round(0).Add(expires)
	}
	cr.over = true
	x.recordLocked(nil, Suspended{Meta: meta, Pause: p})
}

// start judges a call a last time, asks its breaker, and records that it is about to run. It reports false if the call has
// its result instead. A breaker that is open is known before the record: what it refuses is never in doubt.
func (x *exec) start(cr *callRun) bool {
	if refused := x.a.registry.Recheck(x.ctx, &cr.call, x.a.cfg.Policies); refused != nil {
		x.finishCall(cr, *refused)
		cr.abandonChild()
		return false
	}
	if !x.pass(cr) {
		return false
	}
	if !x.recordStart(cr) {
		cr.pass.Cancel() // not under the lock: it may call OnChange of the breaker
		return false
	}
	return true
}

func (x *exec) recordStart(cr *callRun) bool {
	x.lock()
	defer x.mu.Unlock()
	if cr.over || x.ended || x.ctx.Err() != nil { // the run was stopped while the call was judged: the end of the run settles it
		cr.over = true
		return false
	}
	meta := x.stamp(0, cr.call.ID)
	meta.By = cr.call.By
	if x.recordLocked(nil, ToolStarted{Meta: meta, Call: cr.shown, IdempotencyKey: cr.call.IdempotencyKey, Repeatable: cr.d.Spec().Repeatable()}) != nil {
		cr.over = true
		return false
	}
	cr.began, cr.started = meta.Time.UnixNano(), true
	return true
}

// finishCall records the result of a call, whatever it is. It may be called on any goroutine, and does nothing for a call
// that was left behind.
func (x *exec) finishCall(cr *callRun, out tools.Outcome) {
	if out.Suspend != nil && len(out.Suspend.Schema) > 0 {
		_, err := schema.Parse(out.Suspend.Schema)
		if err != nil || tooDeep(out.Suspend.Schema) {
			out = tools.Outcome{Status: tools.Failed, Class: fault.Permanent, Took: out.Took, Err: fmt.Errorf("agent: Suspend.Schema: %w", err),
				Parts: []provider.Part{provider.TextPart("The tool failed: an internal error. Trying the same again won't help.")}}
		}
	}
	if out.Suspend != nil {
		reason := x.a.redact(out.Suspend.Prompt)
		x.lock()
		defer x.mu.Unlock()
		if !cr.over && !cr.abandoned {
			p := Pause{Kind: PauseKind(out.Suspend.Kind), Reason: reason, Schema: out.Suspend.Schema}
			expires := out.Suspend.Expires
			switch n, _ := x.spending.call(cr.call.ID); {
			case p.Kind == PauseAgent && n.paused != "": // it waits for nobody, and so does the call
				cr.over, x.childRequest = true, requestSuspend
				if n.paused == CodeDrained {
					x.childRequest = requestDrain
				}
				return
			case p.Kind == PauseAgent && len(n.pauses) > 0:
				p.Nested, expires = n.pauses, -1 // those expire, not this one
			case p.Kind == "" || p.Kind == PauseApproval || p.Kind == PauseInDoubt || p.Kind == PauseCorrection || p.Kind == PauseAgent:
				p.Kind = "question"
			}
			x.suspendLocked(cr, p, expires)
		}
		return
	}
	cr.bill()
	res := x.toolResult(cr, &out)
	if x.a.hooked.afterTool && !cr.hooked {
		x.lock()
		dropped := cr.over || cr.abandoned
		if !dropped { // else it isn't shown, and who has dropped it looks at hooked
			cr.hooked = true
		}
		x.mu.Unlock()
		if dropped {
			return
		}
		x.afterTool(cr, res)
	}
	if len(res.Data) > 0 && (!json.Valid(res.Data) || tooDeep(res.Data)) {
		res.Data, res.Cause = nil, joinLines(res.Cause, "agent: Data is no JSON, or nested too deep, and left out")
	}
	x.redactResult(res)
	x.cutToFit(cr, res)
	if out.Err != nil {
		x.a.log.WarnContext(x.ctx, "agent: tool call", "session", x.s.name, "call", cr.call.ID, "tool", cr.call.Name, "status", out.Status, "error", out.Err)
	}
	var escalated Event
	if res.Error && res.Class == fault.UserFixable && !cr.dropped() {
		escalated = x.escalation(x.callMeta(&cr.call), cr.call.Name, res.Class, out.Err, partsText(res.Parts), out.Attempts, cr.attempts)
	}
	x.lock()
	defer x.mu.Unlock()
	if cr.over || cr.abandoned {
		return
	}
	cr.over = true
	if escalated != nil {
		x.queueEventLocked(escalated)
	}
	x.recordLocked(nil, x.finishedLocked(cr, res, &out))
}

// dropped reports whether nobody wants the call's result any more.
func (cr *callRun) dropped() bool {
	cr.x.lock()
	defer cr.x.mu.Unlock()
	return cr.over || cr.abandoned
}

// maxMedia bounds the media of one result, in bytes: what a journal takes in a record, with room for its encoding.
const maxMedia = 32 << 20

// toolResult makes the result of an outcome.
func (x *exec) toolResult(cr *callRun, out *tools.Outcome) *ToolResult {
	res := &ToolResult{Status: out.Status, Data: out.Data, Class: out.Class, Cut: out.Cut, Polls: cr.d != nil && cr.d.Spec().Polls}
	res.ToolResult = provider.ToolResult{CallID: cr.call.ID, Name: cr.call.Name, Parts: out.Parts, Error: !out.Status.Good()}
	if out.Err != nil {
		res.Cause = valid(out.Err.Error())
	}
	if slices.ContainsFunc(res.Parts, func(p provider.Part) bool { return p.Kind != provider.PartText }) {
		res.Parts = provider.Normalize(res.Parts)
	}
	media := 0
	for i := range res.Parts {
		if m := res.Parts[i].Media; m != nil {
			media += len(m.Data)
		}
	}
	if media > maxMedia {
		res.Status, res.Error, res.Class = tools.Failed, true, fault.Permanent
		res.Parts = []provider.Part{provider.TextPart(fmt.Sprintf("The call ran, but its result holds %d bytes of media, and at most %d can be kept.", media, maxMedia))}
	}
	if cr.edited {
		res.addNote("Note: a person changed the input of this call to " + string(cr.shown.Input))
	}
	if cr.hookText != "" {
		res.addNote(cr.hookText)
	}
	return res
}

// finishedLocked returns the fact of a call's result, with a warning if the call repeats itself.
func (x *exec) finishedLocked(cr *callRun, res *ToolResult, out *tools.Outcome) ToolFinished {
	r := x.m.s.Run
	if r.repeats(cr.shown, res) {
		res.addNote("Note: you have made this very call several times in a row without new information. Do something else.")
	}
	f := ToolFinished{Meta: x.stamp(0, cr.call.ID), Call: cr.shown, Result: res, Took: out.Took, Spent: x.spending.spent(cr.call.ID)}
	if out.Attempts > 1 {
		f.Attempts = out.Attempts
	}
	return f
}

// addNote adds a part that isn't the tool's: on a line of its own, because most providers are sent the parts as one text.
func (r *ToolResult) addNote(text string) {
	if n := len(r.Parts); n > 0 && r.Parts[n-1].Text != "" && !strings.HasSuffix(r.Parts[n-1].Text, "\n") {
		text = "\n" + text
	}
	r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], provider.TextPart(text))
	r.Notes++
}

// doubt deals with calls that were started before the process that ran them died.
func (x *exec) doubt(calls []int) {
	for _, i := range calls {
		c := &x.m.s.Run.Calls[i]
		cr := x.newCall(c)
		if c.Repeat && cr.d != nil && cr.d.Spec().Repeatable() {
			x.runTogether([]*callRun{cr})
		} else {
			x.doubtful(cr, "the process that ran it ended")
		}
		if x.abandoned || x.ctx.Err() != nil {
			return
		}
	}
}

// doubtful puts a call that nobody knows the end of before a person, or tells the model.
func (x *exec) doubtful(cr *callRun, why string) {
	if x.a.cfg.InDoubt == TellInDoubt {
		x.finishCall(cr, inDoubt(why))
		x.flush()
		return
	}
	x.suspend(cr, Pause{Kind: PauseInDoubt, Reason: "the call was started, and nobody knows whether it had its effect: " + why}, 0)
}

func inDoubt(why string) tools.Outcome {
	return tools.Outcome{Status: tools.InDoubt, Class: fault.Permanent, Parts: []provider.Part{
		provider.TextPart("The call was started, and nobody knows whether it had its effect: " + why + ". Find out before you make it again."),
	}}
}

func partsText(parts []provider.Part) string {
	var b strings.Builder
	for i := range parts {
		b.WriteString(parts[i].Text)
	}
	return b.String()
}
