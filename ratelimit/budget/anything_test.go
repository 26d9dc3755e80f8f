package budget

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestABudgetStandsAnything has a dozen callers make random calls of all methods of a budget
// concurrently. No caller may wait for longer than others hold their reservations.
func TestABudgetStandsAnything(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 9))
			b := New(Config{
				Global: randomLimit(r), Session: randomLimit(r), Task: randomLimit(r), Provider: randomLimit(r),
				Tenant:             func(string) Limit { return Limit{Tokens: 300, Period: Every(time.Minute)} },
				Recovery:           Limit{Tokens: 50, Period: randomLimit(r).Period},
				AllowUnknownPrices: true,
				FairShare:          seed%2 == 0, Keep: 1 + r.IntN(4), OnEvent: func(Event) {},
			})
			b.active = 20 * time.Second
			var callers sync.WaitGroup
			for i := range uint64(12) {
				r := rand.New(rand.NewPCG(seed, 100+i))
				callers.Go(func() {
					for range 40 {
						anything(t, r, b)
						if r.IntN(3) == 0 {
							<-time.After(time.Duration(r.IntN(3000)) * time.Millisecond)
						}
					}
				})
			}
			callers.Wait()
			requireAtRest(t, b)
		})
	}
}

func randomLimit(r *rand.Rand) Limit {
	periods := []Period{Lifetime, Day, Every(time.Minute), Every(7 * time.Second)}
	return Limit{Tokens: int64(r.IntN(400)), USD: float64(r.IntN(3)) / 1e4, Period: periods[r.IntN(len(periods))]}
}

func anything(t *testing.T, r *rand.Rand, b *Budget) {
	name := func() string { return []string{"", "a", "b", "c", "d"}[r.IntN(5)] }
	labels := Names{Session: name(), Tenant: name(), Task: name(), Provider: name()}
	switch r.IntN(15) {
	case 14:
		ahead := time.Duration(r.Int64N(int64(100 * time.Hour)))
		ahead >>= r.IntN(20)
		b.lookAt(time.Now().Add(ahead), Scope(r.IntN(numScopes)), name(), 0)
	case 0:
		b.SetLimit(Scope(r.IntN(numScopes)), name(), randomLimit(r))
	case 1, 2:
		b.Recovered(name())
	case 3:
		b.Seed(labels, int64(r.IntN(20)), 3)
	case 4:
		b.Status(Scope(r.IntN(numScopes+1)), name())
		b.Remaining(labels)
	default:
		req := ReserveRequest{Names: labels, Tokens: int64(r.IntN(60)), Micros: int64(r.IntN(60) - 10),
			Recovery: r.IntN(4) == 0}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		call, err := b.Reserve(ctx, req)
		if err != nil {
			if !errors.Is(err, ErrExceeded) {
				t.Errorf("still waiting: %v", err)
			}
			return
		}
		<-time.After(time.Duration(r.IntN(3000)) * time.Millisecond)
		_ = call.TopUp(int64(r.IntN(20)), 1)
		call.Settle(int64(r.IntN(30)-1), int64(r.IntN(30)-1))
	}
}

// requireAtRest requires that nothing is left of calls that have ended, and that every account can
// be forgotten.
func requireAtRest(t *testing.T, b *Budget) {
	t.Helper()
	require.Empty(t, b.freed)
	if b.global != nil {
		require.Zero(t, b.global.reserved)
		require.Zero(t, b.global.queue.Len)
	}
	active, spent := 0, Amount{}
	for scope := range b.tables {
		idle := 0
		for name, a := range b.tables[scope].accounts {
			at := Scope(scope).String() + " " + strconv.Quote(name)
			require.Zero(t, a.holders, at)
			require.Zero(t, a.reserved, at)
			require.Zero(t, a.queue.Len, at)
			switch {
			case a.active:
				require.Same(t, &b.shares.recent, a.in, at)
				active++
				if a.turn == b.turn {
					spent = spent.plus(a.spent)
				}
			case a.in == nil:
				require.True(t, a.pinned, at)
			default:
				require.Same(t, &b.tables[scope].idle, a.in, at)
				idle++
			}
		}
		require.Equal(t, idle, b.tables[scope].idle.Len)
		require.LessOrEqual(t, idle, b.keep)
	}
	require.Equal(t, active, b.shares.active)
	require.Equal(t, active, b.shares.recent.Len)
	require.Equal(t, spent, b.shares.spent)
}
