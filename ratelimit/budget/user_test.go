package budget_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit/budget"
)

func TestEachUserHasTheLimitThatTheFunctionReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := map[string]budget.Limit{"free": {Tokens: 100, Period: budget.Day},
			"paid": {Tokens: 1000, Period: budget.Day}}
		b := budget.New(budget.Config{User: func(user string) budget.Limit { return limits[user] }})
		of := func(user, session string) budget.Names { return budget.Names{User: user, Session: session} }
		spend(t, b, of("free", "s-1"), 60)
		refusal := refused(t, b, budget.ReserveRequest{Names: of("free", "s-2"), Tokens: 41})
		require.Equal(t, budget.ScopeUser, refusal.Scope)
		require.Equal(t, "free", refusal.Name)
		require.ErrorContains(t, refusal, `the user budget of "free" has 40 tokens of 100 tokens left`)
		spend(t, b, of("paid", "s-3"), 900)
		spend(t, b, of("none", "s-4"), 1_000_000)
		spend(t, b, session("s-5"), 1_000_000)
		require.EqualValues(t, 40, b.Remaining(of("free", "s-1")).Tokens)
		require.EqualValues(t, budget.Unlimited, b.Remaining(of("none", "")).Tokens)
		require.EqualValues(t, 1000, b.Status(budget.ScopeUser, "paid").Limit.Tokens)
		b.Seed(of("new", ""), 10, 0) // without a limit, nothing is counted

		limits["free"] = budget.Limit{Tokens: 200, Period: budget.Day} // from the next call on, with what was spent
		spend(t, b, of("free", "s-2"), 140)
		refused(t, b, budget.ReserveRequest{Names: of("free", "s-2"), Tokens: 1})
		b.SetLimit(budget.ScopeUser, "paid", budget.Limit{Tokens: 300, Period: budget.Day})
		require.EqualValues(t, 300, b.Status(budget.ScopeUser, "paid").Limit.Tokens,
			"a limit that was set replaces the function's")

		<-time.After(24 * time.Hour)
		require.EqualValues(t, 200, b.Remaining(of("free", "")).Tokens, "the next day")
		delete(limits, "free")
		spend(t, b, of("free", "s-2"), 5000)
		require.EqualValues(t, budget.Unlimited, b.Remaining(of("free", "")).Tokens)
	})
}

func TestACallWaitsForWhatItsUserHasReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{User: func(string) budget.Limit { return budget.Limit{Tokens: 100} }})
		first := reserve(t, b, budget.ReserveRequest{Names: budget.Names{User: "ann", Session: "s-1"}, Tokens: 80})
		done := make(chan error)
		go func() {
			r, err := b.Reserve(t.Context(),
				budget.ReserveRequest{Names: budget.Names{User: "ann", Session: "s-2"}, Tokens: 80})
			r.Settle(80, 0)
			done <- err
		}()
		synctest.Wait()
		reserve(t, b, budget.ReserveRequest{Names: budget.Names{User: "bob"}, Tokens: 80}).Settle(0, 0)
		first.Settle(10, 0)
		require.NoError(t, <-done)
	})
}

func TestAFunctionForUsersThatPanicsHoldsNothing(t *testing.T) {
	b := budget.New(budget.Config{User: func(user string) budget.Limit {
		if user == "bad" {
			panic("no")
		}
		return budget.Limit{}
	}, Global: budget.Limit{Tokens: 10}})
	require.Panics(t, func() {
		_, _ = b.Reserve(t.Context(), budget.ReserveRequest{Names: budget.Names{User: "bad"}, Tokens: 10})
	})
	reserve(t, b, budget.ReserveRequest{Names: budget.Names{User: "ann"}, Tokens: 10}).Settle(0, 0)
}

// Each user has a daily limit that depends on the plan that they pay for.
func ExampleConfig_user() {
	plans := map[string]string{"ann": "paid"}
	limits := budget.New(budget.Config{
		User: func(user string) budget.Limit {
			if plans[user] == "paid" {
				return budget.Limit{Tokens: 1_000_000, Period: budget.Day}
			}
			return budget.Limit{Tokens: 20_000, Period: budget.Day}
		},
	})
	fmt.Println(limits.Remaining(budget.Names{User: "ann"}).Tokens)
	fmt.Println(limits.Remaining(budget.Names{User: "bob"}).Tokens)
	// Output:
	// 1000000
	// 20000
}

func TestATenantsLimitHoldsForAllItsUsersAndSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := budget.NewLedger(budget.LedgerConfig{})
		b := budget.New(budget.Config{
			Tenant: func(string) budget.Limit { return budget.Limit{USD: 1, Period: budget.Day} },
			User:   func(string) budget.Limit { return budget.Limit{USD: .5, Period: budget.Day} },
		})
		ask := func(tenant, user, session string) budget.ReserveRequest {
			return budget.ReserveRequest{Names: budget.Names{Tenant: tenant, User: user, Session: session}, Tokens: 1,
				Micros: 400_000}
		}
		for _, r := range []budget.ReserveRequest{ask("acme", "ann", "s-1"), ask("acme", "bob", "s-2")} {
			reserve(t, b, r).Settle(1, 400_000)
			ledger.Record(budget.Entry{Names: r.Names, Micros: 400_000, Priced: true})
		}
		refusal := refused(t, b, ask("acme", "cid", "s-3"))
		require.Equal(t, budget.ScopeTenant, refusal.Scope)
		require.ErrorContains(t, refusal,
			`the tenant budget of "acme" has $0.200000 of $1.000000 left, and $0.400000 are wanted`)
		require.ErrorIs(t, refusal, budget.ErrExceeded)
		require.Equal(t, budget.ScopeUser, refused(t, b, ask("other", "ann", "s-1")).Scope, "a user has one limit")
		reserve(t, b, ask("zoo", "dan", "s-4")).Settle(1, 400_000)
		require.EqualValues(t, 200_000, b.Remaining(budget.Names{Tenant: "acme"}).Micros)

		require.EqualValues(t, 800_000, ledger.Total(budget.Filter{Tenant: "acme"}).Micros)
		require.EqualValues(t, 2, ledger.Report(budget.Filter{}).Tenants["acme"].Calls)
		require.Len(t, ledger.Entries(budget.Filter{Tenant: "acme", User: "bob"}), 1)

		<-time.After(24 * time.Hour)
		b.SetLimit(budget.ScopeTenant, "acme", budget.Limit{USD: .3})
		require.EqualValues(t, 300_000, refused(t, b, ask("acme", "cid", "s-3")).Limit)
	})
}
