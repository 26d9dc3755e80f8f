package adapter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestAHostsModelIsFoundByItsID(t *testing.T) {
	known := []provider.ModelInfo{{ID: "a", Window: 1}, {ID: "b", Provider: "other"}, {ID: "a", Window: 2}}
	info, ok := Known(known, "acme", "a")
	require.True(t, ok)
	require.Equal(t, provider.ModelInfo{ID: "a", Provider: "acme", Window: 1}, info)
	info, ok = Known(known, "acme", "b")
	require.True(t, ok)
	require.Equal(t, "other", info.Provider)
	_, ok = Known(known, "acme", "c")
	require.False(t, ok)
	require.Empty(t, known[0].Provider, "what the host gave is left alone")
}

func TestACopySharesNothing(t *testing.T) {
	info := provider.ModelInfo{Inputs: []string{"text"}, Outputs: []string{"text"}, Prices: &provider.Prices{Input: 1}}
	copied := Copied(info)
	require.Equal(t, info, copied)
	copied.Inputs[0], copied.Outputs[0], copied.Prices.Input = "x", "y", 2
	require.Equal(t, provider.ModelInfo{Inputs: []string{"text"}, Outputs: []string{"text"},
		Prices: &provider.Prices{Input: 1}}, info)
	require.Nil(t, Copied(provider.ModelInfo{}).Prices)
}
