package loop

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"
)

// A Pace is what a run takes on average. Time is what passes, and CPU what the threads of the
// process take, the collector's too. Both are nanoseconds.
type Pace struct{ Time, CPU, Allocations float64 }

// A Share is what Pawl takes of a peer's figures: medians of the rounds, and of what each side
// took.
type Share struct {
	Time, CPU, Allocations float64
	Lowest, Highest        float64 // of the rounds, of Time
	Pawl, Peer             Pace
}

// Compare measures both sides in as many rounds as are asked for, one right after the other and in
// turns first, so that a share compares what the machine gave at the same time.
func Compare(ctx context.Context, pawl, peer Run, rounds int) (Share, error) {
	sides := [2]Run{pawl, peer}
	var paces [2][]Pace
	var shares []Pace
	for round := range rounds {
		var took [2]Pace
		for i := range sides {
			side := (i + round + 1) % 2 // in the first round the peer is first
			var err error
			if took[side], err = measure(ctx, sides[side]); err != nil {
				return Share{}, err
			}
			paces[side] = append(paces[side], took[side])
		}
		p, q := took[0], took[1]
		shares = append(shares, Pace{p.Time / q.Time, p.CPU / q.CPU, p.Allocations / q.Allocations})
	}
	byTime := func(a, b Pace) int { return cmp.Compare(a.Time, b.Time) }
	share := medians(shares)
	return Share{
		Time: share.Time, CPU: share.CPU, Allocations: share.Allocations,
		Lowest: slices.MinFunc(shares, byTime).Time, Highest: slices.MaxFunc(shares, byTime).Time,
		Pawl: medians(paces[0]), Peer: medians(paces[1]),
	}, nil
}

// measure runs for 200 ms, after a few runs that don't count.
func measure(ctx context.Context, run Run) (Pace, error) {
	runtime.GC() // what the other left behind
	for range 5 {
		if _, err := run(ctx); err != nil {
			return Pace{}, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, began, n := cpuTime(), time.Now(), 0.0
	for int(n)%8 > 0 || time.Since(began) < 200*time.Millisecond {
		// nothing but runs, or a short one would be measured with what measures it
		if _, err := run(ctx); err != nil {
			return Pace{}, err
		}
		n++
	}
	took, cpu := time.Since(began), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	return Pace{float64(took) / n, float64(cpu) / n, float64(after.Mallocs-before.Mallocs) / n}, nil
}

// medians returns the median of each figure.
func medians(of []Pace) Pace {
	var times, cpus, allocations []float64
	for _, p := range of {
		times, cpus, allocations = append(times, p.Time), append(cpus, p.CPU), append(allocations, p.Allocations)
	}
	return Pace{Median(times), Median(cpus), Median(allocations)}
}

// Median returns the median of values, of which there is at least one. It sorts them.
func Median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
