package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/backoff"
)

func TestDelaysDoubleUpToTheLongest(t *testing.T) {
	for name, tc := range map[string]struct {
		delays   backoff.Delays
		failures int
		want     time.Duration
	}{
		"the first":             {backoff.Delays{Min: 100, Max: 1000}, 1, 100},
		"none yet":              {backoff.Delays{Min: 100, Max: 1000}, 0, 100},
		"less than none":        {backoff.Delays{Min: 100, Max: 1000}, math.MinInt, 100},
		"the fourth":            {backoff.Delays{Min: 100, Max: 1000}, 4, 800},
		"the fifth":             {backoff.Delays{Min: 100, Max: 1000}, 5, 1000},
		"after many":            {backoff.Delays{Min: 100, Max: 1000}, math.MaxInt, 1000},
		"Max below Min":         {backoff.Delays{Min: 100, Max: 10}, 1, 10},
		"the shortest possible": {backoff.Delays{Min: 1, Max: time.Hour}, 3, 4},
		"the longest possible":  {backoff.Delays{Min: 1, Max: math.MaxInt64}, 100, math.MaxInt64},
		"no delays":             {backoff.Delays{}, 3, 0},
		"at once at first":      {backoff.Delays{Max: time.Hour}, 2000, 0},
	} {
		require.Equal(t, tc.want, tc.delays.After(tc.failures), name)
	}
}

func TestSpreadDelaysDifferAndNeverExceedTheLongest(t *testing.T) {
	delays := backoff.Delays{Min: time.Second, Max: 12 * time.Second, Spread: 0.2}
	for failures, middle := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
		10 * time.Second, 10 * time.Second} {
		shortest, longest := time.Duration(math.MaxInt64), time.Duration(0)
		for range 1000 {
			wait := delays.After(failures + 1)
			shortest, longest = min(shortest, wait), max(longest, wait)
		}
		require.GreaterOrEqual(t, shortest, middle*8/10)
		require.Less(t, shortest, middle*82/100)
		require.LessOrEqual(t, longest, middle*12/10)
		require.Greater(t, longest, middle*118/100)
	}
	for range 1000 {
		require.LessOrEqual(t, backoff.Delays{Min: 1, Max: math.MaxInt64, Spread: 0.2}.After(64),
			time.Duration(math.MaxInt64))
		require.Positive(t, backoff.Delays{Min: 1, Max: math.MaxInt64, Spread: 0.2}.After(64))
	}
}
