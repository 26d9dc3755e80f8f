package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	secrets "github.com/pawlkit/pawl/provider/secret"
	"github.com/pawlkit/pawl/tools"
)

// The results of calls are stored after Around has taken the credential back, and the last answer
// repeats it even later.
func TestACredentialThatWasLentToOneCallIsInNoFact(t *testing.T) {
	const token = "tok-5d1c7f0a93"
	var set secrets.Set
	taken := 0
	lend := agent.Hooks{Name: "lend", Around: func(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
		if s.Kind != "tool" {
			return ctx, nil
		}
		remove := set.Add(token)
		return ctx, func(error) { remove(); taken++ }
	}}
	fails := tools.New(tools.Spec{Name: "fails"}, func(context.Context, struct{}) (string, error) {
		return "", errors.New("401 for " + token)
	})
	tells := tools.New(tools.Spec{Name: "tells"}, func(context.Context, struct{}) (tools.Result, error) {
		res := tools.Text("Authorization: " + token)
		res.Data = map[string]string{"token": token}
		return res, nil
	})
	store := journal.NewMemory()
	model := providertest.Script(providertest.Call("fails", nil), providertest.Call("tells", nil),
		providertest.Say("It is "+token+"."))
	a, err := agent.New(agent.Config{Provider: model, Journal: store, Tools: []tools.Tool{fails, tells},
		Redact: set.Text, Hooks: []agent.Hooks{lend}})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, 2, taken)
	require.Equal(t, "It is [redacted].", res.Text())
	for rec, err := range store.Read(t.Context(), "s-1", 0) {
		require.NoError(t, err)
		require.NotContains(t, string(rec.Data), token)
	}
	require.NotContains(t, model.Requests()[2].Messages[4].Parts[0].Result.Text(), token)
}
