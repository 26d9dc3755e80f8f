package budget_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

// call returns an entry with every label, 10 input and 5 output tokens, for 7 millionths.
func call(session, provider, model string) budget.Entry {
	return budget.Entry{
		Names: budget.Names{Session: session, Pipeline: "pipe", Task: "task", Agent: "agent", Kind: "step",
			Provider: provider, Model: model},
		Input: 10, Output: 5, CacheRead: 4, CacheWrite: 3, Reasoning: 2, Micros: 7, Priced: true, Latency: time.Second,
		Outcome: budget.CallDone,
	}
}

func TestEveryCallIsCountedUnderEachOfItsLabels(t *testing.T) {
	l := budget.NewLedger(budget.LedgerConfig{})
	for _, e := range []budget.Entry{call("s1", "p1", "m"), call("s1", "p2", "m"), call("s2", "p1", "n")} {
		l.Record(e)
	}
	nested := call("s1/1", "p1", "m")
	nested.Kind, nested.Agent = "summary", "child"
	l.Record(nested)

	n := func(f budget.Filter) int64 {
		total := l.Total(f)
		require.False(t, total.Partial)
		require.Equal(t, 15*total.Calls, total.Tokens())
		require.Equal(t, 7*total.Calls, total.Micros)
		return total.Calls
	}
	require.Equal(t, int64(4), n(budget.Filter{}))
	require.Equal(t, int64(2), n(budget.Filter{Session: "s1"}))
	require.Equal(t, int64(4), n(budget.Filter{Pipeline: "pipe"}))
	require.Equal(t, int64(4), n(budget.Filter{Task: "task"}))
	require.Equal(t, int64(1), n(budget.Filter{Agent: "child"}))
	require.Equal(t, int64(3), n(budget.Filter{Kind: "step"}))
	require.Equal(t, int64(3), n(budget.Filter{Provider: "p1"}))
	require.Equal(t, int64(2), n(budget.Filter{Provider: "p1", Model: "m"}))
	require.Equal(t, int64(3), n(budget.Filter{Model: "m"}))
	require.Equal(t, int64(1), n(budget.Filter{Session: "s1", Provider: "p2"}))
	require.Zero(t, n(budget.Filter{Session: "nobody"}))
	require.Equal(t,
		budget.Totals{Calls: 4, Input: 40, Output: 20, CacheRead: 16, CacheWrite: 12, Reasoning: 8, Micros: 28,
			Latency: 4 * time.Second}, l.Total(budget.Filter{}))
}

func TestEstimatedUnpricedAndUnansweredCallsAreCountedSeparately(t *testing.T) {
	l := budget.NewLedger(budget.LedgerConfig{})
	for _, change := range []func(*budget.Entry){
		func(e *budget.Entry) { e.Estimated, e.Outcome = true, budget.CallLost },
		func(e *budget.Entry) { e.Priced, e.Outcome = false, budget.CallAborted },
		func(e *budget.Entry) { e.Priced, e.Estimated, e.Outcome = false, true, budget.CallPreempted },
		func(e *budget.Entry) { e.Outcome = budget.CallFailed },
		func(e *budget.Entry) { e.Outcome = "of their own" },
		func(e *budget.Entry) {
			e.Input, e.Output, e.CacheRead, e.CacheWrite, e.Reasoning, e.Micros, e.Latency = -1, -1, -1, -1, -1, -1, -1
		},
	} {
		e := call("s", "p", "m")
		change(&e)
		l.Record(e)
	}
	require.Equal(t,
		budget.Totals{Calls: 6, Input: 50, Output: 25, CacheRead: 20, CacheWrite: 15, Reasoning: 10, Micros: 21,
			Unpriced: 2, UnpricedTokens: 30, Estimated: 2, EstimatedTokens: 30, Failed: 1, Aborted: 1, Preempted: 1,
			Lost:    1,
			Latency: 5 * time.Second}, l.Total(budget.Filter{}))
	require.Len(t, l.Entries(budget.Filter{Outcome: budget.CallLost}), 1)
	require.Equal(t, int64(1), l.Total(budget.Filter{Outcome: "of their own"}).Calls)
}

func TestAReportGroupsByEachLabelAndModelsUnderProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := budget.NewLedger(budget.LedgerConfig{})
		begun := time.Now()
		for i := range 6 {
			l.Record(call(fmt.Sprint("s", i%2), fmt.Sprint("p", i%3), fmt.Sprint("m", i/3)))
			<-time.After(time.Hour)
		}
		counts := func(of map[string]budget.Totals) map[string]int64 {
			m := make(map[string]int64)
			for name, t := range of {
				m[name] = t.Calls
			}
			return m
		}
		for _, tt := range []struct {
			filter    budget.Filter
			from, to  int
			total     int64
			sessions  map[string]int64
			providers map[string]map[string]int64
		}{
			{budget.Filter{}, 0, 5, 6, map[string]int64{"s0": 3, "s1": 3},
				map[string]map[string]int64{"p0": {"m0": 1, "m1": 1}, "p1": {"m0": 1, "m1": 1},
					"p2": {"m0": 1, "m1": 1}}},
			{budget.Filter{Session: "s0"}, 0, 4, 3, map[string]int64{"s0": 3},
				map[string]map[string]int64{"p0": {"m0": 1}, "p1": {"m1": 1}, "p2": {"m0": 1}}},
			{budget.Filter{From: begun.Add(time.Hour), To: begun.Add(3 * time.Hour)}, 1, 2, 2,
				map[string]int64{"s0": 1, "s1": 1},
				map[string]map[string]int64{"p1": {"m0": 1}, "p2": {"m0": 1}}},
			{budget.Filter{Provider: "p1", From: begun.Add(2 * time.Hour)}, 4, 4, 1, map[string]int64{"s0": 1},
				map[string]map[string]int64{"p1": {"m1": 1}}},
		} {
			r := l.Report(tt.filter)
			require.Equal(t, tt.total, r.Total.Calls)
			require.Equal(t, tt.total, l.Total(tt.filter).Calls)
			require.False(t, r.Total.Partial)
			require.Equal(t, begun.Add(time.Duration(tt.from)*time.Hour), r.From)
			require.Equal(t, begun.Add(time.Duration(tt.to)*time.Hour), r.To)
			require.Equal(t, tt.sessions, counts(r.Sessions))
			for _, same := range []map[string]budget.Totals{r.Pipelines, r.Tasks, r.Agents, r.Kinds} {
				require.Len(t, same, 1)
			}
			require.Equal(t, tt.total, r.Kinds["step"].Calls)
			require.Len(t, r.Providers, len(tt.providers))
			for name, models := range tt.providers {
				require.Equal(t, models, counts(r.Providers[name].Models))
				require.EqualValues(t, len(models), r.Providers[name].Calls)
			}
		}
		require.Zero(t, l.Report(budget.Filter{Session: "nobody"}).From)
	})
}

func TestALedgerKeepsItsLimitsAndItsTotalsStayExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := budget.NewLedger(budget.LedgerConfig{Keep: 5, Names: 3})
		begun := time.Now()
		for i := range 8 {
			l.Record(call(fmt.Sprint("s", i%4), "p", "m"))
			<-time.After(time.Hour)
		}
		require.Equal(t, int64(8), l.Total(budget.Filter{}).Calls)
		require.False(t, l.Total(budget.Filter{}).Partial)
		require.Equal(t, int64(8), l.Total(budget.Filter{Provider: "p"}).Calls)

		entries := l.Entries(budget.Filter{})
		require.Len(t, entries, 5)
		for i, e := range entries {
			require.Equal(t, begun.Add(time.Duration(i+3)*time.Hour), e.Time)
		}

		// s0 to s3 took turns with three places: each is counted since its last return.
		r := l.Report(budget.Filter{})
		require.Len(t, r.Sessions, 4)
		require.Equal(t, int64(5), r.Sessions[budget.Others].Calls)
		require.False(t, r.Sessions[budget.Others].Partial)
		var sum int64
		for _, totals := range r.Sessions {
			sum += totals.Calls
		}
		require.Equal(t, r.Total.Calls, sum)
		require.Equal(t, budget.Totals{Partial: true}, l.Total(budget.Filter{Session: "s0"}))
		require.True(t, l.Total(budget.Filter{Session: "s3"}).Partial)
		require.Equal(t, int64(1), l.Total(budget.Filter{Session: "s3"}).Calls)

		// A filter that needs entries says whether some may be missing.
		require.True(t, l.Total(budget.Filter{Session: "s3", Provider: "p"}).Partial)
		require.True(t, l.Report(budget.Filter{Session: "s3"}).Total.Partial)
		require.True(t, l.Report(budget.Filter{From: begun.Add(2 * time.Hour)}).Total.Partial)
		for _, f := range []budget.Filter{{From: begun.Add(2*time.Hour + 1)}, {To: begun}} {
			require.False(t, l.Report(f).Total.Partial)
			require.False(t, l.Total(f).Partial)
		}
	})
}

func TestALedgerMayKeepNoEntries(t *testing.T) {
	l := budget.NewLedger(budget.LedgerConfig{Keep: -1})
	l.Record(call("s", "p", "m"))
	require.Empty(t, l.Entries(budget.Filter{}))
	require.Equal(t, int64(1), l.Total(budget.Filter{Session: "s"}).Calls)
	require.True(t, l.Total(budget.Filter{Session: "s", Task: "task"}).Partial)

	var none *budget.Ledger
	none.Record(call("s", "p", "m"))
	require.Zero(t, none.Total(budget.Filter{}))
	require.Zero(t, none.Report(budget.Filter{}))
	require.Empty(t, none.Entries(budget.Filter{}))
}

func TestSumsDontOverflow(t *testing.T) {
	l := budget.NewLedger(budget.LedgerConfig{})
	for range 3 {
		e := call("s", "p", "m")
		e.Input, e.Output, e.Latency = math.MaxInt64, math.MaxInt64, math.MaxInt64
		l.Record(e)
	}
	total := l.Total(budget.Filter{})
	require.Equal(t, int64(math.MaxInt64), total.Tokens())
	require.Equal(t, time.Duration(math.MaxInt64), total.Latency)
}

func TestANameMayEqualOthers(t *testing.T) {
	l := budget.NewLedger(budget.LedgerConfig{Names: 2})
	for _, name := range []string{"a", "b", budget.Others, "b"} {
		e := call(name, name, name)
		l.Record(e)
	}
	r := l.Report(budget.Filter{})
	require.Equal(t, int64(2), r.Providers[budget.Others].Calls)
	require.Equal(t, int64(2), r.Sessions[budget.Others].Calls)
	require.Equal(t, int64(2), r.Providers["b"].Calls)
	require.Equal(t, int64(2), r.Providers["b"].Models["b"].Calls)
	require.Equal(t, int64(2), r.Providers[budget.Others].Models[budget.Others].Calls)
}

func TestModelsAreDroppedIndependently(t *testing.T) {
	l := budget.NewLedger(budget.LedgerConfig{Names: 2})
	for _, name := range []string{"a", "b", "c"} {
		l.Record(call("s", "p", name))
	}
	r := l.Report(budget.Filter{})
	require.Equal(t, int64(3), r.Providers["p"].Calls)
	require.Len(t, r.Providers["p"].Models, 2)
	require.Zero(t, r.Providers[budget.Others].Calls)
	require.Equal(t, int64(1), r.Providers[budget.Others].Models[budget.Others].Calls)
}

// TestRandomEntriesAddUpAsIfTheyWereCountedOneByOne compares the results of all methods with a
// plain list of all entries.
func TestRandomEntriesAddUpAsIfTheyWereCountedOneByOne(t *testing.T) {
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 1))
		l := budget.NewLedger(budget.LedgerConfig{Keep: 200})
		var list []budget.Entry
		name := func() string { return [...]string{"", "a", "b", "c"}[rng.IntN(4)] }
		begun := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
		for range 200 {
			e := budget.Entry{Time: begun.Add(time.Duration(rng.IntN(1000)) * time.Second), Input: rng.Int64N(100),
				Output: rng.Int64N(100),
				Names: budget.Names{Session: name(), Pipeline: name(), Task: name(), Agent: name(),
					Kind: name(), Provider: name(), Model: name()}}
			list = append(list, e)
			l.Record(e)
		}
		for range 100 {
			var f budget.Filter
			for _, field := range []*string{&f.Session, &f.Pipeline, &f.Task, &f.Agent, &f.Kind, &f.Provider,
				&f.Model} {
				if rng.IntN(5) == 0 {
					*field = name()
				}
			}
			if rng.IntN(3) == 0 {
				f.From = begun.Add(time.Duration(rng.IntN(1000)) * time.Second)
			}
			if rng.IntN(3) == 0 {
				f.To = begun.Add(time.Duration(rng.IntN(1000)) * time.Second)
			}
			var calls, tokens int64
			for _, e := range list {
				if (f.Session == "" || f.Session == e.Session) &&
					(f.Pipeline == "" || f.Pipeline == e.Pipeline) &&
					(f.Task == "" || f.Task == e.Task) && (f.Agent == "" || f.Agent == e.Agent) &&
					(f.Kind == "" || f.Kind == e.Kind) &&
					(f.Provider == "" || f.Provider == e.Provider) && (f.Model == "" || f.Model == e.Model) &&
					(f.From.IsZero() || !e.Time.Before(f.From)) && (f.To.IsZero() || e.Time.Before(f.To)) {
					calls, tokens = calls+1, tokens+e.Input+e.Output
				}
			}
			total, report := l.Total(f), l.Report(f)
			require.Equal(t, calls, total.Calls, "%+v", f)
			require.Equal(t, tokens, total.Tokens())
			require.Equal(t, total, report.Total)
			for _, groups := range []map[string]budget.Totals{report.Sessions, report.Pipelines, report.Tasks,
				report.Agents, report.Kinds} {
				var sum int64
				for _, g := range groups {
					sum += g.Tokens()
				}
				require.Equal(t, tokens, sum)
			}
			var byModel int64
			for _, p := range report.Providers {
				for _, m := range p.Models {
					byModel += m.Tokens()
				}
			}
			require.Equal(t, tokens, byModel)
		}
	}
}

func TestASinkGetsEveryEntryInOrderAndOneAtATime(t *testing.T) {
	const writers, each = 50, 100
	var got []budget.Entry // written without a lock: -race detects concurrent calls
	var l *budget.Ledger
	l = budget.NewLedger(budget.LedgerConfig{Keep: writers * each, Sink: func(e budget.Entry) {
		l.Total(budget.Filter{}) // no lock is held
		got = append(got, e)
	}})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				e := call(fmt.Sprint(w), "p", "m")
				e.Input = int64(i)
				l.Record(e)
			}
		})
	}
	wg.Wait()
	require.Equal(t, l.Entries(budget.Filter{}), got)
}

func TestASlowSinkDelaysCallsAndLosesNoEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		n := 0
		l := budget.NewLedger(budget.LedgerConfig{Sink: func(budget.Entry) {
			<-release
			n++
		}})
		var wg sync.WaitGroup
		for range 1200 {
			wg.Go(func() { l.Record(call("s", "p", "m")) })
		}
		synctest.Wait()
		require.Equal(t, int64(1), l.Total(budget.Filter{}).Calls, "which doesn't wait for the sink")
		close(release)
		wg.Wait()
		require.Equal(t, 1200, n)
	})
}

func TestASinkThatPanicsDoesNotStopTheNext(t *testing.T) {
	n := 0
	l := budget.NewLedger(budget.LedgerConfig{Sink: func(e budget.Entry) {
		n++
		if e.Session == "bad" {
			panic("bad")
		}
	}})
	require.PanicsWithValue(t, "bad", func() { l.Record(call("bad", "p", "m")) })
	l.Record(call("s", "p", "m"))
	require.Equal(t, 2, n)
	require.Equal(t, int64(2), l.Total(budget.Filter{}).Calls)
}
