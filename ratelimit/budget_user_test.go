package ratelimit_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

func TestEachUserHasTheLimitThatTheFunctionReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := map[string]ratelimit.Limit{"free": {Tokens: 100, Period: ratelimit.Day}, "paid": {Tokens: 1000, Period: ratelimit.Day}}
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{User: func(user string) ratelimit.Limit { return limits[user] }})
		of := func(user, session string) ratelimit.Labels { return ratelimit.Labels{User: user, Session: session} }
		spend(t, b, of("free", "s-1"), 60)
		refusal := refused(t, b, ratelimit.ReserveRequest{Labels: of("free", "s-2"), Tokens: 41})
		require.Equal(t, ratelimit.ScopeUser, refusal.Scope)
		require.Equal(t, "free", refusal.Name)
		require.ErrorContains(t, refusal, `the user budget of "free" has 40 tokens of 100 tokens left`)
		spend(t, b, of("paid", "s-3"), 900)
		spend(t, b, of("none", "s-4"), 1_000_000)
		spend(t, b, session("s-5"), 1_000_000)
		require.EqualValues(t, 40, b.Remaining(of("free", "s-1")).Tokens)
		require.EqualValues(t, ratelimit.Unlimited, b.Remaining(of("none", "")).Tokens)
		require.EqualValues(t, 1000, b.Status(ratelimit.ScopeUser, "paid").Limit.Tokens)
		b.Seed(of("new", ""), 10, 0) // without a limit, nothing is counted

		limits["free"] = ratelimit.Limit{Tokens: 200, Period: ratelimit.Day} // from the next call on, with what was spent
		spend(t, b, of("free", "s-2"), 140)
		refused(t, b, ratelimit.ReserveRequest{Labels: of("free", "s-2"), Tokens: 1})
		b.SetLimit(ratelimit.ScopeUser, "free", ratelimit.Limit{Tokens: 300, Period: ratelimit.Day})
		require.EqualValues(t, 100, b.Remaining(of("free", "")).Tokens, "a limit that was set replaces the function's")
		b.Forget(ratelimit.ScopeUser, "free")
		require.EqualValues(t, 200, b.Remaining(of("free", "")).Tokens)

		spend(t, b, of("free", "s-2"), 200)
		<-time.After(24 * time.Hour)
		require.EqualValues(t, 200, b.Remaining(of("free", "")).Tokens, "the next day")
		delete(limits, "free")
		spend(t, b, of("free", "s-2"), 5000)
		require.EqualValues(t, ratelimit.Unlimited, b.Remaining(of("free", "")).Tokens)
	})
}

func TestACallWaitsForWhatItsUserHasReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{User: func(string) ratelimit.Limit { return ratelimit.Limit{Tokens: 100} }})
		first := reserve(t, b, ratelimit.ReserveRequest{Labels: ratelimit.Labels{User: "ann", Session: "s-1"}, Tokens: 80})
		done := make(chan error)
		go func() {
			r, err := b.Reserve(t.Context(), ratelimit.ReserveRequest{Labels: ratelimit.Labels{User: "ann", Session: "s-2"}, Tokens: 80})
			r.Settle(80, 0)
			done <- err
		}()
		synctest.Wait()
		reserve(t, b, ratelimit.ReserveRequest{Labels: ratelimit.Labels{User: "bob"}, Tokens: 80}).Settle(0, 0)
		first.Settle(10, 0)
		require.NoError(t, <-done)
	})
}

func TestAFunctionForUsersThatPanicsHoldsNothing(t *testing.T) {
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{User: func(user string) ratelimit.Limit {
		if user == "bad" {
			panic("no")
		}
		return ratelimit.Limit{}
	}, Global: ratelimit.Limit{Tokens: 10}})
	require.Panics(t, func() {
		_, _ = b.Reserve(t.Context(), ratelimit.ReserveRequest{Labels: ratelimit.Labels{User: "bad"}, Tokens: 10})
	})
	reserve(t, b, ratelimit.ReserveRequest{Labels: ratelimit.Labels{User: "ann"}, Tokens: 10}).Settle(0, 0)
}

// Each user has a daily limit that depends on the plan that they pay for.
func ExampleBudgetConfig_user() {
	plans := map[string]string{"ann": "paid"}
	budget := ratelimit.NewBudget(ratelimit.BudgetConfig{
		User: func(user string) ratelimit.Limit {
			if plans[user] == "paid" {
				return ratelimit.Limit{Tokens: 1_000_000, Period: ratelimit.Day}
			}
			return ratelimit.Limit{Tokens: 20_000, Period: ratelimit.Day}
		},
	})
	fmt.Println(budget.Remaining(ratelimit.Labels{User: "ann"}).Tokens)
	fmt.Println(budget.Remaining(ratelimit.Labels{User: "bob"}).Tokens)
	// Output:
	// 1000000
	// 20000
}
