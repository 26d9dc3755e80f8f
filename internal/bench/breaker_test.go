package bench

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"text/tabwriter"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/bench/loop"
)

// A breaker's call makes one call through it, which fails or not.
type call func(fails bool)

var errDown = fault.New(fault.Degraded, "down")

// breakers are ours and the peer's, each of which counts and never opens. The peer's is in its
// default form, the cheapest: it counts since the last change of state, without a window.
var breakers = map[string]func() call{
	"gobreaker": func() call {
		b := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{ReadyToTrip: func(gobreaker.Counts) bool {
			return false
		}})
		good := func() (int, error) { return 1, nil }
		bad := func() (int, error) { return 0, errDown }
		return func(fails bool) {
			if fails {
				_, _ = b.Execute(bad)
			} else {
				_, _ = b.Execute(good)
			}
		}
	},
	"pawl": func() call {
		b := circuit.New("bench", circuit.Config{Consecutive: 10_000, Rate: 1})
		good := func() (int, error) { return 1, nil }
		bad := func() (int, error) { return 0, errDown }
		return func(fails bool) {
			permit, err := b.Allow()
			if err != nil {
				return
			}
			if fails {
				_, err = bad()
			} else {
				_, err = good()
			}
			permit.Done(err)
		}
	},
}

// mixes are how many calls of so many fail.
var mixes = []struct {
	name  string
	fails func(n int) bool
}{
	{"all succeed", func(int) bool { return false }},
	{"one of 100 fails", func(n int) bool { return n%100 == 0 }},
	{"one of 10 fails", func(n int) bool { return n%10 == 0 }},
}

func alone(b *testing.B, c call, fails func(int) bool) {
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		c(fails(n))
	}
}

func parallel(b *testing.B, c call, fails func(int) bool) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for n := 1; pb.Next(); n++ {
			c(fails(n))
		}
	})
}

var ways = []struct {
	name string
	run  func(*testing.B, call, func(int) bool)
}{
	{"alone", alone},
	{"parallel", parallel},
}

// BenchmarkBreaker compares Allow and Done with the peer's Execute.
func BenchmarkBreaker(b *testing.B) {
	for _, mix := range mixes {
		for _, way := range ways {
			for _, name := range []string{"gobreaker", "pawl"} {
				b.Run(fmt.Sprintf("%s, %s/%s", mix.name, way.name, name), func(b *testing.B) {
					way.run(b, breakers[name](), mix.fails)
				})
			}
		}
	}
}

// TestBreakerAllocatesNothing holds Allow and Done to none, failures too.
func TestBreakerAllocatesNothing(t *testing.T) {
	needCounts(t)
	c, n := breakers["pawl"](), 0
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		n++
		c(n%10 == 0)
	}))
}

// TestBreakerTimes prints the share that Allow and Done take of the time of the peer's Execute: one
// right after the other, in turns first, in as many rounds as -shares says.
func TestBreakerTimes(t *testing.T) {
	if *rounds < 1 {
		t.Skip("it prints figures and asserts nothing: ask for them with -shares 5")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "calls\tgobreaker ns\tpawl ns\ttime\t(of rounds)\taim\tpawl allocs\t")
	for _, mix := range mixes {
		for _, way := range ways {
			var peer, pawl, shares []float64
			var allocs int64
			for round := range *rounds {
				took := make(map[string]float64)
				order := []string{"gobreaker", "pawl"}
				if round%2 == 1 {
					slices.Reverse(order)
				}
				for _, name := range order {
					r := testing.Benchmark(func(b *testing.B) { way.run(b, breakers[name](), mix.fails) })
					require.Positive(t, r.N)
					took[name] = float64(r.T.Nanoseconds()) / float64(r.N)
					if name == "pawl" {
						allocs = max(allocs, r.AllocsPerOp())
					}
				}
				peer, pawl = append(peer, took["gobreaker"]), append(pawl, took["pawl"])
				shares = append(shares, took["pawl"]/took["gobreaker"])
			}
			fmt.Fprintf(w, "%s, %s\t%.0f\t%.1f\t%.2f\t(%.2f to %.2f)\t0.50\t%d\t\n", mix.name, way.name,
				loop.Median(peer), loop.Median(pawl), loop.Median(shares), slices.Min(shares), slices.Max(shares),
				allocs)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
