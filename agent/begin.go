package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
)

// begin takes an input: it checks it, enters the session, and records what follows from it. After an error nothing is held.
func (x *exec) begin(in *Input) (err error) {
	first, err := x.a.mode(in.Mode)
	if err != nil {
		return err
	}
	if in.ToolChoice.Mode == provider.ChooseTool {
		if _, ok := x.a.registry.Lookup(in.ToolChoice.Tool); !ok {
			return &InputError{Field: "ToolChoice", Problem: fmt.Sprintf("there is no tool %q", in.ToolChoice.Tool)}
		}
	}
	if err := in.check(x.a.limits(in.Limits, first)); err != nil {
		return err
	}
	if x.parent = in.parent; x.parent != nil {
		x.spending = x.parent.spending
	}
	if err := x.ctx.Err(); err != nil {
		return &StopError{Code: CodeCanceled, Err: context.Cause(x.ctx)}
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
	if in.recovering && r.open() && (r.Agent != x.a.cfg.Name || r.Parent != "") {
		return errNotOurs
	}
	if in.resume || in.goOn {
		if err := x.checkChanges(in); err != nil {
			return err
		}
	}
	expired := make(map[string]bool)
	if r.open() {
		x.origin = &Origin{Session: x.s.name, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace}
	}
	decided, err := x.takeSent(r.open() && (in.resume || in.goOn))
	if err != nil {
		return err
	}
	if r.open() {
		if err := x.expire(in, expired); err != nil {
			return err
		}
	}
	switch {
	case in.resume:
		err = x.resume(in.decisions, expired)
	case in.goOn:
		err = x.goOn(decided > 0 || len(expired) > 0)
	default:
		err = x.startRun(in)
	}
	if err != nil {
		return err
	}
	x.limitTime()
	begun, x.driving = true, true
	return nil
}

// known refuses to resume a session that the journal doesn't have, before a lease would make it.
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
	if in.ToolChoice.Mode == provider.ChooseTool && mode != nil && !slices.Contains(mode.names, in.ToolChoice.Tool) {
		return &InputError{Field: "ToolChoice", Problem: fmt.Sprintf("the tool %q isn't available in mode %q", in.ToolChoice.Tool, mode.Name)}
	}
	if s.Run.open() { // only now, when nothing is wrong with the input
		x.supersede("another input superseded it")
		if x.errAt != nil {
			return x.errAt
		}
	}
	if in.Session != "" { // else it was named with its session
		x.origin = x.a.newOrigin(s.Session)
	}
	if in.parent != nil {
		x.origin.Parent, x.origin.Trace = in.parent.id, in.parent.trace
	}
	f := RunStarted{
		Message: in.message(x.a.redact), Limits: x.a.limits(in.Limits, mode), ToolChoice: in.ToolChoice,
		Interactive: in.Interactive, Priority: in.Priority, Task: in.Task, Tools: x.a.fingerprints,
	}
	if in.Limits != nil && *in.Limits != (Limits{}) {
		f.Own = new(*in.Limits)
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
	return x.recordLocked(x.unread, f) // what was posted to an earlier run, a stop for example, mustn't stop this one
}

// supersede ends the open run of the session.
func (x *exec) supersede(why string) {
	x.closeCalls(errors.New(why))
	x.lock()
	defer x.mu.Unlock()
	end := RunEnded{Meta: x.stamp(0, ""), Status: Stopped, Code: CodeSuperseded, Reason: why, Result: new(Result)}
	if x.recordLocked(nil, end) == nil {
		x.m.fill(end.Result, Stopped, CodeSuperseded, &StopError{Code: CodeSuperseded, Err: errors.New(end.Reason)})
	}
}

// goOn continues a run that was paused by its host, or whose process died. Settled says that a pause was just decided on, or
// has expired.
func (x *exec) goOn(settled bool) error {
	r := x.m.s.Run
	switch {
	case !r.open():
		e := &NothingOpenError{Session: x.s.name}
		if r != nil {
			e.Status = r.Status
		}
		return e
	}
	if p := r.pending(); !settled && len(p) > 0 && x.m.waiting() {
		return &PausedError{Session: x.s.name, Pending: p}
	}
	if settled && r.Status == Running { // the decision has let it run
		return nil
	}
	x.lock()
	defer x.mu.Unlock()
	return x.recordLocked(nil, x.continued(0))
}

// waiting reports whether nothing can be done before somebody decides.
func (m *Machine) waiting() bool {
	r := *m.s.Run
	r.Status = Running
	return r.Stage == stageActing && m.nextCalls(&r).Kind == ActWait
}

// expire closes the pauses whose time is over. For an agent that is a tool its parent has judged of that already, by its own
// clock, where there is a decision on the pause.
func (x *exec) expire(in *Input, expired map[string]bool) error {
	now := time.Now()
	for _, p := range x.m.s.Run.pending() {
		over := p.expired(now)
		if in.parent != nil {
			if i := slices.IndexFunc(in.parent.answers, func(d Decision) bool { return d.ID == p.ID }); i >= 0 {
				over = in.parent.answers[i].Kind == Expired
			}
		}
		if !over {
			continue
		}
		c, own := x.m.s.Run.suspended(p.ID)
		expired[p.ID] = true
		var res *ToolResult
		if own == c.Pause { // else the agent that it belongs to sees for itself
			res = undecided(c, "rejected: expired. Nobody decided on it in time.")
		}
		x.showHooks(c, res)
		x.lock()
		var facts []Fact
		if x.m.s.Run.Status == Running || x.otherTools() { // its process died before it could pause: the time since then wasn't worked
			facts = append(facts, x.continued(0))
		}
		facts = append(facts, Decided{Meta: x.stamp(len(facts), c.Call.ID), Decision: Decision{ID: p.ID, Kind: Expired}})
		if res != nil {
			facts = append(facts, x.resultFact(len(facts), c, res))
		}
		err := x.recordLocked([]string{p.ID}, facts...)
		x.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}
