package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
)

// Whoever sees a pause may cancel at once, while the run is still about to pause.
func TestARunThatIsCanceledWhileItPausesIsOver(t *testing.T) {
	for at, more := 0, true; more; at++ {
		a, _, done := risky(t, agent.Config{Journal: journal.NewMemory()}, calls("risky", 1), say("Done."))
		i := 0
		for range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "x"}) {
			if i == at {
				require.NoError(t, a.Session("s").Cancel(t.Context()))
			}
			i++
		}
		if more = i > at; !more {
			break
		}
		info, err := a.Session("s").Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Stopped, info.Status, "canceled at event %d of %d", at, i)
		require.Zero(t, info.Pending)
		require.Empty(t, done.all())
	}
}
