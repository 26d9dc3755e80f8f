package guard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
)

// limitedFor is a 429 with that advice.
func limitedFor(wait time.Duration) script {
	return script{fail(&provider.Error{Class: fault.RateLimited, Status: 429, Wait: &wait})}
}

// A memberOf a chain: a guarded fake with a gate and a breaker.
type memberOf struct {
	*guard.Guard
	fake    *fake
	gate    *ratelimit.Gate
	breaker *circuit.Breaker
	told    events
}

func newMember(t testing.TB, name string, scripts ...script) *memberOf {
	m := &memberOf{fake: &fake{scripts: scripts}, gate: ratelimit.NewGate(ratelimit.GateConfig{Name: name, Slots: 1}),
		breaker: circuit.New(name, circuit.Config{Consecutive: 1})}
	m.Guard = newGuard(t, m.fake, guard.Config{Name: name, Gate: m.gate, Breaker: m.breaker, OnEvent: m.told.add,
		Retry: map[fault.Class]fault.Retry{fault.Degraded: {Attempts: 1}}})
	return m
}

func TestARateLimitedCallMovesOnAtOnceIfAnotherProviderIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newMember(t, "a", limitedFor(7*s), good), newMember(t, "b")
		second.fake.scripts = another().scripts
		var told events
		c := newChain(t, guard.ChainConfig{OnEvent: told.add}, first, second)
		began := time.Now()
		for range 3 { // the gate of the first remembers its pause
			got := watch(c.Stream(t.Context(), ask))
			require.NoError(t, got.err)
			require.Equal(t, "from the backup", got.text)
			require.Empty(t, got.waits)
		}
		require.Zero(t, time.Since(began))
		require.EqualValues(t, 1, first.fake.calls.Load())
		require.EqualValues(t, 3, second.fake.calls.Load())
		require.EqualValues(t, 1, first.gate.Snapshot().Totals.RateLimited)
		require.Empty(t, first.told.all, "nobody has to act")
		require.Len(t, told.all, 3)
		for _, ev := range told.all {
			require.Equal(t, "a", ev.(guard.MovedOn).From)
			require.Equal(t, "b", ev.(guard.MovedOn).To)
		}

		<-time.After(8 * s) // the pause has ended
		got := watch(c.Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
	})
}

// The chain can't take back what the guard has shown, so the guard makes the answer again.
func TestARateLimitAmidAnAnswerIsNotLeftToAnotherProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := append(script{say(start, provider.Text("half"))}, limitedFor(7*s)...)
		first, second := newMember(t, "a", broken, good), newMember(t, "b", good)
		got := watch(newChain(t, guard.ChainConfig{}, first, second).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
		require.EqualValues(t, 2, first.fake.calls.Load())
		require.Zero(t, second.fake.calls.Load())
	})
}

func TestAGuardWithoutAGateMovesOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &fake{scripts: []script{limitedFor(7 * s), good}}, another()
		c := newChain(t, guard.ChainConfig{}, newGuard(t, first, guard.Config{}), newGuard(t, second, guard.Config{}))
		began := time.Now()
		require.Equal(t, "from the backup", watch(c.Stream(t.Context(), ask)).text)
		require.Zero(t, time.Since(began))
	})
}

func TestARateLimitedCallWaitsIfNoOtherProviderIsFree(t *testing.T) {
	for name, busy := range map[string]func(t *testing.T, m *memberOf){
		"paused": func(_ *testing.T, m *memberOf) { m.gate.Pause(time.Minute) },
		"closed": func(_ *testing.T, m *memberOf) { m.gate.Close() },
		"full": func(t *testing.T, m *memberOf) {
			lease, err := m.gate.Acquire(context.Background(), ratelimit.AcquireRequest{})
			require.NoError(t, err)
			t.Cleanup(func() { lease.Release(ratelimit.Outcome{Unsent: true}) })
		},
		"its breaker is open": func(t *testing.T, m *memberOf) {
			m.fake.scripts = []script{{fail(failure(fault.Degraded))}}
			require.Error(t, watch(m.Stream(t.Context(), ask)).err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, second := newMember(t, "a", limitedFor(7*s), good), newMember(t, "b", good)
				busy(t, second)
				asked := second.fake.calls.Load()
				began := time.Now()
				got := watch(newChain(t, guard.ChainConfig{}, first, second).Stream(t.Context(), ask))
				require.NoError(t, got.err)
				require.Equal(t, 7*s, time.Since(began))
				require.EqualValues(t, 2, first.fake.calls.Load())
				require.Equal(t, asked, second.fake.calls.Load())
			})
		})
	}
}

func TestACallComesBackToTheProviderThatWasLimitedIfTheOthersFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newMember(t, "a", limitedFor(7*s), good),
			newMember(t, "b", script{fail(failure(fault.Degraded))})
		c := newChain(t, guard.ChainConfig{}, first, second)
		began := time.Now()
		got := watch(c.Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
		require.Equal(t, 7*s, time.Since(began))
		require.Equal(t, provider.WaitRateLimited, got.waits[0].Reason)
	})
	t.Run("and fails there for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			first, second := newMember(t, "a", limitedFor(7*s), script{fail(failure(fault.Degraded))}),
				newMember(t, "b", script{fail(failure(fault.Degraded))})
			err := watch(newChain(t, guard.ChainConfig{}, first, second).Stream(t.Context(), ask)).err
			var failed *guard.FailoverError
			require.ErrorAs(t, err, &failed)
			require.Len(t, failed.Attempts, 3)
			require.ErrorContains(t, failed.Attempts[0].Err, "another provider is free")
		})
	})
}

// A chain in a chain leaves the call to what is free outside.
func TestAChainWithinAChainMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newMember(t, "a", limitedFor(7*s)), newMember(t, "b", limitedFor(9*s))
		inner := newChain(t, guard.ChainConfig{}, a, b)
		began := time.Now()
		got := watch(newChain(t, guard.ChainConfig{}, inner, another()).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "from the backup", got.text)
		require.Zero(t, time.Since(began))
	})
}

func TestAnInteractiveCallIsRetriedForAtMostHalfAMinute(t *testing.T) {
	person := &provider.Request{Messages: ask.Messages, Interactive: true}
	slow := script{wait(20 * s), fail(failure(fault.Transient))}
	for name, tc := range map[string]struct {
		scripts  []script
		attempts int
		after    time.Duration
	}{
		"delays of its own": {[]script{{fail(failure(fault.RateLimited))}}, 5, 15 * s}, // the next would end at 31 s
		"an advice":         {[]script{limitedFor(31 * s)}, 1, 0},
		"advices in a row":  {[]script{limitedFor(20 * s)}, 2, 20 * s},
		"attempts count":    {[]script{slow}, 3, 60*s + 300*ms}, // 20 s fail, then 40 s
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{scripts: tc.scripts}
				g := newGuard(t, f, guard.Config{Retry: exact(fault.RateLimited, fault.Transient)})
				began := time.Now()
				err := watch(g.Stream(t.Context(), person)).err
				require.ErrorContains(t, err, "an interactive call is retried for at most 30s")
				require.EqualValues(t, tc.attempts, f.calls.Load())
				require.Equal(t, tc.after, time.Since(began))

				f = &fake{scripts: append(tc.scripts[:len(tc.scripts):len(tc.scripts)], good)}
				g = newGuard(t, f, guard.Config{})
				require.NoError(t, watch(g.Stream(t.Context(), ask)).err, "work in the background waits")
			})
		})
	}
	t.Run("the gate says when it goes on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, option{}, script{fail(failure(fault.Transient))}, limitedFor(40*s), limitedFor(40*s),
				script{fail(failure(fault.Transient))}, good)
			began := time.Now()
			got := watch(r.Stream(t.Context(), person))
			require.NoError(t, got.err)
			require.Greater(t, time.Since(began), 80*s)
			r.settled()
		})
	})
}
