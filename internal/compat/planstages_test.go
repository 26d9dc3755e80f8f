package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
)

// planStages are runs of plans, whose names are those of the stages.
var planStages = []stage{
	{name: "plan that waits for its approval", leave: func(p *process) { p.plan("drop", "save") },
		goOn: func(p *process) {
			p.agree()
			p.finish(plan.Completed)
		}, effects: []string{"drop a", "save b"}},
	{name: "plan whose node waits", leave: func(p *process) {
		p.plan("save", "question")
		p.serve()
	}, goOn: func(p *process) {
		list, err := p.plans.Pending(p.t.Context(), p.name)
		require.NoError(p.t, err)
		require.Len(p.t, list, 1)
		require.NoError(p.t, p.plans.Decide(p.t.Context(), p.name, agent.Answer(list[0].Flat()[0].ID,
			answer).By("ann")))
		p.finish(plan.Completed)
	}, effects: []string{"save a"}},
	{name: "plan in the middle", leave: func(p *process) {
		p.plan("drop", "repeat", "save")
		p.agree()
		ctx, stop := context.WithCancel(p.t.Context())
		p.inTool = func() { p.kill(); stop() }
		p.plans.Serve(ctx)
	}, goOn: func(p *process) { p.finish(plan.Completed) }, effects: []string{"drop a", "repeat b", "save c"}},
	{name: "plan canceled before its approval", leave: func(p *process) {
		p.plan("drop", "save")
		require.NoError(p.t, p.plans.Cancel(p.t.Context(), p.name, odd))
	}, goOn: func(p *process) { p.finish(plan.Canceled) }},
	{name: "plan canceled in the middle", leave: func(p *process) {
		p.plan("save", "question", "save")
		p.serve()
		require.NoError(p.t, p.plans.Cancel(p.t.Context(), p.name, odd))
	}, goOn: func(p *process) { p.finish(plan.Canceled) }, effects: []string{"save a", "undo save"}},
}

// plan starts a plan with a chain of nodes, a to c, that call tools.
func (p *process) plan(calls ...string) {
	p.t.Helper()
	pl := &plan.Plan{Title: "A plan: " + odd}
	for i, tool := range calls {
		node := plan.Node{ID: string(rune('a' + i)), Tool: tool}
		d := json.NewDecoder(bytes.NewReader(input(node.ID)))
		d.UseNumber()
		require.NoError(p.t, d.Decode(&node.Input))
		if i > 0 {
			node.After = []string{string(rune('a' + i - 1))}
		}
		pl.Nodes = append(pl.Nodes, node)
	}
	_, err := p.plans.Start(p.t.Context(), p.name, pl)
	require.NoError(p.t, err)
}

// agree approves the plan.
func (p *process) agree() {
	p.t.Helper()
	list, err := p.plans.Pending(p.t.Context(), p.name)
	require.NoError(p.t, err)
	require.Len(p.t, list, 1)
	require.NoError(p.t, p.plans.Decide(p.t.Context(), p.name, agent.Approve(list[0].ID).By("ann")))
}

// serve drives the plan until a node waits.
func (p *process) serve() {
	p.t.Helper()
	ctx, stop := context.WithCancel(p.t.Context())
	defer stop()
	plans, err := plan.New(plan.Config{Agent: p.agent, Event: func(_ string, ev agent.Event) {
		if end, ok := ev.(*agent.RunEnded); ok && end.Status == agent.Paused {
			stop()
		}
	}})
	require.NoError(p.t, err)
	_, err = plans.Finish(ctx, p.name)
	require.ErrorIs(p.t, err, context.Canceled)
}

// finish drives the plan to its end.
func (p *process) finish(status plan.Status) {
	p.t.Helper()
	state, err := p.plans.Finish(p.t.Context(), p.name)
	if _, failed := errors.AsType[*plan.FailedError](err); !failed {
		require.NoError(p.t, err)
	}
	require.Equal(p.t, status, state.Status, state.Reason)
}
