//go:build !race

package fault_test

import (
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func TestAskingAnErrorAllocatesNothing(t *testing.T) {
	for _, c := range costs {
		require.Zero(t, testing.AllocsPerRun(100, func() { fault.Of(c.err) }), "Of: %s", c.name)
		require.Zero(t, testing.AllocsPerRun(100, func() { fault.RetryAfter(c.err) }), "RetryAfter: %s", c.name)
		require.Zero(t, testing.AllocsPerRun(100, func() { fault.Remedy(c.err) }), "Remedy: %s", c.name)
	}
}
