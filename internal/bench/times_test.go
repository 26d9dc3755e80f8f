package bench

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

var rounds = flag.Int("shares", 0, "rounds in which TestTimes measures; it prints the medians")

// A pace is what a run takes on average.
type pace struct{ nanoseconds, allocations float64 }

// TestTimes prints what Pawl takes of the peer's time and allocations, beside the goals. In each
// round both are measured for each shape, one right after the other and in turns first, so that a
// share compares what the machine gave at the same time.
func TestTimes(t *testing.T) {
	if *rounds < 1 {
		t.Skip("it prints figures and asserts nothing: ask for them with -shares 5")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w,
		"steps·calls·chunks\teino µs\tpawl µs\ttime\t(of rounds)\tgoal\t\teino allocs\tpawl "+
			"allocs\tallocs\tgoal\t\tat most\t")
	for _, s := range Shapes {
		both := runners(t, s.Shape)
		var pawl, eino []pace
		var times []float64
		for round := range *rounds {
			var p, e pace
			if round%2 == 0 {
				e = measure(t, both["eino"])
				p = measure(t, both["pawl"])
			} else {
				p = measure(t, both["pawl"])
				e = measure(t, both["eino"])
			}
			pawl, eino = append(pawl, p), append(eino, e)
			times = append(times, p.nanoseconds/e.nanoseconds)
		}
		nanoseconds := func(p pace) float64 { return p.nanoseconds }
		allocations := func(p pace) float64 { return p.allocations }
		pa, ea := median(pawl, allocations), median(eino, allocations)
		time := median(times, func(r float64) float64 { return r })
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f\t(%.2f to %.2f)\t%.2f\t%s\t%.0f\t%.0f\t%.3f\t%.2f\t%s\t%.2f\t\n", s,
			median(eino, nanoseconds)/1e3, median(pawl, nanoseconds)/1e3, time, slices.Min(times), slices.Max(times),
			s.Time, compared(time, s.Time), ea, pa, pa/ea, AllocsGoal, compared(pa/ea, AllocsGoal), s.Allocs)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// compared says whether a share reaches its goal.
func compared(share, goal float64) string {
	if share <= goal {
		return "reached"
	}
	return "missed"
}

// measure runs for 200 ms, after a few runs that don't count.
func measure(t *testing.T, run runner) pace {
	runtime.GC() // what the other left behind
	for range 5 {
		once(t, run)
	}
	ctx := t.Context()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, n := time.Now(), 0
	for n%8 > 0 || time.Since(began) < 200*time.Millisecond {
		// nothing but runs, or a short one would be measured with what measures it
		if _, err := run(ctx); err != nil {
			t.Fatal(err)
		}
		n++
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	return pace{float64(took.Nanoseconds()) / float64(n), float64(after.Mallocs-before.Mallocs) / float64(n)}
}

// median returns the median of what f says of each.
func median[T any](of []T, f func(T) float64) float64 {
	values := make([]float64, len(of))
	for i, v := range of {
		values[i] = f(v)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
