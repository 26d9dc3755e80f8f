package stops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// session is the session of the runs.
const session = "s"

// A scenario is a run that is stopped, and the effects that it has once when it has ended.
type scenario struct {
	name  string
	agent func(p *process) *agent.Agent
	paid  []int
	plan  bool // a model has submitted a plan, which is undone if the run ends otherwise
}

var scenarios = []scenario{
	{"a run with parallel tools", func(p *process) *agent.Agent {
		return p.agent("clerk", steps(
			[]providertest.CallSpec{call("pay", 1), call("mark", 2), call("pay", 3)},
			[]providertest.CallSpec{call("pay", 4)}))
	}, []int{1, 3, 4}, false},
	{"a run with an approval", func(p *process) *agent.Agent {
		return p.agent("clerk", steps(
			[]providertest.CallSpec{call("approved", 1), call("pay", 2)},
			[]providertest.CallSpec{call("pay", 3)}))
	}, []int{1, 2, 3}, false},
	{"a subagent", func(p *process) *agent.Agent {
		helper := p.agent("helper", steps([]providertest.CallSpec{call("pay", 1), call("pay", 2)},
			[]providertest.CallSpec{call("approved", 3)}))
		return p.agent("clerk", steps([]providertest.CallSpec{{Tool: "help", Input: agent.Task{Task: "Pay."}},
			call("pay", 4)}), agent.AsTool(helper, tools.Spec{Name: "help", ParallelSafe: true}))
	}, []int{1, 2, 3, 4}, false},
	{"a submitted plan", func(p *process) *agent.Agent {
		_, r := p.runner()
		return p.agent("planner", steps([]providertest.CallSpec{{Tool: plan.ToolSubmit, Input: submitted}}),
			plan.Tools(r)...)
	}, []int{1, 2, 3}, true},
}

// submitted is a plan whose call c asks for itself, because its input is known only when it runs.
var submitted = json.RawMessage(`{"title": "Pay", "nodes": [
	{"id": "a", "tool": "pay", "input": "{\"n\": 1}"},
	{"id": "b", "tool": "find", "input": "{\"n\": 2}", "after": ["a"]},
	{"id": "c", "tool": "approved", "input": "{\"n\": {\"$from\": \"b\"}}"},
	{"id": "d", "tool": "pay", "input": "{\"n\": 3}", "after": ["a"]}]}`)

// input begins the run. A process that isn't the first to have it continues it.
func input() agent.Input { return agent.Input{Session: session, Key: "first", Prompt: "Pay."} }

// A way is a way to stop a process that runs an agent.
type way struct {
	name string
	// begin returns what the process does, and what stops it.
	begin func(w *world, p *process, a *agent.Agent) (run, stop func())
	ends  bool     // it ends the run by contract: the effects aren't all there
	only  []string // the scenarios in which it happens; none: all
}

var background = context.Background()

var ways = []way{
	{name: "the context of Advance ends", begin: func(w *world, _ *process, a *agent.Agent) (run, stop func()) {
		ctx, cancel := context.WithCancel(background)
		return func() { advance(ctx, w, a, agent.Leg{}) }, cancel
	}},
	{name: "the context of legs of one step ends", begin: func(w *world, _ *process,
		a *agent.Agent) (run, stop func()) {
		ctx, cancel := context.WithCancel(background)
		return func() { advance(ctx, w, a, agent.Leg{Steps: 1}) }, cancel
	}},
	{name: "Drain", begin: func(_ *world, _ *process, a *agent.Agent) (run, stop func()) {
		return func() { drive(background, a) }, func() { _ = a.Drain(background) }
	}},
	{name: "Hub.Close", begin: func(w *world, _ *process, a *agent.Agent) (run, stop func()) {
		hub, err := live.New(live.Config{Agent: a, Recover: time.Second})
		if err != nil {
			panic(err)
		}
		return func() {
			if _, err := hub.Start(background, input()); err != nil && !w.stopped() {
				w.fault("Hub.Start: %v", err)
			}
		}, func() { _ = hub.Close() }
	}},
	{name: "the lease of the session is lost", begin: func(_ *world, p *process, a *agent.Agent) (run, stop func()) {
		return func() { drive(background, a) }, func() { p.lose(func(name string) bool { return name == session }) }
	}},
	{name: "the lease of a subagent or a plan is lost", only: []string{"a subagent", "a submitted plan"}, begin: func(
		_ *world, p *process, a *agent.Agent) (run, stop func()) {
		return func() { drive(background, a) }, func() { p.lose(func(name string) bool { return name != session }) }
	}},
	{name: "kill -9", begin: func(_ *world, p *process, a *agent.Agent) (run, stop func()) {
		return func() { drive(background, a) }, p.kill
	}},
	{name: "Session.Cancel, and kill -9 a second later", ends: true, only: []string{"a submitted plan"}, begin: func(
		_ *world, p *process, a *agent.Agent) (run, stop func()) {
		return func() { drive(background, a) }, func() {
			_ = a.Session(session).Cancel(background)
			<-time.After(time.Second)
			p.kill()
		}
	}},
	{name: "the context of Run ends", ends: true, begin: func(_ *world, _ *process, a *agent.Agent) (run, stop func()) {
		ctx, cancel := context.WithCancel(background)
		return func() { drive(ctx, a) }, cancel
	}},
	{name: "the loop over Stream is left", ends: true, begin: func(w *world, _ *process,
		a *agent.Agent) (run, stop func()) {
		return func() { loop(w, a) }, func() {}
	}},
}

// loop reads the events of the run until the process is stopped, or the run has ended.
func loop(w *world, a *agent.Agent) {
	for in := agent.Work(input()); !w.stopped(); in = agent.Continue(session) {
		for ev, err := range a.Stream(background, in) {
			if end, ok := ev.(*agent.RunEnded); ok && end.Status != agent.Paused || w.stopped() {
				return
			}
			if errors.Is(err, agent.ErrNothingOpen) {
				return
			}
		}
		<-time.After(time.Second) // somebody decides
	}
}

// drive runs the input until the process is stopped, or its run has ended.
func drive(ctx context.Context, a *agent.Agent) {
	for in := agent.Work(input()); ; in = agent.Continue(session) {
		res, err := a.Run(ctx, in)
		_, waits := errors.AsType[*agent.PausedError](err)
		if !waits || res != nil && res.Code != "" {
			return
		}
		<-time.After(time.Second) // somebody decides
	}
}

// advance runs the input in legs until ctx ends, or the run has ended.
func advance(ctx context.Context, w *world, a *agent.Agent, leg agent.Leg) {
	for ctx.Err() == nil {
		p, err := a.Advance(ctx, input(), leg)
		if err != nil && ctx.Err() == nil {
			w.fault("Advance: %v", err)
			return
		}
		if p.Next == agent.NextEnded && err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// person decides on all that waits, until ctx ends.
func (w *world) person(ctx context.Context, a *agent.Agent) {
	for ctx.Err() == nil {
		pending, err := a.Session(session).Pending(ctx)
		if err != nil && !errors.Is(err, agent.ErrNothingOpen) && ctx.Err() == nil {
			w.fault("Pending: %v", err)
		}
		for i := range pending {
			var in order
			if err := json.Unmarshal(pending[i].Call.Input, &in); err != nil {
				w.fault("a pause of kind %q for %s", pending[i].Kind, pending[i].Call.Name)
			}
			err := a.Session(session).Decide(ctx, w.decision(&pending[i], in.N))
			if _, refused := errors.AsType[*agent.DecisionError](err); err != nil && !refused && ctx.Err() == nil {
				w.fault("Decide: %v", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// run runs a scenario, stops its first process at a point, lets the next process go on, and checks
// what came of it. It returns how many points there were.
func (w *world) run(s *scenario, how *way) (points int) {
	ctx, end := context.WithCancel(context.Background())
	var running, others sync.WaitGroup
	others.Go(func() { w.person(ctx, s.agent(w.process(false))) })
	first := w.process(true)
	run, stop := how.begin(w, first, s.agent(first))
	w.stop = func() { running.Go(stop) }
	running.Go(run)

	if s.plan {
		_, r := w.process(false).runner()
		others.Go(func() { r.Serve(ctx) })
	}
	next := s.agent(w.process(false))
	var res *agent.Result
	for range 3600 {
		<-time.After(time.Second)
		if w.stopAt > 0 {
			_, err := next.Recover(ctx, agent.Recovery{})
			if err != nil {
				w.fault("Recover: %v", err)
			}
		}
		var err error
		res, err = next.Session(session).Result(ctx)
		if err == nil && (res.Status == agent.Completed || res.Status == agent.Stopped || res.Status == agent.Failed) {
			break
		}
	}
	w.mu.Lock()
	points = w.points
	w.mu.Unlock()
	if !w.stopped() {
		stop() // the run has ended before
	}
	if s.plan {
		<-time.After(time.Minute) // it is undone if the run didn't complete
	}
	end()
	others.Wait()
	running.Wait()
	w.check(s, how, res)
	return points
}

// check notes what is wrong with how the run has ended.
func (w *world) check(s *scenario, how *way, res *agent.Result) {
	switch {
	case res == nil:
		w.fault("there is no result")
	case how.ends && w.stopAt > 0 && (res.Status == agent.Stopped || s.plan):
		for n, times := range w.paid {
			if times > 1 {
				w.fault("order %d was paid %d times", n, times)
			}
			if s.plan && w.undone[n] == 0 && !w.planned() {
				w.fault("order %d was paid, and isn't undone", n)
			}
		}
		if s.plan {
			w.settled("") // a decision may have come as the run was stopped
		}
		return
	case res.Status != agent.Completed:
		w.fault("the run has ended as %s: %s %s", res.Status, res.Code, res.Reason)
	}
	for _, n := range s.paid {
		if w.paid[n] != 1 {
			w.fault("order %d was paid %d times", n, w.paid[n])
		}
	}
	w.settled(session)
}

// planned reports whether the plan had completed before the run was stopped.
func (w *world) planned() bool {
	for head, err := range w.store.Heads(background, journal.Filter{Kind: "plan"}) {
		return err == nil && head.Status == string(plan.Completed)
	}
	return false
}

// settled notes which sessions of the store are still open, and whether that one has something in
// its inbox.
func (w *world) settled(which string) {
	for head, err := range w.store.Heads(context.Background(), journal.Filter{NoKind: true}) {
		switch {
		case err != nil:
			w.fault("%v", err)
		case len(head.Open) > 0 || head.Inbox > 0 && head.Session == which:
			w.fault("%s waits for %v, with %d in its inbox", head.Session, head.Open, head.Inbox)
		case head.Status == string(agent.Running) || head.Status == string(agent.Paused):
			w.fault("%s is still %s", head.Session, head.Status)
		}
	}
}

// failed returns what was wrong, with the point.
func (w *world) failed() string {
	if len(w.wrong) == 0 {
		return ""
	}
	return fmt.Sprintf("stopped at point %d, %s: %q", w.stopAt, w.where, w.wrong)
}
