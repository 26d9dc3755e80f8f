//go:build !race

package budget_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

func TestAReservationTakesOneAllocation(t *testing.T) {
	b, ctx := wide(), context.Background()
	b.Seed(all, 1, 1)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		r, _ := b.Reserve(ctx, budget.ReserveRequest{Names: all, Tokens: 5000, Micros: 3000})
		_ = r.TopUp(100, 100)
		r.Settle(4000, 2000)
		b.Status(budget.ScopeSession, "s")
		b.Remaining(all)
	}), 1.0)
}

func TestRecordingACallAllocatesNothingOnceTheLedgerIsFull(t *testing.T) {
	l := budget.NewLedger(budget.LedgerConfig{Keep: 10, Names: 10, Sink: func(budget.Entry) {}})
	entries := make([]budget.Entry, 30) // three times as many sessions as are kept
	for i := range entries {
		entries[i] = call(strconv.Itoa(i), "p", "m")
		l.Record(entries[i])
	}
	i := 0
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		l.Record(entries[i%len(entries)])
		i++
	}))
}
