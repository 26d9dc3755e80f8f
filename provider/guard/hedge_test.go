package guard_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
)

func exit() { runtime.Goexit() }

func TestASlowCallIsMadeASecondTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			first, second script
			want          string
			took          time.Duration
			second2       int64
		}{
			"the first is quick": {script{wait(s), say(start, provider.Text("a")), wait(time.Hour), say(end)},
				good, "a", time.Hour + s, 0},
			"the second is quicker": {script{wait(time.Minute), say(start, provider.Text("a"), end)},
				script{wait(3 * s), say(start, provider.Text("b"), end)}, "b", 8 * s, 1},
			"a Start alone isn't anything": {script{say(start), wait(time.Minute), say(provider.Text("a"), end)},
				script{wait(3 * s), say(start, provider.Text("b"), end)}, "b", 8 * s, 1},
			"the first is quicker yet": {script{wait(6 * s), say(start, provider.Text("a"), end)},
				script{wait(3 * s), say(start, provider.Text("b"), end)}, "a", 6 * s, 1},
			"the second fails": {script{wait(9 * s), say(start, provider.Text("a"), end)},
				script{fail(failure(fault.Degraded))}, "a", 9 * s, 1},
			"the first fails then": {script{wait(6 * s), fail(failure(fault.Degraded))},
				script{wait(3 * s), say(start, provider.Text("b"), end)}, "b", 8 * s, 1},
		} {
			a, b := &fake{scripts: []script{tc.first}}, &fake{scripts: []script{tc.second}}
			var told events
			began := time.Now()
			got := watch(stream.Check(
				newChain(t, guard.ChainConfig{Hedge: 5 * s, OnEvent: told.add}, a, b).Stream(t.Context(), ask)))
			require.NoError(t, got.err, name)
			require.Equal(t, tc.want, got.text, name)
			require.Equal(t, tc.took, time.Since(began), name)
			require.Equal(t, tc.second2, b.calls.Load(), name)
			if tc.second2 > 0 {
				require.Equal(t, guard.Hedged{From: "provider 1", To: "provider 2", After: 5 * s}, told.all[0], name)
			}
		}
	})
}

func TestWithoutANextProviderTheSameIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{wait(time.Minute), say(start, provider.Text("late"), end)}, good}}
		began := time.Now()
		got := watch(newChain(t, guard.ChainConfig{Hedge: 5 * s}, f).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
		require.Equal(t, 5*s, time.Since(began))
		require.EqualValues(t, 2, f.calls.Load())
	})
}

func TestBothFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(d time.Duration, c fault.Class) *fake {
			return &fake{scripts: []script{{wait(d), fail(failure(c))}}}
		}
		var all *guard.FailoverError
		got := watch(newChain(t, guard.ChainConfig{Hedge: 5 * s}, slow(9*s, fault.Degraded),
			slow(s, fault.UserFixable)).Stream(t.Context(), ask))
		require.ErrorAs(t, got.err, &all)
		require.Equal(t, []string{"provider 2", "provider 1"}, []string{all.Attempts[0].Name, all.Attempts[1].Name},
			"in the order in which they failed")

		got = watch(newChain(t, guard.ChainConfig{Hedge: 5 * s}, slow(9*s, fault.Degraded), slow(s, fault.UserFixable),
			another()).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "from the backup", got.text)

		began := time.Now()
		third := another()
		got = watch(newChain(t, guard.ChainConfig{Hedge: 5 * s}, slow(time.Hour, fault.Degraded),
			slow(s, fault.Invalid), third).Stream(t.Context(), ask))
		require.Equal(t, fault.Invalid, fault.Of(got.err), "the others would fail, too")
		require.Equal(t, 6*s, time.Since(began), "and the one under way is ended")
		require.Zero(t, third.calls.Load())
	})
}

// TestTheSlowerCallIsSettled: it is canceled, charged for what it may have used, and no failure of
// its provider.
func TestTheSlowerCallIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := budget.New(budget.Config{Global: budget.Limit{Tokens: 1_000_000}})
		ledger := budget.NewLedger()
		breaker := circuit.New("llm", circuit.LLM())
		gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: 4})
		slow := &fake{scripts: []script{{wait(time.Minute), say(start, provider.Text("late"), end)}}}
		a := newGuard(t, slow, guard.Config{Name: "a", Gate: gate, Budget: limits, Ledger: ledger, Breaker: breaker})
		b := newGuard(t, another(),
			guard.Config{Name: "b", Gate: gate, Budget: limits, Ledger: ledger, Breaker: breaker})
		got := watch(newChain(t, guard.ChainConfig{Hedge: 5 * s}, a, b).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "from the backup", got.text)
		require.Zero(t, gate.Snapshot().Running)
		outcomes := map[string]string{}
		for _, e := range ledger.Entries(budget.Filter{}) {
			outcomes[e.Provider] = e.Outcome
			require.Positive(t, e.Input)
		}
		require.Equal(t, map[string]string{"a": budget.CallAborted, "b": budget.CallDone}, outcomes)
		require.Zero(t, breaker.Snapshot().Failures)
		settled(t, limits, ledger)
	})
}

func TestAHedgedProviderThatPanicsOrExitsFails(t *testing.T) {
	call := func(end func()) seen {
		step := func(context.Context, func(provider.Chunk, error) bool) bool { end(); return false }
		return watch(newChain(t, guard.ChainConfig{Hedge: time.Hour},
			&fake{scripts: []script{{say(start, provider.Text("x")), step}}}).Stream(t.Context(), ask))
	}
	got := call(func() { panic("boom") })
	require.ErrorAs(t, got.err, new(*stream.PanicError))
	require.Equal(t, "x", got.text)
	got = call(exit)
	require.EqualError(t, got.err, "guard: the provider ended its goroutine")
	require.Equal(t, "x", got.text)
}

func TestLeavingTwoCallsAtOnceEndsBoth(t *testing.T) {
	for _, how := range []string{"break", "panic", "goexit"} {
		synctest.Test(t, func(t *testing.T) {
			var ctxs [2]context.Context
			spy := func(i int) func(context.Context, func(provider.Chunk, error) bool) bool {
				return func(c context.Context, _ func(provider.Chunk, error) bool) bool { ctxs[i] = c; return true }
			}
			queued := say(provider.Waiting(provider.Wait{Reason: provider.WaitQueued}))
			a := &fake{scripts: []script{{spy(0), wait(6 * s), queued, wait(time.Hour)}}}
			b := &fake{scripts: []script{{spy(1), queued, wait(time.Hour)}}}
			began := time.Now()
			require.Equal(t, 1,
				leaveAt(newChain(t, guard.ChainConfig{Hedge: 5 * s}, a, b).Stream(t.Context(), ask), 0, how))
			require.Equal(t, 6*s, time.Since(began), "of two that wait the consumer hears the first")
			for _, ctx := range ctxs {
				require.Error(t, ctx.Err())
			}
		})
	}
}
