package telemetry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestTheSpanOfACallHasTheExitCode: the call is good. The export of the journal says the same.
func TestTheSpanOfACallHasTheExitCode(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	test := tools.New(tools.Spec{Name: "test"}, func(context.Context, page) (tools.Result, error) {
		return tools.Result{Parts: tools.Text("FAIL").Parts, Exit: &tools.Exit{Code: 2}}, nil
	})
	a, err := agent.New(agent.Config{Hooks: []agent.Hooks{r.tel.Hooks()}, Tools: []tools.Tool{test},
		Provider: providertest.Script(call("test", "home"), providertest.Say("It fails."))})
	require.NoError(t, err)
	require.Equal(t, agent.Completed, run(t, a, agent.Input{Session: "s-1", Prompt: "Test it."}).Status)
	facts, err := a.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	later := newRig(t, telemetry.Config{})
	require.NoError(t, later.tel.Export(t.Context(), facts...))
	for _, spans := range []*rig{r, later} {
		found := 0
		for _, s := range spans.ended() {
			require.Equal(t, codes.Unset, s.Status().Code)
			for _, kv := range s.Attributes() {
				require.NotEqual(t, "error.type", string(kv.Key))
				if kv.Key == "process.exit.code" {
					require.Equal(t, "execute_tool test", s.Name())
					require.EqualValues(t, 2, kv.Value.AsInt64())
					found++
				}
			}
		}
		require.Equal(t, 1, found)
	}
}
