package stream

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/alarm"
)

// TestAClockThatAWatchdogNoLongerHasEndsNothing: it rings late, when the next call has another.
func TestAClockThatAWatchdogNoLongerHasEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dog Watchdog
		old, clock := alarm.New(), alarm.New()
		dog.Share(old)
		dog.Share(clock)
		ctx := dog.Begin(t.Context(), Timeouts{Idle: time.Second})
		clock.Stop() // so that nobody but the test rings
		<-time.After(time.Minute)
		(*ringer)(&dog).Ring(old)
		require.NoError(t, ctx.Err())
		(*ringer)(&dog).Ring(clock)
		require.Error(t, ctx.Err())
		require.NotNil(t, dog.End())
	})
}

func TestACallThatIsOverLeavesNoTimer(t *testing.T) {
	var dog Watchdog
	for range 2 {
		dog.Begin(t.Context(), Timeouts{Idle: time.Hour})
		require.True(t, dog.clock.Running())
		require.Nil(t, dog.End())
		require.False(t, dog.clock.Running())
	}
}

// TestALimitBelowTheClosestLookIsExact: a Watchdog looks no more often than every millisecond, but in time.
func TestALimitBelowTheClosestLookIsExact(t *testing.T) {
	for name, limits := range map[string]Timeouts{"first": {First: closest / 10, Idle: time.Hour}, "idle": {Idle: closest / 10}, "total": {Idle: time.Hour, Total: closest / 10}} {
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
