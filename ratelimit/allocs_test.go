//go:build !race

package ratelimit_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

// TestASlotCostsTwoAllocations expects two allocations: the context of the lease, and the function
// that cancels it.
func TestASlotCostsTwoAllocations(t *testing.T) {
	g := ratelimit.NewGate(ratelimit.GateConfig{RequestsPerMinute: 1e9, TokensPerMinute: 1e9, Burst: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ticket := range []ratelimit.AcquireRequest{person, background("a", 0)} {
		require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
			l, _ := g.Acquire(ctx, ticket)
			l.Release(success)
		}), 2.0)
	}
}
