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
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// of returns the events of one kind.
func of[E guard.Event](e *events) (out []E) {
	for _, ev := range e.all {
		if ev, ok := ev.(E); ok {
			out = append(out, ev)
		}
	}
	return out
}

func TestThreePassingFailuresInTenSecondsAreOneAlert(t *testing.T) {
	for name, tc := range map[string]struct {
		gaps []time.Duration // before each failure
		want int
	}{
		"two":                        {[]time.Duration{0, s}, 0},
		"three, ten seconds apart":   {[]time.Duration{0, 5 * s, 5 * s}, 1},
		"three, a bit more apart":    {[]time.Duration{0, 5 * s, 5*s + 1}, 0},
		"any three in a row":         {[]time.Duration{0, 8 * s, s, 3 * s, s}, 1},
		"no other for a minute":      {[]time.Duration{0, 0, 0, s, s, s, s, 56*s - 1, 0, 0}, 1},
		"another one after a minute": {[]time.Duration{0, 0, 0, 58 * s, s, s}, 2},
		"a third one":                {[]time.Duration{0, 0, 0, 60 * s, 0, 0, 60 * s, 0, 0}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, option{guard: guard.Config{Retry: single()}},
					script{fail(&provider.Error{Class: fault.Transient, Status: 408})})
				for _, gap := range tc.gaps {
					<-time.After(gap)
					r.breaker.Reset()
					require.Error(t, watch(r.Stream(t.Context(), ask)).err)
				}
				bursts := of[guard.Burst](&r.told)
				require.Len(t, bursts, tc.want)
				for _, b := range bursts {
					require.Equal(t, guard.Burst{Name: "rig", Failures: 3, Within: 10 * s, Err: bursts[0].Err}, b)
				}
			})
		})
	}
}

func TestOnlyPassingFailuresMakeABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, class := range []fault.Class{fault.RateLimited, fault.Degraded, fault.Permanent, fault.UserFixable} {
			var told events
			g := newGuard(t, &fake{scripts: []script{{fail(failure(class))}}},
				guard.Config{OnEvent: told.add, Retry: single()})
			for range 5 {
				require.Error(t, watch(g.Stream(t.Context(), ask)).err)
			}
			require.Empty(t, of[guard.Burst](&told))
		}
		// The attempts of one call count as much as those of several.
		var told events
		g := newGuard(t, &fake{scripts: []script{{fail(failure(fault.Transient))}}}, guard.Config{OnEvent: told.add})
		require.Error(t, watch(g.Stream(t.Context(), ask)).err)
		require.Len(t, of[guard.Burst](&told), 1)
		require.Len(t, of[guard.Failure](&told), 4)
	})
}

func TestAnEscalationTellsWhatFailedWhatWasTriedAndWhatMayHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, last := failure(fault.Transient), fault.WithRetryAfter(failure(fault.Degraded), 10*time.Minute)
		var told events
		g := newGuard(t, &fake{scripts: []script{{fail(first)}, {fail(last)}}},
			guard.Config{Name: "g", OnEvent: told.add})
		got := watch(g.Stream(t.Context(), ask))
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp)
		require.Equal(t, []error{first, last}, gaveUp.Errors)
		require.Equal(t, last, gaveUp.Err)
		remedies := []string{"use another provider (guard.Failover)", "make the call again in 10m0s",
			"look whether the provider reports an outage"}
		require.Equal(t, remedies, gaveUp.Remedies())
		require.Equal(t,
			[]guard.Escalation{{Name: "g", Class: fault.Degraded, Err: got.err, Errors: []error{first, last},
				Remedies: remedies}},
			of[guard.Escalation](&told))
	})
}

func TestWhatIsNotTriedAgainIsEscalatedAtOnce(t *testing.T) {
	key := fault.NewFixable("no key", "set THE_KEY", nil)
	var told events
	g := newGuard(t, &fake{scripts: []script{{fail(key)}}}, guard.Config{OnEvent: told.add})
	require.Equal(t, error(key), watch(g.Stream(t.Context(), ask)).err)
	e := of[guard.Escalation](&told)
	require.Len(t, e, 1)
	require.Equal(t, fault.UserFixable, e[0].Class)
	require.Equal(t, []string{"set THE_KEY", "use another provider (guard.Failover)"}, e[0].Remedies)
}

func TestWhatIsCanceledIsNoEscalation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var told events
	g := newGuard(t, &fake{scripts: []script{good}}, guard.Config{OnEvent: told.add})
	require.Error(t, watch(g.Stream(ctx, ask)).err)
	require.NoError(t, watch(g.Stream(t.Context(), ask)).err)
	for range g.Stream(t.Context(), ask) {
		break
	}
	require.Empty(t, told.all)
}

func TestRemediesFitTheFailure(t *testing.T) {
	require.Empty(t, guard.Remedies(nil))
	require.Empty(t, guard.Remedies(context.Canceled))
	require.Contains(t, guard.Remedies(fault.WithRetryAfter(failure(fault.RateLimited), 90*s))[0], "1m30s")
	require.Contains(t, guard.Remedies(failure(fault.UserFixable))[0], "billing")
	require.Contains(t, guard.Remedies(failure(fault.Invalid))[0], "change the request")
	refused := &budget.Error{Limit: 10, Wanted: 5}
	require.Equal(t, refused.Remediation(), guard.Remedies(refused)[0])
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, &fake{scripts: []script{{wait(time.Hour)}}}, guard.Config{Retry: single()})
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, watch(g.Stream(t.Context(), ask)).err, &gaveUp)
		require.Contains(t, gaveUp.Remedies()[1], "allow more than 2m0s")
	})
}

func TestAPanickingEventHookChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := func(context.Context, guard.Event) { panic("hook") }
		broken := &fake{scripts: []script{{fail(failure(fault.Transient))}}}
		g := newGuard(t, broken, guard.Config{OnEvent: hook})
		c := newChain(t, guard.ChainConfig{OnEvent: hook}, g, another())
		require.Equal(t, "from the backup", watch(c.Stream(t.Context(), ask)).text)
	})
}
