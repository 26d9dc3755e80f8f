package budget_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

func limitOf(l budget.Limit) budget.Amount {
	return budget.New(budget.Config{Global: l}).Status(budget.ScopeGlobal, "").Limit
}

func TestDollarsAreConvertedToMillionths(t *testing.T) {
	for usd, want := range map[float64]int64{
		40: 40_000_000, .1: 100_000, .29: 290_000, 1.005: 1_005_000, .000001: 1, .0000014: 1, .0000016: 2, 1e-300: 1,
		0: budget.Unlimited, -1: budget.Unlimited, math.Inf(-1): budget.Unlimited, math.Inf(1): budget.Unlimited,
		1e300: budget.Unlimited, 9.3e12: budget.Unlimited, 9e12: 9_000_000_000_000_000_000,
	} {
		require.Equal(t, want, limitOf(budget.Limit{USD: usd}).Micros, "%g", usd)
	}
	require.Equal(t, int64(1), limitOf(budget.Limit{USD: math.NaN()}).Micros)
}

func FuzzDollars(f *testing.F) {
	for _, usd := range []float64{0, .1, 1.005, 40, 1e-7, 9.3e12, -1, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		f.Add(usd)
	}
	f.Fuzz(func(t *testing.T, usd float64) {
		got := limitOf(budget.Limit{USD: usd}).Micros
		require.Positive(t, got)
		if !(usd > 0) || got == 1 || got == budget.Unlimited {
			return
		}
		exact := new(big.Float).Mul(big.NewFloat(usd), big.NewFloat(1e6))
		off, _ := new(big.Float).Sub(exact, new(big.Float).SetInt64(got)).Float64()
		require.LessOrEqual(t, math.Abs(off), .5+usd*1e6*1e-15, "%g", usd)
	})
}

func TestAWarningComesOnceForEachCrossingAndPeriod(t *testing.T) {
	for _, tt := range []struct {
		limit int64
		warn  float64
		at    int64 // 0: never
	}{
		{10, 0, 8}, {100, .8, 80}, {1, 0, 1}, {3, .5, 2}, {1000, .29, 290}, {10, 1, 10}, {10, 7, 10}, {10, -1, 0},
		{10, math.NaN(), 0},
		{10, 1e-300, 1}, {5_000_000, 0, 4_000_000}, {math.MaxInt64 - 1, 1, math.MaxInt64 - 1},
	} {
		var events []budget.Event
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: tt.limit, Warn: tt.warn},
			OnEvent: func(e budget.Event) {
				if e.Kind == budget.EventWarned {
					events = append(events, e)
				}
			}})
		below := tt.at - 1
		if tt.at == 0 {
			below = tt.limit
		}
		reserve(t, b, budget.ReserveRequest{}).Settle(below, 0)
		require.Empty(t, events, "%+v", tt)
		if tt.at > 0 {
			reserve(t, b, budget.ReserveRequest{}).Settle(1, 0)
			require.Len(t, events, 1, "%+v", tt)
			reserve(t, b, budget.ReserveRequest{}).Settle(1, 0)
			require.Len(t, events, 1, "%+v", tt)
		}
	}
}
