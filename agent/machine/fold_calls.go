package machine

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file folds in the facts about tool calls. Each call ends with exactly one result.

func (f *ToolStarted) apply(m *Machine, r *RunState) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	switch {
	case !c.matches(f.Call):
		return "its call isn't the one that it names"
	case !r.callsMayRun():
		return "the calls of this reply are never run"
	case c.Status == CallSuspended:
		return "the call waits for a decision"
	case c.Status == CallDecided:
		return "it was decided that the call isn't run"
	case c.Started && !c.Repeat && !c.Retry:
		return "the call was started, and may not be started again"
	}
	c.Call = f.Call // with the input that runs, and that would run again
	c.Status, c.Started, c.Repeat, c.Retry, c.Approved = CallStarted, true, f.Repeatable, false, nil
	c.ReadOnly = f.ReadOnly
	// The pause of a subagent stays: other pauses in it may still be waiting for decisions.
	return ""
}

func (f *ToolFinished) apply(m *Machine, r *RunState) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	switch {
	case !c.matches(f.Call) || f.Result == nil || f.Result.CallID != c.Call.ID:
		return "its call or its result isn't of the call that it names"
	case f.Result.Status == "":
		return "the result has no status"
	case c.Status == CallSuspended:
		return "the call waits for a decision"
	case f.Result.Status == tools.OK && c.Status != CallStarted:
		return "a call that wasn't started can't have succeeded"
	case f.Result.Status == tools.Answered && c.Status != CallDecided && f.AnsweredBy == "":
		return "the call has no answer"
	}
	t, n := r.repeats(f.Call, f.Result)
	t.Failed, r.Failures = r.failures(f.Call.Name, f.Result.Status)
	m.setTool(r, c.Call.Name, t)
	if r.Limits.Repeats > 0 && n >= r.Limits.Repeats {
		r.Stuck = c.Call.Name
	}
	r.addEffect(c, f)
	r.addOutcome(m.newest(), c.Index(), f)
	c.Status, c.Result, c.Pause, c.Approved = CallDone, f.Result, nil, nil
	if r.Direct != nil {
		r.Direct = &DirectRun{Result: f.Result, Key: r.Direct.Key}
	}
	if s := f.Spent; s != nil {
		r.addSpent(s)
	}
	if r.Closed++; r.Closed == len(r.Calls) { // the results go into the conversation in call order
		parts := make([]provider.Part, len(r.Calls))
		for i := range r.Calls {
			parts[i] = provider.Part{Kind: provider.PartToolResult, Result: &r.Calls[i].Result.ToolResult}
		}
		m.s.Messages = append(m.s.Messages, provider.Message{Role: provider.RoleTool, Parts: parts})
		m.s.addOutside(resultsFrom(r.Calls))
		r.Calls, r.Closed, r.Stage = nil, 0, StageReady
	}
	return ""
}

func (r *RunState) outcomes() []callOutcome {
	if r.Outcomes == nil {
		return nil
	}
	return *r.Outcomes
}

// addOutcome keeps what the messages don't say about call i of a reply, if there is anything.
func (r *RunState) addOutcome(reply *provider.Message, i int, f *ToolFinished) {
	o := callOutcome{ID: f.Call.ID, Status: f.Result.Status}
	for _, p := range reply.Parts { // Calls would allocate for each call
		if p.Kind != provider.PartToolCall || p.Call == nil {
			continue
		}
		if i == 0 && !bytes.Equal(p.Call.Input, f.Call.Input) {
			o.Input = f.Call.Input
		}
		i--
	}
	if o.Status != tools.OK || f.Result.Error || o.Input != nil {
		all := append(slices.Clip(r.outcomes()), o)
		r.Outcomes = &all
	}
}

func (f *Suspended) apply(m *Machine, r *RunState) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	p := f.Pause
	switch {
	case len(p.Replaces) > 0:
		return m.reopened(c, f)
	case c.Status == CallSuspended:
		return "the call is suspended already"
	case c.Status == CallDecided:
		return "it was decided that the call isn't run"
	case !c.matches(&p.Call) || p.Kind == "":
		return "the pause isn't of the call that it names, or has no kind"
	case p.ID == "" || m.isUsedBefore(p.ID, c):
		return "the pause has no id of its own"
	case p.Kind == PauseAgent && len(p.Flat()) == 0 || p.Kind != PauseAgent && len(p.Nested) > 0:
		return "the pause of an agent has nested pauses, and no other pause has"
	case slices.ContainsFunc(p.Nested, func(n Pause) bool { return m.isUsedBefore(n.ID, c) }):
		return "a nested pause has no id of its own"
	case p.Again && (c.Status != CallStarted || p.Kind == PauseApproval || p.Kind == PauseInDoubt ||
		p.Kind == PauseCorrection || p.Kind == PauseAgent):
		return "only a call that runs can ask a question to run again with"
	case (len(f.State) > 0 || p.Kind == PauseSecret) && !p.Again:
		return "only a call that runs again has a state, or asks for a secret"
	}
	c.Status, c.Pause, c.Approved = CallSuspended, &p, nil
	if c.Pauses++; p.Kind != PauseInDoubt { // a call in doubt may run again with what it had
		c.Answers, c.State = nil, f.State
	}
	if p.Again {
		c.Started = false // this start has ended, and nothing of it is in doubt
	}
	if s := f.Spent; s != nil {
		r.addSpent(s)
	}
	if string(p.Call.Input) != string(c.Call.Input) {
		c.Call = &p.Call // the input that is asked about is the one that would run
	}
	return ""
}

// reopened replaces the pause of a call by the same one with another id.
func (m *Machine) reopened(c *CallState, f *Suspended) string {
	p, old := f.Pause, c.Pause
	if c.Approved != nil {
		return m.outdated(c, f)
	}
	switch {
	case c.Status != CallSuspended || old.Kind == PauseAgent || p.Replaces[len(p.Replaces)-1] != old.ID:
		return "the call doesn't wait for the pause that is replaced"
	case p.ID == "" || p.ID == old.ID || m.isUsedBefore(p.ID, c):
		return "the pause has no id of its own"
	case p.Kind != old.Kind || !c.matches(&p.Call) || string(p.Call.Input) != string(c.Call.Input) ||
		p.Again != old.Again || p.For != old.For ||
		!p.Expires.Equal(old.Expires) || len(p.Nested) > 0 || len(f.State) > 0:
		return "the pause isn't the one that it replaces"
	}
	m.use(old.ID)
	c.Pause = &p
	c.Pauses++
	return ""
}

// outdated suspends a call again that was approved, because it wouldn't change any more what was
// shown. Its input may be another one, if a person has edited it.
func (m *Machine) outdated(c *CallState, f *Suspended) string {
	p, old := f.Pause, c.Approved
	switch {
	case c.Status != CallApproved || p.Replaces[len(p.Replaces)-1] != old.ID:
		return "the call wasn't approved with the pause that is replaced"
	case p.ID == "" || m.isUsedBefore(p.ID, c):
		return "the pause has no id of its own"
	case p.Kind != old.Kind || !c.matches(&p.Call) || len(p.Nested) > 0 || len(f.State) > 0 || p.Again:
		return "the pause isn't the one that it replaces"
	case p.PreviewHash == old.PreviewHash:
		return "the call would change what was shown"
	}
	c.Status, c.Pause, c.Approved, c.By = CallSuspended, &p, nil, ""
	c.Pauses++
	if string(p.Call.Input) != string(c.Call.Input) {
		c.Call = &p.Call // the input that is asked about is the one that would run
	}
	return ""
}

// use records that a pause can't be decided any more.
func (m *Machine) use(id string) {
	m.s.Used = append(m.s.Used[max(len(m.s.Used)-maxUsed+1, 0):], id)
}

// isUsedBefore reports whether a pause has or had the id. Pauses that c itself still waits for
// don't count: a subagent may be suspended for them again.
func (m *Machine) isUsedBefore(id string, c *CallState) bool {
	other, _ := m.s.Run.Suspended(id)
	return other != nil && other != c || slices.Contains(m.s.Used, id)
}

func (f *Decided) apply(m *Machine, r *RunState) string {
	d := &f.Decision
	c, p := r.Suspended(d.ID)
	switch {
	case d.ID == "" || c == nil:
		return "no pause has this id"
	case slices.Contains(m.s.Used, d.ID):
		return "the pause was decided before"
	case !d.Kind.Fits(p.Kind):
		return fmt.Sprintf("%q isn't a possible decision on a pause of kind %q", d.Kind, p.Kind)
	case p == c.Pause && !p.Offers(d):
		return "the pause doesn't offer the scope"
	case p == c.Pause && d.Kind.letsRun() && c.Started && p.Kind != PauseInDoubt:
		return "the call was started, and may not be started again"
	}
	m.use(d.ID)
	if p == c.Pause {
		m.decideCall(c, f)
	} else { // the pause of a subagent: its call runs again, and passes the decision on
		c.Answers = append(slices.Clip(c.Answers), *d)
		c.Status = CallApproved
	}
	if r.Status == Paused {
		r.resume(f.Time)
	}
	return ""
}

// decideCall applies a decision on a call's own pause.
func (m *Machine) decideCall(c *CallState, f *Decided) {
	d, p := &f.Decision, c.Pause
	c.Pause = nil
	if p.Again && d.Kind == AnswerGiven {
		c.Status, c.Answers = CallApproved, []Decision{*d}
		return
	}
	if !d.Kind.letsRun() {
		c.Status = CallDecided // its result follows in the same append
		return
	}
	c.Status, c.By, c.Retry = CallApproved, d.User, p.Kind == PauseInDoubt
	if p.PreviewHash != "" && d.Kind != AlwaysAllow { // "always" is for whatever later calls change, and this one
		shown := *p
		shown.Preview, c.Approved = "", &shown
	}
	switch d.Kind {
	case Edited:
		call := *c.Call
		call.Input, call.Invalid = d.Input, ""
		c.Call, c.Edited = &call, true
	case AlwaysAllow:
		if d.Scope != "" { // the host keeps it
			return
		}
		m.s.Rules = append(slices.DeleteFunc(slices.Clone(m.s.Rules), func(old Rule) bool {
			return old.Tool == c.Call.Name && old.Scope == p.Scope
		}),
			Rule{Tool: c.Call.Name, Fingerprint: p.Fingerprint, Scope: p.Scope, By: d.User, Since: normalTime(f.Time)})
	}
}

// openCall returns the call with the id, or says why there is no such call without a result.
func (r *RunState) openCall(id string) (*CallState, string) {
	if r.Stage != StageActing {
		return nil, "no calls are open"
	}
	c := r.Call(id)
	if c == nil {
		return nil, fmt.Sprintf("the newest reply has no call %q", id)
	}
	if c.Status == CallDone {
		return nil, fmt.Sprintf("call %q has its result", id)
	}
	return c, ""
}

// MayHaveRun reports whether the tool may have run for the call: it was started, or it has asked a
// question since.
func (c *CallState) MayHaveRun() bool {
	return c.Started || len(c.Answers) > 0 || len(c.State) > 0 || c.Pause != nil && c.Pause.Again
}
