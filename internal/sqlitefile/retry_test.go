package sqlitefile_test

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

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

// SQLite says "interrupted", and a transaction that it is done; the caller reads that the context
// has ended.
func TestAnInterruptedTryReturnsTheContextsError(t *testing.T) {
	for _, was := range []error{interrupted(t), sql.ErrTxDone} {
		require.NotErrorIs(t, was, context.Canceled)
		ctx, cancel := context.WithCancel(t.Context())
		require.Equal(t, was, sqlitefile.Retry(ctx, time.Second, func() error { return was }), "not by this context")
		err := sqlitefile.Retry(ctx, time.Second, func() error { cancel(); return was })
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, was)
	}
}

// interrupted returns the driver's error for a query that is interrupted. When the driver doesn't
// put the context's error in its place depends on time, so this is another of its errors, changed.
func interrupted(t *testing.T) error {
	t.Helper()
	var e *sqlite.Error
	require.ErrorAs(t, busy(t), &e)
	code := reflect.ValueOf(e).Elem().FieldByName("code")
	*(*int)(unsafe.Pointer(code.UnsafeAddr())) = sqlite3.SQLITE_INTERRUPT
	require.Equal(t, sqlite3.SQLITE_INTERRUPT, e.Code())
	return e
}

func TestTheFirstTryHasNoOverhead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	try := func() error { return nil }
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = sqlitefile.Retry(ctx, time.Second, try) }))
}
