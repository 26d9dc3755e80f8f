package agent_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func refusing(chunks ...provider.Chunk) provider.Provider {
	return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
		}
	})
}

// A refusal is what the model says, though not as text. It is no answer, whatever the provider
// gives as the reason why the reply ended.
func TestARefusalIsShownAndReturned(t *testing.T) {
	for _, stop := range []provider.StopReason{provider.StopDone, provider.StopUnknown, provider.StopFiltered} {
		a := newAgent(t,
			agent.Config{Provider: refusing(provider.Start("m"), provider.Refusal("I can't "),
				provider.Refusal("do that."),
				provider.End(stop, provider.Usage{}))})
		shown := ""
		for ev, err := range a.Stream(t.Context(), agent.Input{Prompt: "Do it."}) {
			require.NoError(t, err)
			switch ev := ev.(type) {
			case *agent.TextDelta:
				shown += ev.Text
			case *agent.RunEnded:
				require.Equal(t, agent.Stopped, ev.Status)
				require.Equal(t, machine.CodeFiltered, ev.Code)
				require.ErrorIs(t, ev.Result.Err(), machine.ErrFiltered)
				require.Equal(t, "I can't do that.", ev.Result.Text())
			}
		}
		require.Equal(t, "I can't do that.", shown)
	}
	a := newAgent(t,
		agent.Config{Provider: refusing(provider.Start("m"), provider.Text("Well."), provider.Refusal("No."),
			provider.End(provider.StopDone, provider.Usage{}))})
	res, err := a.Run(t.Context(), agent.Input{Prompt: "Do it."})
	require.ErrorIs(t, err, machine.ErrFiltered)
	require.Equal(t, "Well.", res.Text())
	require.Equal(t, "No.", res.Messages[len(res.Messages)-1].Refusal())
}

func TestAHistoryHasTheRolesThatThereAre(t *testing.T) {
	a := newAgent(t, agent.Config{Provider: refusing()})
	_, err := a.Run(t.Context(), agent.Input{Prompt: "Go.",
		History: []provider.Message{{Role: "system", Parts: []provider.Part{provider.TextPart("Be kind.")}}}})
	var wrong *agent.ArgError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "Input.History", wrong.Field)
	require.ErrorContains(t, err, `message 0 has the role "system"; use user, assistant or tool`)
}

func TestAnAgentWithoutModesSaysSo(t *testing.T) {
	a := newAgent(t, agent.Config{Provider: refusing()})
	_, err := a.Run(t.Context(), agent.Input{Prompt: "Go.", Mode: "debug"})
	require.ErrorContains(t, err, `there is no mode "debug"; the agent has none`)
}
