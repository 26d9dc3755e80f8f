package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Effects are the calls of a run that may have had an effect, as the facts of its session record
// them.
type Effects struct {
	Known bool   // the facts have the run
	Owner string // the session that the run took place in, if the facts are a copy of it
	// Calls are the calls of the run, and of the runs whose work it continues, that may have had an
	// effect and weren't undone, the newest first.
	Calls []*ToolFinished
	// Unreported are calls that were undone before the process died, so the model doesn't know.
	Unreported []UndoneCall
	// Pruned says that there may have been earlier calls that the facts no longer contain.
	Pruned bool
}

// EffectsOf returns the effects of a run: of its last steps that made calls, or of all steps if
// steps is 0.
func EffectsOf(facts []Fact, run string, steps int) Effects {
	var e Effects
	var found effects
	runs, begun := chain(facts, run), 0
	for _, f := range facts {
		own := runs[f.Envelope().Run()]
		e.Known = e.Known || own
		found.add(f, own)
		switch f := f.(type) {
		case *RunStarted:
			if own {
				begun++
				e.Owner = cmp.Or(e.Owner, f.From)
			}
		case *Snapshot:
			if own {
				e.Owner = cmp.Or(e.Owner, f.From)
			}
		case *Undone:
			if e.Unreported = append(e.Unreported, f.Calls...); len(f.Message.Parts) > 0 {
				e.Unreported = nil
			}
		}
	}
	e.Pruned = begun < len(runs)
	slices.Reverse(found.calls)
	if n := callsOfSteps(found.calls, steps); n < len(found.calls) {
		found.calls, e.Pruned = found.calls[:n], false
	}
	e.Calls = found.left()
	return e
}

// effects collects the calls that may have had an effect.
type effects struct {
	calls            []*ToolFinished
	doubtful, undone map[string]bool // by the ids of calls
}

// add adds what a fact says, in the order of the log. own says that the fact's call is one of those
// that are collected. It returns true for the result of such a call that may have had an effect.
func (e *effects) add(f Fact, own bool) bool {
	if e.undone == nil {
		e.doubtful, e.undone = make(map[string]bool), make(map[string]bool)
	}
	switch f := f.(type) {
	case *Suspended:
		if f.Pause.Kind == PauseInDoubt || f.Pause.Kind == PauseAgent { // whatever a person says of it, it was started
			e.doubtful[f.Pause.Call.ID] = true
		}
	case *ToolFinished:
		if own && f.Result != nil && f.Call != nil && (f.Result.Status.Ran() || e.doubtful[f.Call.ID]) {
			e.calls = append(e.calls, f)
			return true
		}
	case *Undone:
		for _, c := range f.Calls {
			if c.Call != nil {
				e.undone[c.Call.ID] = c.Why == ""
			}
		}
	}
	return false
}

// left returns the calls that weren't undone.
func (e *effects) left() []*ToolFinished {
	return slices.DeleteFunc(e.calls, func(f *ToolFinished) bool { return e.undone[f.Call.ID] })
}

// chain returns a run and those whose work it continues.
func chain(facts []Fact, run string) map[string]bool {
	runs := map[string]bool{run: true}
	for _, f := range slices.Backward(facts) {
		if f, ok := f.(*RunStarted); ok && runs[f.Run()] && f.ContextReset != nil {
			runs[f.ContextReset.From] = true
		}
	}
	return runs
}

// callsOfSteps returns how many of the calls, newest first, belong to the newest steps; all of them
// if steps is 0.
func callsOfSteps(calls []*ToolFinished, steps int) int {
	n := 0
	for i := range calls {
		if i == 0 || calls[i].Step != calls[i-1].Step {
			n++
		}
		if steps > 0 && n > steps {
			return i
		}
	}
	return len(calls)
}

// An UndoReceipt says what a rollback did. Each list is in the order in which the calls were
// handled, the newest first.
type UndoReceipt struct {
	Run        string
	Undone     []UndoneCall
	Impossible []UndoneCall // the tool can't undo it, or it is unknown whether there is anything to undo
	Failed     *UndoneCall  // the call whose Undo returned an error, which ended the rollback
	Left       []UndoneCall // not tried after that
	// Pruned says that the facts of earlier calls were pruned. Their effects remain, and it is
	// unknown what they are.
	Pruned bool
}

// Stays returns the calls whose effects weren't undone, with the reasons.
func (r *UndoReceipt) Stays() []UndoneCall {
	stays := slices.Concat(r.Impossible, r.Left)
	if r.Failed != nil {
		stays = slices.Insert(stays, len(r.Impossible), *r.Failed)
	}
	return stays
}

// Text returns the message to the model. unreported are calls that were undone by an earlier
// rollback that couldn't tell it.
func (r *UndoReceipt) Text(unreported []UndoneCall) string {
	var b strings.Builder
	b.WriteString("Note: effects of your calls were taken back after you had ended.")
	list := func(title string, calls ...UndoneCall) {
		if len(calls) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s:", title)
		for _, c := range calls {
			fmt.Fprintf(&b, "\n- %s %s", c.Call.Name, CleanName(string(c.Call.Input))) // enough to recognize the call
			if c.Why != "" {
				b.WriteString(" (" + c.Why + ")")
			}
		}
	}
	list("Undone", append(unreported, r.Undone...)...)
	list("Still in effect, because they can't be undone", r.Impossible...)
	if r.Failed != nil {
		list("Failed to be undone", *r.Failed)
	}
	list("Still in effect, not tried", r.Left...)
	if r.Pruned {
		b.WriteString("\nWhat you did earlier in that work isn't recorded any more, and still in effect.")
	}
	return b.String()
}

// Err returns an error if the rollback isn't complete, and nil otherwise.
func (r *UndoReceipt) Err() error {
	switch {
	case r.Failed != nil:
		return fmt.Errorf("agent: undoing %s failed: %s; %d calls before it weren't tried", r.Failed.Call.Name,
			r.Failed.Why, len(r.Left))
	case len(r.Impossible) > 0:
		return errors.New("agent: some calls can't be undone: " + r.Impossible[0].Call.Name + ": " +
			r.Impossible[0].Why)
	case r.Pruned:
		return errors.New("agent: the log of run " + r.Run + " was pruned; what it did before can't be undone")
	}
	return nil
}
