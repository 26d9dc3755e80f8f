package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// The kinds of the items of a run's inbox.
const (
	itemDecided = "plan.decision"
	itemLook    = "plan.look" // something was decided in the session of a node
)

// Decide takes decisions on what a run waits for: see [Runner.Pending]. The run goes on where it is
// driven, in this or another process. A plan is approved, rejected, or sent back with a suggestion
// ([agent.Suggest]); both end the run. A question about a node is answered as its schema says, or
// rejected, which gives the plan up. A call is decided on as in its own session, where it may be
// decided on, too ([SessionOf]): the run then goes on within a second.
//
// If a decision doesn't fit, nothing is stored, and the error is an *[agent.DecisionError], as for
// a second decision on the same pause. Decisions on several nodes are stored one after the other.
func (r *Runner) Decide(ctx context.Context, run string, ds ...agent.Decision) error {
	s, err := r.State(ctx, run)
	if err != nil {
		return err
	}
	pending, err := r.pending(ctx, s)
	if err != nil {
		return err
	}
	var own []*decided
	var answers []agent.Decision               // to own
	calls := make(map[string][]agent.Decision) // by node
	for i := range ds {
		d := &ds[i]
		p := find(pending, d.ID)
		switch {
		case p == nil:
			return refuse(run, d.ID, machine.DecisionUnknown, "nothing with this id is open in this run")
		case !isOwn(p):
			calls[p.Path[0]] = append(calls[p.Path[0]], *d)
			continue
		}
		f, err := s.decision(p, d)
		if err == nil {
			err = s.check(f)
		}
		if err != nil {
			return refuse(run, d.ID, machine.DecisionBad, "%v", err)
		}
		own, answers = append(own, f), append(answers, *d)
	}
	for _, node := range slices.Sorted(maps.Keys(calls)) {
		if err := r.decideCalls(ctx, s, node, calls[node]); err != nil {
			return err
		}
	}
	for i, f := range own {
		if err := r.post(ctx, run, answers[i].ID, itemDecided, f); err != nil {
			return err
		}
	}
	if s.parent == "" {
		return nil
	}
	return session.PassUp(ctx, r.store, run, answers)
}

// isOwn reports whether a pause is about a plan or a node, not about a call of a node.
func isOwn(p *agent.Pause) bool { return p.Call.Name == toolName && p.Call.ID == p.ID }

func find(pending []agent.Pause, id string) *agent.Pause {
	for i := range pending {
		if pending[i].ID == id {
			return &pending[i]
		}
	}
	return nil
}

// check returns why a decision doesn't fit. It adds it to s, which is then ahead of the log.
func (s *State) check(f *decided) error {
	copied := *f
	if problem := s.apply(stamp(&copied, Meta{Run: s.Run, Seq: s.Seq + 1, Time: time.Now(), By: f.By})); problem != "" {
		return errors.New(problem)
	}
	s.settle()
	return nil
}

// decideCalls decides on calls in the session of a node, and has the run look. That is posted also
// if the decision was stored before, because the process that stored it may have died since.
func (r *Runner) decideCalls(ctx context.Context, s *State, node string, ds []agent.Decision) error {
	n, _ := s.Node(node)
	err := r.agentOf(n.Node.Worker).Session(SessionOf(s.Run, s.Current, node)).Decide(ctx, ds...)
	wrong, refused := errors.AsType[*agent.DecisionError](err)
	if err != nil && !(refused && wrong.Code == machine.DecisionUsed) {
		return err
	}
	for i := range ds {
		looked := r.post(ctx, s.Run, "look "+ds[i].ID, itemLook, nil)
		if before, ok := errors.AsType[*agent.DecisionError](looked); looked != nil &&
			!(ok && before.Code == machine.DecisionUsed) {
			return looked
		}
	}
	return err
}

// post puts an item into the inbox of a run.
func (r *Runner) post(ctx context.Context, run, id, kind string, what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return refuse(run, id, machine.DecisionBad, "it can't be encoded: %v", err)
	}
	err = r.store.Post(ctx, run, journal.Item{ID: id, Kind: kind, Time: time.Now().UTC(), Data: data})
	if _, used := errors.AsType[*journal.PostedError](err); used {
		return refuse(run, id, machine.DecisionUsed, "somebody has decided this before")
	}
	if err != nil {
		return fmt.Errorf("plan: run %q: posting a decision: %w", run, err)
	}
	r.posted(run)
	return nil
}

// Revise replaces the current plan by its next version, which keeps the nodes that have begun
// unchanged. It needs approval by the rule of [Runner.Start], whether or not the version before was
// approved. A plan that can't be is an
// *[agent.DecisionError] or a *[CheckError]. What the run does until the revision is taken may make
// it unfit; it is then dropped, as [Runner.State] shows.
func (r *Runner) Revise(ctx context.Context, run string, p *Plan) error {
	return r.revise(ctx, run, p, "")
}

func (r *Runner) revise(ctx context.Context, run string, p *Plan, by string) error {
	next, err := r.proposal(p)
	if err != nil {
		return err
	}
	return r.postNow(ctx, run, &decided{Meta: Meta{By: by}, Choice: revise, Revision: &next, Outside: outsideOf(ctx)},
		next.Plan.Hash()[:16])
}

// GiveUp ends the current plan of a run: what is in progress is canceled, what was done is undone,
// and the next plan runs, if there is one.
func (r *Runner) GiveUp(ctx context.Context, run, why string) error {
	return r.end(ctx, run, &decided{Choice: giveUp, Text: why})
}

// Cancel ends a run: what is in progress is canceled, and no other plan runs. What was done stays,
// and [Runner.Undo] undoes it later, or it is undone at once: see [Config].OnCancel. That is done
// where the run is driven: see [Runner.Serve]. [Ended] says what is done and what isn't. A run that
// has ended is [agent.ErrNothingOpen].
func (r *Runner) Cancel(ctx context.Context, run, why string) error {
	return r.end(ctx, run, &decided{Choice: cancel, Text: why})
}

// end posts a decision that ends a plan. What the plan waits for is then over, also in the
// conversation that has submitted it.
func (r *Runner) end(ctx context.Context, run string, f *decided) error {
	s, err := r.State(ctx, run)
	if err != nil {
		return err
	}
	var over []agent.Decision
	if s.parent != "" {
		pending, err := r.pending(ctx, s)
		if err != nil {
			return err
		}
		for i := range pending {
			over = append(over, agent.Reject(pending[i].ID, f.Text))
		}
	}
	if err := r.postNow(ctx, run, f, ""); err != nil {
		return err
	}
	return session.PassUp(ctx, r.store, run, over)
}

// postNow posts a decision that answers no pause.
func (r *Runner) postNow(ctx context.Context, run string, f *decided, what string) error {
	s, err := r.State(ctx, run)
	if err != nil {
		return err
	}
	if s.Status.ended() {
		return runError(run, agent.ErrNothingOpen, "this run of plans has ended (%s)", s.Status)
	}
	seq := s.Seq
	f.Plan = s.Current
	f.Keep = f.Choice == cancel && (s.options.OnCancel == Keep || f.Keep && s.options.OnCancel != "")
	id := fmt.Sprintf("%s %d %d %s", f.Choice, s.Current, seq, what)
	if err := s.check(f); err != nil {
		return refuse(run, id, machine.DecisionBad, "%v", err)
	}
	err = r.post(ctx, run, id, itemDecided, f)
	if wrong, ok := errors.AsType[*agent.DecisionError](err); ok && wrong.Code == machine.DecisionUsed {
		return nil // the same was posted, and nothing has happened since
	}
	return err
}
