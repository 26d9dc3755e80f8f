package plan_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestTheNodesOfAPlanAreOfTheTenantThatStartedIt although they are driven later, by nobody's call.
func TestTheNodesOfAPlanAreOfTheTenantThatStartedIt(t *testing.T) {
	store, model := &journal.MapStore{}, providertest.Script(providertest.Say("Done."))
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
	_, err = lead.Run(t.Context(), agent.Input{Session: "s", User: "ann", Prompt: "go",
		Labels: map[string]string{"tenant": "acme"}})
	require.NoError(t, err)
	_, err = runner.Finish(t.Context(), "p-1")
	require.NoError(t, err)
	require.Len(t, model.Requests(), 1)
	require.Equal(t, "acme", model.Requests()[0].Labels.Tenant)
	require.Equal(t, "ann", model.Requests()[0].Labels.User)
}

// TestASumCountsTheNodesOfPlans for the user and the session that started them, also where another
// process drives them.
func TestASumCountsTheNodesOfPlans(t *testing.T) {
	for name, user := range map[string]bool{"per user": true, "per session": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sum, err := policy.NewSum(policy.SumConfig{Tool: "refund", Field: "cents", Limit: 50_00,
					PerUser: user})
				require.NoError(t, err)
				store, refunds := &journal.MapStore{}, 0
				refund := tools.New(tools.Spec{Name: "refund"}, func(_ context.Context, in struct {
					Cents int `json:"cents"`
				}) (string, error) {
					refunds++
					return "ok", nil
				})
				var runner *plan.Runner
				start := tools.New(tools.Spec{Name: "start"}, func(ctx context.Context, _ struct{}) (string, error) {
					node := func(id string, after ...string) plan.Node {
						return plan.Node{ID: id, Tool: "refund", Input: map[string]any{"cents": 4990}, After: after}
					}
					_, err := runner.Start(ctx, "p-1", &plan.Plan{ID: "p", Title: "Pay",
						Nodes: []plan.Node{node("a"), node("b", "a")}})
					return "started", err
				})
				model := providertest.Script(providertest.Call("start", nil), providertest.Say("It will be done."))
				lead, err := agent.New(agent.Config{Journal: store, Tools: []tools.Tool{start, refund}, Provider: model,
					Policies: []tools.Policy{sum.Policy()}, Hooks: []agent.Hooks{sum.Hooks()}})
				require.NoError(t, err)
				runner, err = plan.New(plan.Config{Agent: lead})
				require.NoError(t, err)
				_, err = lead.Run(t.Context(), agent.Input{Session: "s", User: "ann", Prompt: "go"})
				require.NoError(t, err)
				runner, err = plan.New(plan.Config{Agent: lead})
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() {
					_, err := runner.Finish(ctx, "p-1")
					done <- err
				}()
				synctest.Wait()
				pending, err := runner.Pending(t.Context(), "p-1")
				require.NoError(t, err)
				require.Len(t, pending, 1)
				require.Contains(t, pending[0].Reason, "so far it is 4990")
				require.Equal(t, 1, refunds)
				cancel()
				require.ErrorIs(t, <-done, context.Canceled)
			})
		})
	}
}
