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

// TestTextFromOutsidePassesThroughPlans has a payment that comes after a node which has read such
// text, one in a plan that was made after such text, and one without any.
func TestTextFromOutsidePassesThroughPlans(t *testing.T) {
	for name, c := range map[string]struct {
		first  string // the tool of the first node
		calls  string // what the model calls before it starts the plan
		reason string
	}{
		"a node has read it":    {"readTicket", "readPrices", "(readTicket"},
		"the model had read it": {"readPrices", "readTicket", "(readTicket"},
		"nobody has":            {"readPrices", "readPrices", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				paid := 0
				does := func(spec tools.Spec, do func(ctx context.Context) error) tools.Tool {
					return tools.New(spec, func(ctx context.Context, _ struct{}) (string, error) {
						return "ok", do(ctx)
					})
				}
				nothing := func(context.Context) error { return nil }
				var runner *plan.Runner
				lead, err := agent.New(agent.Config{Journal: &journal.MapStore{},
					Policies: []tools.Policy{policy.AfterOutside(tools.Low)},
					Provider: providertest.Script(providertest.Call(c.calls, nil), providertest.Call("start", nil),
						providertest.Say("It will be done.")),
					Tools: []tools.Tool{
						does(tools.Spec{Name: "readTicket", ReadOnly: true, Outside: true}, nothing),
						does(tools.Spec{Name: "readPrices", ReadOnly: true}, nothing),
						does(tools.Spec{Name: "pay", Risk: tools.Medium}, func(context.Context) error {
							paid++
							return nil
						}),
						does(tools.Spec{Name: "start", Risk: tools.Low}, func(ctx context.Context) error {
							_, err := runner.Start(ctx, "p-1", &plan.Plan{ID: "p", Title: "Pay", Nodes: []plan.Node{
								{ID: "a", Tool: c.first}, {ID: "b", Tool: "pay", After: []string{"a"}}}})
							return err
						})}})
				require.NoError(t, err)
				runner, err = plan.New(plan.Config{Agent: lead})
				require.NoError(t, err)
				_, err = lead.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
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
				cancel()
				if err := <-done; c.reason == "" {
					require.NoError(t, err)
					require.Equal(t, 1, paid)
					return
				}
				require.Len(t, pending, 1)
				require.Contains(t, pending[0].Reason, c.reason)
				require.Zero(t, paid)
			})
		})
	}
}
