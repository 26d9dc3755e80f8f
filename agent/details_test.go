package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestDetailsAreForHooksAndAreNotStored(t *testing.T) {
	details := map[string]json.RawMessage{"service_tier": json.RawMessage(`"flex-tier"`)}
	model := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		res := provider.TextResponse("Hi.")
		res.Details = details
		return res, nil
	})
	var seen map[string]json.RawMessage
	a := newAgent(t, agent.Config{Provider: model, Hooks: []agent.Hooks{{
		AfterStep: func(_ context.Context, _ *agent.Step, r *provider.Response) error {
			seen = r.Details
			return nil
		}}}})
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, details, seen)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	stored, err := machine.Marshal(facts)
	require.NoError(t, err)
	require.NotContains(t, string(stored), "flex-tier")
}
