package budget_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

func spend(t *testing.T, b *budget.Budget, l budget.Names, n int64) {
	t.Helper()
	reserve(t, b, budget.ReserveRequest{Names: l, Tokens: n}).Settle(n, 0)
}

func session(name string) budget.Names { return budget.Names{Session: name} }

func TestRecoveryHasItsOwnBudget(t *testing.T) {
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 10_000}})
	ask := func(session string, n int64) budget.ReserveRequest {
		return budget.ReserveRequest{Names: budget.Names{Session: session}, Tokens: n, Recovery: true}
	}
	r := reserve(t, b, ask("a", 600))
	reserve(t, b, ask("a", 400)).Settle(100, 0)
	r.Settle(600, 0)
	refusal := refused(t, b, ask("a", 301))
	require.Equal(t, budget.Error{Scope: budget.ScopeRecovery, Name: "a", Limit: 1000, Spent: 700, Wanted: 301},
		*refusal)
	require.Contains(t, refusal.Remediation(), "Have a person look at what failed")

	reserve(t, b, ask("b", 1000)).Settle(1000, 0)                                           // another session
	reserve(t, b, budget.ReserveRequest{Names: session("a"), Tokens: 2000}).Settle(2000, 0) // not a recovery
	// recovery counts there, too
	require.Equal(t, int64(3700), b.Status(budget.ScopeGlobal, "").Spent.Tokens)
	b.Recovered("a")
	reserve(t, b, ask("a", 1000)).Settle(0, 0)

	without := budget.New(budget.Config{Recovery: budget.Limit{Tokens: -1}})
	reserve(t, without, ask("a", 100_000)).Settle(0, 0)
}

func TestAnUnknownPriceIsReportedAndNotGuessed(t *testing.T) {
	var events []budget.Event
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 1000, USD: .001}, Session: budget.Limit{Tokens: 1000},
		AllowUnknownPrices: true, OnEvent: func(e budget.Event) { events = append(events, e) }})
	unpriced := tokens(10)
	unpriced.Micros = -1
	for range 2 {
		reserve(t, b, unpriced).Settle(10, -1)
	}
	s := b.Status(budget.ScopeGlobal, "")
	require.Equal(t, budget.Amount{Tokens: 20}, s.Spent)
	require.Equal(t, int64(2), s.Unpriced)
	require.Equal(t,
		[]budget.Event{{Kind: budget.EventUnpriced, Scope: budget.ScopeGlobal, Unit: budget.UnitMoney, Limit: s.Limit,
			Spent: budget.Amount{Tokens: 10}, Provider: "p", Model: "m"}}, events)

	reserve(t, b, unpriced).Settle(10, 999) // its price is known when it ends
	require.Equal(t, int64(2), b.Status(budget.ScopeGlobal, "").Unpriced)
	reserve(t, b, unpriced).Settle(10, 1)
	refusal := refused(t, b, unpriced) // nothing is left, whatever it costs
	require.Equal(t, budget.Error{Unit: budget.UnitMoney, Limit: 1000, Spent: 1000}, *refusal)
	require.Equal(t, "budget: the global budget has $0.000000 of $0.001000 left", refusal.Error())
	free := tokens(10)
	reserve(t, b, free).Settle(10, 0)
}

func TestACallOfUnknownPriceIsRejectedUnderALimitInMoney(t *testing.T) {
	money := budget.Limit{Tokens: 1000, USD: 5, Period: budget.Day}
	for scope, cfg := range map[budget.Scope]budget.Config{
		budget.ScopeGlobal:   {Global: money},
		budget.ScopeTenant:   {Tenant: func(string) budget.Limit { return money }},
		budget.ScopeUser:     {User: func(string) budget.Limit { return money }},
		budget.ScopeSession:  {Session: money},
		budget.ScopeTask:     {Task: money},
		budget.ScopeProvider: {Provider: money},
	} {
		t.Run(scope.String(), func(t *testing.T) {
			b := budget.New(cfg)
			names := budget.Names{Tenant: "acme", User: "ann", Session: "s-1", Task: "t", Provider: "p", Model: "m-1"}
			name := map[budget.Scope]string{budget.ScopeTenant: "acme", budget.ScopeUser: "ann",
				budget.ScopeSession: "s-1", budget.ScopeTask: "t", budget.ScopeProvider: "p"}[scope]
			refusal := refused(t, b, budget.ReserveRequest{Names: names, Tokens: 10, Micros: -1})
			refusal.Resets = time.Time{}
			require.Equal(t, budget.Error{Scope: scope, Name: name, Unit: budget.UnitMoney, Limit: 5_000_000,
				Unpriced: true, Model: "m-1"}, *refusal)
			require.NotErrorIs(t, refusal, budget.ErrExceeded)
			require.ErrorContains(t, refusal, `the price of the model "m-1" isn't known`)
			require.ErrorContains(t, refusal, "PAWL_PRICES")
			require.Contains(t, refusal.Remediation(), "AllowUnknownPrices")
			require.Equal(t, budget.Amount{}, b.Status(scope, name).Spent)
			reserve(t, b, budget.ReserveRequest{Names: names, Tokens: 10}).Settle(10, 0) // free of charge

			cfg.AllowUnknownPrices = true
			b = budget.New(cfg)
			reserve(t, b, budget.ReserveRequest{Names: names, Tokens: 10, Micros: -1}).Settle(10, -1)
			require.EqualValues(t, 1, b.Status(scope, name).Unpriced)
		})
	}
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 1000}})
	reserve(t, b, budget.ReserveRequest{Tokens: 10, Micros: -1}).Settle(10, -1) // no limit is one in money
	require.ErrorContains(t, refused(t, budget.New(budget.Config{Global: money}), budget.ReserveRequest{Micros: -1}),
		"the price of the provider's default model isn't known")
}

func TestALimitReportsOncePerPeriodThatItIsNearlyAndCompletelyUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		var b *budget.Budget
		b = budget.New(budget.Config{
			Global:  budget.Limit{Tokens: 100, Period: budget.Day},
			Session: budget.Limit{USD: .0001, Period: budget.Day, Warn: .5},
			OnEvent: func(e budget.Event) {
				b.Status(e.Scope, e.Name) // no lock is held
				got = append(got, fmt.Sprint(e.Kind, " ", e.Scope, " ", e.Name, " ", e.Unit, " ", e.Spent))
			}})
		use := func(n, micros int64) []string {
			got = nil
			reserve(t, b, budget.ReserveRequest{Names: session("s")}).Settle(n, micros)
			return got
		}
		for range 2 {
			require.Empty(t, use(79, 49))
			require.Equal(t, []string{"warned global  tokens {80 49}"}, use(1, 0))
			require.Equal(t, []string{"warned session s money {80 50}"}, use(0, 1))
			require.Empty(t, use(19, 0))
			require.Equal(t, []string{"reached global  tokens {100 50}"}, use(1, 0))
			require.Equal(t, []string{"reached session s money {200 150}"}, use(100, 100))
			require.Empty(t, use(100, 100))
			<-time.After(24 * time.Hour)
		}
	})
}

func TestSeededSpendingCountsAndIsNotReported(t *testing.T) {
	var events []budget.Event
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100, USD: 1}, Session: budget.Limit{Tokens: 95},
		OnEvent: func(e budget.Event) { events = append(events, e) }})
	b.Seed(session("s"), 90, 900_000)
	b.Seed(session("s"), -5, -5)
	b.Seed(session("other"), 4, 0)
	require.Equal(t, budget.Amount{Tokens: 94, Micros: 900_000}, b.Status(budget.ScopeGlobal, "").Spent)
	require.Equal(t, budget.Amount{Tokens: 5, Micros: 100_000}, b.Remaining(session("s")))
	spend(t, b, session("s"), 1)
	require.Empty(t, events)
	spend(t, b, session("s"), 4)
	require.Len(t, events, 1)
	require.Equal(t, budget.EventReached, events[0].Kind)
}

func TestAFairShareDividesTheRestAmongTheActiveSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 1000, Period: budget.Day}, FairShare: true})
		share := func(name string) int64 { return b.Status(budget.ScopeShare, name).Limit.Tokens }
		require.Equal(t, int64(1000), share("a")) // alone
		spend(t, b, session("a"), 300)
		require.Equal(t, int64(500), share("b")) // the share that it would get
		open := reserve(t, b, budget.ReserveRequest{Names: session("b"), Tokens: 400})
		require.Equal(t, int64(500), share("a"))
		require.Equal(t, int64(500), share("b"))
		refusal := refused(t, b, budget.ReserveRequest{Names: session("a"), Tokens: 201})
		require.Equal(t, budget.Error{Scope: budget.ScopeShare, Name: "a", Limit: 500, Spent: 300, Wanted: 201,
			Resets: refusal.Resets}, *refusal)
		require.Equal(t, 24*time.Hour, time.Until(refusal.Resets))
		require.Contains(t, refusal.Remediation(),
			"Wait for other sessions to end, or raise the global budget, or wait until")
		spend(t, b, session("a"), 100)

		<-time.After(10 * time.Minute) // a becomes inactive, b has an open call; a's 400 stay spent
		require.Equal(t, int64(600), share("b"))
		require.Equal(t, int64(600), b.Remaining(session("b")).Tokens+400)
		require.Equal(t, int64(500), share("a")) // its own 400 would be part of the shared amount
		open.Settle(400, 0)
		spend(t, b, session("b"), 200)
		refused(t, b, budget.ReserveRequest{Names: session("b"), Tokens: 1})

		<-time.After(24 * time.Hour) // another day
		require.Equal(t, int64(1000), share("b"))
		spend(t, b, session("b"), 600)
		require.Equal(t, int64(500), share("c"))
		require.Equal(t, int64(1000), share("b"))
	})
}

func TestSharesNeverAddUpToMoreThanIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 1000}, FairShare: true})
		for i := range 3 {
			reserve(t, b, budget.ReserveRequest{Names: session(fmt.Sprint(i))}).Settle(0, 0)
		}
		for i := range 3 {
			spend(t, b, session(fmt.Sprint(i)), 333)
			refused(t, b, budget.ReserveRequest{Names: session(fmt.Sprint(i)), Tokens: 1})
		}
		// A call within its share waits for calls of its own session.
		spend(t, b, budget.Names{}, 1) // of no session
		require.Equal(t, int64(333), b.Status(budget.ScopeShare, "0").Limit.Tokens)
	})
}

func TestUnusedNamesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var forgotten []budget.Event
		b := budget.New(budget.Config{
			Session: budget.Limit{Tokens: 10, Warn: -1}, Task: budget.Limit{Tokens: 10, Period: budget.Day, Warn: -1},
			Sessions: map[string]budget.Limit{"own": {Tokens: 5, Warn: -1}}, Keep: 3,
			OnEvent: func(e budget.Event) { forgotten = append(forgotten, e) }})
		spent := func(name string) int64 { return b.Status(budget.ScopeSession, name).Spent.Tokens }
		spend(t, b, session("own"), 1)
		open := reserve(t, b, budget.ReserveRequest{Names: session("open"), Tokens: 2})
		for _, name := range []string{"a", "b", "c", "a", "d"} {
			spend(t, b, session(name), 1)
		}
		require.Len(t, forgotten, 1)
		require.Equal(t, budget.EventForgotten, forgotten[0].Kind)
		require.Equal(t, "b", forgotten[0].Name) // used longest ago
		require.Equal(t, int64(1), forgotten[0].Spent.Tokens)
		require.Equal(t, []int64{1, 2, 0, 1, 1}, []int64{spent("own"), spent("a"), spent("b"), spent("c"), spent("d")})
		for i := range 20 { // rejected requests leave nothing behind
			refused(t, b, budget.ReserveRequest{Names: session(fmt.Sprint(i)), Tokens: 11})
		}
		require.Len(t, forgotten, 1)
		open.Settle(2, 0)
		require.Equal(t, int64(2), spent("open"))

		forgotten = nil
		for i := range 3 {
			spend(t, b, budget.Names{Task: fmt.Sprint(i)}, 1)
		}
		<-time.After(24 * time.Hour)
		for i := range 3 { // names of yesterday are forgotten without an event
			spend(t, b, budget.Names{Task: fmt.Sprint("new", i)}, 1)
		}
		require.Empty(t, forgotten)
	})
}

func TestTheStatusOfAnUnusedNameHasItsLimit(t *testing.T) {
	b := budget.New(budget.Config{Session: budget.Limit{Tokens: 10}, Sessions: map[string]budget.Limit{"x": {USD: 1}}})
	require.Equal(t, budget.Amount{Tokens: 10, Micros: budget.Unlimited}, b.Status(budget.ScopeSession, "new").Left())
	require.Equal(t, budget.Amount{Tokens: budget.Unlimited, Micros: 1_000_000},
		b.Status(budget.ScopeSession, "x").Left())
	require.Equal(t, budget.Amount{Tokens: 1000, Micros: budget.Unlimited}, b.Status(budget.ScopeRecovery, "x").Left())
	require.Equal(t, "scope(9)", budget.Scope(9).String())
}

func TestCallsAgainstALimitThatIsUsedUpDoNotWait(t *testing.T) {
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 10}})
	b.Seed(budget.Names{}, 10, 0)
	_, err := b.Reserve(context.Background(), budget.ReserveRequest{Tokens: 1, OnWait: func(int) { t.Error("waits") }})
	require.ErrorIs(t, err, budget.ErrExceeded)
	require.Contains(t, err.Error(), "0 tokens of 10 tokens left")
	var none context.Context
	_, err = b.Reserve(none, budget.ReserveRequest{Tokens: 1})
	require.ErrorIs(t, err, budget.ErrExceeded)
}
