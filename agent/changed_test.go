package agent_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func errorsAs[T error](err error, target *T) bool { return errors.As(err, target) }

func TestAChangedAgentIsReportedBeforeAnythingRuns(t *testing.T) {
	otherSchema := []byte(`{"properties":{"n":{"enum":[7]}}}`)
	for name, c := range map[string]struct {
		name    string
		tools   []tools.Spec
		agent   string
		changes []machine.ToolChange // Was isn't compared
	}{
		"another agent": {name: "b", tools: []tools.Spec{{Name: "risky", Risk: tools.High}, {Name: "work"}},
			agent: "a"},
		"the tool is gone": {name: "a", tools: []tools.Spec{{Name: "work"}},
			changes: []machine.ToolChange{{Name: "risky"}}},
		"the tool takes something else": {name: "a",
			tools:   []tools.Spec{{Name: "risky", Risk: tools.High, Schema: otherSchema}, {Name: "work"}},
			changes: []machine.ToolChange{{Name: "risky", Now: "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			a, _, _ := risky(t, agent.Config{Name: "a", Journal: store}, call("risky", 1))
			res := run(t, a)
			var done effects
			cfg := agent.Config{Name: c.name, Journal: store}
			for _, spec := range c.tools {
				cfg.Tools = append(cfg.Tools, done.tool(spec))
			}
			b := reopen(t, cfg, say("Done."))
			before := facts(t, b, "s")
			got, err := b.Run(t.Context(), approveAll(res))
			require.Nil(t, got)
			var changed *agent.ChangedError
			require.ErrorAs(t, err, &changed)
			require.Equal(t, c.agent, changed.Agent)
			require.Len(t, changed.Tools, len(c.changes))
			for i, want := range c.changes {
				require.Equal(t, want.Name, changed.Tools[i].Name)
				require.Equal(t, want.Now == "", changed.Tools[i].Now == "")
				require.Equal(t, []string{res.Pending[0].Call.ID}, changed.Calls)
			}
			require.Equal(t, before, facts(t, b, "s"), "nothing was recorded")
			require.Zero(t, done.all())

			in := approveAll(res)
			in.AcceptChanges = true
			require.Equal(t, "Done.", runInput(t, b, in).Text())
		})
	}
}

func TestAChangeThatConcernsNoOpenCallIsSaidInTheLog(t *testing.T) {
	store := &journal.MapStore{}
	a, _, _ := risky(t, agent.Config{Journal: store}, call("risky", 1))
	res := run(t, a)
	var done effects
	b := reopen(t,
		agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High}),
			done.tool(tools.Spec{Name: "new"})}}, call("risky", 2), say("Done."))
	all, err := events(b.Stream(t.Context(), approveAll(res)))
	require.NoError(t, err)
	went := of[*machine.Continued](all)
	require.Len(t, went, 1)
	require.Len(t, went[0].Changes, 1)
	require.Equal(t, "work is gone", went[0].Changes[0].String())
	require.IsType(t, &machine.Continued{}, all[0], "before anything runs")

	pending, err := b.Session("s").Pending(t.Context())
	require.NoError(t, err)
	all, err = events(b.Stream(t.Context(), agent.Resume("s", agent.Approve(pending[0].ID))))
	require.NoError(t, err)
	require.Empty(t, of[*machine.Continued](all), "it is said once")
	require.Equal(t, 2, done.all())
}

func TestAChangedChildIsReportedBeforeAnythingRuns(t *testing.T) {
	store := &journal.MapStore{}
	f := newFamily(t, agent.Config{Journal: store}, []providertest.Step{task("child", "x")},
		[]providertest.Step{call("risky", 1)})
	res := run(t, f.a)
	require.Len(t, res.Pending, 1)
	var done effects
	child := newAgent(t, agent.Config{Name: "child", Provider: providertest.Script(say("I can't.")),
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "other"})}})
	b := reopen(t, agent.Config{Name: "parent", Journal: store,
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "does it", ParallelSafe: true})}}, say("Done."))
	before := facts(t, b, "s")
	_, err := b.Run(t.Context(), approveAll(res))
	var changed *agent.ChangedError
	require.ErrorAs(t, err, &changed)
	require.Len(t, changed.Tools, 1)
	require.Equal(t, "risky", changed.Tools[0].Name)
	require.Equal(t, before, facts(t, b, "s"))
	in := approveAll(res)
	in.AcceptChanges = true
	require.Equal(t, "Done.", runInput(t, b, in).Text())
	require.Zero(t, done.all()+f.done.all())
}
