package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Rollback says what [Agent.Undo] takes back.
type Rollback struct {
	// Run is the run whose calls are undone, with those of the runs that have handed their work on to it; empty: the newest.
	Run string
	// Steps is how many of its last steps that made calls are undone; 0: all.
	Steps int
	// Moved says that the session in which the run was is gone for good, and that this copy of it stands in its place: see
	// [Agent.Fork]. It is for a session that went from one store to another, and for one copy only: two that are both undone
	// so take the same effects back twice. While there is a session by that name here, beside this one, it is refused.
	Moved bool
	By    string // who asks for it
}

// An UndoneCall is a call that was to be undone, and what came of that.
type UndoneCall struct {
	Call *provider.ToolCall `json:"call"`
	Step int                `json:"step"`
	// Why the call wasn't undone; empty: it was.
	Why string `json:"why,omitempty"`
}

// An UndoReceipt says what came of a rollback. Each list is in the order in which the calls were dealt with, the newest first.
type UndoReceipt struct {
	Run        string
	Undone     []UndoneCall
	Impossible []UndoneCall // the tool can't undo it, or nobody knows whether there is anything to undo
	Failed     *UndoneCall  // where it ended, because Undo returned an error
	Left       []UndoneCall // not tried after that
	// Pruned says that the log begins within what was to be undone: what was done before stays, and nobody can tell what it was.
	Pruned bool
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
// were undone before are passed over. One that can't be undone is noted, and the rest continues; at the first Undo that
// fails it ends. Each call that was undone is recorded at once; if the process dies in between, the next Undo may meet one
// call whose effect it has taken back already, so an Undo function has to bear that. What an agent that is a tool did isn't
// taken back with its call, which is noted as one that can't be undone.
//
// An effect is taken back where it was caused, and nowhere else: in a copy ([Agent.Fork], [Agent.Import]) the runs that it
// has from its original are refused with an *[UndoError] that names the owner. The model of a copy isn't told what its
// original has taken back.
func (a *Agent) Undo(ctx context.Context, session string, what Rollback) (*UndoReceipt, error) {
	ctx = orBackground(ctx)
	if a.cfg.Journal != nil {
		if err := a.exists(ctx, session); err != nil {
			return nil, err
		}
	}
	x := a.open(ctx)
	defer x.cancel(nil)
	if err := x.enter(&Input{Session: session}); err != nil {
		return nil, err
	}
	defer x.leave()
	facts := x.s.facts
	if a.cfg.Journal != nil { // only now, when nobody else can undo
		var err error
		if facts, err = a.Facts(ctx, session); err != nil {
			return nil, err
		}
	}
	switch r := x.m.s.Run; {
	case r == nil:
		return nil, &NothingOpenError{Session: session}
	case r.open():
		return nil, &UndoError{Session: session, Problem: "a run is open; stop it, or decide on what it waits for, before its effects are undone"}
	case what.Run == "":
		what.Run = r.ID
	}
	if err := a.mayUndo(ctx, session, facts, what); err != nil {
		return nil, err
	}
	calls, untold, pruned := effects(facts, what)
	rec := &UndoReceipt{Run: what.Run, Pruned: pruned}
	calls = slices.DeleteFunc(calls, func(f ToolFinished) bool {
		d, ok := a.registry.Lookup(f.Call.Name)
		return ok && d.Spec().ReadOnly
	})
	for i := range calls {
		c := &calls[i]
		done := UndoneCall{Call: c.Call, Step: c.Step}
		if done.Why = x.cantUndo(c); done.Why != "" {
			rec.Impossible = append(rec.Impossible, done)
			continue
		}
		if err := x.undo(c); err != nil {
			done.Why = x.a.redact(worded(err).Error())
			rec.Failed = &done
			for _, c := range calls[i+1:] {
				rec.Left = append(rec.Left, UndoneCall{Call: c.Call, Step: c.Step, Why: "not tried"})
			}
			break
		}
		rec.Undone = append(rec.Undone, done)
		if err := x.recordUndone(Undone{Calls: []UndoneCall{done}}, what.By); err != nil {
			return rec, err
		}
	}
	if len(calls)+len(untold) == 0 {
		return rec, nil
	}
	return rec, x.recordUndone(Undone{Message: memory.Told(rec.tell(untold))}, what.By)
}

// mayUndo says why what a run did can't be undone in a session: it isn't in the log, or its effects aren't the session's.
func (a *Agent) mayUndo(ctx context.Context, session string, facts []Fact, what Rollback) error {
	runs := chain(facts, what.Run)
	known, owner := false, ""
	for _, f := range facts {
		if !runs[f.Envelope().Run] {
			continue
		}
		known = true
		switch f := f.(type) {
		case RunStarted:
			owner = cmp.Or(owner, f.From)
		case Snapshot:
			owner = cmp.Or(owner, f.From)
		}
	}
	refuse := func(format string, args ...any) error {
		return &UndoError{Session: session, Owner: owner, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case what.Steps < 0:
		return refuse("Rollback.Steps is %d; give the number of steps, or 0 for all", what.Steps)
	case !known:
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
	if a.cfg.Journal == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.sessions[session] != nil, nil
	}
	err := a.exists(ctx, session)
	var none *NothingOpenError
	if errors.As(err, &none) {
		return false, nil
	}
	return err == nil, err
}

// chain returns a run and those that have handed their work on to it.
func chain(facts []Fact, run string) map[string]bool {
	runs := map[string]bool{run: true}
	for _, f := range slices.Backward(facts) {
		if f, ok := f.(RunStarted); ok && runs[f.Run] && f.ContextReset != nil {
			runs[f.ContextReset.From] = true
		}
	}
	return runs
}

// effects returns the calls of a run, and of those before it in its chain, that may have had an effect, the newest first,
// without those that were undone. Untold are calls that were undone, but the process died before the model was told. Pruned
// says that there may have been more than the log has.
func effects(facts []Fact, what Rollback) (out []ToolFinished, untold []UndoneCall, pruned bool) {
	undone, runs, begun := make(map[string]bool), chain(facts, what.Run), 0
	for _, f := range facts {
		switch f := f.(type) {
		case RunStarted:
			if runs[f.Run] {
				begun++
			}
		case ToolFinished:
			if runs[f.Run] && f.Result.Status.Ran() {
				out = append(out, f)
			}
		case Undone:
			for _, c := range f.Calls {
				undone[c.Call.ID] = c.Why == ""
			}
			if untold = append(untold, f.Calls...); len(f.Message.Parts) > 0 {
				untold = nil
			}
		}
	}
	pruned = begun < len(runs)
	slices.Reverse(out)
	if what.Steps > 0 {
		steps := 0
		for i := range out {
			if i == 0 || out[i].Step != out[i-1].Step {
				steps++
			}
			if steps > what.Steps {
				out, pruned = out[:i], false
				break
			}
		}
	}
	return slices.DeleteFunc(out, func(f ToolFinished) bool { return undone[f.Call.ID] }), untold, pruned
}

// cantUndo says why a call can't be undone.
func (x *exec) cantUndo(f *ToolFinished) string {
	d, ok := x.a.registry.Lookup(f.Call.Name)
	switch {
	case !ok:
		return "there is no such tool any more"
	case x.a.children[f.Call.Name] != nil:
		return "it is an agent, and what it did isn't undone with its call"
	case f.Result.Status != tools.OK && f.Result.Status != tools.Unverified:
		return "it ended as " + string(f.Result.Status) + ", and nobody knows what it had done by then"
	case !d.CanUndo():
		return "the tool can't undo"
	case f.Result.Cut > 0:
		return "its result wasn't kept whole"
	}
	return ""
}

func (x *exec) undo(f *ToolFinished) error {
	d, _ := x.a.registry.Lookup(f.Call.Name)
	ctx, cancel := context.WithTimeout(x.ctx, d.Spec().Timeout) // which ends with the lease
	defer cancel()
	parts := f.Result.Parts
	return d.Undo(ctx, f.Call.Input, json.RawMessage(partsText(parts[:max(len(parts)-f.Result.Notes, 0)])))
}

func (x *exec) recordUndone(f Undone, by string) error {
	x.lock()
	defer x.mu.Unlock()
	f.Meta = x.besides()
	f.Meta.By = valid(by)
	return x.recordLocked(nil, f)
}

// undone folds in what was undone. The conversation keeps the calls: the model is told.
func (m *Machine) undone(f *Undone) string {
	for _, c := range f.Calls {
		if c.Call == nil || c.Call.ID == "" {
			return "it names no call"
		}
	}
	if len(f.Message.Parts) == 0 {
		if len(f.Calls) == 0 {
			return "it holds nothing"
		}
		return ""
	}
	if problem := saidBy(provider.RoleUser, &f.Message); problem != "" {
		return problem
	}
	m.s.Messages = append(m.s.Messages, f.Message)
	return ""
}

// tell says to the model what was undone, now and before.
func (r *UndoReceipt) tell(before []UndoneCall) string {
	var b strings.Builder
	b.WriteString("Note: effects of your calls were taken back after you had ended.")
	list := func(title string, calls []UndoneCall) {
		if len(calls) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s:", title)
		for _, c := range calls {
			fmt.Fprintf(&b, "\n- %s %s", c.Call.Name, clean(string(c.Call.Input))) // enough to know which it was
			if c.Why != "" {
				b.WriteString(" (" + c.Why + ")")
			}
		}
	}
	list("Undone", append(before, r.Undone...))
	list("Still in effect, because they can't be undone", r.Impossible)
	if r.Failed != nil {
		list("Failed to be undone", []UndoneCall{*r.Failed})
	}
	list("Still in effect, not tried", r.Left)
	if r.Pruned {
		b.WriteString("\nWhat you did earlier in that work isn't recorded any more, and still in effect.")
	}
	return b.String()
}

// Err returns an error if the rollback isn't complete, and nil otherwise.
func (r *UndoReceipt) Err() error {
	switch {
	case r.Failed != nil:
		return fmt.Errorf("agent: undoing %s failed: %s; %d calls before it weren't tried", r.Failed.Call.Name, r.Failed.Why, len(r.Left))
	case len(r.Impossible) > 0:
		return errors.New("agent: some calls can't be undone: " + r.Impossible[0].Call.Name + ": " + r.Impossible[0].Why)
	case r.Pruned:
		return errors.New("agent: the log of run " + r.Run + " was pruned; what it did before can't be undone")
	}
	return nil
}
