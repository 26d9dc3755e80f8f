package bench

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/bench/loop"
)

// aims are shares of the peer's figures. Time is a goal, which TestTimes prints beside what it
// measures. Allocs is a limit, which TestShares asserts: it is a little above what was measured
// last, so that the share can't grow.
var aims = map[loop.Shape]struct{ Time, Allocs float64 }{
	{Steps: 1, Calls: 1, Text: 1}:     {.40, .145},
	{Steps: 5, Calls: 2, Text: 100}:   {.40, .145},
	{Steps: 0, Calls: 0, Text: 2000}:  {.40, .03},
	{Steps: 50, Calls: 1, Text: 100}:  {.40, .145},
	{Steps: 200, Calls: 1, Text: 100}: {.40, .145},
}

// allocsGoal is the share of the peer's allocations that Pawl should come to with every shape.
const allocsGoal = .15

// TestShares holds Pawl to its share of the peer's allocations. Times are printed, by TestTimes,
// and never asserted.
func TestShares(t *testing.T) {
	needCounts(t)
	for _, s := range loop.Shapes {
		t.Run(s.String(), func(t *testing.T) {
			both := sides(t, s)
			pawl, eino := allocations(t, both["pawl"]), allocations(t, both["eino"])
			t.Logf("%.0f allocations a run, %.0f by eino: a share of %.3f, at most %.2f, with a goal of %.2f", pawl,
				eino, pawl/eino, aims[s].Allocs, allocsGoal)
			require.LessOrEqual(t, pawl/eino, aims[s].Allocs)
		})
	}
}

// TestAllocationsGrowWithTheStepsAlone compares 200 steps with 50: a step that copies what came
// before would show.
func TestAllocationsGrowWithTheStepsAlone(t *testing.T) {
	needCounts(t)
	var n [2]float64
	for i, steps := range []int{50, 200} {
		run, err := loop.NewPawl(loop.Shape{Steps: steps, Calls: 1, Text: 100}, new(loop.Counts))
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
func allocations(t *testing.T, run loop.Run) float64 {
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

func once(t *testing.T, run loop.Run) {
	_, err := run(t.Context())
	require.NoError(t, err)
}
