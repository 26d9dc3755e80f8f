package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/ratelimit"
	"github.com/stretchr/testify/require"
)

func TestALimitMayBeRaisedWhileCallsWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Session: ratelimit.Limit{Tokens: 100}})
		spend(t, b, session("s"), 40)
		open := reserve(t, b, ratelimit.ReserveRequest{Labels: session("s"), Tokens: 60})
		got := make(chan *ratelimit.Reservation, 1)
		go func() {
			r, err := b.Reserve(context.Background(), ratelimit.ReserveRequest{Labels: session("s"), Tokens: 50})
			require.NoError(t, err)
			got <- r
		}()
		synctest.Wait()
		b.SetLimit(ratelimit.ScopeSession, "s", ratelimit.Limit{Tokens: 149})
		synctest.Wait()
		require.Empty(t, got)
		b.SetLimit(ratelimit.ScopeSession, "s", ratelimit.Limit{Tokens: 150})
		second := <-got
		require.Equal(t, ratelimit.Amount{Tokens: 110}, b.Status(ratelimit.ScopeSession, "s").Reserved)
		require.Equal(t, ratelimit.Amount{Tokens: 40}, b.Status(ratelimit.ScopeSession, "s").Spent)
		require.Equal(t, int64(100), b.Remaining(session("other")).Tokens)
		open.Settle(0, 0)
		second.Settle(0, 0)
	})
}

func TestAWaitEndsWithAPeriodThatWasSetWhileItWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{Session: ratelimit.Limit{Tokens: 100}})
		open := reserve(t, b, ratelimit.ReserveRequest{Labels: session("s"), Tokens: 40})
		second := reserve(t, b, ratelimit.ReserveRequest{Labels: session("s"), Tokens: 50})
		began := time.Now()
		got := make(chan time.Duration, 1)
		go func() {
			reserve(t, b, ratelimit.ReserveRequest{Labels: session("s"), Tokens: 20})
			got <- time.Since(began)
		}()
		synctest.Wait()
		b.SetLimit(ratelimit.ScopeSession, "s", ratelimit.Limit{Tokens: 100, Period: ratelimit.Day})
		second.Settle(50, 0)
		synctest.Wait()
		require.Empty(t, got)
		require.Equal(t, 24*time.Hour, <-got, "what was spent isn't any more, and nobody has settled")
		open.Settle(0, 0)
	})
}

func TestALimitCanBeSetAndRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ratelimit.NewBudget(ratelimit.BudgetConfig{})
		early := reserve(t, b, ratelimit.ReserveRequest{Labels: ratelimit.Labels{Task: "t"}, Tokens: 1000})
		b.SetLimit(ratelimit.ScopeTask, "t", ratelimit.Limit{Tokens: 10, Period: ratelimit.Day})
		early.Settle(1000, 0) // it was admitted before the limit, so it isn't counted
		spend(t, b, ratelimit.Labels{Task: "t"}, 10)
		refused(t, b, ratelimit.ReserveRequest{Labels: ratelimit.Labels{Task: "t"}, Tokens: 1})
		<-time.After(24 * time.Hour)
		spend(t, b, ratelimit.Labels{Task: "t"}, 10)
		b.SetLimit(ratelimit.ScopeTask, "t", ratelimit.Limit{Tokens: 10}) // another period starts at zero
		spend(t, b, ratelimit.Labels{Task: "t"}, 10)
		b.SetLimit(ratelimit.ScopeTask, "t", ratelimit.Limit{})
		spend(t, b, ratelimit.Labels{Task: "t"}, 10)

		for _, scope := range []ratelimit.Scope{ratelimit.ScopeGlobal, ratelimit.ScopeShare, ratelimit.ScopeRecovery, 99} {
			b.SetLimit(scope, "t", ratelimit.Limit{Tokens: 1})
			b.Forget(scope, "t")
		}
		b.SetLimit(ratelimit.ScopeTask, "", ratelimit.Limit{Tokens: 1})
		spend(t, b, ratelimit.Labels{Session: "t"}, 10)
		var none *ratelimit.Budget
		none.SetLimit(ratelimit.ScopeTask, "t", ratelimit.Limit{Tokens: 1})
		none.Forget(ratelimit.ScopeTask, "t")
	})
}

func TestAForgottenNameStartsAtZero(t *testing.T) {
	b := ratelimit.NewBudget(ratelimit.BudgetConfig{Session: ratelimit.Limit{Tokens: 10}, Sessions: map[string]ratelimit.Limit{"s": {Tokens: 20}}})
	spend(t, b, session("s"), 20)
	b.Forget(ratelimit.ScopeSession, "s")
	b.Forget(ratelimit.ScopeSession, "nobody")
	require.Equal(t, int64(10), b.Status(ratelimit.ScopeSession, "s").Limit.Tokens)
	open := reserve(t, b, ratelimit.ReserveRequest{Labels: session("s"), Tokens: 10})
	b.Forget(ratelimit.ScopeSession, "s")
	require.Equal(t, int64(10), b.Status(ratelimit.ScopeSession, "s").Reserved.Tokens)
	open.Settle(7, 0)
	require.Equal(t, int64(3), b.Remaining(session("s")).Tokens)
}
