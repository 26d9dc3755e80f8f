package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestAnAddressIsASchemeAndAHost(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "http://10.0.0.7:8080": true, "https://pawl-0.pawl.svc": true, "http://[::1]:80": true,
		"10.0.0.7:8080": false, "http://": false, "http://host/": false, "http://host/path": false, "ftp://host": false,
		"http://user@host": false, "http://host?x": false, "http://a b": false, "http://h\n": false, "//host": false,
	} {
		a, err := agent.New(agent.Config{Provider: providertest.Script()})
		require.NoError(t, err)
		hub, err := live.New(live.Config{Agent: a, Recover: -1, Address: address})
		if ok {
			require.NoError(t, err, address)
			require.NoError(t, hub.Close())
			continue
		}
		var arg *agent.ArgError
		require.ErrorAs(t, err, &arg, address)
		require.Equal(t, "Config.Address", arg.Field)
	}
}

func TestAHubKnowsWhereARunIs(t *testing.T) {
	store := &journal.MapStore{}
	hub := func(address string) *live.Hub {
		a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Hang()), Journal: store,
			Owner: "web 1"})
		require.NoError(t, err)
		h, err := live.New(live.Config{Agent: a, Recover: -1, Address: address})
		require.NoError(t, err)
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	where := func(h *live.Hub) string {
		address, err := h.Elsewhere(t.Context(), "s")
		require.NoError(t, err)
		return address
	}
	one, two, none := hub("http://one"), hub("http://two"), hub("")
	_, err := two.Elsewhere(t.Context(), "s")
	require.ErrorIs(t, err, journal.ErrNoSession)
	started, err := one.Start(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.NoError(t, err)
	require.Equal(t, "http://one", where(two))
	require.Empty(t, where(one), "it drives the run itself")
	require.Empty(t, where(none), "it takes no part in this")
	require.NoError(t, two.Cancel(t.Context(), "s"))
	<-started.Done
	require.Empty(t, where(two))
}
