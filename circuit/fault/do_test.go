package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

func ExampleDo() {
	attempt := 0
	page, err := fault.Do(context.Background(), map[fault.Class]fault.Retry{fault.Transient: {Min: time.Millisecond}},
		func(context.Context) (string, error) {
			if attempt++; attempt < 3 {
				return "", fault.New(fault.Transient, "connection reset")
			}
			return "Hello", nil
		})
	fmt.Println(page, err, attempt)
	// Output: Hello <nil> 3
}

// say returns errors in turn, the last one again and again.
func say(calls *int, list ...error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		*calls++
		return *calls, list[min(*calls, len(list))-1]
	}
}

func TestDoTriesAgainByTheClassOfTheFailure(t *testing.T) {
	of := func(c fault.Class) error { return fault.New(c, c.String()) }
	later := func(d time.Duration) error { return fault.WithRetryAfter(of(fault.Transient), d) }
	exactly := func(attempts int) fault.Retry {
		return fault.Retry{Attempts: attempts, Min: time.Second, Max: time.Second, Exact: true}
	}
	for name, c := range map[string]struct {
		retries map[fault.Class]fault.Retry
		list    []error
		calls   int
		takes   time.Duration // within 20 %
	}{
		"success":            {nil, []error{nil}, 1, 0},
		"permanent":          {nil, []error{of(fault.Permanent)}, 1, 0},
		"unknown":            {nil, []error{errors.New("x")}, 1, 0},
		"canceled":           {nil, []error{context.Canceled}, 1, 0},
		"transient":          {nil, []error{of(fault.Transient)}, 5, 1500 * time.Millisecond},
		"rate limited":       {nil, []error{of(fault.RateLimited)}, 10, 213 * time.Second},
		"degraded":           {nil, []error{of(fault.Degraded)}, 3, 15 * time.Second},
		"then permanent":     {nil, []error{of(fault.Transient), of(fault.Invalid)}, 2, 100 * time.Millisecond},
		"advice":             {nil, []error{later(time.Minute), nil}, 2, time.Minute},
		"too long an advice": {nil, []error{later(time.Hour)}, 1, 0},
		"fewer": {map[fault.Class]fault.Retry{fault.Transient: exactly(2)}, []error{of(fault.Transient)},
			2, time.Second},
		"others, too": {map[fault.Class]fault.Retry{fault.NotFound: exactly(3)}, []error{of(fault.NotFound)},
			3, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, calls := time.Now(), 0
			n, err := fault.Do(t.Context(), c.retries, say(&calls, c.list...))
			require.Equal(t, c.list[len(c.list)-1], err, name)
			require.Equal(t, c.calls, n, name)
			require.InDelta(t, c.takes, time.Since(began), .2*float64(c.takes), name)
		})
	}
}

func TestDoStopsWithItsContext(t *testing.T) {
	down := fault.WithRetryAfter(fault.New(fault.Degraded, "down"), time.Minute)
	synctest.Test(t, func(t *testing.T) {
		calls, began, why := 0, time.Now(), errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := fault.Do(ctx, nil, say(&calls, down))
		require.ErrorIs(t, err, why)
		require.ErrorIs(t, err, down)
		require.Equal(t, time.Second, time.Since(began))

		_, err = fault.Do(ctx, nil, say(&calls, down))
		require.Equal(t, down, err, "not tried again")

		short, cancelShort := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancelShort()
		began = time.Now()
		_, err = fault.Do(short, nil, say(&calls, down))
		require.Equal(t, down, err)
		require.Zero(t, time.Since(began), "the wait would end after the deadline")
		require.Equal(t, 3, calls)
	})
}

func TestDoSaysWhatIsWrongWithItsArguments(t *testing.T) {
	_, err := fault.Do[int](t.Context(), nil, nil)
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, err = fault.Do(t.Context(), map[fault.Class]fault.Retry{fault.None: {}},
		func(context.Context) (int, error) { panic("called") })
	require.ErrorContains(t, err, "use a class of failures")
	var noContext context.Context
	n, err := fault.Do(noContext, nil, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, n)
	require.PanicsWithValue(t, "x", func() {
		_, _ = fault.Do(t.Context(), nil, func(context.Context) (int, error) { panic("x") })
	})
}
