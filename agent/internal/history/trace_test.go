package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

func TestATraceHasWhatTheModelWasShownAndWhatBecameOfItsCalls(t *testing.T) {
	s, _ := sessionsInMemory()
	l := hold(t, s, "s")
	defer l.Close()
	require.NoError(t, l.Append(nil, append([]machine.Fact{started("s", "")}, acting("s")...)...))
	require.NoError(t, l.Append(nil, finished("s"),
		&machine.StepStarted{Meta: machine.Meta{Step: 2}, Model: "m"},
		&machine.StepStarted{Meta: machine.Meta{Step: 2}, Model: "m"}, // after a crash
		&machine.StepFailed{Error: "no", Partial: provider.Assistant("Do")}))
	facts, err := s.Facts(t.Context(), "s", 0, 0)
	require.NoError(t, err)
	for _, composed := range []bool{false, true} {
		steps, err := history.Trace("s", facts, composed)
		require.NoError(t, err)
		require.Len(t, steps, 3)
		require.Equal(t, []provider.Message{provider.User("go")}, steps[0].Messages)
		require.Equal(t, []string{"add"}, steps[0].Tools)
		require.Equal(t, 1, steps[0].Calls[0].Started)
		require.Equal(t, tools.OK, steps[0].Calls[0].Result.Status)
		require.Len(t, steps[1].Messages, 3)
		require.Nil(t, steps[1].Reply, "it was lost")
		require.False(t, steps[1].Again)
		require.True(t, steps[2].Again)
		require.Equal(t, "Do", steps[2].Reply.Text())
		require.Equal(t, "no", steps[2].Failed)
		want := map[bool]string{true: "be brief"}
		require.Equal(t, want[composed], steps[2].System)
	}
	steps, err := history.Trace("s", append(facts[:5:5], facts[6:]...), false)
	require.ErrorAs(t, err, new(*machine.FactError))
	require.Len(t, steps, 2, "those before the error, and the one with it")
}
