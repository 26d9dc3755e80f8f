package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// All decisions take the same path. decide checks the decisions of one input against the state of
// the session and posts them as one inbox item, which closes their pauses to other decisions. The
// process that drives the session takes the item from the inbox (decisions.take), checks the
// decisions again, and appends them with their results. A decision that doesn't fit any more,
// because the processes have other tools, for example, opens its pause again under another id
// (decisions.go). [Resume] is such an item followed by [Continue].

// A verdict is a decision with its effect on the call.
type verdict struct {
	decision Decision
	call     *machine.CallState
	result   *ToolResult // nil: the call runs
	reopens  bool        // the decision isn't accepted, and the pause opens again
	refused  string      // what is wrong with the decision then
	forget   func()      // drops its answer, which isn't recorded; nil: it has none
}

// decide checks decisions that were made at the given time, and posts them. If one is refused, the
// error is a *[DecisionError] and nothing is posted.
func (a *Agent) decide(ctx context.Context, m *machine.Machine, decisions []Decision, at time.Time,
	expired map[string]bool) (err error) {
	name := m.State().Session
	if len(decisions) > journal.MaxCloses {
		return &DecisionError{Session: name, ID: decisions[0].ID, Code: machine.DecisionBad,
			Problem: fmt.Sprintf("the input has %d decisions; give at most %d at a time", len(decisions),
				journal.MaxCloses)}
	}
	verdicts, err := a.evaluate(ctx, m, decisions, at, expired)
	accepted := false
	defer func() {
		for _, v := range verdicts {
			if !accepted && v.forget != nil {
				v.forget()
			}
		}
	}()
	if err != nil {
		return err
	}
	it := session.Item{ID: newID("d-"), Kind: session.ItemDecide, Time: at}
	for _, v := range verdicts {
		it.Decisions = append(it.Decisions, v.decision)
		if v.decision.Secret && a.sessions.Holder(name) == nil && a.sessions.InProgress(ctx, name) == nil {
			return &DecisionError{Session: name, ID: v.decision.ID, Code: machine.DecisionBad,
				Problem: "the answer isn't recorded, so give it to the process that drives the session",
				Err:     &SessionError{Session: name, Code: ErrBusy}}
		}
	}
	err = a.sessions.Post(ctx, name, it)
	accepted = err == nil
	var posted *journal.PostedError
	switch {
	case errors.As(err, &posted):
		if now, err := a.sessions.Load(ctx, name); err == nil { // it was closed after the session was read
			m = now
		}
		refused := usedBefore(m.State(), posted.ID, "somebody else has decided on the pause before")
		refused.Err = posted
		return refused
	case errors.Is(err, journal.ErrNoSession):
		return &DecisionError{Session: name, ID: decisions[0].ID, Code: machine.DecisionUnknown,
			Problem: "there is no such session", Err: err}
	case err == nil && m.State().Parent != "":
		return session.PassUp(ctx, a.sessions.Store, m.State().Parent, it.Decisions)
	}
	return err
}

// evaluate checks decisions that were made at the given time. expired are pauses that have just
// been closed. With an error, the last verdict is that on the decision that is refused.
func (a *Agent) evaluate(ctx context.Context, m *machine.Machine, decisions []Decision, at time.Time,
	expired map[string]bool) ([]verdict, error) {
	var verdicts []verdict
	for i, d := range decisions {
		v, err := a.evaluateOne(ctx, m, d, at, expired[d.ID])
		if err == nil && slices.ContainsFunc(decisions[:i], func(other Decision) bool { return other.ID == d.ID }) {
			err = refuse(machine.DecisionRepeated, errors.New("the input has two decisions on this pause"))
		}
		if refused, ok := errors.AsType[*DecisionError](err); ok {
			refused.Session, refused.ID = m.State().Session, d.ID // also for a subagent's pause
		}
		if verdicts = append(verdicts, v); err != nil {
			return verdicts, err
		}
	}
	return verdicts, nil
}

var errTooLate = errors.New(
	"it comes too late: the pause has expired, and the call counts as rejected; Continue resumes the run")

// evaluateOne evaluates one decision. Its error is a *[DecisionError], unless it isn't known now
// who may decide (*[RolesError]), or the session of a subagent can't be read. expired says that the
// pause has just been closed.
func (a *Agent) evaluateOne(ctx context.Context, m *machine.Machine, d Decision, at time.Time, expired bool) (v verdict,
	err error) {
	if err := d.Err(); err != nil {
		return v, refuse(machine.DecisionBad, fmt.Errorf("its value can't be encoded: %w", err))
	}
	if machine.TooDeep(d.Input) || machine.TooDeep(d.Value) {
		return v, refuse(machine.DecisionBad, fmt.Errorf("its value is nested deeper than %d levels", machine.MaxDepth))
	}
	if d.Kind == machine.AlwaysAllow {
		d = d.For(d.Scope) // in canonical form
	}
	s := m.State()
	c, p := s.Run.Suspended(d.ID)
	switch used := slices.Contains(s.Used, d.ID); {
	case used && expired, !used && c != nil && p.Expired(at):
		return v, refuse(machine.DecisionExpired, errTooLate)
	case used:
		return v, usedBefore(s, d.ID, "the pause was decided before")
	case c == nil:
		return v, refuse(machine.DecisionUnknown, errors.New("no pause in this session has this id"))
	}
	switch fits := d.Kind.Fits(p.Kind) && d.Kind != machine.Expired && d.Kind != machine.Superseded; {
	case !p.Offers(&d):
		return v, refuse(machine.DecisionBad, noScope(p, &d))
	case !fits && p.Kind != machine.PauseAgent:
		return v, refuse(machine.DecisionBad, fmt.Errorf("a pause of kind %q can't be decided with %q", p.Kind, d.Kind))
	}
	if d.Secret || p.Kind == machine.PauseSecret && d.Kind == machine.AnswerGiven {
		if v.forget, err = keepSecret(&d, p, p != c.Pause); err != nil {
			return v, err
		}
	}
	v.decision, v.call = a.redact.Decision(d), c
	if p != c.Pause {
		w, err := a.workOf(s.Session, c.Call)
		if w == nil {
			return v, refuse(machine.DecisionBad,
				cmp.Or(err, errors.New("its subagent is no tool of this agent any more")))
		}
		v.decision, err = w.Check(ctx, v.decision)
		return v, err
	}
	if !c.Made(s.Session) {
		return v, &DecisionError{Code: machine.DecisionBad, Problem: errAltered.Error(), Err: errAltered}
	}
	if err := a.checkRoles(ctx, s, c, d.User); err != nil {
		return v, err
	}
	if v.result, err = a.outcomeOf(ctx, s, &v.decision, c); err != nil {
		return v, refuse(machine.DecisionBad, err)
	}
	return v, nil
}

// noScope says what is wrong with the scope of a decision.
func noScope(p *Pause, d *Decision) error {
	if d.Kind != machine.AlwaysAllow {
		return fmt.Errorf("%q has the scope %q; only %q can have one: see Decision.For", d.Kind, d.Scope,
			machine.AlwaysAllow)
	}
	names := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		names[i] = strconv.Quote(s.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("it can't be allowed for %q; this call can only be approved by itself", d.Scope)
	}
	return fmt.Errorf("it can't be allowed for %q; the scopes are %s", d.Scope, strings.Join(names, ", "))
}

// outcomeOf checks a decision on a call of this agent, brings its input into canonical form, and
// returns the result of the call if the decision makes one.
func (a *Agent) outcomeOf(ctx context.Context, s *machine.State, d *Decision, c *machine.CallState) (*ToolResult,
	error) {
	p := c.Pause
	switch {
	case p.Kind == machine.PauseAgent:
		return nil,
			errors.New("the call of a subagent is decided on by what the subagent waits for: see Result.Pending")
	case d.Kind == machine.AlwaysAllow && p.Kind == PauseApproval && !p.Always:
		return nil, errors.New("it can't be allowed always, because the tool is of high risk, or a policy or the tool " +
			"asks about each call; approve this call instead")
	}
	switch d.Kind {
	case machine.Edited:
		input, err := a.toolsOf(ctx, s).registry.Fit(c.Call.Name, d.Input)
		d.Input = input
		return nil, err
	case machine.Rejected:
		if p.Kind == tools.SuspendExternal {
			why := cmp.Or(d.Reason, "The call failed.") // so says whoever executes it
			return c.ResultOf(tools.Failed, fault.Permanent, why), nil
		}
		return rejection(c, d.Reason, ""), nil
	case machine.Suggested:
		return rejection(c, d.Reason, " and suggests instead"), nil
	case machine.AnswerGiven:
		if !d.Secret {
			return answer(d, c)
		}
	}
	return nil, nil
}

// rejection makes the result of a call that a person has rejected, or of a question that they
// didn't answer.
func rejection(c *machine.CallState, reason, instead string) *ToolResult {
	p := c.Pause
	asked := c.Started && !p.Again && p.Kind != PauseApproval && p.Kind != PauseInDoubt &&
		p.Kind != tools.SuspendExternal // the tool has only asked: see tools.Suspend
	text := "A person rejected this call" + instead
	if asked {
		text = "A person declined to answer this question" + instead
	}
	if instead == "" {
		text += "."
	} else {
		text += ":"
	}
	if reason != "" {
		text += " " + reason
	}
	switch {
	case asked:
	case p.Again:
		text += " It had begun, and waited for an answer."
	case c.Started:
		text += " It is not known whether it had its effect when it was first run."
	}
	return c.ResultOf(tools.Rejected, fault.Denied, text)
}

// answer makes a result of what somebody says in the tool's place. It returns nil if the call runs
// again instead.
func answer(d *Decision, c *machine.CallState) (*ToolResult, error) {
	value, err := fitAnswer(c.Pause, d.Value)
	if d.Value = value; err != nil || c.Pause.Again { // the call runs again with it
		return nil, err
	}
	text := string(d.Value)
	var s string
	if json.Unmarshal(d.Value, &s) == nil {
		text = s
	}
	res := c.ResultOf(tools.Answered, fault.None, text)
	res.Data = d.Value
	return res, nil
}

// fitAnswer returns an answer as the schema of its pause, and a journal, would have it.
func fitAnswer(p *Pause, value json.RawMessage) (json.RawMessage, error) {
	if len(p.Schema) > 0 {
		s, err := schema.Parse(p.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of the pause: %w", err)
		}
		if value, err = s.Accept(value); err != nil {
			return nil, err
		}
	}
	if !p.Again || len(value) == 0 {
		return value, nil
	}
	return machine.Marshal(value)
}

// secrets are the answers of this process that aren't recorded (tools.Suspend.Secret), by the ids
// of their pauses, as *keptSecret: from the decision until the call has them. All agents share
// them, because the agent that takes a decision may not be the one that makes the call: that may be
// a subagent's, or a plan's.
var secrets sync.Map

// A keptSecret is an answer that isn't recorded.
type keptSecret struct {
	value json.RawMessage
	timer *time.Timer // forgets it
}

// forgetSecret drops an answer that isn't recorded, with its timer, which refers to it.
func forgetSecret(id string) {
	if kept, ok := secrets.LoadAndDelete(id); ok {
		kept.(*keptSecret).timer.Stop()
	}
}

// keepSecret keeps an answer that isn't recorded, for an hour, and marks the decision in its place.
// forget drops the answer. The first answer counts; a pause that is nested in that of a subagent
// may have been decided where the subagent works, which isn't an error. Of a decision that is
// marked, keepSecret checks that this process has the answer. Its errors are *[DecisionError]s, and
// say nothing of the answer.
func keepSecret(d *Decision, p *Pause, nested bool) (forget func(), err error) {
	id := d.ID
	if d.Secret {
		if _, ok := secrets.Load(id); !ok {
			err = refuse(machine.DecisionBad,
				errors.New("the answer isn't recorded, and another process was given it; give it again"))
		}
		return nil, err
	}
	value, err := fitAnswer(p, d.Value)
	if err != nil || len(value) == 0 {
		return nil, refuse(machine.DecisionBad,
			errors.New("the answer is missing, or doesn't fit the schema of the pause"))
	}
	kept := &keptSecret{value: value}
	forget = func() {
		if secrets.CompareAndDelete(id, kept) {
			kept.timer.Stop()
		}
	}
	kept.timer = time.AfterFunc(time.Hour, forget)
	if _, before := secrets.LoadOrStore(id, kept); before {
		kept.timer.Stop()
		if !nested {
			return nil, refuse(machine.DecisionUsed, errors.New("the pause was decided before"))
		}
	}
	d.Secret, d.Value = true, json.RawMessage(`"given"`)
	return forget, nil
}

// result returns the fact of a result that isn't that of a tool.
func (l *sessionLog) result(c *machine.CallState, res *ToolResult) *ToolFinished {
	f := &ToolFinished{Meta: Meta{Call: c.Call.ID}, Call: c.Call, Result: l.bounded(res),
		Spent: l.place.spending.of(c.Call.ID)}
	if r := l.Run(); r.Direct != nil {
		f.IdempotencyKey = r.Direct.Key
	}
	return f
}
