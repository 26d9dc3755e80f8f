package standin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestFaults(t *testing.T) {
	ask := func(p provider.Provider, kind string) error {
		_, err := provider.Generate(t.Context(), p,
			&provider.Request{Messages: []provider.Message{provider.User("x")}, Labels: provider.Labels{Kind: kind}})
		return err
	}
	all, err := Faults("")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, ask(all[0], "writer"))

	all, err = Faults("provider")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.ErrorContains(t, ask(all[0], "writer"), "no valid key")
	require.NoError(t, ask(all[1], "writer"))

	all, err = Faults("writer:2")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, ask(all[0], "writer"))
	require.NoError(t, ask(all[0], "skeleton"))
	require.ErrorContains(t, ask(all[0], "writer"), "refuses")
	require.NoError(t, ask(all[0], "writer"), "once")

	for _, wrong := range []string{"writer", "writer:0", "writer:x", ":1"} {
		_, err := Faults(wrong)
		require.ErrorContains(t, err, "such as writer:3")
	}
}
