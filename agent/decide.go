package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A verdict is a decision that can be taken, and what it makes of its call.
type verdict struct {
	d   Decision
	c   *CallState
	res *ToolResult // nil: the call continues
}

// resume takes decisions: all, or none.
func (x *exec) resume(decisions []Decision, expired map[string]bool) error {
	r := x.m.s.Run
	if r == nil || !r.open() && len(r.pending()) == 0 && !x.usedAny(decisions) {
		e := &NothingOpenError{Session: x.s.name}
		if r != nil {
			e.Status = r.Status
		}
		return e
	}
	var all []verdict
	seen := make(map[string]bool)
	for _, d := range decisions {
		if seen[d.ID] && !slices.Contains(x.m.s.Used, d.ID) && !expired[d.ID] {
			return &DecisionError{Session: x.s.name, ID: d.ID, Code: DecisionRepeated, Problem: "the input has two decisions on this pause"}
		}
		seen[d.ID] = true
		one, err := x.checkDecision(d, expired)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	if err := x.claim(all); err != nil {
		return err
	}
	return x.recordVerdicts(all, nil)
}

// checkDecision checks a decision. The error is a *DecisionError, unless the session of a child couldn't be looked at.
func (x *exec) checkDecision(d Decision, expired map[string]bool) (verdict, error) {
	problem := func(code, format string, args ...any) (verdict, error) {
		return verdict{}, &DecisionError{Session: x.s.name, ID: d.ID, Code: code, Problem: fmt.Sprintf(format, args...), Err: d.err}
	}
	if d.err != nil {
		return problem(DecisionBad, "its value can't be encoded: %v", d.err)
	}
	if tooDeep(d.Input) || tooDeep(d.Value) {
		return problem(DecisionBad, "its value is nested deeper than %d levels", maxDepth)
	}
	c, p := x.paused(d.ID)
	switch {
	case expired[d.ID]:
		return problem(DecisionExpired, "it comes too late: the pause has expired, and the call counts as rejected; resume the run with Continue")
	case slices.Contains(x.m.s.Used, d.ID):
		return problem(DecisionUsed, "the pause was decided before")
	case c == nil:
		return problem(DecisionUnknown, "no pause in this session has this id")
	}
	d.Who, d.Reason, d.Input, d.Value = valid(d.Who), x.a.redact(d.Reason), x.redactJSON(d.Input), x.redactJSON(d.Value)
	var res *ToolResult
	var err error
	if p != c.Pause {
		d, err = x.a.children[c.Call.Name].mayDecide(x.jctx, x.s.name, c.Call.ID, d)
		var de *DecisionError
		if errors.As(err, &de) {
			de.Session = x.s.name
		}
	} else if res, err = x.decide(&d, c); err != nil {
		err = &DecisionError{Session: x.s.name, ID: d.ID, Code: DecisionBad, Problem: err.Error(), Err: err}
	}
	if err != nil {
		return verdict{}, err
	}
	return verdict{d, c, res}, nil
}

// recordVerdicts records decisions and what follows from them at once. Taken are inbox items that leave with them.
func (x *exec) recordVerdicts(all []verdict, taken []string) error {
	for _, o := range all {
		x.showHooks(o.c, o.res)
	}
	x.lock()
	defer x.mu.Unlock()
	var facts []Fact
	if !x.driving && (x.m.s.Run.Status == Running || x.otherTools()) { // its process died before it could pause: the time since then wasn't worked
		facts = append(facts, x.continued(0))
	}
	for _, o := range all {
		meta := x.stamp(len(facts), o.c.Call.ID)
		meta.By = o.d.Who
		facts = append(facts, Decided{Meta: meta, Decision: o.d})
		if !slices.Contains(taken, o.d.ID) {
			taken = append(taken, o.d.ID)
		}
		if o.res != nil {
			facts = append(facts, x.resultFact(len(facts), o.c, o.res))
		}
	}
	return x.recordLocked(taken, facts...)
}

// showHooks shows hooks the result, if there is one, of a call that was decided on, and redacts it. mu mustn't be held.
func (x *exec) showHooks(c *CallState, res *ToolResult) {
	if res == nil {
		return
	}
	if x.a.hooked.afterTool {
		x.afterTool(x.newCall(c), res)
	}
	x.redactResult(res)
}

func (x *exec) usedAny(decisions []Decision) bool {
	return slices.ContainsFunc(decisions, func(d Decision) bool { return slices.Contains(x.m.s.Used, d.ID) })
}

// paused returns the call that waits for a decision on the pause with that id, and the pause.
func (x *exec) paused(id string) (*CallState, *Pause) {
	if x.m.s.Run == nil {
		return nil, nil
	}
	return x.m.s.Run.suspended(id)
}

// decide checks a decision on a suspended call, brings its input into canonical form, and returns the call's result if the
// decision makes one.
func (x *exec) decide(d *Decision, c *CallState) (*ToolResult, error) {
	p := c.Pause
	may := func(kinds ...PauseKind) error {
		if !slices.Contains(kinds, p.Kind) {
			return fmt.Errorf("a pause of kind %q can't be decided with %q", p.Kind, d.Kind)
		}
		return nil
	}
	if p.Kind == PauseAgent {
		return nil, errors.New("the call of an agent is decided on by what that agent waits for: see Result.Pending")
	}
	switch d.Kind {
	case Approved:
		return nil, may(PauseApproval, PauseInDoubt)
	case AlwaysAllow:
		if err := may(PauseApproval); err != nil {
			return nil, err
		}
		if !p.Always {
			return nil, errors.New("a tool of high risk can't be allowed always; approve this call instead")
		}
		return nil, nil
	case Edited:
		if err := may(PauseApproval, PauseCorrection); err != nil {
			return nil, err
		}
		input, err := x.a.registry.Fit(c.Call.Name, d.Input)
		d.Input = input
		return nil, err
	case Rejected:
		return rejection(c, d.Reason, "A person refused this call."), nil
	case Suggested:
		return rejection(c, d.Reason, "A person refused this call and suggests instead:"), nil
	case AnswerGiven:
		if p.Kind == PauseApproval || p.Kind == PauseCorrection {
			return nil, may()
		}
		return answer(d, c)
	}
	return nil, fmt.Errorf("%q is no decision", d.Kind)
}

func rejection(c *CallState, reason, text string) *ToolResult {
	if reason != "" {
		text += " " + reason
	}
	if c.Started {
		text += " Whether it had its effect when it was first run, nobody knows."
	}
	return plainResult(c, tools.Rejected, fault.Denied, text)
}

// answer makes a result of what somebody says in the tool's place.
func answer(d *Decision, c *CallState) (*ToolResult, error) {
	if len(c.Pause.Schema) > 0 {
		s, err := schema.Parse(c.Pause.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of the pause: %w", err)
		}
		if d.Value, err = s.Accept(d.Value); err != nil {
			return nil, err
		}
	}
	text := string(d.Value)
	var s string
	if json.Unmarshal(d.Value, &s) == nil {
		text = s
	}
	res := plainResult(c, tools.Answered, fault.None, text)
	res.Data = d.Value
	return res, nil
}

func plainResult(c *CallState, status tools.Status, class fault.Class, text string) *ToolResult {
	res := &ToolResult{Status: status, Class: class}
	res.ToolResult = provider.ToolResult{
		CallID: c.Call.ID, Name: c.Call.Name, Parts: []provider.Part{provider.TextPart(text)}, Error: !status.Good(),
	}
	return res
}

// resultFact returns the result of a call, which hooks were shown, as the nth next fact.
func (x *exec) resultFact(n int, c *CallState, res *ToolResult) ToolFinished {
	return ToolFinished{Meta: x.stamp(n, c.Call.ID), Call: c.Call, Result: res, Spent: x.spending.spent(c.Call.ID)}
}

// undecided returns the result of a call on which nobody has decided: a call in doubt stays so.
func undecided(c *CallState, why string) *ToolResult {
	switch {
	case c.Pause.Kind == PauseInDoubt:
		return plainResult(c, tools.InDoubt, fault.Permanent, "The call was started, and nobody knows whether it had its effect: "+why)
	case c.Started:
		return plainResult(c, tools.Rejected, fault.Denied, "The call wasn't answered: "+why)
	}
	return plainResult(c, tools.Rejected, fault.Denied, "The call wasn't run: "+why)
}
