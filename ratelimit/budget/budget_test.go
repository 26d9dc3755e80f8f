package budget_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

// all are labels for every scope.
var all = budget.Names{Session: "s", Task: "t", Provider: "p", Model: "m"}

func tokens(n int64) budget.ReserveRequest {
	return budget.ReserveRequest{Names: all, Tokens: n}
}

func reserve(t *testing.T, b *budget.Budget, r budget.ReserveRequest) *budget.Reservation {
	t.Helper()
	res, err := b.Reserve(t.Context(), r)
	require.NoError(t, err)
	return res
}

func refused(t *testing.T, b *budget.Budget, r budget.ReserveRequest) *budget.Error {
	t.Helper()
	_, err := b.Reserve(t.Context(), r)
	var refusal *budget.Error
	require.ErrorAs(t, err, &refusal)
	return refusal
}

func TestLimitsAreCheckedFromGlobalToProvider(t *testing.T) {
	l := func(n int64) budget.Limit { return budget.Limit{Tokens: n} }
	for _, tt := range []struct {
		scope budget.Scope
		name  string
		cfg   budget.Config
	}{
		{budget.ScopeGlobal, "",
			budget.Config{Global: l(10), Session: l(10), Task: l(10), Provider: l(10), Recovery: l(10)}},
		{budget.ScopeSession, "s",
			budget.Config{Global: l(11), Session: l(10), Task: l(10), Provider: l(10), Recovery: l(10)}},
		{budget.ScopeTask, "t",
			budget.Config{Global: l(11), Session: l(11), Task: l(10), Provider: l(10), Recovery: l(10)}},
		{budget.ScopeProvider, "p",
			budget.Config{Global: l(11), Session: l(11), Task: l(11), Provider: l(10), Recovery: l(10)}},
		{budget.ScopeRecovery, "s",
			budget.Config{Global: l(11), Session: l(11), Task: l(11), Provider: l(11), Recovery: l(10)}},
	} {
		b := budget.New(tt.cfg)
		req := tokens(11)
		req.Recovery = true
		err := refused(t, b, req)
		require.Equal(t, tt.scope, err.Scope)
		require.Equal(t, tt.name, err.Name)
		require.Equal(t, budget.Error{Scope: tt.scope, Name: tt.name, Limit: 10, Wanted: 11}, *err)
		require.ErrorIs(t, err, budget.ErrExceeded)
		require.Equal(t, fault.UserFixable, fault.Of(err))
		remedy, ok := fault.Remedy(err)
		require.True(t, ok)
		require.Contains(t, remedy, tt.scope.String()+" budget")
		require.Contains(t, err.Error(), "budget: the "+tt.scope.String()+" budget")
		require.Contains(t, err.Error(), "10 tokens of 10 tokens left, and 11 tokens are wanted")
	}
}

func TestReachingALimitExactlyIsAllowed(t *testing.T) {
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 10, USD: .001}})
	req := tokens(4)
	req.Micros = 300
	r := reserve(t, b, req)
	require.NoError(t, r.TopUp(6, 700))
	require.Error(t, r.TopUp(1, 0))
	require.Error(t, r.TopUp(0, 1))
	r.Settle(10, 1000)
	require.Equal(t, budget.UnitTokens, refused(t, b, tokens(1)).Unit)
	require.Equal(t, budget.UnitMoney, refused(t, b, budget.ReserveRequest{Micros: 1}).Unit)
	reserve(t, b, budget.ReserveRequest{}).Settle(0, 0) // a call without cost is admitted
}

func TestWithoutLimitsNothingIsRejected(t *testing.T) {
	for _, b := range []*budget.Budget{nil, budget.New(budget.Config{FairShare: true}),
		budget.New(budget.Config{Global: budget.Limit{Tokens: -1, USD: -1}, Session: budget.Limit{Tokens: -1}})} {
		for range 3 {
			req := tokens(1 << 62)
			req.Micros = 1 << 62
			r := reserve(t, b, req)
			require.NoError(t, r.TopUp(1<<62, 1<<62))
			r.Settle(1<<62, 1<<62)
		}
		require.Equal(t, budget.Amount{Tokens: budget.Unlimited, Micros: budget.Unlimited}, b.Remaining(all))
		b.Seed(all, 1, 1)
		b.Recovered("s")
		require.Zero(t, b.Status(budget.ScopeShare, "s").Spent)
		require.Zero(t, b.Status(200, "s").Spent)
	}
	var r *budget.Reservation
	require.NoError(t, r.TopUp(1, 1))
	r.Settle(1, 1)
	require.NoError(t, new(budget.Reservation).TopUp(1, 1))
	new(budget.Reservation).Settle(1, 1)
}

func TestANameCanHaveItsOwnLimit(t *testing.T) {
	b := budget.New(budget.Config{
		Session:   budget.Limit{Tokens: 10},
		Sessions:  map[string]budget.Limit{"big": {Tokens: 100}, "free": {}},
		Tasks:     map[string]budget.Limit{"small": {Tokens: 5}},
		Providers: map[string]budget.Limit{"dear": {USD: .000001}},
	})
	ask := func(l budget.Names, n, micros int64) error {
		_, err := b.Reserve(t.Context(), budget.ReserveRequest{Names: l, Tokens: n, Micros: micros})
		return err
	}
	require.Error(t, ask(budget.Names{Session: "s"}, 11, 0))
	require.NoError(t, ask(budget.Names{Session: "big"}, 100, 0))
	require.NoError(t, ask(budget.Names{Session: "free"}, 1000, 0))
	require.NoError(t, ask(budget.Names{Session: "s", Task: "other"}, 7, 0))
	require.Error(t, ask(budget.Names{Task: "small"}, 6, 0))
	require.Error(t, ask(budget.Names{Provider: "dear"}, 1000, 2))
	require.NoError(t, ask(budget.Names{}, 1000, 1000)) // without labels nothing applies here
}

func TestAReservationHoldsInAllScopesOrInNone(t *testing.T) {
	b := budget.New(budget.Config{
		Global: budget.Limit{Tokens: 100}, Session: budget.Limit{Tokens: 90}, Task: budget.Limit{Tokens: 80},
		Provider: budget.Limit{Tokens: 10},
	})
	status := func() (sums [4]budget.Amount) {
		for i, at := range []struct {
			scope budget.Scope
			name  string
		}{{budget.ScopeGlobal, ""}, {budget.ScopeSession, "s"}, {budget.ScopeTask, "t"}, {budget.ScopeProvider, "p"}} {
			s := b.Status(at.scope, at.name)
			sums[i] = budget.Amount{Tokens: s.Spent.Tokens, Micros: s.Reserved.Tokens}
		}
		return sums
	}
	refused(t, b, tokens(11))
	require.Equal(t, [4]budget.Amount{}, status())
	r := reserve(t, b, tokens(8))
	require.Error(t, r.TopUp(3, 0))
	held := budget.Amount{Micros: 8}
	require.Equal(t, [4]budget.Amount{held, held, held, held}, status())
	require.Equal(t, int64(2), b.Remaining(all).Tokens)
	r.Settle(3, 0)
	spent := budget.Amount{Tokens: 3}
	require.Equal(t, [4]budget.Amount{spent, spent, spent, spent}, status())
}

func TestUsageIsBookedInFullAndOnce(t *testing.T) {
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100, USD: 1}})
	r := reserve(t, b, tokens(10))
	r.Settle(250, 5)
	r.Settle(1000, 1000)
	require.ErrorIs(t, r.TopUp(1, 1), budget.ErrSettled)
	s := b.Status(budget.ScopeGlobal, "")
	require.Equal(t, budget.Amount{Tokens: 250, Micros: 5}, s.Spent)
	require.Zero(t, s.Reserved)
	require.Zero(t, s.Left().Tokens)
	require.Equal(t, int64(250), refused(t, b, tokens(1)).Spent)
}

func TestAnAbortedStreamIsChargedForItsUsage(t *testing.T) {
	b := budget.New(budget.Config{Session: budget.Limit{Tokens: 10_000}})
	r := reserve(t, b, tokens(1000+4096))
	require.NoError(t, r.TopUp(4096, 0))
	var refusal *budget.Error
	require.ErrorAs(t, r.TopUp(4096, 0), &refusal)
	require.Equal(t, budget.Error{Scope: budget.ScopeSession, Name: "s", Limit: 10_000, Reserved: 9192, Wanted: 4096},
		*refusal)
	r.Settle(1000+8192, 0)
	require.Equal(t, int64(9192), b.Status(budget.ScopeSession, "s").Spent.Tokens)

	unknown := reserve(t, b, tokens(500))
	unknown.Settle(-1, -1) // unknown: the reservation is booked
	require.Equal(t, int64(9692), b.Status(budget.ScopeSession, "s").Spent.Tokens)
}

func TestARequestWaitsIfOnlyReservationsBlockIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		var waits []int
		req := tokens(50)
		req.OnWait = func(ahead int) { waits = append(waits, ahead) }
		got := make(chan *budget.Reservation, 1)
		go func() {
			r, err := b.Reserve(context.Background(), req)
			require.NoError(t, err)
			got <- r
		}()
		synctest.Wait()
		require.Equal(t, []int{0}, waits)
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
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		errs := make(chan error, 1)
		go func() {
			_, err := b.Reserve(context.Background(), tokens(50))
			errs <- err
		}()
		synctest.Wait()
		open.Settle(51, 0)
		require.ErrorIs(t, <-errs, budget.ErrExceeded)
		reserve(t, b, tokens(49)).Settle(0, 0)
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(context.Background())
		errs, got := make(chan error, 1), make(chan *budget.Reservation, 1)
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
		require.Equal(t, int64(100), b.Status(budget.ScopeGlobal, "").Reserved.Tokens)
		open.Settle(0, 0)
		second.Settle(0, 0)
		_, err := b.Reserve(ctx, tokens(1))
		require.ErrorIs(t, err, gone)
		require.Zero(t, b.Status(budget.ScopeGlobal, "").Reserved)
	})
}

func TestACallbackThatPanicsLeavesNothingReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100}, FairShare: true,
			Keep: 1, OnEvent: func(budget.Event) { panic("event") }})
		open := reserve(t, b, budget.ReserveRequest{Tokens: 60})
		require.PanicsWithValue(t, "wait", func() {
			_, _ = b.Reserve(context.Background(),
				budget.ReserveRequest{Tokens: 50, OnWait: func(int) { panic("wait") }})
		})
		open.Settle(0, 0)
		for _, s := range []string{"a", "b"} { // the shares of both end, and one session is forgotten
			reserve(t, b, budget.ReserveRequest{Names: budget.Names{Session: s}, Tokens: 1}).Settle(0, 0)
			b.Seed(budget.Names{Session: s}, 1, 0)
			<-time.After(time.Minute)
		}
		<-time.After(time.Hour)
		require.PanicsWithValue(t, "event", func() { _, _ = b.Reserve(t.Context(), budget.ReserveRequest{Tokens: 98}) })
		require.Zero(t, b.Status(budget.ScopeGlobal, "").Reserved)
	})
}

func TestACanceledRequestReturnsTheReservationItJustGot(t *testing.T) {
	for _, used := range []int64{0, 90} { // there is room, or never will be
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100}})
		open := reserve(t, b, tokens(60))
		require.PanicsWithValue(t, "wait", func() {
			_, _ = b.Reserve(t.Context(), budget.ReserveRequest{Tokens: 50, OnWait: func(int) {
				open.Settle(used, 0)
				panic("wait")
			}})
		})
		require.Equal(t, budget.Amount{}, b.Status(budget.ScopeGlobal, "").Reserved)
		spend(t, b, all, 100-used)
	}
}

func TestWaitingRequestsProceedInTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100}, Session: budget.Limit{Tokens: 50}})
		ask := func(session string, n int64) budget.ReserveRequest {
			return budget.ReserveRequest{Names: budget.Names{Session: session}, Tokens: n}
		}
		a, x := reserve(t, b, ask("a", 40)), reserve(t, b, ask("x", 20))
		var mu sync.Mutex
		var order []string
		var ahead []int
		var wg sync.WaitGroup
		got := make(map[string]*budget.Reservation)
		enter := func(name string, r budget.ReserveRequest) {
			r.OnWait = func(n int) { ahead = append(ahead, n) }
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
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: limit}, Session: budget.Limit{Tokens: limit / 2}})
	var mu sync.Mutex
	var open, spent, admitted int64 // at most what the budget has
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			<-start
			labels := budget.Names{Session: string('a' + rune(i%4))}
			r, err := b.Reserve(context.Background(), budget.ReserveRequest{Names: labels, Tokens: each})
			if err != nil {
				require.ErrorIs(t, err, budget.ErrExceeded)
				return
			}
			mu.Lock()
			open += each
			admitted++
			require.LessOrEqual(t, open+spent, int64(limit))
			mu.Unlock()
			for _, s := range []budget.Status{b.Status(budget.ScopeGlobal, ""),
				b.Status(budget.ScopeSession, labels.Session)} {
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
	s := b.Status(budget.ScopeGlobal, "")
	require.Equal(t, spent, s.Spent.Tokens)
	require.Zero(t, s.Reserved)
	require.Greater(t, admitted, int64(limit/each)) // returned room was used
}

func TestABudgetErrorSaysWhatWasWanted(t *testing.T) {
	err := &budget.Error{Scope: budget.ScopeSession, Name: "s", Unit: budget.UnitTokens, Limit: 10, Spent: 4, Wanted: 7}
	require.EqualError(t, err,
		`budget: the session budget of "s" has 6 tokens of 10 tokens left, and 7 tokens are wanted`)
	err.Detail = "3 of input and 4 of output"
	require.EqualError(t, err,
		`budget: the session budget of "s" has 6 tokens of 10 tokens left, and 7 tokens are wanted: 3 of input and 4 of output`)
}
