package stream_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream"
)

type nothing struct{}

var errStopped = errors.New("stopped")

// TestTheContextOfACallSaysWhyItEnded checks the cause for all ends and orders.
func TestTheContextOfACallSaysWhyItEnded(t *testing.T) {
	limits := stream.Timeouts{Idle: time.Second}
	synctest.Test(t, func(t *testing.T) {
		check := func(ctx context.Context, err, cause error) {
			t.Helper()
			sub, stop := context.WithCancel(ctx)
			defer stop()
			for _, ctx := range []context.Context{ctx, sub} {
				require.Equal(t, err, ctx.Err())
				require.Equal(t, cause, context.Cause(ctx))
				require.Equal(t, "v", ctx.Value(nothing{}))
				<-ctx.Done()
			}
		}
		parent := context.WithValue(t.Context(), nothing{}, "v")
		var dog stream.Watchdog
		defer dog.End()

		ctx := dog.Begin(parent, limits)
		require.NoError(t, ctx.Err())
		require.NoError(t, context.Cause(ctx))
		dog.End()
		check(ctx, context.Canceled, context.Canceled)

		ctx = dog.Begin(parent, limits)
		<-time.After(time.Minute)
		check(ctx, context.Canceled, dog.Fired())

		over, stop := context.WithCancelCause(parent)
		ctx = dog.Begin(over, limits)
		stop(errStopped)
		dog.End()
		check(ctx, context.Canceled, errStopped)

		over, stop = context.WithCancelCause(parent)
		ctx = dog.Begin(over, limits)
		dog.End()
		stop(errStopped)
		check(ctx, context.Canceled, context.Canceled)

		short, cancel := context.WithTimeout(parent, time.Second/2)
		defer cancel()
		ctx = dog.Begin(short, limits)
		at, _ := ctx.Deadline()
		require.Equal(t, time.Second/2, time.Until(at))
		<-time.After(time.Minute)
		dog.End()
		check(ctx, context.DeadlineExceeded, context.DeadlineExceeded)
	})
}

func TestContextsDerivedFromThatOfACallCostNoGoroutine(t *testing.T) {
	var dog stream.Watchdog
	defer dog.End()
	ctx := dog.Begin(t.Context(), stream.Timeouts{Idle: time.Hour})
	before := runtime.NumGoroutine()
	var last context.Context
	for range 100 {
		sub, stop := context.WithCancel(ctx)
		defer stop()
		last = sub
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before) // one of an earlier test may have ended
	dog.End()
	require.Error(t, last.Err())
}
