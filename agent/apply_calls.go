package agent

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file folds in the facts about calls: each comes after what lets it happen, and each call ends with one result.

func (m *Machine) toolStarted(r *RunState, f *ToolStarted) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	switch {
	case !c.is(f.Call):
		return "its call isn't the one that it names"
	case !r.callsRun():
		return "the calls of this reply are never run"
	case c.Status == callSuspended:
		return "the call waits for a decision"
	case c.Status == callSettled:
		return "it was decided that the call isn't run"
	case c.Started && !c.Repeat && !c.Retry:
		return "the call was started, and may not be started again"
	}
	c.Call = f.Call // with the input that runs, also if it runs again
	c.Status, c.Started, c.Repeat, c.Retry = callStarted, true, f.Repeatable, false
	return "" // a call of an agent keeps its pause: what it doesn't act on now is still waited for
}

func (m *Machine) toolFinished(r *RunState, f *ToolFinished) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	switch {
	case !c.is(f.Call) || f.Result == nil || f.Result.CallID != c.Call.ID:
		return "its call or its result isn't of the call that it names"
	case f.Result.Status == "":
		return "the result has no status"
	case c.Status == callSuspended:
		return "the call waits for a decision"
	case f.Result.Status == tools.OK && c.Status != callStarted:
		return "a call that wasn't started can't have succeeded"
	case f.Result.Status == tools.Answered && c.Status != callSettled:
		return "nobody has answered the call"
	}
	t, n := r.judgeRepeat(f.Call, f.Result, f.Result.Polls)
	r.Tools.set(c.Call.Name, t)
	if n > 0 && r.Limits.Repeats > 0 && n >= r.Limits.Repeats {
		r.Stuck = c.Call.Name
	}
	c.Status, c.Result, c.Pause = callDone, f.Result, nil
	if s := f.Spent; s != nil {
		r.book(s.Usage, s.Cost, !s.Unpriced)
	}
	if !slices.ContainsFunc(r.Calls, func(c CallState) bool { return c.Status != callDone }) {
		m.closeStep(r)
	}
	return ""
}

// closeStep adds the results of the step to the conversation, in call order.
func (m *Machine) closeStep(r *RunState) {
	parts := make([]provider.Part, len(r.Calls))
	for i := range r.Calls {
		parts[i] = provider.Part{Kind: provider.PartToolResult, Result: &r.Calls[i].Result.ToolResult}
	}
	m.s.Messages = append(m.s.Messages, provider.Message{Role: provider.RoleTool, Parts: parts})
	m.calls, r.Calls, r.Stage = r.Calls[:0], nil, stageReady
}

func (m *Machine) suspended(r *RunState, f *Suspended) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	switch p := &f.Pause; {
	case c.Status == callSuspended:
		return "the call is suspended already"
	case c.Status == callSettled:
		return "it was decided that the call isn't run"
	case !c.is(&p.Call) || p.Kind == "":
		return "the pause isn't of the call that it names, or of no kind"
	case p.ID == "" || m.taken(p.ID, c):
		return "the pause has no id of its own"
	case p.Kind == PauseAgent && len(p.flat()) == 0 || p.Kind != PauseAgent && len(p.Nested) > 0:
		return "an agent's pause has pauses of its own, and no other has"
	case slices.ContainsFunc(p.Nested, func(n Pause) bool { return m.taken(n.ID, c) }):
		return "a pause that is nested in it has no id of its own"
	}
	p := f.Pause
	c.Status, c.Pause, c.Answers = callSuspended, &p, nil
	c.Pauses++
	if string(p.Call.Input) != string(c.Call.Input) {
		c.Call = &p.Call // what is asked about is what would run
	}
	return ""
}

// taken reports whether a pause has or had that id, but for those that a call of an agent still waits for: it may be suspended
// for them again.
func (m *Machine) taken(id string, again *CallState) bool {
	c, _ := m.s.Run.suspended(id)
	return c != nil && c != again || slices.Contains(m.s.Used, id)
}

func (m *Machine) decided(r *RunState, f *Decided) string {
	d := &f.Decision
	c, p := r.suspended(d.ID)
	switch {
	case d.ID == "" || c == nil:
		return "no pause has this id"
	case slices.Contains(m.s.Used, d.ID):
		return "the pause was decided before"
	case p != c.Pause:
		return m.decidedNested(r, c, p, f)
	case !d.Kind.fits(c.Pause.Kind):
		return fmt.Sprintf("%q is no decision on a pause of kind %q", d.Kind, c.Pause.Kind)
	case d.Kind.runs() && c.Started && c.Pause.Kind != PauseInDoubt:
		return "the call was started, and may not be started again"
	}
	m.s.Used = append(m.s.Used[max(len(m.s.Used)-mostUsed+1, 0):], d.ID)
	switch d.Kind {
	case Approved, AlwaysAllow, Edited:
		c.Status, c.By = callApproved, d.Who
		c.Retry = c.Pause.Kind == PauseInDoubt
		if d.Kind == Edited {
			call := *c.Call
			call.Input, call.Invalid = d.Input, ""
			c.Call, c.Edited = &call, true
		}
		if d.Kind == AlwaysAllow {
			m.s.Rules = append(slices.DeleteFunc(m.s.Rules, func(old Rule) bool { return old.Tool == c.Call.Name }),
				Rule{Tool: c.Call.Name, Schema: c.Pause.Tool, By: d.Who, Since: instant(f.Time)})
		}
	default: // its result follows in the same append
		c.Status = callSettled
	}
	c.Pause = nil
	if r.Status == Paused {
		r.run(f.Time)
	}
	return ""
}

// decidedNested folds in a decision on a pause of an agent that is a tool: its call continues, and passes the decision on.
func (m *Machine) decidedNested(r *RunState, c *CallState, p *Pause, f *Decided) string {
	d := &f.Decision
	if !d.Kind.fits(p.Kind) {
		return fmt.Sprintf("%q is no decision on a pause of kind %q", d.Kind, p.Kind)
	}
	m.s.Used = append(m.s.Used[max(len(m.s.Used)-mostUsed+1, 0):], d.ID)
	c.Answers = append(c.Answers[:len(c.Answers):len(c.Answers)], *d)
	c.Status = callApproved
	if r.Status == Paused {
		r.run(f.Time)
	}
	return ""
}

// runs reports whether a decision lets the call run.
func (k DecisionKind) runs() bool { return k == Approved || k == Edited || k == AlwaysAllow }

// fits reports whether a pause of some kind can be decided so. Pauses of kinds that tools have named are questions: the
// tool has run, so that they are answered or turned down.
func (k DecisionKind) fits(pause PauseKind) bool {
	if pause == PauseAgent { // it is decided on by what is nested in it
		return k == Superseded
	}
	switch k {
	case Approved:
		return pause == PauseApproval || pause == PauseInDoubt
	case AlwaysAllow:
		return pause == PauseApproval
	case Edited:
		return pause == PauseApproval || pause == PauseCorrection
	case AnswerGiven:
		return pause != PauseApproval && pause != PauseCorrection
	case Rejected, Suggested, Expired, Superseded:
		return true
	}
	return false
}

// openCall returns the call with that id if it has no result yet.
func (r *RunState) openCall(id string) (*CallState, string) {
	if r.Stage != stageActing {
		return nil, "no calls are open"
	}
	c := r.callByID(id)
	if c == nil {
		return nil, fmt.Sprintf("the newest reply has no call %q", id)
	}
	if c.Status == callDone {
		return nil, fmt.Sprintf("call %q has its result", id)
	}
	return c, ""
}
