package eval

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// A Comparison says what differs between two reports. A change is better or worse if chance
// explains it too rarely: the probability that a Comparison of two reports of the same agent has
// anything in Better or Worse, however many cases and scores it has, is at most 5 %.
type Comparison struct {
	Worse, Better []Change
	Noise         []Change // the same, within what chance explains, or not run
	New, Gone     []Change // in one of the reports only
}

// A Change is how often a score of a case has passed before and now.
type Change struct {
	Case, Score string
	Before, Now Rate
	// P is the p-value of Fisher's exact test after Holm's correction for all scores of the report;
	// 1 for a score that can't show a change.
	P float64

	in   [2]bool // whether the score is in the report, and in the earlier one
	data string  // which trials have passed: equal for scores that have the same data
}

// level is the probability of a false alarm in a whole comparison.
const level = .05

// Compare compares the report with an earlier one, score by score.
//
// Each pair of rates is tested by Fisher's exact test, which is valid for any number of trials. The
// p-values are corrected by Holm's method (1979), but only for scores that could show a change at
// all: one that always passes, or has few trials, costs the others nothing (Tarone, "A modified
// Bonferroni method for discrete data", 1990). Scores of a case that pass and fail in the same
// trials count once. So 40 trials show a fall from 90 % to 60 % in 85 of 100 comparisons, and 5
// trials show only a fall from all to none, or to one if nothing else of the report could change.
// Without an earlier report, nil, everything is new.
func (r *Report) Compare(old *Report) *Comparison {
	c, old := new(Comparison), cmp.Or(old, new(Report))
	all := r.changes(old)
	correct(all)
	for _, ch := range all {
		into := &c.Noise
		switch {
		case !ch.in[0] && !r.unscored(ch.Case):
			into = &c.Gone
		case !ch.in[1] && !old.unscored(ch.Case):
			into = &c.New
		case ch.P > level:
		case ch.Now.Share() < ch.Before.Share():
			into = &c.Worse
		default:
			into = &c.Better
		}
		*into = append(*into, *ch)
	}
	return c
}

// unscored reports whether the case is in the report, but nothing is known about it.
func (r *Report) unscored(name string) bool {
	trials := r.of(name)
	return len(trials) > 0 && !slices.ContainsFunc(trials, func(t *Trial) bool { return len(t.Scores) > 0 })
}

// changes returns the scores of both reports, each once, with their rates.
func (r *Report) changes(old *Report) (all []*Change) {
	seen := make(map[[2]string]*Change)
	for i, report := range []*Report{r, old} {
		for n := range report.Trials {
			t := &report.Trials[n]
			for _, s := range t.Scores {
				key := [2]string{t.Case, s.Name}
				ch := seen[key]
				if ch == nil {
					ch = &Change{Case: t.Case, Score: s.Name, data: t.Case}
					seen[key], all = ch, append(all, ch)
				}
				if ch.in[i] = true; s.Error != "" {
					continue
				}
				[]*Rate{&ch.Now, &ch.Before}[i].add(s.Pass)
				ch.data += " " + strconv.Itoa(i*len(r.Trials)+n) + strconv.FormatBool(s.Pass)
			}
		}
	}
	return all
}

// correct sets the p-values of changes.
func correct(all []*Change) {
	distinct, least := make(map[string]*Change), make(map[*Change]float64)
	for _, ch := range all {
		if distinct[ch.data] == nil {
			distinct[ch.data] = ch
			ch.P, least[ch] = fisher(ch.Before, ch.Now)
		}
	}
	able := slices.SortedFunc(maps.Values(distinct), func(a, b *Change) int { return cmp.Compare(a.P, b.P) })
	for k := 1.0; ; k++ { // Tarone's: the first k for which at most k can reach level/k
		able = slices.DeleteFunc(able, func(ch *Change) bool { return least[ch] > level/k })
		if len(able) <= int(k) {
			break
		}
	}
	corrected, most := make(map[string]float64), math.SmallestNonzeroFloat64
	for i, ch := range able { // Holm's, and never 0
		most = max(most, min(ch.P*float64(len(able)-i), 1))
		corrected[ch.data] = most
	}
	for _, ch := range all {
		ch.P = cmp.Or(corrected[ch.data], 1)
	}
}

// A Rate is how many trials have passed, of those of which that is known.
type Rate struct{ Passed, Of int }

// String returns "4 of 5".
func (r Rate) String() string { return fmt.Sprintf("%d of %d", r.Passed, r.Of) }

func (r *Rate) add(passed bool) {
	if r.Of++; passed {
		r.Passed++
	}
}

// Share returns the share that passed; NaN if there was no trial.
func (r Rate) Share() float64 { return float64(r.Passed) / float64(r.Of) }

// Interval returns the 95 % confidence interval of the probability that a trial passes: from 0 to 1
// without a trial.
//
// It is Wilson's (1927), because its coverage is close to 95 % for a few trials, too, and it has
// some width when all trials or none have passed. That of Clopper and Pearson never covers less
// than 95 %, but is so wide that with 5 or 10 trials it says little: Brown, Cai and DasGupta,
// "Interval Estimation for a Binomial Proportion" (2001), recommend Wilson's for up to 40.
func (r Rate) Interval() (low, high float64) {
	if r.Of == 0 {
		return 0, 1
	}
	const z = 1.959963984540054 // of 95 %
	n, p := float64(r.Of), r.Share()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(min(middle-half, p), 0), min(max(middle+half, p), 1) // despite rounding
}

// PassAll returns pass^k, the probability that k trials all pass, and its 95 % confidence interval:
// what a user meets who relies on the agent k times. The estimate is unbiased: the share of the
// choices of k trials of which all have passed; Yao et al., "τ-bench" (2024). The interval is that
// of Interval to the power of k. The estimate is NaN if k is negative or above Of.
func (r Rate) PassAll(k int) (estimate, low, high float64) {
	low, high = r.Interval()
	estimate = math.Exp(logChoose(r.Passed, k) - logChoose(r.Of, k))
	return estimate, math.Pow(low, float64(k)), math.Pow(high, float64(k))
}

// PassAny returns pass@k, the probability that at least one of k trials passes, and its 95 %
// confidence interval: what a user meets who may try k times. The estimate is the unbiased one of
// Chen et al., "Evaluating Large Language Models Trained on Code" (2021). It is NaN if k is
// negative or above Of.
func (r Rate) PassAny(k int) (estimate, low, high float64) {
	none, high, low := Rate{r.Of - r.Passed, r.Of}.PassAll(k)
	return 1 - none, 1 - low, 1 - high
}

// fisher returns the two-sided p-value of Fisher's exact test for two rates: how probable tables
// are that are no more probable than this one, if both have the same probability to pass. least is
// the smallest p-value that any table with these sums can have.
func fisher(a, b Rate) (p, least float64) {
	passed := a.Passed + b.Passed
	chance := func(x int) float64 { // of x in a
		return math.Exp(logChoose(a.Of, x) + logChoose(b.Of, passed-x) - logChoose(a.Of+b.Of, passed))
	}
	from, to := max(0, passed-b.Of), min(a.Of, passed)
	seen, rarest := chance(a.Passed), min(chance(from), chance(to)) // it has one maximum
	for x := from; x <= to; x++ {
		c := chance(x)
		if c <= seen*(1+1e-7) { // for rounding
			p += c
		}
		if c <= rarest*(1+1e-7) {
			least += c
		}
	}
	return min(p, 1), min(least, 1)
}

// logChoose returns the logarithm of the number of choices of k of n things: -Inf if there is none.
func logChoose(n, k int) float64 {
	of := func(n int) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v
	}
	return of(n) - of(k) - of(n-k)
}
