package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A decision is posted by one process and taken by another, which may have other tools by then. Who
// made it may have lost their role meanwhile, or no agent has checked it yet. A decision that can't
// be accepted when it is taken doesn't count. Its id can't be used again, so its pause opens again
// under another id, in the append that removes the decision from the inbox: see [Pause].Replaces.
// The other decisions of the item are taken.

// decisions takes what was decided on the pauses of a run. It belongs to the driving goroutine.
type decisions struct {
	log     *sessionLog
	resumed bool                // the newest ones have resumed the run
	roles   map[string][]string // that are known while decisions of an input are taken
}

// take takes the decisions of an inbox item, and reports whether anything came of it. resumed says
// that the session is being resumed. A decision that isn't acceptable opens its pause again.
// Decisions on what isn't open any more leave the inbox. Decisions that can't be checked now stay
// there; later is a *[RolesError] if that is because of the roles of who decides.
func (ds *decisions) take(it *session.Item, resumed bool) (took bool, later error) {
	l := ds.log
	at := it.Time
	if l.parent != nil { // the parent has decided whether it comes in time
		at = time.Time{}
	}
	n, err := ds.accept(it.Decisions, at, it.ID, resumed, it.Unchecked)
	if err == nil && n == 0 {
		l.Remove(it.ID)
	}
	l.warn("agent: a decision that was posted can't be taken", err, "item", it.ID)
	if unknown, ok := errors.AsType[*RolesError](err); ok {
		later = unknown
	}
	return err == nil && n > 0, later
}

// accept takes decisions, as take does, and returns how many it took. item is the id of their inbox
// item, or one of its own for decisions that weren't posted. unchecked says that no agent has seen
// them.
func (ds *decisions) accept(decisions []Decision, at time.Time, item string, resumed, unchecked bool) (n int,
	err error) {
	verdicts, err := ds.sort(decisions, at, unchecked)
	if err == nil && len(verdicts) > 0 {
		err = ds.append(verdicts, item, resumed)
	}
	return len(verdicts), err
}

// sort checks decisions that were accepted before, or that no agent has seen. It leaves out those
// on what isn't open any more. The error says that one of them can't be checked now.
func (ds *decisions) sort(decisions []Decision, at time.Time, unchecked bool) (verdicts []verdict, err error) {
	ctx := ds.context(ds.log.Reads)
	for i, d := range decisions {
		if slices.ContainsFunc(decisions[:i], func(other Decision) bool { return other.ID == d.ID }) {
			continue
		}
		own, err := ds.check(ctx, d, at, unchecked)
		var refused *DecisionError
		switch {
		case err == nil:
			verdicts = append(verdicts, own...)
			continue
		case !errors.As(err, &refused):
			return nil, err
		}
		ds.log.warn("agent: a decision can't be accepted", err)
		if v, ok := ds.reopens(d, refused); ok {
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, nil
}

// context returns the context in which decisions are checked. While decisions are taken that were
// given to this process, what is known of roles is kept, so that they aren't asked for twice.
func (ds *decisions) context(ctx context.Context) context.Context {
	l := ds.log
	roles := ds.roles
	if roles == nil {
		roles = make(map[string][]string)
	}
	return context.WithValue(ctx, decidingKey{}, &deciding{agent: l.agent, set: l.toolset(), roles: roles})
}

// check evaluates a decision. The texts of one that no agent has seen are passed to the BeforeInput
// hooks before, once its user may decide; what these refuse, or fail on, is a *[DecisionError].
func (ds *decisions) check(ctx context.Context, d Decision, at time.Time, unchecked bool) (_ []verdict, err error) {
	l := ds.log
	one := []Decision{d}
	if unchecked {
		who := []Decision{Reject(d.ID, "").By(d.User)} // which everybody may who may decide
		if _, err := l.agent.evaluate(ctx, l.Machine(), who, at, nil); err != nil {
			return nil, err
		}
		one, err = l.agent.screenDecisions(l.Reads, l.Machine(), one)
		if refused, ok := errors.AsType[*SessionError](err); ok {
			err = &DecisionError{Session: l.Name, ID: d.ID, Code: machine.DecisionBad, Problem: refused.Problem,
				Err: err}
		}
		if err != nil {
			return nil, err
		}
	}
	return l.agent.evaluate(ctx, l.Machine(), one, at, nil)
}

// dropped reports whether err says that somebody else has decided on a pause that is open, and no
// decision on it waits in the inbox: then one was dropped that couldn't be read, and the session,
// which is held, takes another.
func (ds *decisions) dropped(err error) bool {
	l := ds.log
	var posted *journal.PostedError
	if !errors.As(err, &posted) {
		return false
	}
	waiting, err := l.agent.sessions.Store.Take(l.Reads, l.Name, l.Fence())
	return err == nil &&
		!slices.ContainsFunc(waiting, func(it journal.Item) bool { return it.Kind == session.ItemDecide })
}

// errAltered is why a decision is refused for good: its pause isn't that of the stored call.
var errAltered = errors.New(
	"the stored call isn't the one that the pause was made for, so the log isn't what was written")

// reopens returns what follows from a decision that is refused. It returns false if nothing does,
// because the pause isn't open.
func (ds *decisions) reopens(d Decision, why *DecisionError) (v verdict, ok bool) {
	l := ds.log
	c, p := l.Run().Suspended(d.ID)
	switch {
	case c == nil || p.Kind == machine.PauseAgent || errors.Is(why, errAltered),
		why.Code != machine.DecisionBad && why.Code != machine.DecisionForbidden:
		return v, false
	case p == c.Pause:
		text := machine.CleanName(l.agent.redact.Text(why.Problem))
		return verdict{decision: Decision{ID: d.ID, User: d.User}, call: c, reopens: true, refused: text}, true
	}
	// The subagent refuses the decision in its own session, and opens the pause there.
	return verdict{decision: l.agent.redact.Decision(d), call: c}, d.Kind.Fits(p.Kind)
}

// usedBefore returns the error for a decision on a pause that can't be decided any more.
func usedBefore(s *machine.State, id, problem string) *DecisionError {
	if now := s.Run.Replacement(id); now != nil {
		return &DecisionError{Session: s.Session, ID: id, Code: machine.DecisionReplaced, NewID: now.ID,
			Problem: "an earlier decision on it couldn't be accepted (" + now.Refused + "); decide on " + now.ID +
				", which has replaced it"}
	}
	return &DecisionError{Session: s.Session, ID: id, Code: machine.DecisionUsed, Problem: problem}
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

// append appends decisions with what follows from them.
func (ds *decisions) append(verdicts []verdict, item string, resumed bool) error {
	l := ds.log
	items := []string{item}
	for _, v := range verdicts {
		if v.result != nil {
			l.afterTool(l.ctx, l.hookCall(v.call), v.result)
		}
		items = append(items, v.decision.ID)
	}
	var facts []Fact
	reopens := slices.ContainsFunc(verdicts, func(v verdict) bool { return v.reopens })
	// A Continued comes before the run is resumed if its process died before it could pause, so
	// that the time since then doesn't count as worked, or its agent has other tools now. A paused
	// run can't suspend a call.
	if resumed && !ds.resumed && (l.Run().Status == Running || l.otherTools()) || reopens && l.paused() {
		facts = append(facts, l.continued())
	}
	ds.resumed = resumed
	decided := ds.calls(verdicts)
	for _, v := range verdicts {
		if v.reopens {
			facts = append(facts, &Suspended{Meta: Meta{Call: v.call.Call.ID, By: v.decision.User},
				Pause: v.call.Reopened(l.Name, v.refused)})
			continue
		}
		facts = append(facts,
			&machine.Decided{Meta: Meta{Call: v.call.Call.ID, By: v.decision.User}, Decision: v.decision})
		if v.result != nil {
			facts = append(facts, l.result(v.call, v.result))
		}
	}
	if err := l.Append(items, facts...); err != nil {
		return err
	}
	ds.after(decided)
	return nil
}

// A decidedCall is a decision as the AfterDecision hooks see it.
type decidedCall struct {
	call     *ToolCall
	pause    Pause
	decision Decision
}

// calls returns what the AfterDecision hooks will see of decisions that aren't recorded yet. Those
// on a subagent's pauses are shown to that agent's hooks.
func (ds *decisions) calls(verdicts []verdict) (all []decidedCall) {
	if len(ds.log.agent.hooksAt(func(h *Hooks) bool { return h.AfterDecision != nil })) == 0 {
		return nil
	}
	for _, v := range verdicts {
		if p := v.call.Pause; !v.reopens && p.ID == v.decision.ID && v.decision.Kind != machine.Expired {
			all = append(all, decidedCall{ds.log.hookCall(v.call), p.Flat()[0], v.decision})
		}
	}
	return all
}

// after calls all AfterDecision hooks with decisions that were recorded.
func (ds *decisions) after(decided []decidedCall) {
	l := ds.log
	for _, d := range decided {
		for _, h := range l.agent.hooksAt(func(h *Hooks) bool { return h.AfterDecision != nil }) {
			call := *d.call
			_, err := l.callHook(h, "AfterDecision", func() error {
				return h.AfterDecision(l.ctx, &call, d.pause, d.decision)
			})
			if errors.As(err, new(*AbortError)) {
				l.Cancel(err)
			}
		}
	}
}

// takeGiven takes the decisions of an input, and returns how many it took. expired are the pauses
// that have just been closed.
func (ds *decisions) takeGiven(decisions []Decision, expired map[string]bool) (taken int, err error) {
	if ds.log.parent != nil { // which has decided whether they come in time
		return ds.accept(decisions, time.Time{}, newID("d-"), true, false)
	}
	at := time.Now()
	ds.roles = make(map[string][]string)
	defer func() { ds.roles = nil }()
	err = ds.log.agent.decide(ds.context(ds.log.Stored), ds.log.Machine(), decisions, at, expired)
	if ds.dropped(err) {
		return ds.accept(decisions, at, newID("d-"), true, false)
	}
	if err != nil {
		return 0, err
	}
	taken, _, _ = ds.log.takePosted(ds)
	return taken, nil
}

// notTaken returns the decisions without those that the session has taken before: a decision of the
// same kind, by the same person.
func (ds *decisions) notTaken(decisions []Decision) ([]Decision, error) {
	if !slices.ContainsFunc(decisions, func(d Decision) bool { return slices.Contains(ds.log.State().Used, d.ID) }) {
		return decisions, nil
	}
	facts, err := ds.log.agent.sessions.Facts(ds.log.Reads, ds.log.Name, 0, 0)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(decisions), func(d Decision) bool {
		return slices.ContainsFunc(facts, func(f Fact) bool {
			taken, ok := f.(*machine.Decided)
			return ok && taken.Decision.ID == d.ID && taken.Decision.Kind == d.Kind && taken.Decision.User == d.User
		})
	}), nil
}
