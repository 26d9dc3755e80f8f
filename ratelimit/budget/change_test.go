package budget_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

func TestALimitMayBeRaisedWhileCallsWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Session: budget.Limit{Tokens: 100}})
		spend(t, b, session("s"), 40)
		open := reserve(t, b, budget.ReserveRequest{Names: session("s"), Tokens: 60})
		got := make(chan *budget.Reservation, 1)
		go func() {
			r, err := b.Reserve(context.Background(), budget.ReserveRequest{Names: session("s"), Tokens: 50})
			require.NoError(t, err)
			got <- r
		}()
		synctest.Wait()
		b.SetLimit(budget.ScopeSession, "s", budget.Limit{Tokens: 149})
		synctest.Wait()
		require.Empty(t, got)
		b.SetLimit(budget.ScopeSession, "s", budget.Limit{Tokens: 150})
		second := <-got
		require.Equal(t, budget.Amount{Tokens: 110}, b.Status(budget.ScopeSession, "s").Reserved)
		require.Equal(t, budget.Amount{Tokens: 40}, b.Status(budget.ScopeSession, "s").Spent)
		require.Equal(t, int64(100), b.Remaining(session("other")).Tokens)
		open.Settle(0, 0)
		second.Settle(0, 0)
	})
}

func TestAWaitEndsWithAPeriodThatWasSetWhileItWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Session: budget.Limit{Tokens: 100}})
		open := reserve(t, b, budget.ReserveRequest{Names: session("s"), Tokens: 40})
		second := reserve(t, b, budget.ReserveRequest{Names: session("s"), Tokens: 50})
		began := time.Now()
		got := make(chan time.Duration, 1)
		go func() {
			reserve(t, b, budget.ReserveRequest{Names: session("s"), Tokens: 20})
			got <- time.Since(began)
		}()
		synctest.Wait()
		b.SetLimit(budget.ScopeSession, "s", budget.Limit{Tokens: 100, Period: budget.Day})
		second.Settle(50, 0)
		synctest.Wait()
		require.Empty(t, got)
		require.Equal(t, 24*time.Hour, <-got, "what was spent isn't any more, and nobody has settled")
		open.Settle(0, 0)
	})
}

func TestALimitCanBeSetAndRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{})
		early := reserve(t, b, budget.ReserveRequest{Names: budget.Names{Task: "t"}, Tokens: 1000})
		b.SetLimit(budget.ScopeTask, "t", budget.Limit{Tokens: 10, Period: budget.Day})
		early.Settle(1000, 0) // it was admitted before the limit, so it isn't counted
		spend(t, b, budget.Names{Task: "t"}, 10)
		refused(t, b, budget.ReserveRequest{Names: budget.Names{Task: "t"}, Tokens: 1})
		<-time.After(24 * time.Hour)
		spend(t, b, budget.Names{Task: "t"}, 10)
		b.SetLimit(budget.ScopeTask, "t", budget.Limit{Tokens: 10}) // another period starts at zero
		spend(t, b, budget.Names{Task: "t"}, 10)
		b.SetLimit(budget.ScopeTask, "t", budget.Limit{})
		spend(t, b, budget.Names{Task: "t"}, 10)

		for _, scope := range []budget.Scope{budget.ScopeGlobal, budget.ScopeShare, budget.ScopeRecovery, 99} {
			b.SetLimit(scope, "t", budget.Limit{Tokens: 1})
		}
		b.SetLimit(budget.ScopeTask, "", budget.Limit{Tokens: 1})
		spend(t, b, budget.Names{Session: "t"}, 10)
		var none *budget.Budget
		none.SetLimit(budget.ScopeTask, "t", budget.Limit{Tokens: 1})
	})
}
