package sqlitefile_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

func TestABusyFileIsTriedAgainUntilItIsFreeOrTheTimeoutEnds(t *testing.T) {
	busy := busy(t)
	other := errors.New("other")
	for name, c := range map[string]struct {
		patience time.Duration
		free     time.Duration // when it is
		then     error
		want     error
		tries    [2]int // at least, at most
	}{
		"free":             {time.Second, 0, nil, nil, [2]int{1, 1}},
		"free in a second": {time.Minute, time.Second, nil, nil, [2]int{200, 1001}},
		"another error":    {time.Minute, time.Second, other, other, [2]int{200, 1001}},
		"too long":         {time.Second, time.Minute, nil, busy, [2]int{200, 1001}},
		"short patience":   {time.Nanosecond, time.Minute, nil, busy, [2]int{2, 2}},
		"no patience":      {0, time.Minute, nil, busy, [2]int{1, 1}},
		"less than none":   {-1, time.Minute, nil, busy, [2]int{1, 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, tries := time.Now(), 0
			err := sqlitefile.Retry(t.Context(), c.patience, func() error {
				if tries++; time.Since(began) < c.free {
					return busy
				}
				return c.then
			})
			require.ErrorIs(t, err, c.want, name)
			require.GreaterOrEqual(t, tries, c.tries[0], name)
			require.LessOrEqual(t, tries, c.tries[1], name)
			require.Less(t, time.Since(began), max(0, min(c.patience, c.free))+5*time.Millisecond, name)
		})
	}
}

func TestWaitingForABusyFileEndsWithTheContext(t *testing.T) {
	busy := busy(t)
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		try := func() error { tries++; return busy }
		err := sqlitefile.Retry(ctx, time.Hour, try)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, sqlitefile.Busy(err), "it says what it waited for")
		require.Equal(t, time.Second, time.Since(began))
		require.Greater(t, tries, 200)
		tries = 0
		require.Equal(t, context.DeadlineExceeded, sqlitefile.Retry(ctx, time.Hour, try))
		require.Zero(t, tries, "nothing is tried once the context has ended")
	})
}

func TestTheFirstTryHasNoOverhead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	try := func() error { return nil }
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = sqlitefile.Retry(ctx, time.Second, try) }))
}
