package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/tools"
)

// A Rollback says what [Session.Undo] undoes.
type Rollback struct {
	// Run is the run whose calls are undone, with the runs whose work it continues after context
	// resets; empty: the newest.
	Run string
	// Steps is how many steps are undone, of the last that made calls; 0: all.
	Steps int
	// Moved says that the session that owns the effects no longer exists and that this copy
	// replaces it: see [Session.Fork]. It is for a session that was moved to another store. Set it
	// for one copy only, or effects are undone twice. It is refused while the owner exists in this
	// store.
	Moved bool
	// DryRun undoes nothing: the receipt says what would be undone. What can't be undone of the
	// work of a subagent or of a plan is known only afterwards.
	DryRun bool
	User   string // who asks for it
}

// Undo undoes the effects of the calls of a run that has ended, the newest first, with the Undo
// function of each tool, and adds a message for the model; the calls stay in the conversation. It
// skips calls of read-only tools, calls without an effect and calls that were undone before. Calls
// that can't be undone are listed in the receipt, and in the [machine.Undone] with the message. So
// are calls that were started and have no result (they failed, for example), unless their tools set
// Spec.UndoFailed. What a subagent did in a call is undone in its own session, as far as that is
// kept. The first Undo function that returns an error ends the rollback. Each undone call is
// recorded at once. If the process dies in between, the next Undo may call the Undo function of one
// call again, so these functions must tolerate that.
//
// An effect can be undone only in the session that owns it. In a copy ([Session.Fork],
// [Session.Import]), an undo of copied runs is refused with [ErrCannotUndo]; its text names the
// owner. Copies don't learn what their original has undone.
func (s *Session) Undo(ctx context.Context, what Rollback) (*machine.UndoReceipt, error) {
	ctx, l, err := s.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	a := s.agent
	facts, err := a.sessions.Facts(ctx, s.id, 0, 0) // after open, so that no other process can undo meanwhile
	if err != nil {
		return nil, err
	}
	switch r := l.Run(); {
	case r.IsOpen():
		return nil, &SessionError{Session: s.id, Code: ErrCannotUndo,
			Problem: "a run is open; stop it, or decide on what it waits for, before its effects are undone"}
	case what.Run == "":
		what.Run = r.ID
	}
	effects := machine.EffectsOf(facts, what.Run, what.Steps)
	if err := a.mayUndo(ctx, s.id, &effects, what); err != nil {
		return nil, err
	}
	registry := a.toolsOf(ctx, l.State()).registry
	calls := slices.DeleteFunc(effects.Calls, func(f *ToolFinished) bool {
		d, ok := registry.Lookup(f.Call.Name)
		return ok && d.Spec().ReadOnly
	})
	rec, err := l.undoCalls(registry, calls, what)
	rec.Pruned = effects.Pruned
	if err != nil || what.DryRun || len(calls)+len(effects.Unreported) == 0 {
		return rec, err
	}
	return rec, l.append(&machine.Undone{Meta: Meta{By: what.User}, Calls: rec.Stays(),
		Message: memory.HostMessage(rec.Text(effects.Unreported))})
}

// undoCalls undoes calls, and appends each at once.
func (l *sessionLog) undoCalls(registry *tools.Registry, calls []*ToolFinished, what Rollback) (*machine.UndoReceipt,
	error) {
	rec := &machine.UndoReceipt{Run: what.Run}
	for i := range calls {
		c := calls[i]
		done := machine.UndoneCall{Call: c.Call, Step: c.Step}
		if done.Why = l.agent.cantUndo(registry, c); done.Why != "" {
			rec.Impossible = append(rec.Impossible, done)
			continue
		}
		if what.DryRun {
			rec.Undone = append(rec.Undone, done)
			continue
		}
		stays, err := l.undoCall(registry, c, what.User)
		if stays != "" {
			done.Why = l.agent.redact.Text(stays)
			rec.Impossible = append(rec.Impossible, done)
			continue
		}
		if err != nil {
			done.Why = l.agent.redact.Text(usable(err).Error())
			rec.Failed = &done
			for _, c := range calls[i+1:] {
				rec.Left = append(rec.Left, machine.UndoneCall{Call: c.Call, Step: c.Step, Why: "not tried"})
			}
			return rec, nil
		}
		rec.Undone = append(rec.Undone, done)
		if err := l.append(&machine.Undone{Meta: Meta{By: what.User}, Calls: []machine.UndoneCall{done}}); err != nil {
			return rec, err
		}
	}
	return rec, nil
}

// mayUndo returns why a run can't be undone in a session: its log doesn't have the run, or the
// session doesn't own its effects.
func (a *Agent) mayUndo(ctx context.Context, session string, effects *machine.Effects, what Rollback) error {
	owner := effects.Owner
	refuse := func(format string, args ...any) error {
		return &SessionError{Session: session, Code: ErrCannotUndo, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case what.Steps < 0:
		return refuse("Rollback.Steps is %d; give the number of steps, or 0 for all", what.Steps)
	case !effects.Known:
		return refuse("its log has no run %q; it may have been pruned", what.Run)
	case owner == "":
		return nil
	case !what.Moved:
		return refuse(
			"what run %s did belongs to session %q, of which this one is a copy; undo it there, or, if that is gone "+
				"for good, set Rollback.Moved", what.Run, owner)
	case owner == session: // imported in another store, or anew, under the name that it had
		return nil
	}
	err := a.sessions.Exists(ctx, owner)
	if err == nil {
		return refuse("what run %s did belongs to session %q, which is still there; undo it there", what.Run, owner)
	}
	if errors.Is(err, ErrNothingOpen) {
		return nil
	}
	return err
}

// cantUndo returns why a call can't be undone, or an empty string.
func (a *Agent) cantUndo(registry *tools.Registry, f *ToolFinished) string {
	d, ok := registry.Lookup(f.Call.Name)
	switch {
	case !ok:
		return "there is no such tool any more"
	case a.owners[f.Call.Name] != nil:
		return "" // its work knows
	case !hasOutput(d, f) && !d.Spec().UndoFailed:
		return "it ended as " + string(f.Result.Status) + ", and it isn't known what it had done by then"
	case !d.CanUndo():
		return "the tool can't undo"
	case hasOutput(d, f) && f.Result.Cut > 0:
		return "its result wasn't kept whole"
	}
	return ""
}

// hasOutput reports whether the Undo of a call gets the text of its result.
func hasOutput(d *tools.Definition, f *ToolFinished) bool {
	return f.Result.Status == tools.OK || f.Result.Status == tools.Unverified && !d.Spec().UndoFailed
}

// undoCall undoes a call. It returns why something of its own work stays, if it can't be undone.
func (l *sessionLog) undoCall(registry *tools.Registry, f *ToolFinished, by string) (stays string, err error) {
	d, _ := registry.Lookup(f.Call.Name)
	ctx, cancel := context.WithTimeout(l.ctx, d.Spec().Timeout) // l.ctx ends with the lease
	defer cancel()
	if l.agent.owners[f.Call.Name] != nil {
		return l.undoWork(ctx, f, by)
	}
	var output json.RawMessage
	if parts := f.Result.Parts; hasOutput(d, f) {
		output = json.RawMessage(partsText(parts[:max(len(parts)-f.Result.Notes, 0)]))
	}
	return "", d.Undo(tools.WithCall(ctx, &tools.Call{
		Session: l.Name, Run: f.Run(), Step: f.Step, ID: f.Call.ID, Name: f.Call.Name, Input: f.Call.Input,
		IdempotencyKey: cmp.Or(f.IdempotencyKey, f.Call.ID), Fence: l.Fence(),
	}), f.Call.Input, output)
}

// A rewind is the starting point of a run that replaces others: see [Input].Replaces.
type rewind struct {
	*machine.Rewind
	start uint64 // Input.Replaces
	facts []Fact // of the session, when the input came
}

// rewindTo returns the starting point of a run that replaces the one that started with the fact
// number start, and those after it. It changes nothing.
func (x *driver) rewindTo(start uint64) (*rewind, error) {
	facts, err := x.agent.sessions.Facts(x.log.ctx, x.log.Name, 0, 0)
	if err != nil {
		return nil, err
	}
	back, problem, err := machine.NewRewind(x.log.Name, facts, start)
	if problem != "" {
		return nil, badInput("Replaces", "session %q: %s", x.log.Name, problem)
	}
	return &rewind{back, start, facts}, err
}

// goBack puts into the fact that starts a run what it replaces. The runs that are replaced have
// ended, and the tools of the new one are gathered.
func (x *driver) goBack(f *RunStarted, back *rewind) error {
	closed, err := x.agent.sessions.Facts(x.log.ctx, x.log.Name, back.facts[len(back.facts)-1].Envelope().Seq, 0)
	if err != nil {
		return err
	}
	note := back.Note(append(back.facts, closed...), func(tool string) bool {
		d, ok := x.log.tools.set.registry.Lookup(tool)
		return ok && d.Spec().ReadOnly
	})
	f.Replaces = &machine.Replaced{Start: back.start, Before: back.Before, Outside: back.Outside,
		Note: note}
	return nil
}
