package eval

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestATrialHasTheExitsOfItsPrograms(t *testing.T) {
	test := tools.New(tools.Spec{Name: "test"}, func(_ context.Context, in City) (tools.Result, error) {
		return tools.Result{Parts: tools.Text("FAIL").Parts, Exit: &tools.Exit{Code: len(in.Name)}}, nil
	})
	look := tools.New(tools.Spec{Name: "look"}, func(context.Context, City) (string, error) { return "seen", nil })
	trial := one(t, func() (*agent.Agent, error) {
		return agent.New(agent.Config{Tools: []tools.Tool{test, look}, Provider: providertest.Script(
			providertest.Call("test", City{"x"}), providertest.Call("look", City{}), providertest.Call("test", City{}),
			providertest.Say("Mended."))})
	}, Case{Name: "mend", Input: agent.Input{Prompt: "Mend it."}})
	require.Len(t, trial.Calls, 3)
	require.Equal(t, map[string]tools.Exit{trial.Calls[0].ID: {Code: 1}, trial.Calls[2].ID: {}}, trial.Exits)
	brief := (&Report{Trials: []Trial{trial}}).brief()
	require.Nil(t, brief.Trials[0].Exits)
}
