package eval

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

// Comparisons of one case are many in each run of the tests; those of ten cases, and of agents that
// run, are few, but for -repetitions 1000.
var repetitions = flag.Int("repetitions", 4, "how many comparisons are made where they take long")

// made returns a report of cases with n trials each, in which score s of case c passes with the
// probability p(c, s).
func made(random *rand.Rand, cases, scores, n int, p func(c, s int) float64) *Report {
	r := new(Report)
	for c := range cases {
		for i := range n {
			t := Trial{Case: fmt.Sprint("case ", c), N: i + 1, Status: agent.Completed,
				Scores: []Score{{Name: "ends completed", Pass: true}}}
			for s := range scores {
				t.Scores = append(t.Scores, Score{Name: fmt.Sprint("score ", s), Pass: random.Float64() < p(c, s)})
			}
			r.Trials = append(r.Trials, t)
		}
	}
	return r
}

func always(p float64) func(int, int) float64 { return func(int, int) float64 { return p } }

// highest returns the upper bound of the 95 % interval of Clopper and Pearson, by bisection.
func highest(found, of int) float64 {
	low, high := float64(found)/float64(of), 1.0
	for range 50 {
		p, below := (low+high)/2, 0.0
		for k := range found + 1 {
			below += math.Exp(logChoose(of, k) + float64(k)*math.Log(p) + float64(of-k)*math.Log(1-p))
		}
		if below > .025 {
			low = p
		} else {
			high = p
		}
	}
	return high
}

func TestAFallFromNinetyToSixtyPercentIsFound(t *testing.T) {
	random, found, reps := rand.New(rand.NewPCG(1, 2)), 0, 200
	for range reps {
		c := made(random, 1, 1, 40, always(.6)).Compare(made(random, 1, 1, 40, always(.9)))
		if len(c.Worse) > 0 {
			require.Equal(t, "score 0", c.Worse[0].Score)
			found++
		}
	}
	t.Logf("found %d of %d", found, reps)
	require.GreaterOrEqual(t, float64(found)/float64(reps), .8)
}

func TestNoChangeIsRarelyReported(t *testing.T) {
	for _, c := range []struct {
		cases, scores int
		p             func(c, s int) float64
	}{
		{1, 1, always(.9)},
		{1, 1, always(.6)},
		{10, 3, always(.9)},
		{10, 3, func(c, s int) float64 { return []float64{1, .95, .9, .8, .7, .6, .5, .4, .2, 0}[(c+s)%10] }},
	} {
		random, found := rand.New(rand.NewPCG(3, 4)), 0
		reps := *repetitions
		if c.cases == 1 {
			reps = 1000
		}
		for range reps {
			got := made(random, c.cases, c.scores, 40, c.p).Compare(made(random, c.cases, c.scores, 40, c.p))
			if len(got.Worse)+len(got.Better) > 0 {
				found++
			}
		}
		t.Logf("%d cases with %d scores: %d of %d reported", c.cases, c.scores, found, reps)
		require.LessOrEqual(t, found, max(reps/20, 1))
		if reps >= 1000 {
			require.LessOrEqual(t, highest(found, reps), .065)
		}
	}
}

func TestAFallInOneOfTenCasesIsFound(t *testing.T) {
	random, found, wrong, reps := rand.New(rand.NewPCG(5, 6)), 0, 0, max(*repetitions/2, 10)
	for range reps {
		c := made(random, 10, 1, 40, func(c, _ int) float64 { return []float64{.4, .9}[min(c, 1)] }).Compare(
			made(random, 10, 1, 40, always(.9)))
		others := len(c.Better) > 0
		for _, ch := range c.Worse {
			if ch.Case == "case 0" {
				found++
			} else {
				others = true
			}
		}
		if others {
			wrong++
		}
	}
	t.Logf("found %d of %d, %d others", found, reps, wrong)
	require.GreaterOrEqual(t, float64(found)/float64(reps), .9)
	require.LessOrEqual(t, float64(wrong)/float64(reps), .05)
}

// scored returns a report of one case whose scores pass in so many of n trials, the first ones.
func scored(n int, passed map[string]int) *Report {
	r := new(Report)
	for i := range n {
		t := Trial{Case: "c", N: i + 1, Status: agent.Completed}
		for _, name := range []string{"a", "b", "c", "d"} {
			if passed, ok := passed[name]; ok {
				t.Scores = append(t.Scores, Score{Name: name, Pass: i < passed})
			}
		}
		r.Trials = append(r.Trials, t)
	}
	return r
}

func TestScoresThatAlwaysPassOrAreTheSameCostTheOthersNothing(t *testing.T) {
	alone := scored(40, map[string]int{"a": 30}).Compare(scored(40, map[string]int{"a": 36}))
	require.Len(t, alone.Noise, 1)
	p := alone.Noise[0].P
	many := scored(40, map[string]int{"a": 30, "b": 30, "c": 40}).Compare(
		scored(40, map[string]int{"a": 36, "b": 36, "c": 40}))
	require.Equal(t, []float64{p, p, 1}, []float64{many.Noise[0].P, many.Noise[1].P, many.Noise[2].P})
	apart := scored(40, map[string]int{"a": 30, "b": 20}).Compare(scored(40, map[string]int{"a": 36, "b": 20}))
	require.InDelta(t, 2*p, apart.Noise[0].P, 1e-9, "another score that can change is paid for")
}

func TestFewTrialsShowOnlyTheWorstChanges(t *testing.T) {
	worse := func(before, now int) int {
		return len(scored(5, map[string]int{"a": now}).Compare(scored(5, map[string]int{"a": before})).Worse)
	}
	require.Equal(t, 1, worse(5, 0))
	require.Equal(t, 1, worse(5, 1), "p is 0.048")
	require.Equal(t, 0, worse(5, 2))
	require.Equal(t, 0, worse(4, 1))
}

func TestNewAndGoneScoresAreNoChange(t *testing.T) {
	c := scored(9, map[string]int{"a": 9, "b": 9}).Compare(scored(9, map[string]int{"b": 9, "d": 3}))
	require.Equal(t, "a", c.New[0].Score)
	require.Equal(t, "d", c.Gone[0].Score)
	require.Equal(t, Rate{3, 9}, c.Gone[0].Before)
	require.Equal(t, "b", c.Noise[0].Score)
	require.Len(t, c.Noise, 1)

	unrun := &Report{Trials: []Trial{{Case: "c", N: 1, NotRun: "no budget"}}}
	c = unrun.Compare(scored(9, map[string]int{"b": 9}))
	require.Empty(t, c.Gone, "nobody has looked")
	require.Len(t, c.Noise, 1)
	unknown := scored(9, map[string]int{"a": 9})
	for i := range unknown.Trials {
		unknown.Trials[i].Scores[0].Error = "the judge is down"
	}
	c = unknown.Compare(scored(9, map[string]int{"a": 9}))
	require.Len(t, c.Noise, 1)
	require.Equal(t, Rate{}, c.Noise[0].Now)
	require.Equal(t, 1.0, c.Noise[0].P)
}

func TestAChangeIsFoundHoweverManyTrialsThereAre(t *testing.T) {
	for _, n := range []int{40, 600, 3000} { // of 540 or more, the p-value is below the least float64
		c := scored(n, map[string]int{"a": 0}).Compare(scored(n, map[string]int{"a": n}))
		require.Len(t, c.Worse, 1, "%d trials", n)
		require.Positive(t, c.Worse[0].P)
	}
}

func TestWithoutAnEarlierReportEverythingIsNew(t *testing.T) {
	c := scored(9, map[string]int{"a": 9, "b": 3}).Compare(nil)
	require.Len(t, c.New, 2)
	require.Equal(t, Rate{3, 9}, c.New[1].Now)
	require.Equal(t, new(Comparison), new(Report).Compare(nil))
}
