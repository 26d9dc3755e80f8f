package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/cut"
)

// tendUndo undoes the effects of a node of a plan that has failed.
func (x *execution) tendUndo(t *tended, plan int, n *Node) {
	for tries := 0; x.work.Err() == nil; tries++ {
		_, left, err := x.undoNode(x.work, x.s.Run, plan, n)
		switch {
		case err == nil:
			x.say(t, message{over: true, fact: &undone{Node: n.ID, Left: left}})
			return
		case errors.Is(err, agent.ErrDraining):
			x.say(t, message{err: err})
			return
		}
		out := work.Later(err)
		x.waitToTryAgain(t, tries, &out)
	}
}

// undoNode undoes the effects of a node, in all runs of its session, and says why something is left
// of them. After an error it can be tried again.
func (r *Runner) undoNode(ctx context.Context, run string, plan int, n *Node) (all machine.UndoReceipt, left string,
	err error) {
	a, name := r.agentOf(n.Worker), SessionOf(run, plan, n.ID)
	if a == nil {
		return all, fmt.Sprintf("there is no worker %q any more", n.Worker), nil
	}
	session := a.Session(name)
	head, err := a.Journal().Head(ctx, name)
	if errors.Is(err, journal.ErrNoSession) {
		return all, fmt.Sprintf("its session %q is gone, and what it did isn't known any more", name), nil
	}
	if err != nil {
		return all, "", err
	}
	facts, err := session.Facts(ctx)
	if err != nil {
		return all, "", err
	}
	var why []string
	if head.Pruned > 0 {
		why = append(why, "a part of the log of its session was pruned")
	}
	for _, f := range slices.Backward(facts) {
		begun, ok := f.(*agent.RunStarted)
		if !ok {
			continue
		}
		rec, err := session.Undo(ctx, agent.Rollback{Run: begun.Run(), User: "plan"})
		if errors.Is(err, agent.ErrCannotUndo) {
			why = append(why, err.Error())
			continue
		}
		if err != nil {
			return all, "", err
		}
		all.Undone = append(all.Undone, rec.Undone...)
		all.Impossible = append(all.Impossible, rec.Impossible...)
		if rec.Failed != nil {
			all.Failed = rec.Failed
			all.Impossible = append(all.Impossible, *rec.Failed)
		}
		all.Left = append(all.Left, rec.Left...)
	}
	if facts, err = session.Facts(ctx); err != nil {
		return all, "", err
	}
	again := madeAgain(facts)
	all.Impossible = slices.DeleteFunc(all.Impossible, func(c machine.UndoneCall) bool { return again[c.Call.ID] })
	for _, calls := range [][]machine.UndoneCall{all.Impossible, all.Left} {
		for _, call := range calls {
			why = append(why, fmt.Sprintf("%s: %s", call.Call.Name, call.Why))
		}
	}
	return all, cut.Line(strings.Join(why, "; "), 4<<10), nil
}

// madeAgain returns the calls of a session that were made again with the same idempotency key, and
// were undone then: attempts at one effect. The log says what was undone, also before.
func madeAgain(facts []agent.Fact) map[string]bool {
	keys, undone := make(map[string]string), make(map[string]bool)
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.ToolFinished:
			keys[f.Call.ID] = f.IdempotencyKey
		case *machine.Undone:
			for _, c := range f.Calls {
				if key := keys[c.Call.ID]; key != "" && c.Why == "" {
					undone[key] = true
				}
			}
		}
	}
	again := make(map[string]bool)
	for call, key := range keys {
		again[call] = undone[key]
	}
	return again
}

// Undo undoes what a run has done that is completed, or was stopped and has kept it
// ([Config].OnCancel), the newest first, as far as its tools can. The error says what is left. What
// was undone before isn't undone again, and what a plan that failed had done was undone when it
// failed. A run that hasn't ended is [agent.ErrCannotUndo]: see [Runner.Cancel].
func (r *Runner) Undo(ctx context.Context, run string) error {
	_, err := r.takeBack(ctx, run)
	return err
}

// takeBack is Undo. The receipt has all calls.
func (r *Runner) takeBack(ctx context.Context, run string) (*machine.UndoReceipt, error) {
	var l *planLog
	var held context.Context
	err := whenFree(ctx, func() (err error) {
		l, held, err = r.open(ctx, run)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer l.close(ctx)
	s, rec := l.state, &machine.UndoReceipt{}
	if !s.Status.ended() {
		return nil, runError(run, agent.ErrCannotUndo, "it hasn't ended; cancel it before")
	}
	for _, i := range s.toUndo() {
		if !s.undoable() {
			break
		}
		n := s.Nodes[i].Node
		var left string
		for tries := 0; ; tries++ {
			one, why, err := r.undoNode(held, run, s.Current, &n)
			if err == nil {
				left, rec.Undone = why, append(rec.Undone, one.Undone...)
				rec.Impossible = append(append(rec.Impossible, one.Impossible...), one.Left...)
				break
			}
			if sleep(held, delays.After(tries+1)); held.Err() != nil || tries == undoTries {
				return rec, fmt.Errorf("plan: run %q: undoing node %q: %w", run, n.ID, err)
			}
		}
		if err := l.add(&undone{Node: n.ID, Left: left}); err != nil {
			return rec, err
		}
		if _, err := l.store(ctx, headOf(s, nil, true)); err != nil {
			return rec, err
		}
		r.listeners.Tell(run, nil)
	}
	return rec, s.errLeft()
}

// undoTries is how often Undo tries again after an error of the journal or because of a lease: for
// about a minute.
const undoTries = 12

// errLeft returns what is left of the effects of a run.
func (s *State) errLeft() error {
	var left []string
	for i := range s.Failures {
		if i == s.Current && s.undoable() {
			break // its nodes say it
		}
		for _, r := range s.Failures[i].Left {
			left = append(left, r.Node+": "+r.Why)
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; s.undoable() && n.Left != "" {
			left = append(left, n.Node.ID+": "+n.Left)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return runError(s.Run, agent.ErrCannotUndo, "this is left of what it did: %s", strings.Join(left, "; "))
}
