package plan_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestTheNodesOfAPlanAreOfTheTenantThatStartedIt although they are driven later, by nobody's call.
func TestTheNodesOfAPlanAreOfTheTenantThatStartedIt(t *testing.T) {
	store, model := journal.NewMemory(), providertest.Script(providertest.Say("Done."))
	worker, err := agent.New(agent.Config{Name: "worker", Journal: store, Provider: model})
	require.NoError(t, err)
	runner, err := plan.New(plan.Config{Agent: worker, Workers: map[string]*agent.Agent{"worker": worker}})
	require.NoError(t, err)
	start := tools.New(tools.Spec{Name: "start"}, func(ctx context.Context, _ struct{}) (string, error) {
		_, err := runner.Start(ctx, "p-1", &plan.Plan{ID: "p", Title: "Work",
			Nodes: []plan.Node{{ID: "n", Worker: "worker", Prompt: "work"}}})
		return "started", err
	})
	lead, err := agent.New(agent.Config{Journal: store, Tools: []tools.Tool{start},
		Provider: providertest.Script(providertest.Call("start", nil), providertest.Say("It will be done."))})
	require.NoError(t, err)
	_, err = lead.Run(t.Context(), agent.Input{Session: "s", Prompt: "go", Labels: map[string]string{"tenant": "acme"}})
	require.NoError(t, err)
	_, err = runner.Finish(t.Context(), "p-1")
	require.NoError(t, err)
	require.Len(t, model.Requests(), 1)
	require.Equal(t, "acme", model.Requests()[0].Labels.Tenant)
}
