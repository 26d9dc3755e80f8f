package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var (
	seeds = flag.Uint64("seeds", 5, "how many random programs TestSim runs")
	first = flag.Uint64("first", 1, "the seed of the first of them")
	only  = flag.Uint64("seed", 0, "the seed of the only program that TestSim runs, with -v with a trace; 0: -seeds of them")
	tries = flag.Int("tries", 400, "how many runs may be made to find a shorter program that fails")
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1) // so that goroutines run in nearly the same order each time
	goleak.VerifyTestMain(m)
}

// TestSim runs random programs.
func TestSim(t *testing.T) {
	if *only != 0 {
		runSeed(t, *only)
		return
	}
	for seed := *first; seed < *first+*seeds && !t.Failed(); seed++ {
		runSeed(t, seed)
	}
}

// TestSeeds runs the programs that have found something.
func TestSeeds(t *testing.T) {
	text, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		number, _, _ := strings.Cut(line, " ")
		if seed, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64); err == nil {
			runSeed(t, seed)
		}
	}
}

// runSeed runs the program of a seed, and a shorter one if it fails.
func runSeed(t *testing.T, seed uint64) {
	var trace func(string, ...any)
	if testing.Verbose() && *only != 0 {
		trace = func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	}
	p := generate(seed)
	problems := simulate(t, p, trace)
	if len(problems) == 0 {
		return
	}
	short, found := shrink(p, *tries, func(p *program) []string { return simulate(t, p, nil) })
	if len(found) == 0 {
		t.Logf("seed %d: the program fails only now and then", seed)
		found = problems
	} else if trace != nil && short.size() < p.size() {
		trace("the shortest program that fails:\n%s", short)
		_ = simulate(t, short, trace)
	}
	t.Errorf("seed %d: %s\nthe program:\n%s", seed, strings.Join(found, "\n"), short)
}
