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
