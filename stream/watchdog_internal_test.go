package stream

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestALimitBelowTheClosestLookIsExact: a Watchdog checks at most every millisecond, but a shorter
// limit is still exact.
func TestALimitBelowTheClosestLookIsExact(t *testing.T) {
	for name, limits := range map[string]Timeouts{"first": {First: closest / 10, Idle: time.Hour},
		"idle": {Idle: closest / 10}, "total": {Idle: time.Hour, Total: closest / 10}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var dog Watchdog
				began := time.Now()
				<-dog.Begin(t.Context(), limits).Done()
				require.Equal(t, closest/10, time.Since(began))
				require.NotNil(t, dog.End())
			})
		})
	}
}

// TestALookThatComesLateIsOneMoreLook: the timer of a call fires when the call ends, and checks the
// next call.
func TestALookThatComesLateIsOneMoreLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dog Watchdog
		dog.look()
		dog.Begin(t.Context(), Timeouts{Idle: time.Second})
		dog.End()
		dog.look()
		dog.Begin(t.Context(), Timeouts{})
		dog.look()
		dog.End()
		began := time.Now()
		ctx := dog.Begin(t.Context(), Timeouts{Idle: time.Second})
		dog.look()
		<-time.After(time.Second / 10)
		dog.look()
		<-ctx.Done()
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, error(dog.End()), context.Cause(ctx))
		dog.look()
	})
}
