package plan

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
)

// Start stores a run of plans under a name. The first plan runs, and each other one if all before
// it have failed. It begins where [Runner.Serve] or [Runner.Finish] drives it, in this or another
// process. A run that was stored before, with the same plans, is left as it is. With other plans,
// or if the name belongs to something else, the error is [agent.ErrDuplicate]. A plan that can't
// run is a *[CheckError].
//
// A plan waits for approval before its first node if it calls a tool that asks whatever the input
// is: one of high risk without tools.AskNever, or one with tools.AskAlways or Approvers. Any other
// plan begins at once; what policies and the Ask functions of tools ask is asked when the call is
// reached, and so is what workers ask. The next plan asks by the same rule, for itself.
func (r *Runner) Start(ctx context.Context, run string, plans ...*Plan) (*State, error) {
	return r.start(ctx, run, "", plans)
}

// start is Start for a run that may have a parent.
func (r *Runner) start(ctx context.Context, run, parent string, plans []*Plan) (*State, error) {
	if err := checkName(run); err != nil {
		return nil, err
	}
	if len(plans) == 0 {
		return nil, &agent.ArgError{Func: "Runner.Start", Field: "plans", Problem: "there are none; give at least one"}
	}
	s, err := r.load(ctx, run)
	if err != nil {
		return nil, err
	}
	if s.Status == "" {
		if s, err = r.create(ctx, run, parent, plans); err != nil {
			return nil, err
		}
	}
	if !s.beganWith(plans) {
		return nil, runError(run, agent.ErrDuplicate, "it was begun with other plans; choose another name for these")
	}
	return s, nil
}

// create stores a new run, unless another process does so at the same time.
func (r *Runner) create(ctx context.Context, run, parent string, plans []*Plan) (*State, error) {
	f := &proposed{Parent: parent, Options: options{Parallel: r.cfg.Parallel, KeepGoing: r.cfg.KeepGoing,
		AskOnFailure: r.cfg.AskOnFailure, OnCancel: r.cfg.OnCancel}, Tree: work.Tree(ctx), Outside: outsideOf(ctx)}
	for _, p := range plans {
		one, err := r.proposal(p)
		if err != nil {
			return nil, err
		}
		f.Plans = append(f.Plans, one)
	}
	l := &planLog{journal: r.store, name: run, state: &State{Run: run}}
	if err := l.add(f); err != nil {
		return nil, err
	}
	_, err := l.store(ctx, headOf(l.state, nil, l.state.Status == AtApproval))
	if errors.Is(err, agent.ErrBusy) { // it exists by now
		return r.State(ctx, run)
	}
	if err != nil {
		return nil, err
	}
	r.posted(run)
	return l.state, nil
}

// beganWith reports whether a run was begun with these plans.
func (s *State) beganWith(plans []*Plan) bool {
	return slices.EqualFunc(plans, s.original, func(p *Plan, hash string) bool {
		q, err := p.copied()
		return err == nil && q.Hash() == hash
	})
}

// Serve drives the runs that are due until ctx ends, several at a time: those that were started,
// whose process has died, or that wait for something that was decided. It finds them within a
// second, and those of this process at once. When ctx ends, nothing that runs do is lost or counts
// as failed: another process goes on, or the next Serve. Serve returns when nothing that it began
// is in progress. It may be called in several processes.
func (r *Runner) Serve(ctx context.Context) {
	loop := due.New(due.Config{List: r.due, Parallel: r.cfg.Runs, Logger: r.cfg.Logger,
		Drive: func(ctx context.Context, run string) error {
			err := r.cancelOrphan(ctx, run)
			if err == nil {
				_, err = r.drive(ctx, run, nil)
			}
			if errors.Is(err, agent.ErrBusy) || errors.Is(err, agent.ErrDraining) {
				return due.ErrLater
			}
			return err
		}})
	r.mu.Lock()
	r.serving = append(r.serving, loop)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.serving = slices.DeleteFunc(r.serving, func(l *due.Loop) bool { return l == loop })
	}()
	loop.Start(ctx)
	<-ctx.Done()
	loop.Stop()
}

// due yields the runs that could go on but that no process drives. Those that were submitted go on
// with the sessions in which they were, unless they were decided on or canceled since, or their
// sessions have ended: the process of the session may have died after that.
func (r *Runner) due(ctx context.Context) iter.Seq2[due.Item, error] {
	return func(yield func(due.Item, error) bool) {
		posted := make(map[string]bool) // runs in which a node's session has something in its inbox
		var failed error
		for h, err := range r.postedNodes(ctx, "") {
			posted[h.Parent], failed = true, errors.Join(failed, err)
		}
		for h, err := range r.store.Heads(ctx, journal.Filter{Kind: headKind}) {
			posted := posted[h.Session] || err == nil && r.ranElsewhere(ctx, &h)
			if err == nil && (!isDue(&h, posted, time.Now()) || h.Parent != "" && h.Inbox == 0 &&
				!posted && h.Status != statusEnding && !r.orphaned(ctx, &h)) {
				continue
			}
			if !yield(due.Item{Session: h.Session, Since: h.Updated}, err) {
				return
			}
		}
		if failed != nil {
			yield(due.Item{}, failed)
		}
	}
}

// orphaned reports whether the session in which a plan was submitted has ended while the plan was
// in progress: its process died before it had canceled the plan.
func (r *Runner) orphaned(ctx context.Context, h *journal.Head) bool {
	if h.Parent == "" || h.Status != statusRunning {
		return false
	}
	parent, err := r.store.Head(ctx, h.Parent)
	return err == nil && parent.Status != "" && parent.Status != string(agent.Running) &&
		parent.Status != string(agent.Paused)
}

// cancelOrphan cancels a run that is [Runner.orphaned]. What it did stays: nobody has asked for an
// undo.
func (r *Runner) cancelOrphan(ctx context.Context, run string) error {
	head, err := r.store.Head(ctx, run)
	if err == nil && r.orphaned(ctx, &head) {
		return r.postNow(ctx, run, &decided{Choice: cancel, Keep: true,
			Text: "the session in which it was submitted has ended"}, "")
	}
	return nil
}

// postedNodes yields the heads of sessions that wait and have something in their inboxes: those of
// the nodes of a run, or, with the name "", of all runs, and of others.
func (r *Runner) postedNodes(ctx context.Context, run string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		f := journal.Filter{Status: string(agent.Paused), Inbox: true, NoKind: true, Parent: run}
		for _, store := range r.stores {
			for h, err := range store.Heads(ctx, f) {
				if err != nil && h.Session == "" {
					err = storeError(run, "listing the sessions of nodes", err)
				} else if err != nil || h.Parent == "" {
					continue // one that can't be read isn't driven
				}
				if !yield(h, err) {
					return
				}
			}
		}
	}
}

// ranElsewhere reports whether a node of a run that waits has ended since the run was written: the
// agent was told to resume the session of the node, which the run doesn't know.
func (r *Runner) ranElsewhere(ctx context.Context, h *journal.Head) bool {
	if h.Status != statusPaused || len(h.Open) == 0 {
		return false
	}
	for _, store := range r.stores {
		for n, err := range store.Heads(ctx, journal.Filter{NoKind: true, Parent: h.Session}) {
			switch agent.Status(n.Status) {
			case agent.Completed, agent.Stopped, agent.Failed:
				if err == nil && n.Updated.After(h.Updated) {
					return true
				}
			}
		}
	}
	return false
}

// isDue reports whether a run can go on and nobody drives it. posted says that something is in the
// inbox of a node's session.
func isDue(h *journal.Head, posted bool, now time.Time) bool {
	if h.Owner != "" && now.Before(h.Until) {
		return false
	}
	expired := slices.ContainsFunc(h.Open, func(o journal.Open) bool {
		return !o.Expires.IsZero() && !now.Before(o.Expires)
	})
	return h.Status == statusRunning || h.Status == statusEnding ||
		h.Status == statusPaused && (h.Inbox > 0 || posted || expired)
}

// Finish drives a run to its end, and returns its state. It waits for decisions, and while another
// process drives the run or has a lease on it. Its error is nil if the run is completed, a
// *[FailedError] if it has ended otherwise, and else says why the run can't be driven: ctx has
// ended, or the journal fails. If the run waits for a decision that nobody may see to
// ([Config].AskOnFailure), Finish doesn't wait: the error is an *[agent.PausedError] with what the
// run waits for. The run stays as it is then.
func (r *Runner) Finish(ctx context.Context, run string) (*State, error) {
	for {
		s, err := r.drive(ctx, run, nil)
		switch {
		case err == nil && s.Status.ended():
			return s, s.err()
		case err == nil && slices.ContainsFunc(s.questions(), func(p agent.Pause) bool { return !p.Expires.IsZero() }):
			pending, err := r.pending(ctx, s)
			if err != nil {
				return s, err
			}
			return s, &agent.PausedError{Session: run, Pending: pending}
		case err != nil && !errors.Is(err, agent.ErrBusy) || ctx.Err() != nil:
			return s, err
		case err != nil:
			sleep(ctx, firstTry) // whoever has taken the lease drives it now
		}
		if err := r.waitUntilDue(ctx, run); err != nil {
			return s, err
		}
	}
}

// waitUntilDue waits until a run may go on, or has ended.
func (r *Runner) waitUntilDue(ctx context.Context, run string) error {
	return r.whenChanged(ctx, run, func() (bool, error) {
		head, err := r.store.Head(ctx, run)
		if err != nil {
			return false, storeError(run, "reading its head", err)
		}
		posted := false
		for _, err := range r.postedNodes(ctx, run) {
			if err != nil {
				return false, err
			}
			posted = true
		}
		posted = posted || r.ranElsewhere(ctx, &head)
		return isDue(&head, posted, time.Now()) || Status(head.Status).ended(), nil
	})
}

// whenFree calls f again while another process has the run that it is about.
func whenFree(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !errors.Is(err, agent.ErrBusy) || ctx.Err() != nil {
			return err
		}
		sleep(ctx, firstTry)
	}
}

// Delete removes a run with the sessions of its nodes. What it did stays as it is. A run that is in
// progress is [agent.ErrBusy]; an unknown one is no error.
func (r *Runner) Delete(ctx context.Context, run string) error {
	l, held, err := r.open(ctx, run)
	if errors.Is(err, agent.ErrNothingOpen) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.close(ctx)
	for plan := range min(l.state.Current+1, len(l.state.plans)) {
		for _, n := range l.state.plans[plan].Plan.Nodes {
			a := r.agentOf(n.Worker)
			if a == nil {
				a = r.cfg.Agent
			}
			name := SessionOf(run, plan, n.ID)
			_, err := a.Journal().Head(held, name)
			if err == nil {
				err = a.Session(name).Delete(held)
			}
			if err != nil && !errors.Is(err, journal.ErrNoSession) {
				return storeError(run, "deleting the session of a node", err)
			}
		}
	}
	if err := r.store.Delete(held, run, journal.All); err != nil {
		return storeError(run, "deleting it", err)
	}
	r.listeners.Tell(run, nil)
	return nil
}
