package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// finishSuspended suspends a call whose tool asks for that. It returns false, and replaces the
// outcome, if what the tool gives is invalid. done is how the work of the call stands; nil for a
// call that owns none.
func (w *workers) finishSuspended(cr *callRun, out *tools.Outcome, done *work.Outcome) bool {
	s := out.Suspend
	if err := checkSuspend(s); err != nil {
		*out = tools.Outcome{Status: tools.Failed, Class: fault.Permanent, Took: out.Took, Err: err,
			Parts: []provider.Part{provider.TextPart(internalError)}}
		return false
	}
	p, expires := Pause{Kind: PauseKind(machine.ValidText(s.Kind)), Title: w.callTitle(cr), Reason: s.Prompt,
		Schema: s.Schema, Again: s.Again, For: s.For}, s.Expires
	if done != nil {
		p.Nested = done.Pending
	}
	state, _ := s.State.(json.RawMessage)
	f := &Suspended{Pause: p, State: state}
	w.agent.redact.Fact(f) // the subagent may have no Redact
	p = f.Pause
	nested := p.Nested
	p.Nested = nil
	w.log.Lock()
	defer w.log.Unlock()
	if cr.over || cr.abandoned {
		return true
	}
	switch {
	case done != nil && (done.Status != work.Waits || len(nested) == 0): // it waits for no decision
		cr.over = true
		w.hold(done)
		return true
	case done != nil:
		p.Kind, p.Nested, expires = machine.PauseAgent, nested, -1 // those expire, not this one
	case s.Secret:
		p.Kind = machine.PauseSecret
	case p.Kind == "" || p.Kind == PauseApproval || p.Kind == PauseInDoubt || p.Kind == PauseCorrection ||
		p.Kind == machine.PauseAgent || p.Kind == machine.PauseSecret:
		p.Kind = "question"
	}
	f.Pause = p
	w.suspendLocked(cr, f, expires)
	return true
}

// checkSuspend returns what is wrong with what a tool suspends its call with.
func checkSuspend(s *tools.Suspend) error {
	if s.Secret && !s.Again {
		return errors.New("agent: Suspend.Secret needs Again: without it the answer is the result, which is recorded")
	}
	if state, ok := s.State.(json.RawMessage); ok && machine.TooDeep(state) {
		return fmt.Errorf("agent: Suspend.State is nested deeper than %d levels", machine.MaxDepth)
	}
	if len(s.Schema) == 0 {
		return nil
	}
	if _, err := schema.Parse(s.Schema); err != nil {
		return fmt.Errorf("agent: Suspend.Schema: %w", err)
	}
	if machine.TooDeep(s.Schema) {
		return fmt.Errorf("agent: Suspend.Schema is nested deeper than %d levels", machine.MaxDepth)
	}
	return nil
}

// suspend appends that a call waits for a decision. With expires 0 it waits as long as
// Config.PauseExpires says, and below 0 for ever.
func (w *workers) suspend(cr *callRun, p Pause, expires time.Duration) {
	p.Reason = w.agent.redact.Text(p.Reason)
	p.Title = tools.CleanTitle(w.agent.redact.Text(w.callTitle(cr)))
	w.log.Lock()
	if w.log.Yields() { // whoever has the session next asks
		cr.over = true
		w.log.Unlock()
		return
	}
	w.suspendLocked(cr, &Suspended{Pause: p}, expires)
	w.log.Unlock()
	w.consumer.flush()
}

// callTitle returns what a call does, in words for people, neither redacted nor cut. The tool's
// function may take its time, so the lock isn't held.
func (w *workers) callTitle(cr *callRun) string {
	if cr.d == noTool {
		return tools.TitleOf(cr.call.Name, cr.stored.Input)
	}
	return cr.d.Title(w.log.ctx, cr.stored.Input)
}

// suspendLocked is suspend for a fact that is redacted, and a caller that holds the lock. It shows
// nothing.
func (w *workers) suspendLocked(cr *callRun, f *Suspended, expires time.Duration) {
	p := &f.Pause
	expires = cmp.Or(expires, w.agent.cfg.PauseExpires)
	p.Call = *cr.stored
	p.ID = machine.PauseID(w.log.Name, &p.Call, p.Kind, cr.state.Pauses, p.PreviewHash)
	if cr.d != noTool {
		p.Risk, p.Fingerprint = cr.d.Spec().Risk.String(), cr.d.Fingerprint()
	}
	if isApproval(p.Kind) {
		p.Approvers, p.NotSelf = cr.d.Spec().Approvers, cr.d.Spec().NotSelf
	}
	if expires > 0 {
		p.Expires = time.Now().UTC().Round(0).Add(expires)
	}
	cr.over = true
	f.Meta.Call, f.Spent = cr.call.ID, w.log.place.spending.booked(cr.call.ID)
	_ = w.log.AppendLocked(nil, session.Clean(f))
}

// expire closes the pauses that have expired at that time, and returns their ids. For a subagent
// its parent has decided that already, by its own clock, where it has passed on a decision on the
// pause.
func (ds *decisions) expire(now time.Time, parent *parentCall) (map[string]bool, error) {
	expired := make(map[string]bool)
	for _, p := range ds.log.Run().Pending() {
		over := p.Expired(now)
		if parent != nil {
			if i := slices.IndexFunc(parent.answers, func(d Decision) bool { return d.ID == p.ID }); i >= 0 {
				over = parent.answers[i].Kind == machine.Expired
			}
		}
		if !over {
			continue
		}
		c, own := ds.log.Run().Suspended(p.ID)
		v := verdict{decision: Decision{ID: p.ID, Kind: machine.Expired}, call: c}
		if own == c.Pause { // else the subagent closes it when its call is resumed
			v.result = c.Undecided("rejected: expired. Nobody decided on it in time.")
		}
		if err := ds.append([]verdict{v}, p.ID, true); err != nil {
			return nil, err
		}
		expired[p.ID] = true
	}
	return expired, nil
}
