package circuit_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

// fails makes a call with Do that returns err.
func fails(ctx context.Context, b *circuit.Breaker, err error) error {
	_, got := circuit.Do(ctx, b, func(context.Context) (int, error) { return 0, err })
	return got
}

func TestDoReturnsWhatTheCallDoes(t *testing.T) {
	b := circuit.New("b", circuit.Config{Consecutive: 2})
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "mine")
	n, err := circuit.Do(ctx, b, func(ctx context.Context) (int, error) {
		require.Equal(t, "mine", ctx.Value(key{}))
		return 3, errDown
	})
	require.Equal(t, 3, n)
	require.Same(t, errDown, err)
	require.Same(t, errDown, fails(t.Context(), b, errDown))

	n, err = circuit.Do(t.Context(), b, func(context.Context) (int, error) {
		t.Error("called though the breaker is open")
		return 3, nil
	})
	var open *circuit.OpenError
	require.ErrorAs(t, err, &open)
	require.Zero(t, n)
}

func TestACallOfACanceledCallerIsNotCounted(t *testing.T) {
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("preempted"))
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()

	b := circuit.New("b", circuit.Config{Consecutive: 1})
	require.Same(t, errDown, fails(gone, b, errDown))
	require.Equal(t, circuit.Snapshot{Name: "b"}, b.Snapshot())
	require.NoError(t, fails(gone, b, nil))
	require.Equal(t, 1, b.Snapshot().Results, "a success is one")
	require.Error(t, fails(late, b, context.Cause(late)))
	require.Equal(t, circuit.Open, b.State(), "running out of time is a failure, whoever set the deadline")
}

func TestACallThatPanicsOrEndsItsGoroutineEndsItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, circuit.Config{ClosesAfter: 1})
		require.PanicsWithValue(t, "mine", func() {
			_, _ = circuit.Do(t.Context(), b, func(context.Context) (int, error) {
				require.Equal(t, 1, b.Snapshot().Probes)
				panic("mine")
			})
		})
		require.Zero(t, b.Snapshot().Probes)
		require.Equal(t, circuit.HalfOpen, b.State())

		ended, returned := make(chan struct{}), false
		go func() {
			defer close(ended)
			_, _ = circuit.Do(t.Context(), b, func(context.Context) (int, error) {
				runtime.Goexit() // as FailNow of a user's fake does
				return 0, nil
			})
			returned = true
		}()
		<-ended
		require.False(t, returned)
		require.Zero(t, b.Snapshot().Probes)
		require.Equal(t, circuit.HalfOpen, b.State())
		results(t, b, ".")
		require.Equal(t, circuit.Closed, b.State())
	})
}

func TestDoWithoutAFunctionIsAnError(t *testing.T) {
	b := circuit.New("b", circuit.Config{})
	_, err := circuit.Do[int](t.Context(), b, nil)
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.NotPanics(t, func() {
		var none context.Context
		require.Same(t, errDown, fails(none, b, errDown))
	})
}
