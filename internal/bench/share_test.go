package bench

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShares holds Pawl to its share of the peer's allocations. Times are printed, by TestTimes,
// and never asserted.
func TestShares(t *testing.T) {
	needCounts(t)
	for _, s := range Shapes {
		t.Run(s.String(), func(t *testing.T) {
			both := runners(t, s.Shape)
			pawl, eino := allocations(t, both["pawl"]), allocations(t, both["eino"])
			t.Logf("%.0f allocations a run, %.0f by eino: a share of %.3f, at most %.2f, with a goal of %.2f", pawl,
				eino, pawl/eino, s.Allocs, AllocsGoal)
			require.LessOrEqual(t, pawl/eino, s.Allocs)
		})
	}
}

// TestAllocationsGrowWithTheStepsAlone compares 200 steps with 50: a step that copies what came
// before would show.
func TestAllocationsGrowWithTheStepsAlone(t *testing.T) {
	needCounts(t)
	var n [2]float64
	for i, steps := range []int{50, 200} {
		run, err := NewPawl(Shape{Steps: steps, Calls: 1, Text: 100})
		require.NoError(t, err)
		n[i] = allocations(t, run)
	}
	t.Logf("%.0f allocations in 200 steps, %.0f in 50: %.2f times as many", n[1], n[0], n[1]/n[0])
	require.LessOrEqual(t, n[1]/n[0], 4.6)
}

func needCounts(t *testing.T) {
	if race {
		t.Skip("the race detector changes what is allocated")
	}
}

// allocations returns how many allocations a warm run makes, on whatever goroutine: the mean of
// several.
func allocations(t *testing.T, run runner) float64 {
	const runs = 20
	var before, after runtime.MemStats
	for range runs {
		once(t, run)
	}
	runtime.ReadMemStats(&before)
	for range runs {
		once(t, run)
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / runs
}

func once(t *testing.T, run runner) {
	_, err := run(t.Context())
	require.NoError(t, err)
}
