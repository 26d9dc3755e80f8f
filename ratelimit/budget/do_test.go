package budget_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// Ten calls of a paid service, of which the third no longer fits.
func ExampleDo() {
	limits := budget.New(budget.Config{Session: budget.Limit{Tokens: 250}})
	for n := range 10 {
		_, err := budget.Do(context.Background(), limits, budget.ReserveRequest{
			Names: budget.Names{Session: "s-1"}, Tokens: 100,
		}, func(_ context.Context, r *budget.Reservation) (string, error) {
			r.Settle(80, 0) // what the service says
			return "done", nil
		})
		if errors.Is(err, budget.ErrExceeded) {
			fmt.Println("calls made:", n)
			return
		}
	}
	// Output: calls made: 2
}

func TestDoBooksWhatNobodySettles(t *testing.T) {
	failed := errors.New("no")
	for name, c := range map[string]struct {
		fn   func(r *budget.Reservation) (int, error)
		want int64
	}{
		"settled":            {func(r *budget.Reservation) (int, error) { r.Settle(7, 0); return 1, nil }, 7},
		"settled, failed":    {func(r *budget.Reservation) (int, error) { r.Settle(0, 0); return 0, failed }, 0},
		"topped up":          {func(r *budget.Reservation) (int, error) { return 1, r.TopUp(20, 0) }, 120},
		"not settled":        {func(*budget.Reservation) (int, error) { return 1, nil }, 100},
		"failed":             {func(*budget.Reservation) (int, error) { return 0, failed }, 100},
		"panics":             {func(*budget.Reservation) (int, error) { panic("x") }, 100},
		"ends its goroutine": {func(*budget.Reservation) (int, error) { runtime.Goexit(); return 0, nil }, 100},
	} {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 1000}})
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			_, _ = budget.Do(t.Context(), b, budget.ReserveRequest{Tokens: 100},
				func(_ context.Context, r *budget.Reservation) (int, error) { return c.fn(r) })
		}()
		<-done
		status := b.Status(budget.ScopeGlobal, "")
		require.Equal(t, c.want, status.Spent.Tokens, name)
		require.Zero(t, status.Reserved.Tokens, name)
	}
}

func TestDoCallsNothingThatDoesNotFit(t *testing.T) {
	b := budget.New(budget.Config{Global: budget.Limit{Tokens: 10}})
	_, err := budget.Do(t.Context(), b, budget.ReserveRequest{Tokens: 100},
		func(context.Context, *budget.Reservation) (int, error) { panic("called") })
	require.ErrorIs(t, err, budget.ErrExceeded)
	_, err = budget.Do[int](t.Context(), b, budget.ReserveRequest{}, nil)
	require.Equal(t, fault.Invalid, fault.Of(err))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = budget.Do(ctx, b, budget.ReserveRequest{},
		func(context.Context, *budget.Reservation) (int, error) { panic("called") })
	require.ErrorIs(t, err, context.Canceled)
	n, err := budget.Do(t.Context(), nil, budget.ReserveRequest{Tokens: 5},
		func(context.Context, *budget.Reservation) (int, error) { return 3, nil })
	require.NoError(t, err)
	require.Equal(t, 3, n, "without a budget there are no limits")
}
