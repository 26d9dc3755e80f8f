package ratelimit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/stretchr/testify/require"
)

// all are labels for every scope.
var all = ratelimit.Labels{Session: "s", Task: "t", Provider: "p", Model: "m"}

func tokens(n int64) ratelimit.ReserveRequest {
	return ratelimit.ReserveRequest{Labels: all, Tokens: n}
}

func reserve(t *testing.T, b *ratelimit.Budget, r ratelimit.ReserveRequest) *ratelimit.Reservation {
	t.Helper()
	res, err := b.Reserve(t.Context(), r)
	require.NoError(t, err)
	return res
}

func refused(t *testing.T, b *ratelimit.Budget, r ratelimit.ReserveRequest) *ratelimit.BudgetError {
	t.Helper()
	_, err := b.Reserve(t.Context(), r)
	var refusal *ratelimit.BudgetError
	require.ErrorAs(t, err, &refusal)
	return refusal
}

func TestLimitsAreCheckedFromGlobalToProvider(t *testing.T) {
	l := func(n int64) ratelimit.Limit { return ratelimit.Limit{Tokens: n} }
	for _, tt := range []struct {
		scope ratelimit.Scope
		name  string
		cfg   ratelimit.BudgetConfig
	}{
		{ratelimit.ScopeGlobal, "", ratelimit.BudgetConfig{Global: l(10), Session: l(10), Task: l(10), Provider: l(10), Recovery: l(10)}},
		{ratelimit.ScopeSession, "s", ratelimit.BudgetConfig{Global: l(11), Session: l(10), Task: l(10), Provider: l(10), Recovery: l(10)}},
		{ratelimit.ScopeTask, "t", ratelimit.BudgetConfig{Global: l(11), Session: l(11), Task: l(10), Provider: l(10), Recovery: l(10)}},
		{ratelimit.ScopeProvider, "p", ratelimit.BudgetConfig{Global: l(11), Session: l(11), Task: l(11), Provider: l(10), Recovery: l(10)}},
		{ratelimit.ScopeRecovery, "s", ratelimit.BudgetConfig{Global: l(11), Session: l(11), Task: l(11), Provider: l(11), Recovery: l(10)}},
	} {
		b := ratelimit.NewBudget(tt.cfg)
		req := tokens(11)
		req.Recovery = true
		err := refused(t, b, req)
		require.Equal(t, tt.scope, err.Scope)
		require.Equal(t, tt.name, err.Name)
		require.Equal(t, ratelimit.BudgetError{Scope: tt.scope, Name: tt.name, Limit: 10, Wanted: 11}, *err)
		require.ErrorIs(t, err, ratelimit.ErrBudget)
		require.Equal(t, fault.UserFixable, fault.Of(err))
		remedy, ok := fault.Remedy(err)
		require.True(t, ok)
		require.Contains(t, remedy, tt.scope.String()+" budget")
		require.Contains(t, err.Error(), "ratelimit: the "+tt.scope.String()+" budget")
		require.Contains(t, err.Error(), "10 tokens of 10 tokens left, and 11 tokens are wanted")
	}
}

func TestReachingALimitExactlyIsAllowed(t *testing.T) {
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 10, USD: .001}})
	req := tokens(4)
	req.Micros = 300
	r := reserve(t, b, req)
	require.NoError(t, r.TopUp(6, 700))
	require.Error(t, r.TopUp(1, 0))
	require.Error(t, r.TopUp(0, 1))
	r.Settle(10, 1000)
	require.Equal(t, ratelimit.UnitTokens, refused(t, b, tokens(1)).Unit)
	require.Equal(t, ratelimit.UnitMoney, refused(t, b, ratelimit.ReserveRequest{Micros: 1}).Unit)
	reserve(t, b, ratelimit.ReserveRequest{}).Settle(0, 0) // a call without cost is admitted
}

func TestWithoutLimitsNothingIsRejected(t *testing.T) {
	for _, b := range []*ratelimit.Budget{nil, ratelimit.NewBudget(ratelimit.BudgetConfig{FairShare: true}),
		ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: -1, USD: -1}, Session: ratelimit.Limit{Tokens: -1}})} {
		for range 3 {
			req := tokens(1 << 62)
			req.Micros = 1 << 62
			r := reserve(t, b, req)
			require.NoError(t, r.TopUp(1<<62, 1<<62))
			r.Settle(1<<62, 1<<62)
		}
		require.Equal(t, ratelimit.Amount{Tokens: ratelimit.Unlimited, Micros: ratelimit.Unlimited}, b.Remaining(all))
		b.Seed(all, 1, 1)
		b.Recovered("s")
		require.Zero(t, b.Status(ratelimit.ScopeShare, "s").Spent)
		require.Zero(t, b.Status(200, "s").Spent)
	}
	var r *ratelimit.Reservation
	require.NoError(t, r.TopUp(1, 1))
	r.Settle(1, 1)
	require.NoError(t, new(ratelimit.Reservation).TopUp(1, 1))
	new(ratelimit.Reservation).Settle(1, 1)
}

func TestANameCanHaveItsOwnLimit(t *testing.T) {
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{
		Session:   ratelimit.Limit{Tokens: 10},
		Sessions:  map[string]ratelimit.Limit{"big": {Tokens: 100}, "free": {}},
		Tasks:     map[string]ratelimit.Limit{"small": {Tokens: 5}},
		Providers: map[string]ratelimit.Limit{"dear": {USD: .000001}},
	})
	ask := func(l ratelimit.Labels, n, micros int64) error {
		_, err := b.Reserve(t.Context(), ratelimit.ReserveRequest{Labels: l, Tokens: n, Micros: micros})
		return err
	}
	require.Error(t, ask(ratelimit.Labels{Session: "s"}, 11, 0))
	require.NoError(t, ask(ratelimit.Labels{Session: "big"}, 100, 0))
	require.NoError(t, ask(ratelimit.Labels{Session: "free"}, 1000, 0))
	require.NoError(t, ask(ratelimit.Labels{Session: "s", Task: "other"}, 7, 0))
	require.Error(t, ask(ratelimit.Labels{Task: "small"}, 6, 0))
	require.Error(t, ask(ratelimit.Labels{Provider: "dear"}, 1000, 2))
	require.NoError(t, ask(ratelimit.Labels{}, 1000, 1000)) // without labels nothing applies here
}

func TestAReservationHoldsInAllScopesOrInNone(t *testing.T) {
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{
		Global: ratelimit.Limit{Tokens: 100}, Session: ratelimit.Limit{Tokens: 90}, Task: ratelimit.Limit{Tokens: 80},
		Provider: ratelimit.Limit{Tokens: 10},
	})
	status := func() (sums [4]ratelimit.Amount) {
		for i, at := range []struct {
			scope ratelimit.Scope
			name  string
		}{{ratelimit.ScopeGlobal, ""}, {ratelimit.ScopeSession, "s"}, {ratelimit.ScopeTask, "t"}, {ratelimit.ScopeProvider, "p"}} {
			s := b.Status(at.scope, at.name)
			sums[i] = ratelimit.Amount{Tokens: s.Spent.Tokens, Micros: s.Reserved.Tokens}
		}
		return sums
	}
	refused(t, b, tokens(11))
	require.Equal(t, [4]ratelimit.Amount{}, status())
	r := reserve(t, b, tokens(8))
	require.Error(t, r.TopUp(3, 0))
	held := ratelimit.Amount{Micros: 8}
	require.Equal(t, [4]ratelimit.Amount{held, held, held, held}, status())
	require.Equal(t, int64(2), b.Remaining(all).Tokens)
	r.Settle(3, 0)
	spent := ratelimit.Amount{Tokens: 3}
	require.Equal(t, [4]ratelimit.Amount{spent, spent, spent, spent}, status())
}

func TestUsageIsBookedInFullAndOnce(t *testing.T) {
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100, USD: 1}})
	r := reserve(t, b, tokens(10))
	r.Settle(250, 5)
	r.Settle(1000, 1000)
	require.ErrorIs(t, r.TopUp(1, 1), ratelimit.ErrSettled)
	s := b.Status(ratelimit.ScopeGlobal, "")
	require.Equal(t, ratelimit.Amount{Tokens: 250, Micros: 5}, s.Spent)
	require.Zero(t, s.Reserved)
	require.Zero(t, s.Left().Tokens)
	require.Equal(t, int64(250), refused(t, b, tokens(1)).Spent)
}

func TestAnAbortedStreamIsChargedForItsUsage(t *testing.T) {
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{Session: ratelimit.Limit{Tokens: 10_000}})
	r := reserve(t, b, tokens(1000+4096))
	require.NoError(t, r.TopUp(4096, 0))
	var refusal *ratelimit.BudgetError
	require.ErrorAs(t, r.TopUp(4096, 0), &refusal)
	require.Equal(t, ratelimit.BudgetError{Scope: ratelimit.ScopeSession, Name: "s", Limit: 10_000, Reserved: 9192, Wanted: 4096}, *refusal)
	r.Settle(1000+8192, 0)
	require.Equal(t, int64(9192), b.Status(ratelimit.ScopeSession, "s").Spent.Tokens)

	unknown := reserve(t, b, tokens(500))
	unknown.Settle(-1, -1) // unknown: the reservation is booked
	require.Equal(t, int64(9692), b.Status(ratelimit.ScopeSession, "s").Spent.Tokens)
}

func TestARequestWaitsIfOnlyReservationsBlockIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		var waits []ratelimit.Wait
		req := tokens(50)
		req.OnWait = func(w ratelimit.Wait) { waits = append(waits, w) }
		got := make(chan *ratelimit.Reservation, 1)
		go func() {
			r, err := b.Reserve(context.Background(), req)
			require.NoError(t, err)
			got <- r
		}()
		synctest.Wait()
		require.Equal(t, []ratelimit.Wait{{Reason: ratelimit.WaitBudget}}, waits)
		require.Empty(t, got)

		require.NoError(t, open.TopUp(40, 0)) // waiting requests don't delay it
		require.Error(t, open.TopUp(1, 0))
		open.Settle(50, 0)
		(<-got).Settle(50, 0)
		require.Len(t, waits, 1)
	})
}

func TestAWaitEndsWhenThereCanBeNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		errs := make(chan error, 1)
		go func() {
			_, err := b.Reserve(context.Background(), tokens(50))
			errs <- err
		}()
		synctest.Wait()
		open.Settle(51, 0)
		require.ErrorIs(t, <-errs, ratelimit.ErrBudget)
		reserve(t, b, tokens(49)).Settle(0, 0)
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(context.Background())
		errs, got := make(chan error, 1), make(chan *ratelimit.Reservation, 1)
		go func() {
			_, err := b.Reserve(ctx, tokens(90))
			errs <- err
		}()
		synctest.Wait()
		go func() { // fits, but waits behind the large one
			r, err := b.Reserve(context.Background(), tokens(40))
			require.NoError(t, err)
			got <- r
		}()
		synctest.Wait()
		require.Empty(t, got)
		cancel(gone)
		require.ErrorIs(t, <-errs, gone)
		second := <-got
		require.Equal(t, int64(100), b.Status(ratelimit.ScopeGlobal, "").Reserved.Tokens)
		open.Settle(0, 0)
		second.Settle(0, 0)
		_, err := b.Reserve(ctx, tokens(1))
		require.ErrorIs(t, err, gone)
		require.Zero(t, b.Status(ratelimit.ScopeGlobal, "").Reserved)
	})
}

func TestACallbackThatPanicsLeavesNothingReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100}, FairShare: true,
			Keep: 1, OnEvent: func(ratelimit.BudgetEvent) { panic("event") }})
		open := reserve(t, b, ratelimit.ReserveRequest{Tokens: 60})
		require.PanicsWithValue(t, "wait", func() {
			_, _ = b.Reserve(context.Background(), ratelimit.ReserveRequest{Tokens: 50, OnWait: func(ratelimit.Wait) { panic("wait") }})
		})
		open.Settle(0, 0)
		for _, s := range []string{"a", "b"} { // the shares of both end, and one session is forgotten
			reserve(t, b, ratelimit.ReserveRequest{Labels: ratelimit.Labels{Root: s}, Tokens: 1}).Settle(0, 0)
			b.Seed(ratelimit.Labels{Root: s}, 1, 0)
			<-time.After(time.Minute)
		}
		<-time.After(time.Hour)
		require.PanicsWithValue(t, "event", func() { _, _ = b.Reserve(t.Context(), ratelimit.ReserveRequest{Tokens: 98}) })
		require.Zero(t, b.Status(ratelimit.ScopeGlobal, "").Reserved)
	})
}

func TestACanceledRequestReturnsTheReservationItJustGot(t *testing.T) {
	for _, used := range []int64{0, 90} { // there is room, or never will be
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		require.PanicsWithValue(t, "wait", func() {
			_, _ = b.Reserve(t.Context(), ratelimit.ReserveRequest{Tokens: 50, OnWait: func(ratelimit.Wait) {
				open.Settle(used, 0)
				panic("wait")
			}})
		})
		require.Equal(t, ratelimit.Amount{}, b.Status(ratelimit.ScopeGlobal, "").Reserved)
		spend(t, b, all, 100-used)
	}
}

func TestWaitingRequestsProceedInTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: 100}, Session: ratelimit.Limit{Tokens: 50}})
		ask := func(session string, n int64) ratelimit.ReserveRequest {
			return ratelimit.ReserveRequest{Labels: ratelimit.Labels{Session: session}, Tokens: n}
		}
		a, x := reserve(t, b, ask("a", 40)), reserve(t, b, ask("x", 20))
		var mu sync.Mutex
		var order []string
		var ahead []int
		var wg sync.WaitGroup
		got := make(map[string]*ratelimit.Reservation)
		enter := func(name string, r ratelimit.ReserveRequest) {
			r.OnWait = func(w ratelimit.Wait) { ahead = append(ahead, w.Ahead) }
			wg.Go(func() {
				res, err := b.Reserve(context.Background(), r)
				require.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				order, got[name] = append(order, name), res
			})
			synctest.Wait()
		}
		enter("a1", ask("a", 30)) // waits for its session
		enter("g1", ask("b", 50)) // waits for the global limit
		enter("g2", ask("c", 5))  // would fit, and comes later
		enter("a2", ask("a", 5))
		require.Equal(t, []int{0, 0, 1, 2}, ahead)
		require.Empty(t, order)

		a.Settle(0, 0) // 80 are free: a1 and g1 take them, later requests keep waiting
		synctest.Wait()
		require.ElementsMatch(t, []string{"a1", "g1"}, order)
		x.Settle(0, 0)
		synctest.Wait()
		require.ElementsMatch(t, []string{"g2", "a2"}, order[2:])
		for _, r := range got {
			r.Settle(0, 0)
		}
		wg.Wait()
	})
}

func TestAThousandConcurrentCallsNeverExceedALimit(t *testing.T) {
	const limit, callers, each = 10_000, 1000, 300
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{Global: ratelimit.Limit{Tokens: limit}, Session: ratelimit.Limit{Tokens: limit / 2}})
	var mu sync.Mutex
	var open, spent, admitted int64 // at most what the budget has
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			<-start
			labels := ratelimit.Labels{Session: string('a' + rune(i%4))}
			r, err := b.Reserve(context.Background(), ratelimit.ReserveRequest{Labels: labels, Tokens: each})
			if err != nil {
				require.ErrorIs(t, err, ratelimit.ErrBudget)
				return
			}
			mu.Lock()
			open += each
			admitted++
			require.LessOrEqual(t, open+spent, int64(limit))
			mu.Unlock()
			for _, s := range []ratelimit.Status{b.Status(ratelimit.ScopeGlobal, ""), b.Status(ratelimit.ScopeSession, labels.Session)} {
				require.LessOrEqual(t, s.Spent.Tokens+s.Reserved.Tokens, s.Limit.Tokens)
			}
			used := int64(i % (each + 1))
			mu.Lock()
			open -= each
			mu.Unlock()
			r.Settle(used, 0)
			mu.Lock()
			spent += used
			mu.Unlock()
		})
	}
	close(start)
	wg.Wait()
	s := b.Status(ratelimit.ScopeGlobal, "")
	require.Equal(t, spent, s.Spent.Tokens)
	require.Zero(t, s.Reserved)
	require.Greater(t, admitted, int64(limit/each)) // returned room was used
}

func TestABudgetErrorSaysWhatWasWanted(t *testing.T) {
	err := &ratelimit.BudgetError{Scope: ratelimit.ScopeSession, Name: "s", Unit: ratelimit.UnitTokens, Limit: 10, Spent: 4, Wanted: 7}
	require.EqualError(t, err, `ratelimit: the session budget of "s" has 6 tokens of 10 tokens left, and 7 tokens are wanted`)
	err.Detail = "3 of input and 4 of output"
	require.EqualError(t, err, `ratelimit: the session budget of "s" has 6 tokens of 10 tokens left, and 7 tokens are wanted: 3 of input and 4 of output`)
}
