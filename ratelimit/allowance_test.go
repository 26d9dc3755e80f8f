package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/allowancetest"
)

// pass lets fake time pass.
func pass(d time.Duration) { <-time.After(d) }

func TestADayHas23Or25HoursWhenClocksChange(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for _, tt := range []struct {
		name  string
		day   time.Time
		hours int
	}{
		{"spring", time.Date(2026, 3, 29, 0, 0, 0, 0, berlin), 23},
		{"autumn", time.Date(2026, 10, 25, 0, 0, 0, 0, berlin), 25},
		{"another", time.Date(2026, 11, 23, 0, 0, 0, 0, berlin), 24},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 1, Location: berlin})
				pass(time.Until(tt.day))
				_, err := a.Take(t.Context(), "u")
				require.NoError(t, err)
				for range tt.hours {
					_, err = a.Take(t.Context(), "u")
					require.ErrorAs(t, err, new(*ratelimit.AllowanceError))
					pass(time.Hour)
				}
				_, err = a.Take(t.Context(), "u")
				require.NoError(t, err)
			})
		})
	}
}

func TestARefusedTakeTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 5, Per: time.Minute}}, PerDay: 10, Concurrent: 1,
		})
		release, err := a.Take(t.Context(), "u")
		require.NoError(t, err)
		for range 100 {
			_, err = a.Take(t.Context(), "u")
			var refused *ratelimit.AllowanceError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, ratelimit.AllowanceConcurrent, refused.Kind)
		}
		release()
		status, err := a.Status(t.Context(), "u")
		require.NoError(t, err)
		require.Equal(t, []int{1, 4, 9}, []int{status[0].Remaining, status[1].Remaining, status[2].Remaining})
	})
}

func TestARefusalSaysWhichLimitAndUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 2, Per: time.Minute}, {Max: 4, Per: time.Hour}}, Concurrent: 5,
		})
		take := func() error {
			t.Helper()
			_, err := a.Take(t.Context(), "u-1")
			return err
		}
		require.NoError(t, take())
		pass(1500 * time.Millisecond)
		require.NoError(t, take())
		var refused *ratelimit.AllowanceError
		require.ErrorAs(t, take(), &refused)
		require.Equal(t, ratelimit.AllowanceLimit{
			Kind: ratelimit.AllowanceInWindow, Limit: 2, Per: time.Minute, Reset: start.Add(time.Minute).UTC(),
			Wait: 58500 * time.Millisecond,
		}, refused.AllowanceLimit)
		require.Equal(t, "u-1", refused.Key)
		require.Equal(t, fault.RateLimited, fault.Of(refused))
		require.EqualError(t, refused,
			"ratelimit: the allowance of 2 in 1m0s is used up: try again in 59s, at 2000-01-01T00:01:00Z")
		h := http.Header{}
		refused.SetHeader(h)
		require.Equal(t, http.Header{"Ratelimit-Limit": {"2"}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"59"},
			"Retry-After": {"59"}}, h)

		// Two limits refuse: it is about the one that refuses for longer.
		pass(time.Minute)
		require.NoError(t, take())
		require.NoError(t, take())
		require.ErrorAs(t, take(), &refused)
		require.Equal(t, time.Hour, refused.Per)

		// Nobody knows when a run ends.
		pass(59 * time.Minute)
		b := ratelimit.NewAllowance(ratelimit.AllowanceConfig{Concurrent: 1})
		_, err := b.Take(t.Context(), "u-1")
		require.NoError(t, err)
		_, err = b.Take(t.Context(), "u-1")
		require.EqualError(t, err, "ratelimit: the allowance of 1 at a time is used up: try again when one has ended")
		_, known := fault.RetryAfter(err)
		require.False(t, known)
		require.ErrorAs(t, err, &refused)
		h = http.Header{}
		refused.SetHeader(h)
		require.Equal(t, http.Header{"Ratelimit-Limit": {"1"}, "Ratelimit-Remaining": {"0"}}, h)
	})
}

func TestTheHeaderOfAStatusIsThatOfItsTightestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := ratelimit.NewAllowance(
			ratelimit.AllowanceConfig{Windows: []ratelimit.AllowanceWindow{{Max: 20, Per: time.Hour}}, PerDay: 9})
		_, err := a.Take(t.Context(), "u")
		require.NoError(t, err)
		status, err := a.Status(t.Context(), "u")
		require.NoError(t, err)
		h := http.Header{}
		status.SetHeader(h)
		require.Equal(t,
			http.Header{"Ratelimit-Limit": {"9"}, "Ratelimit-Remaining": {"8"}, "Ratelimit-Reset": {"86400"}}, h)

		h = http.Header{}
		ratelimit.AllowanceStatus{}.SetHeader(h)
		require.Empty(t, h)
	})
}

func TestTenThousandGoroutinesLoseNoSlot(t *testing.T) {
	const most, windowed = 50, 4000
	a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
		Windows: []ratelimit.AllowanceWindow{{Max: windowed, Per: 24 * time.Hour}}, Concurrent: most,
	})
	var open, peak, taken atomic.Int64
	var wg sync.WaitGroup
	for range 10_000 {
		wg.Go(func() {
			release, err := a.Take(t.Context(), "u")
			if err != nil {
				return
			}
			n := open.Add(1)
			for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
			}
			taken.Add(1)
			open.Add(-1)
			release()
			release()
		})
	}
	wg.Wait()
	require.LessOrEqual(t, peak.Load(), int64(most))
	status, err := a.Status(t.Context(), "u")
	require.NoError(t, err)
	for _, l := range status {
		if l.Kind == ratelimit.AllowanceConcurrent {
			require.Equal(t, most, l.Remaining)
		} else {
			require.Equal(t, max(windowed-int(taken.Load()), 0), l.Remaining)
		}
	}
}

func TestAClockThatGoesBackwardsAllowsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := ratelimit.NewAllowanceMemory(10)
		a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 2, Per: time.Minute}}, PerDay: 3, Store: store,
		})
		// What another process took, whose clock is two days ahead, is what a clock leaves that
		// goes back by two days.
		ahead := time.Now().Add(48 * time.Hour).UnixNano()
		require.NoError(t,
			store.Update(t.Context(), "u", func(ratelimit.AllowanceState, time.Time) (ratelimit.AllowanceState, error) {
				return ratelimit.AllowanceState{Last: ahead, Takes: []int64{ahead}, Today: 1, DayEnds: ahead +
					int64(24*time.Hour)}, nil
			}))
		_, err := a.Take(t.Context(), "u")
		require.NoError(t, err)
		for range 40 {
			pass(time.Hour)
			_, err = a.Take(t.Context(), "u")
			require.ErrorAs(t, err, new(*ratelimit.AllowanceError))
		}
		pass(8*time.Hour + time.Minute)
		_, err = a.Take(t.Context(), "u")
		require.NoError(t, err)
		_, err = a.Take(t.Context(), "u")
		var refused *ratelimit.AllowanceError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, ratelimit.AllowancePerDay, refused.Kind)
	})
}

func TestALimitThatWasLoweredCountsWhatWasTakenBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := ratelimit.NewAllowanceMemory(10)
		allowance := func(most int) *ratelimit.Allowance {
			window := ratelimit.AllowanceWindow{Max: most, Per: time.Hour}
			return ratelimit.NewAllowance(ratelimit.AllowanceConfig{Windows: []ratelimit.AllowanceWindow{window},
				Store: store})
		}
		before, after := allowance(3), allowance(1)
		for range 3 {
			_, err := before.Take(t.Context(), "u")
			require.NoError(t, err)
			pass(time.Minute)
		}
		_, err := after.Take(t.Context(), "u")
		wait, _ := fault.RetryAfter(err)
		require.Equal(t, 59*time.Minute, wait)
		pass(wait)
		_, err = after.Take(t.Context(), "u")
		require.NoError(t, err)
	})
}

func TestATakeThatIsNeverReleasedEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{Concurrent: 1})
		_, err := a.Take(t.Context(), "u")
		require.NoError(t, err)
		pass(time.Hour - 1)
		_, err = a.Take(t.Context(), "u")
		require.Error(t, err)
		pass(1)
		_, err = a.Take(t.Context(), "u")
		require.NoError(t, err)
	})
}

func TestAReleaseWorksAfterTheEndOfTheContext(t *testing.T) {
	a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{Concurrent: 1})
	ctx, cancel := context.WithCancel(t.Context())
	release, err := a.Take(ctx, "u")
	require.NoError(t, err)
	cancel()
	release()
	_, err = a.Take(ctx, "u")
	require.ErrorIs(t, err, context.Canceled)
	_, err = a.Take(t.Context(), "u")
	require.NoError(t, err)
}

type brokenStore struct{ err error }

func (s brokenStore) Update(context.Context, string, ratelimit.AllowanceChange) error { return s.err }

func TestErrorsOfAStoreAndOfAKey(t *testing.T) {
	broken := errors.New("broken")
	a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 1, Store: brokenStore{broken}})
	_, err := a.Take(t.Context(), "u")
	require.ErrorIs(t, err, broken)
	_, err = a.Status(t.Context(), "u")
	require.ErrorIs(t, err, broken)

	_, err = a.Take(t.Context(), strings.Repeat("x", 513))
	require.ErrorIs(t, err, ratelimit.ErrAllowanceKey)
	require.Equal(t, fault.Invalid, fault.Of(err))
}

func TestAnAllowanceWithoutLimitsAllowsEverything(t *testing.T) {
	a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{})
	for range 1000 {
		_, err := a.Take(t.Context(), "u")
		require.NoError(t, err)
	}
	status, err := a.Status(t.Context(), "u")
	require.NoError(t, err)
	require.Empty(t, status)
}

func TestFiguresOutOfRangeAreAdjusted(t *testing.T) {
	a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
		Windows: []ratelimit.AllowanceWindow{{Max: -1, Per: 0}, {Max: 1 << 40, Per: 1 << 62}}, Concurrent: 1 << 40,
	})
	status, err := a.Status(t.Context(), "u")
	require.NoError(t, err)
	got := make([]string, 0, len(status))
	for _, l := range status {
		got = append(got, fmt.Sprint(l.Limit, l.Per))
	}
	require.Equal(t, []string{"1 1s", "10000 8784h0m0s", "10000 0s"}, got)
}

// BenchmarkAllowance measures a take and its release, and a look at a key that has the most takes.
func BenchmarkAllowance(b *testing.B) {
	b.Run("take and release", func(b *testing.B) {
		a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 1 << 40, Concurrent: 10})
		b.ReportAllocs()
		for b.Loop() {
			release, err := a.Take(b.Context(), "u")
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
	b.Run("status after 10,000 takes", func(b *testing.B) {
		a := ratelimit.NewAllowance(
			ratelimit.AllowanceConfig{Windows: []ratelimit.AllowanceWindow{{Max: 10_000, Per: 24 * time.Hour}}})
		for range 10_000 {
			_, err := a.Take(b.Context(), "u")
			require.NoError(b, err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := a.Status(b.Context(), "u"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestTheStoreOfAllowancesInMemory(t *testing.T) {
	allowancetest.Run(t, func(*testing.T) ratelimit.AllowanceStore { return ratelimit.NewAllowanceMemory(100) })
}

func TestAFullStoreDropsTheLeastRecentKeyWithoutAnOpenTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 1, Per: time.Minute}}, Concurrent: 1, MaxKeys: 3,
		})
		take := func(key string) (func(), error) { return a.Take(t.Context(), key) }
		known := func(key string) bool {
			status, err := a.Status(t.Context(), key)
			require.NoError(t, err)
			return status[0].Remaining == 0
		}
		_, err := take("open") // and stays open
		require.NoError(t, err)
		for _, key := range []string{"first", "second", "third"} {
			release, err := take(key)
			require.NoError(t, err)
			release()
		}
		require.Equal(t, []bool{true, false, true, true},
			[]bool{known("open"), known("first"), known("second"), known("third")})

		for _, key := range []string{"fourth", "fifth"} {
			_, err := take(key)
			require.NoError(t, err)
		}
		_, err = take("sixth")
		require.ErrorIs(t, err, ratelimit.ErrAllowanceFull)
		require.Equal(t, fault.RateLimited, fault.Of(err))
		pass(time.Hour)
		_, err = take("sixth")
		require.NoError(t, err)
	})
}
