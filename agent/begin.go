package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// begin takes an input: it checks it, enters the session, and records what follows from it. After an error nothing is held.
func (x *exec) begin(in *Input) (err error) {
	first, err := x.a.mode(in.Mode)
	if err != nil {
		return err
	}
	if in.Choice.Mode == provider.ChooseTool {
		if _, ok := x.a.registry.Lookup(in.Choice.Tool); !ok {
			return &InputError{Field: "Choice", Problem: fmt.Sprintf("there is no tool %q", in.Choice.Tool)}
		}
	}
	if err := in.check(x.a.limits(in, first)); err != nil {
		return err
	}
	if err := x.ctx.Err(); err != nil {
		return &StopError{Code: CodeCancelled, Err: context.Cause(x.ctx)}
	}
	if err := x.known(in); err != nil {
		return err
	}
	if err := x.enter(in); err != nil {
		return err
	}
	begun := false
	defer func() { // also if a function of the host panics
		if !begun {
			x.leave()
		}
	}()
	r := x.m.s.Run
	expired := make(map[string]bool)
	if r.open() {
		x.origin = &Origin{Session: x.s.name, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace}
		if err := x.expire(expired); err != nil {
			return err
		}
	}
	switch {
	case in.resume:
		err = x.resume(in.decisions, expired)
	case in.goOn:
		err = x.goOn(len(expired) > 0)
	default:
		err = x.startRun(in)
	}
	if err != nil {
		return err
	}
	r = x.m.s.Run
	if r.Limits.Duration >= 0 {
		limit := &LimitError{Limit: LimitDuration, Max: int64(r.Limits.Duration), Have: int64(r.Limits.Duration)}
		x.budget = time.AfterFunc(max(r.Limits.Duration-r.Worked, 0), func() { x.cancel(limit) })
	}
	begun = true
	return nil
}

// known refuses to go on with a session that the journal doesn't have, before a lease would make it.
func (x *exec) known(in *Input) error {
	if x.a.cfg.Journal == nil || !in.resume && !in.goOn {
		return nil
	}
	_, err := x.a.cfg.Journal.Head(x.jctx, in.Session)
	if errors.Is(err, journal.ErrNoSession) {
		return &NothingOpenError{Session: in.Session}
	}
	if err != nil {
		return fmt.Errorf("agent: session %q: reading its head: %w", in.Session, err)
	}
	return nil
}

// startRun begins a run with a prompt.
func (x *exec) startRun(in *Input) error {
	s := &x.m.s
	if s.Run.open() && !in.Supersede {
		return &PausedError{Session: s.Session, Pending: s.Run.pending()}
	}
	if len(in.History) > 0 && len(s.Messages) > 0 {
		return &InputError{Field: "History", Problem: fmt.Sprintf("session %q has a conversation already", s.Session)}
	}
	mode, err := x.a.mode(in.Mode)
	if err != nil {
		return err
	}
	if in.Mode == "" { // a session stays in its mode, if there still is such a mode
		if own, err := x.a.mode(s.Mode); err == nil {
			mode = own
		}
	}
	if in.Choice.Mode == provider.ChooseTool && mode != nil && !slices.Contains(mode.names, in.Choice.Tool) {
		return &InputError{Field: "Choice", Problem: fmt.Sprintf("the tool %q isn't available in mode %q", in.Choice.Tool, mode.Name)}
	}
	if s.Run.open() { // only now, when nothing is wrong with the input
		x.supersede()
		if x.errAt != nil {
			return x.errAt
		}
	}
	ids := newID("")
	x.origin = &Origin{Session: s.Session, Run: "r-" + ids, Agent: x.a.cfg.Name, Trace: newID("")}
	f := RunStarted{
		Message: in.message(x.a.redact), Limits: x.a.limits(in, mode), Choice: in.Choice,
		Interactive: in.Interactive, Priority: in.Priority, Task: in.Task,
	}
	if mode != nil {
		f.Mode = mode.Name
	}
	if in.output != nil {
		f.Output = in.output.JSON()
	}
	if len(in.History) > 0 {
		f.History = x.foreign(in.History)
	}
	x.lock()
	defer x.mu.Unlock()
	f.Meta = x.stamp(0, "")
	f.Meta.Step, f.Meta.By = 0, in.By
	return x.recordLocked(x.stale(), f)
}

// stale returns the ids of what was posted to an earlier run, which ended before it read them: a stop, for example, mustn't
// stop the next run.
func (x *exec) stale() []string {
	if x.a.cfg.Journal == nil {
		return nil
	}
	items, err := x.a.cfg.Journal.Take(x.jctx, x.s.name, x.lease.Fence)
	if err != nil {
		x.a.log.WarnContext(x.ctx, "agent: reading the inbox", "session", x.s.name, "error", err)
	}
	var ids []string
	for i := range items {
		ids = append(ids, items[i].ID)
	}
	return ids
}

// supersede ends the open run of the session.
func (x *exec) supersede() {
	x.closeCalls(errors.New("another input superseded it"))
	x.lock()
	defer x.mu.Unlock()
	x.recordLocked(nil, RunEnded{Meta: x.stamp(0, ""), Status: Stopped, Code: CodeSuperseded, Reason: "another input superseded it"})
}

// goOn continues a run that was paused by its host, or whose process died.
func (x *exec) goOn(expired bool) error {
	r := x.m.s.Run
	switch {
	case !r.open():
		e := &NothingOpenError{Session: x.s.name}
		if r != nil {
			e.Status = r.Status
		}
		return e
	case expired && r.Status == Running: // what was waited for has expired, and that goes on
		return nil
	}
	if p := r.pending(); len(p) > 0 && x.m.waiting() {
		return &PausedError{Session: x.s.name, Pending: p}
	}
	x.lock()
	defer x.mu.Unlock()
	return x.recordLocked(nil, Continued{Meta: x.stamp(0, "")})
}

// waiting reports whether nothing can be done before somebody decides.
func (m *Machine) waiting() bool {
	r := *m.s.Run
	r.Status = Running
	return r.Stage == stageActing && m.nextCalls(&r).Kind == ActWait
}

// expire closes the pauses whose time is over.
func (x *exec) expire(expired map[string]bool) error {
	now := time.Now()
	for _, p := range x.m.s.Run.pending() {
		if p.Expires.IsZero() || now.Before(p.Expires) {
			continue
		}
		c := x.m.s.Run.callByID(p.Call.ID)
		expired[p.ID] = true
		res := plainResult(c, tools.Rejected, fault.Denied, "The call wasn't run: rejected: expired. Nobody decided on it in time.")
		x.showHooks(c, res)
		x.lock()
		err := x.recordLocked([]string{p.ID},
			Decided{Meta: x.stamp(0, p.Call.ID), Decision: Decision{ID: p.ID, Kind: Expired}}, x.resultFact(1, c, res))
		x.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
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
	type outcome struct {
		d   Decision
		c   *CallState
		res *ToolResult
	}
	var all []outcome
	seen := make(map[string]bool)
	for _, d := range decisions {
		problem := func(code, format string, args ...any) error {
			return &DecisionError{Session: x.s.name, ID: d.ID, Code: code, Problem: fmt.Sprintf(format, args...), Err: d.err}
		}
		if d.err != nil {
			return problem(DecisionBad, "its value can't be encoded: %v", d.err)
		}
		c := x.pausedCall(d.ID)
		switch {
		case expired[d.ID]:
			return problem(DecisionExpired, "it comes too late: the pause has expired, and the call counts as rejected; Continue goes on")
		case slices.Contains(x.m.s.Used, d.ID):
			return problem(DecisionUsed, "the pause was decided before")
		case c == nil:
			return problem(DecisionUnknown, "no pause in this session has this id")
		case seen[d.ID]:
			return problem(DecisionRepeated, "the input has two decisions on this pause")
		}
		seen[d.ID] = true
		d.Reason, d.Input, d.Value = x.a.redact(d.Reason), x.redactJSON(d.Input), x.redactJSON(d.Value)
		result, err := x.decide(&d, c)
		if err != nil {
			var de *DecisionError
			if errors.As(err, &de) {
				return err
			}
			e := problem(DecisionBad, "%v", err).(*DecisionError)
			e.Err = err
			return e
		}
		all = append(all, outcome{d, c, result})
	}
	for _, o := range all {
		x.showHooks(o.c, o.res)
	}
	x.lock()
	defer x.mu.Unlock()
	var facts []Fact
	var taken []string
	if r.Status == Running { // its process died before it could pause: the time since then wasn't worked
		facts = append(facts, Continued{Meta: x.stamp(0, "")})
	}
	for _, o := range all {
		meta := x.stamp(len(facts), o.c.Call.ID)
		meta.By = o.d.Who
		facts, taken = append(facts, Decided{Meta: meta, Decision: o.d}), append(taken, o.d.ID)
		if o.res != nil {
			facts = append(facts, x.resultFact(len(facts), o.c, o.res))
		}
	}
	return x.recordLocked(taken, facts...)
}

// showHooks shows hooks the result, if there is one, of a call that was decided on. mu mustn't be held.
func (x *exec) showHooks(c *CallState, res *ToolResult) {
	if res != nil && x.a.hooked.afterTool {
		x.afterTool(x.newCall(c), res)
	}
}

func (x *exec) usedAny(decisions []Decision) bool {
	return slices.ContainsFunc(decisions, func(d Decision) bool { return slices.Contains(x.m.s.Used, d.ID) })
}

func (x *exec) pausedCall(id string) *CallState {
	r := x.m.s.Run
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Stand == standSuspended && c.Pause.ID == id {
			return c
		}
	}
	return nil
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
	case Refused:
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

// resultFact returns the result of a call as the nth next fact.
func (x *exec) resultFact(n int, c *CallState, res *ToolResult) ToolFinished {
	x.redactResult(res)
	return ToolFinished{Meta: x.stamp(n, c.Call.ID), Call: c.Call, Result: res}
}

// head returns what the session shows of itself after facts.
func (x *exec) head(facts []Fact) *journal.HeadUpdate {
	status, changed := string(Running), false
	open := make([]journal.Open, 0, 4)
	if r := x.m.s.Run; r != nil {
		status = string(r.Status)
		for _, p := range r.pending() {
			open = append(open, openMatter(&p))
		}
	}
	for _, f := range facts {
		switch f := f.(type) {
		case RunStarted, Continued:
			status, changed = string(Running), true
		case Suspended:
			open, changed = append(open, openMatter(&f.Pause)), true
		case Decided:
			open, changed = slices.DeleteFunc(open, func(o journal.Open) bool { return o.ID == f.Decision.ID }), true
			status = string(Running)
		case RunEnded:
			status, changed = string(f.Status), true
		}
	}
	if !changed {
		return nil
	}
	return &journal.HeadUpdate{Status: status, Open: open[:min(len(open), journal.MaxOpen)]}
}

func openMatter(p *Pause) journal.Open {
	return journal.Open{ID: p.ID, Kind: clean(string(p.Kind)), Title: clean(p.Call.Name + ": " + p.Reason), Expires: p.Expires}
}
