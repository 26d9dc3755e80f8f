//go:build !race

package circuit_test

import (
	"testing"

	"github.com/pawlkit/pawl/circuit"
	"github.com/stretchr/testify/require"
)

func TestACallThroughAClosedBreakerAllocatesNothing(t *testing.T) {
	for _, c := range calls {
		round := c.round(circuit.New("allocs", never()))
		require.Zero(t, testing.AllocsPerRun(100, round), c.name)
	}
	set := circuit.NewSet(circuit.Network())
	set.Get("key")
	require.Zero(t, testing.AllocsPerRun(100, func() { set.Get("key") }), "Get")
}
