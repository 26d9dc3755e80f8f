package guard_test

import (
	"context"
	"math"
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

// TestAGuardLeavesTheSilenceToTheGuardsWithin: an agent puts a guard around its provider. If the
// clocks of that ran, too, it would end a call that hangs at the very moment at which the guard
// within would make it again, or a chain move on.
func TestAGuardLeavesTheSilenceToTheGuardsWithin(t *testing.T) {
	hangs := script{wait(time.Hour)}
	for name, around := range map[string]func(*testing.T, provider.Provider) provider.Provider{
		"chain": func(t *testing.T, p provider.Provider) provider.Provider {
			return newChain(t, guard.ChainConfig{}, p, newGuard(t, another(), guard.Config{Name: "backup"}))
		},
		"router in a chain": func(t *testing.T, p provider.Provider) provider.Provider {
			r, err := provider.NewRouter(map[string]provider.Route{provider.AliasDefault: {Provider: p}})
			require.NoError(t, err)
			return newChain(t, guard.ChainConfig{}, r, newGuard(t, another(), guard.Config{Name: "backup"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, option{}, hangs)
				outer := newGuard(t, around(t, r.Guard), guard.Config{Name: "agent"})
				began := time.Now()
				got := watch(outer.Stream(t.Context(), ask))
				require.NoError(t, got.err)
				require.Equal(t, "from the backup", got.text)
				require.EqualValues(t, 1, r.fake.calls.Load(), "the backup is asked before it is tried again")
				require.Equal(t, 2*time.Minute, time.Since(began))
				r.settled()
			})
		})
	}
}

// TestAGuardWatchesWhatNobodyWatchesWithin: a single member without a guard is enough.
func TestAGuardWatchesWhatNobodyWatchesWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw := &fake{scripts: []script{{wait(time.Hour)}, good}}
		chain := newChain(t, guard.ChainConfig{},
			newGuard(t, &fake{scripts: []script{{fail(failure(fault.UserFixable))}}}, guard.Config{}), raw)
		began := time.Now()
		got := watch(newGuard(t, chain, guard.Config{}).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
		require.Less(t, time.Since(began), 3*time.Minute)

		quick := newGuard(t, newGuard(t, &fake{scripts: []script{{wait(time.Hour)}}}, guard.Config{}),
			guard.Config{FirstChunk: s, Retry: single()})
		began = time.Now()
		require.ErrorIs(t, watch(quick.Stream(t.Context(), ask)).err, context.DeadlineExceeded)
		require.Equal(t, s, time.Since(began), "what is asked for holds")
	})
}

// TestWhatWasTakenBackIsReservedForAsWell: the answers that a provider takes back are paid for,
// too.
func TestWhatWasTakenBackIsReservedForAsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const first = 4096 + tokensIn
		var reserved []int64
		var r *rig
		look := func(context.Context, func(provider.Chunk, error) bool) bool {
			reserved = append(reserved, r.budget.Status(budget.ScopeGlobal, "").Reserved.Tokens)
			return true
		}
		r = newRig(t, option{}, script{say(start, long(4096*3)), look,
			say(provider.Reset("again"), start, provider.Text("x")), look, say(end)})
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
		require.Equal(t, []int64{first, first + 4096}, reserved)
		r.settled()
	})
}

// TestAPreemptedAnswerDoesNotTieTheChainDown: it is void, so when it can't be made again here it is
// made elsewhere.
func TestAPreemptedAnswerDoesNotTieTheChainDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}},
			script{say(start, provider.Text("x")), wait(time.Hour), say(end)})
		person := r.person(s, s)
		time.AfterFunc(s/2, func() {
			for range 5 {
				permit, err := r.breaker.Allow()
				require.NoError(t, err)
				permit.Done(failure(fault.Degraded))
			}
		})
		got := watch(newChain(t, guard.ChainConfig{}, r, another()).Stream(t.Context(), ask))
		person()
		require.NoError(t, got.err)
		require.Equal(t, "from the backup", got.text)
		require.Equal(t,
			[]provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindReset, provider.KindStart,
				provider.KindText, provider.KindEnd}, got.kinds)
		require.Equal(t, []string{budget.CallPreempted}, r.outcomes())
		r.settled()
	})
}

func TestACountThatIsTooLargeIsRefused(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, math.MaxInt64 - 4096} {
		count := func(*provider.Request) int64 { return n }
		r := newRig(t, option{guard: guard.Config{Count: count}}, good)
		var refused *budget.Error
		require.ErrorAs(t, watch(r.Stream(t.Context(), ask)).err, &refused)
		require.Zero(t, r.fake.calls.Load())
		r.settled()
	}
}

// TestTheSameGuardTwiceAndChainsInChains: each of them is just a provider.
func TestTheSameGuardTwiceAndChainsInChains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{guard: guard.Config{Retry: single()}}, script{say(start), fail(failure(fault.Degraded))},
			good)
		got := watch(newChain(t, guard.ChainConfig{}, r, r).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
		require.Len(t, got.kinds, 3, "of the first nothing was shown")
		r.settled()

		down := func(c fault.Class) provider.Provider {
			return newGuard(t, &fake{scripts: []script{{fail(failure(c))}}}, guard.Config{Retry: single()})
		}
		inner := newChain(t, guard.ChainConfig{Name: "inner"}, down(fault.UserFixable), down(fault.Degraded))
		got = watch(newGuard(t, newChain(t, guard.ChainConfig{}, inner, another()), guard.Config{}).Stream(t.Context(),
			ask))
		require.Equal(t, "from the backup", got.text)

		counts := &fake{scripts: []script{{fail(failure(fault.UserFixable))}}}
		all := newChain(t, guard.ChainConfig{}, inner, newGuard(t, counts, guard.Config{}))
		err := watch(newGuard(t, all, guard.Config{}).Stream(t.Context(), ask)).err
		require.Equal(t, fault.Degraded, fault.Of(err))
		require.EqualValues(t, 1, counts.calls.Load(), "no guard tries again what another has given up")
	})
}
