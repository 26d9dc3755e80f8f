package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
)

// plannedTools are those of the nodes of plans.
var plannedTools = []string{"pay", "pay", "pay", "send", "wire", "wire", "mark", "flaky", "fails", "ask", "look"}

// newPlans returns the runner of plans of the process.
func (p *process) newPlans() *plan.Runner {
	r, err := plan.New(plan.Config{Agent: p.agent, Lease: lease, KeepGoing: p.program.seed%2 == 0,
		AskOnFailure: p.program.seed%3 == 0})
	if err != nil {
		panic(err)
	}
	return r
}

// startPlan starts a run of one plan, whose nodes depend on some of those before them.
func (p *process) startPlan(ctx context.Context, o *op) error {
	own := &plan.Plan{ID: o.to, Title: o.to}
	for i, c := range p.program.scripts[o.script].first() {
		n := plan.Node{ID: fmt.Sprint("n", c.n), Tool: c.tool, Input: map[string]any{"n": c.n},
			Timeout: 20 * time.Second}
		for j, before := range own.Nodes {
			if p.draw(o.to, i, j)%3 == 0 {
				n.After = append(n.After, before.ID)
			}
		}
		own.Nodes = append(own.Nodes, n)
	}
	p.world.mu.Lock()
	p.world.plans[o.to] = true
	p.world.mu.Unlock()
	_, err := p.plans.Start(ctx, o.to, own)
	return err
}

// decidePlan decides on what a run of plans waits for.
func (p *process) decidePlan(ctx context.Context, run string, pick uint64) error {
	pending, err := p.plans.Pending(ctx, run)
	if err != nil {
		return err
	}
	for i := range pending {
		pause := &pending[i]
		d, ok := p.decision(pause, pick+uint64(i))
		if pause.Kind == "question" && len(pause.Path) > 0 && pause.Call.Name != "ask" { // about a node that has failed
			d = agent.Reject(pause.ID, "give it up")
		}
		if ok { // one after the other: after the first of them, the plan may be over
			err = errors.Join(err, p.plans.Decide(ctx, run, d.By("ann")))
		}
	}
	return err
}

// endPlan cancels a run of plans, or undoes one that has ended.
func (p *process) endPlan(ctx context.Context, o *op) error {
	if o.pick%2 == 0 {
		return p.plans.Cancel(ctx, o.to, "not needed")
	}
	return p.plans.Undo(ctx, o.to)
}

// finishPlans drives the runs of plans to their ends, by deciding on what they wait for.
func (s *simulation) finishPlans(p *process) {
	ctx := context.Background()
	s.mu.Lock()
	runs := slices.Sorted(maps.Keys(s.plans))
	s.mu.Unlock()
	for _, run := range runs {
		var status plan.Status
		for round := 0; ; round++ {
			state, err := p.plans.State(ctx, run)
			if errors.Is(err, agent.ErrNothingOpen) { // it was never stored
				break
			}
			if err != nil {
				s.fail("%s: %v", run, err)
				break
			}
			if status = state.Status; status != "approval" && status != "running" && status != "undoing" {
				break
			}
			if round == 100 {
				s.fail("%s doesn't end: it is %s: %s", run, status, state.Markdown())
				break
			}
			if err := p.decidePlan(ctx, run, s.draw("plan", round, run)); err != nil {
				s.note("healthy: decide %s: %v", run, err)
			}
			time.Sleep(3 * time.Second)
		}
		s.note("healthy: %s is %s", run, status)
	}
}
