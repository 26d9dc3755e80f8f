package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

func TestAnInputGivesANewSessionItsTitle(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("one"), say("two"))
	for _, title := range []string{"First", "Second"} {
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Title: title})
		require.NoError(t, err)
	}
	info, err := a.Session("s").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "First", info.Title)
	_, err = a.Run(t.Context(), agent.Input{Session: "t", Prompt: "x", Title: "a\nb"})
	require.ErrorAs(t, err, new(*agent.ArgError))
	require.Empty(t, facts(t, a, "t"))
}
