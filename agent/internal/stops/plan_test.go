package stops

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider/providertest"
)

var ended = []plan.Status{plan.Completed, plan.AllFailed, plan.Canceled, plan.Refused}

// planRun is the name of the run of plans.
const planRun = "p"

// A planned is a plan that is stopped, and what is to come of it.
type planned struct {
	name   string
	nodes  []plan.Node
	status plan.Status
	paid   []int // each once
	undone []int // each at least once, if it was paid
}

func node(id, tool string, n int, after ...string) plan.Node {
	return plan.Node{ID: id, Tool: tool, Input: map[string]any{"n": n}, After: after}
}

var planScenarios = []planned{
	{name: "a plan of five nodes", nodes: []plan.Node{node("a", "pay", 1), node("b", "pay", 2, "a"),
		node("c", "approved", 3, "a"), node("d", "mark", 4, "b"), node("e", "pay", 5, "b", "c")},
		status: plan.Completed, paid: []int{1, 2, 3, 5}},
	{name: "a plan in its undo", nodes: []plan.Node{node("a", "pay", 1), node("b", "pay", 2, "a"),
		node("c", "decline", 3, "b")}, status: plan.AllFailed, paid: []int{1, 2}, undone: []int{1, 2}},
}

// A planWay is a way to stop a process that runs plans.
type planWay struct {
	name string
	stop func(p *process, a *agent.Agent, serving context.CancelFunc)
}

var planWays = []planWay{
	{"the context of Serve ends", func(_ *process, _ *agent.Agent, serving context.CancelFunc) { serving() }},
	{"Drain, then the context of Serve ends", func(_ *process, a *agent.Agent, serving context.CancelFunc) {
		_ = a.Drain(background)
		serving()
	}},
	{"the lease of the plan is lost", func(p *process, _ *agent.Agent, _ context.CancelFunc) {
		p.lose(func(name string) bool { return name == planRun })
	}},
	{"the leases of the nodes are lost", func(p *process, _ *agent.Agent, _ context.CancelFunc) {
		p.lose(func(name string) bool { return name != planRun })
	}},
	{"all leases are lost", func(p *process, _ *agent.Agent, _ context.CancelFunc) {
		p.lose(func(string) bool { return true })
	}},
	{"the loop over Watch is left", func(*process, *agent.Agent, context.CancelFunc) {}},
	{"kill -9", func(p *process, _ *agent.Agent, serving context.CancelFunc) {
		p.kill()
		serving() // its goroutines end
	}},
}

// runner returns a process's agent, and its runner of plans.
func (p *process) runner() (*agent.Agent, *plan.Runner) {
	a := p.agent("clerk", steps([]providertest.CallSpec{}))
	r, err := plan.New(plan.Config{Agent: a, Lease: 2 * time.Second, OnCancel: plan.Undo})
	if err != nil {
		panic(err)
	}
	return a, r
}

// decides decides on all that a run of plans waits for, until ctx ends.
func (w *world) decides(ctx context.Context, r *plan.Runner) {
	for ctx.Err() == nil {
		begun := w.begun(ctx)
		pending, err := r.Pending(ctx, planRun)
		if err != nil && begun && ctx.Err() == nil {
			w.fault("Pending: %v", err)
		}
		for i := range pending {
			var in order
			_ = json.Unmarshal(pending[i].Call.Input, &in) // that of a plan has no number
			err := r.Decide(ctx, planRun, w.decision(&pending[i], in.N))
			if _, refused := errors.AsType[*agent.DecisionError](err); err != nil && !refused && ctx.Err() == nil {
				w.fault("Decide on %s of %s: %v", pending[i].Kind, pending[i].Call.Name, err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// begun reports whether the run of plans is stored.
func (w *world) begun(ctx context.Context) bool {
	head, err := w.store.Head(ctx, planRun)
	return err == nil && head.Seq > 0
}

// runPlan runs a plan, stops its first process at a point, lets the next process go on, and checks
// what came of it. It returns how many points there were.
func (w *world) runPlan(s *planned, how *planWay) (points int) {
	ctx, end := context.WithCancel(background)
	var running, others sync.WaitGroup
	others.Go(func() {
		_, r := w.process(false).runner()
		w.decides(ctx, r)
	})
	first := w.process(true)
	a, r := first.runner()
	serving, stop := context.WithCancel(background)
	w.stop = func() { running.Go(func() { how.stop(first, a, stop) }) }
	start := func(r *plan.Runner) error {
		_, err := r.Start(background, planRun, &plan.Plan{Title: "Pay", Nodes: s.nodes})
		return err
	}
	running.Go(func() { r.Serve(serving) })
	running.Go(func() {
		if err := start(r); err != nil && !w.stopped() {
			w.fault("Start: %v", err)
		}
		for range r.Watch(serving, planRun, 0) {
			if w.stopped() {
				break
			}
		}
	})

	_, next := w.process(false).runner()
	var state *plan.State
	nextServes := false
	for range 3600 {
		<-time.After(time.Second)
		if w.stopped() && !nextServes {
			nextServes = true
			<-time.After(5 * time.Second) // longer than a lease
			if !w.begun(ctx) {            // the host asks again
				if err := start(next); err != nil {
					w.fault("Start again: %v", err)
				}
			}
			others.Go(func() { next.Serve(ctx) })
		}
		var err error
		if state, err = next.State(ctx, planRun); err == nil && slices.Contains(ended, state.Status) {
			break
		}
	}
	w.mu.Lock()
	points = w.points
	w.mu.Unlock()
	stop()
	end()
	others.Wait()
	running.Wait()
	w.checkPlan(s, state)
	return points
}

// checkPlan notes what is wrong with how the run of plans has ended.
func (w *world) checkPlan(s *planned, state *plan.State) {
	if state == nil || state.Status != s.status {
		w.fault("the plan has ended as %+v", state)
		return
	}
	for _, n := range s.paid {
		if w.paid[n] != 1 {
			w.fault("order %d was paid %d times", n, w.paid[n])
		}
	}
	for _, n := range s.undone {
		if w.undone[n] < 1 {
			w.fault("order %d was undone %d times", n, w.undone[n])
		}
	}
	for _, f := range state.Failures {
		if len(f.Left) > 0 {
			w.fault("left: %v", f.Left)
		}
		if !strings.Contains(f.Reason, errDeclined.Error()) {
			w.fault("the plan was given up: %s", f.Reason)
		}
	}
	w.settled(planRun)
}

func TestNothingIsLostWhenAProcessOfAPlanIsStopped(t *testing.T) {
	tab := table{corner: "a process that drives a plan is stopped"}
	var names []string
	for i := range planScenarios {
		names = append(names, planScenarios[i].name)
		for j := range planWays {
			t.Run(planScenarios[i].name+"/"+planWays[j].name, func(t *testing.T) {
				points, tried := 0, 0
				for stopAt := 0; stopAt <= points; stopAt++ {
					if stopAt > 0 && (stopAt+i+j)%*every != 0 {
						continue
					}
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, stopAt)
						n := w.runPlan(&planScenarios[i], &planWays[j])
						if stopAt == 0 {
							points = n
						}
						require.Empty(t, w.failed())
						if w.stopped() {
							tried++
						}
					})
				}
				require.Greater(t, points, 10)
				tab.add(planWays[j].name, planScenarios[i].name, tried)
			})
		}
	}
	tab.compare(t, names)
}
