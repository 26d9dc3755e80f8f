package eval

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Estimates are compared with what all choices of k trials say.
func TestEstimatesAreTheSharesOfAllChoices(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for passed := range n + 1 {
			for k := 1; k <= n; k++ {
				all, any, of := 0, 0, 0
				for set := range 1 << n { // trial i is chosen if bit i is set, and passed if i < passed
					chosen, good := 0, 0
					for i := range n {
						if set>>i&1 == 1 {
							if chosen++; i < passed {
								good++
							}
						}
					}
					if chosen != k {
						continue
					}
					of++
					if good == k {
						all++
					}
					if good > 0 {
						any++
					}
				}
				r := Rate{passed, n}
				estimate, low, high := r.PassAll(k)
				require.InDelta(t, float64(all)/float64(of), estimate, 1e-12, "all %v %d", r, k)
				require.LessOrEqual(t, low, high)
				estimate, low, high = r.PassAny(k)
				require.InDelta(t, float64(any)/float64(of), estimate, 1e-12, "any %v %d", r, k)
				require.LessOrEqual(t, low, high)
			}
		}
	}
	for _, k := range []int{-1, 4} {
		estimate, _, _ := Rate{2, 3}.PassAll(k)
		require.True(t, math.IsNaN(estimate))
		estimate, _, _ = Rate{2, 3}.PassAny(k)
		require.True(t, math.IsNaN(estimate))
	}
}

// The interval has the probabilities under which the rate is within 1.96 standard deviations.
func TestTheIntervalIsWilsons(t *testing.T) {
	const z = 1.959963984540054
	for n := 1; n <= 60; n++ {
		for passed := range n + 1 {
			low, high := Rate{passed, n}.Interval()
			p := float64(passed) / float64(n)
			require.True(t, 0 <= low && low <= p && p <= high && high <= 1 && low < high, "%d of %d", passed, n)
			for _, at := range []float64{low, high} {
				if at > 0 && at < 1 {
					require.InDelta(t, z, math.Abs(p-at)/math.Sqrt(at*(1-at)/float64(n)), 1e-6)
				}
			}
		}
	}
	low, high := Rate{}.Interval()
	require.Equal(t, []float64{0, 1}, []float64{low, high})
}

// Its coverage, exactly, on average over probabilities.
func TestTheIntervalCoversNinetyFivePercent(t *testing.T) {
	for _, n := range []int{5, 10, 20, 40} {
		total, points := 0.0, 0
		for p := .05; p < .96; p += .01 {
			for passed := range n + 1 {
				if low, high := (Rate{passed, n}).Interval(); low <= p && p <= high {
					total += math.Exp(logChoose(n, passed) + float64(passed)*math.Log(p) +
						float64(n-passed)*math.Log(1-p))
				}
			}
			points++
		}
		require.InDelta(t, .95, total/float64(points), .012, "%d trials", n)
	}
}

// fisher is compared with every assignment of the trials to the two reports.
func TestThePValueCountsAssignments(t *testing.T) {
	for range 60 {
		n, m := 1+rand.IntN(6), 1+rand.IntN(6)
		a, b := Rate{rand.IntN(n + 1), n}, Rate{rand.IntN(m + 1), m}
		counts, total := make([]int, n+1), 0 // assignments by how many of a passed
		for set := range 1 << (n + m) {
			size, passed := 0, 0
			for i := range n + m {
				if set>>i&1 == 1 {
					if size++; i < a.Passed+b.Passed {
						passed++
					}
				}
			}
			if size == n {
				counts[passed]++
				total++
			}
		}
		pOf := func(x int) (p float64) {
			for _, c := range counts {
				if c <= counts[x] {
					p += float64(c) / float64(total)
				}
			}
			return p
		}
		least := 1.0
		for x, c := range counts {
			if c > 0 {
				least = min(least, pOf(x))
			}
		}
		p, smallest := fisher(a, b)
		require.InDelta(t, pOf(a.Passed), p, 1e-9, "%v %v", a, b)
		require.InDelta(t, least, smallest, 1e-9, "%v %v", a, b)
		back, _ := fisher(b, a)
		require.InDelta(t, p, back, 1e-9)
	}
	p, least := fisher(Rate{}, Rate{3, 5})
	require.InDelta(t, 1, p, 1e-9)
	require.InDelta(t, 1, least, 1e-9)
}
