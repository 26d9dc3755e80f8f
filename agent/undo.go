package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/tools"
)

// A Rollback says what [Session.Undo] takes back.
type Rollback struct {
	// Run is the run whose calls are undone, with those of the runs that have handed their work on to it; empty: the newest.
	Run string
	// Steps is how many of its last steps that made calls are undone; 0: all.
	Steps int
	// Moved says that the session in which the run was is gone for good, and that this copy of it stands in its place: see
	// [Session.Fork]. It is for a session that went from one store to another, and for one copy only: two that are both undone
	// so take the same effects back twice. While there is a session by that name here, beside this one, it is refused.
	Moved bool
	By    string // who asks for it
}

// An UndoError says why nothing was undone.
type UndoError struct {
	Session string
	// Owner is the session to which the effects belong, if that is why: this one has only a copy of what was said.
	Owner   string
	Problem string
}

// Error says what would be right.
func (e *UndoError) Error() string { return fmt.Sprintf("agent: session %q: %s", e.Session, e.Problem) }

// Undo takes back the effects of the calls of a run that has ended, the newest first, with the Undo function of each tool,
// and tells the model, in whose conversation they stay. Calls of read-only tools, those that had no effect and those that
// were undone before are passed over. One that can't be undone is noted, and the rest goes on; at the first Undo that
// fails it ends. Each call that was undone is recorded at once; if the process dies in between, the next Undo may meet one
// call whose effect it has taken back already, so an Undo function has to bear that. What an agent that is a tool did isn't
// taken back with its call, which is noted as one that can't be undone.
//
// An effect is taken back where it was caused, and nowhere else: in a copy ([Session.Fork], [Session.Import]) the runs that it
// has from its original are refused with an *[UndoError] that names the owner. The model of a copy isn't told what its
// original has taken back.
func (s *Session) Undo(ctx context.Context, what Rollback) (*UndoReceipt, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	a := s.agent
	l, err := a.openKnown(ctx, s.id)
	if err != nil {
		return nil, err
	}
	defer l.close()
	facts, err := a.factsAfter(ctx, s.id, 0) // only now, when nobody else can undo
	if err != nil {
		return nil, err
	}
	switch r := l.run(); {
	case r == nil:
		return nil, &NothingOpenError{Session: s.id}
	case r.IsOpen():
		return nil, &UndoError{Session: s.id, Problem: "a run is open; stop it, or decide on what it waits for, before its effects are undone"}
	case what.Run == "":
		what.Run = r.ID
	}
	effects := machine.EffectsOf(facts, what.Run, what.Steps)
	if err := a.mayUndo(ctx, s.id, &effects, what); err != nil {
		return nil, err
	}
	calls := slices.DeleteFunc(effects.Calls, func(f ToolFinished) bool {
		d, ok := a.registry.Lookup(f.Call.Name)
		return ok && d.Spec().ReadOnly
	})
	rec, err := l.undoCalls(calls, what)
	rec.Pruned = effects.Pruned
	if err != nil || len(calls)+len(effects.Untold) == 0 {
		return rec, err
	}
	return rec, l.append(Undone{Meta: Meta{By: what.By}, Message: memory.Told(rec.Text(effects.Untold))})
}

// undoCalls takes back the effects of calls, and appends each that is undone at once.
func (l *sessionLog) undoCalls(calls []ToolFinished, what Rollback) (*UndoReceipt, error) {
	rec := &UndoReceipt{Run: what.Run}
	for i := range calls {
		c := &calls[i]
		done := machine.UndoneCall{Call: c.Call, Step: c.Step}
		if done.Why = l.agent.cantUndo(c); done.Why != "" {
			rec.Impossible = append(rec.Impossible, done)
			continue
		}
		if err := l.undoCall(c); err != nil {
			done.Why = l.agent.redact.Text(worded(err).Error())
			rec.Failed = &done
			for _, c := range calls[i+1:] {
				rec.Left = append(rec.Left, machine.UndoneCall{Call: c.Call, Step: c.Step, Why: "not tried"})
			}
			return rec, nil
		}
		rec.Undone = append(rec.Undone, done)
		if err := l.append(Undone{Meta: Meta{By: what.By}, Calls: []machine.UndoneCall{done}}); err != nil {
			return rec, err
		}
	}
	return rec, nil
}

// mayUndo says why what a run did can't be undone in a session: it isn't in the log, or its effects aren't the session's.
func (a *Agent) mayUndo(ctx context.Context, session string, effects *machine.Effects, what Rollback) error {
	owner := effects.Owner
	refuse := func(format string, args ...any) error {
		return &UndoError{Session: session, Owner: owner, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case what.Steps < 0:
		return refuse("Rollback.Steps is %d; give the number of steps, or 0 for all", what.Steps)
	case !effects.Known:
		return refuse("its log has no run %q; it may have been pruned", what.Run)
	case owner == "":
		return nil
	case !what.Moved:
		return refuse("what run %s did belongs to session %q, of which this one is a copy; undo it there, or, if that is gone for good, set Rollback.Moved", what.Run, owner)
	case owner == session: // imported in another store, or anew, under the name that it had
		return nil
	}
	there, err := a.there(ctx, owner)
	if err == nil && there {
		err = refuse("what run %s did belongs to session %q, which is still there; undo it there", what.Run, owner)
	}
	return err
}

// there reports whether there is a session by that name.
func (a *Agent) there(ctx context.Context, session string) (bool, error) {
	err := a.exists(ctx, session)
	var none *NothingOpenError
	if errors.As(err, &none) {
		return false, nil
	}
	return err == nil, err
}

// cantUndo says why a call can't be undone.
func (a *Agent) cantUndo(f *ToolFinished) string {
	d, ok := a.registry.Lookup(f.Call.Name)
	switch {
	case !ok:
		return "there is no such tool any more"
	case a.children[f.Call.Name] != nil:
		return "it is an agent, and what it did isn't undone with its call"
	case f.Result.Status != tools.OK && f.Result.Status != tools.Unverified:
		return "it ended as " + string(f.Result.Status) + ", and it isn't known what it had done by then"
	case !d.CanUndo():
		return "the tool can't undo"
	case f.Result.Cut > 0:
		return "its result wasn't kept whole"
	}
	return ""
}

func (l *sessionLog) undoCall(f *ToolFinished) error {
	d, _ := l.agent.registry.Lookup(f.Call.Name)
	ctx, cancel := context.WithTimeout(l.ctx, d.Spec().Timeout) // l.ctx ends with the lease
	defer cancel()
	parts := f.Result.Parts
	return d.Undo(ctx, f.Call.Input, json.RawMessage(partsText(parts[:max(len(parts)-f.Result.Notes, 0)])))
}
