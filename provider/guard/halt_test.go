package guard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// haltedAfter returns the context of a call of which no further attempt is wanted after d.
func haltedAfter(t *testing.T, d time.Duration) context.Context {
	halt, now := context.WithCancel(context.Background())
	stop := time.AfterFunc(d, now)
	t.Cleanup(func() { stop.Stop(); now() })
	return guard.WithHalt(t.Context(), halt)
}

func TestAHaltEndsACallBeforeItsNextAttempt(t *testing.T) {
	gate := ratelimit.GateConfig{Slots: 1}
	limited := fault.WithRetryAfter(failure(fault.RateLimited), time.Minute)
	for name, c := range map[string]struct {
		script script
		after  time.Duration // when it is halted
		ends   time.Duration
		class  fault.Class
		errs   int
	}{
		"while the provider hangs": {script{wait(time.Hour)}, s, 120 * s, fault.Transient, 1},
		"while it waits to retry":  {script{fail(failure(fault.Degraded))}, s, s, fault.Degraded, 1},
		"before its second retry":  {script{fail(failure(fault.Degraded))}, 6 * s, 6 * s, fault.Degraded, 2},
		"in a pause of the gate":   {script{fail(limited)}, s, s, fault.RateLimited, 1},
		"before its first attempt": {script{fail(limited)}, 0, 0, fault.None, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, option{gate: gate, guard: guard.Config{
					Retry: exact(fault.Degraded, fault.RateLimited)}}, c.script)
				ctx, began := haltedAfter(t, c.after), time.Now()
				synctest.Wait()
				got := watch(r.Stream(ctx, ask))
				require.Equal(t, c.ends, time.Since(began))
				require.Equal(t, c.class, fault.Of(got.err))
				require.EqualValues(t, c.errs, r.fake.calls.Load())
				if c.errs > 0 {
					var gaveUp *guard.GaveUpError
					require.ErrorAs(t, got.err, &gaveUp)
					require.Equal(t, "no further attempt is wanted", gaveUp.Reason)
					require.Equal(t, c.errs, gaveUp.Attempts)
					require.Len(t, gaveUp.Errors, c.errs)
				}
				r.settled()
			})
		})
	}
}

func TestAnAnswerThatBeganBeforeAHaltCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{}, script{say(start), wait(2 * s), say(provider.Text("here"), end)})
		got := watch(r.Stream(haltedAfter(t, s), ask))
		require.NoError(t, got.err)
		require.Equal(t, "here", got.text)
		r.settled()
	})
}

func TestAHaltEndsAWaitForAGateOrABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, script{say(start, end)})
		r.person(0, time.Hour)
		synctest.Wait()
		began := time.Now()
		got := watch(r.Stream(haltedAfter(t, s), ask))
		require.Equal(t, s, time.Since(began))
		require.Equal(t, fault.None, fault.Of(got.err))
		require.Error(t, got.err)
		require.Zero(t, r.fake.calls.Load())
		<-time.After(time.Hour)
		r.settled()
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{budget: budget.Config{Global: budget.Limit{Tokens: 5000}}}, script{say(start, end)})
		other, err := r.budget.Reserve(t.Context(), budget.ReserveRequest{Tokens: 4000})
		require.NoError(t, err)
		began := time.Now()
		got := watch(r.Stream(haltedAfter(t, s), ask))
		require.Equal(t, s, time.Since(began))
		require.Error(t, got.err)
		require.Zero(t, r.fake.calls.Load())
		other.Settle(0, 0)
		r.settled()
	})
}

func TestAChainDoesNotMoveOnAfterAHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &fake{scripts: []script{{wait(2 * s), fail(failure(fault.Degraded))}}}, another()
		chain, err := guard.Failover(first, second)
		require.NoError(t, err)
		got := watch(chain.Stream(haltedAfter(t, s), ask))
		require.Equal(t, fault.Degraded, fault.Of(got.err))
		require.Zero(t, second.calls.Load())
	})
}
