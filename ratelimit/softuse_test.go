package ratelimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASoftLimitWarnsExactlyAtItsShare(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		limit int64
		warn  float64
		at    int64 // 0: never
	}{
		{100, 0.55, 55}, // which isn't exact: 0.55 * 100 is more than 55
		{10, 0, 8}, {1, 0, 1}, {3, 0.1, 1}, {1000, 1, 1000}, {1000, 2, 1000}, {1000, -1, 0}, {0, 0.5, 0}, {-5, 0.5, 0},
	} {
		u := newSoftUse([]SoftLimit{{Tokens: c.limit, Warn: c.warn}, {Requests: c.limit, Warn: c.warn}}, now)
		at := int64(0)
		for n := int64(1); n <= 1001 && at == 0; n++ {
			u[0].tokens, u[1].requests = n, n
			require.Equal(t, u[0].crossed(), u[1].crossed())
			if u[0].crossed() {
				at = n
			}
		}
		require.Equal(t, c.at, at, "%v of %d", c.warn, c.limit)
	}
}

func TestSettingTheClockBackDoesNotReopenASoftLimitsPeriod(t *testing.T) {
	monday := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	u := newSoftUse([]SoftLimit{{Requests: 10, Every: 7 * 24 * time.Hour, From: monday}}, monday.Add(time.Second))[0]
	u.requests, u.warned = 9, true
	u.roll(monday.Add(-time.Second))
	u.roll(monday.Add(time.Second))
	require.True(t, u.warned)
	require.EqualValues(t, 9, u.requests)
	u.roll(monday.Add(7 * 24 * time.Hour))
	require.False(t, u.warned)
	require.Zero(t, u.requests)
}

func TestASoftLimitsPeriodThatBeganFarAheadEndsByTheClock(t *testing.T) {
	monday, week := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), 7*24*time.Hour
	u := newSoftUse([]SoftLimit{{Requests: 10, Every: week, From: monday}}, monday.AddDate(60, 0, 0))[0]
	require.True(t, u.From.After(monday.AddDate(59, 11, 0)))
	u.requests, u.warned = 9, true
	u.roll(monday.Add(-time.Second))
	require.True(t, monday.Add(-week).Equal(u.From), u.From)
	require.True(t, u.warned, "what was used counts until then")
	require.EqualValues(t, 9, u.requests)
	u.roll(monday)
	require.True(t, monday.Equal(u.From))
	require.False(t, u.warned)
	require.Zero(t, u.requests)
}

func TestASoftLimitsPeriodFollowsTheWallClock(t *testing.T) {
	now := time.Now()
	require.NotEqual(t, now, now.Round(0), "it has a monotonic reading, which stands still while the machine sleeps")
	u := newSoftUse([]SoftLimit{{Requests: 10}}, now)[0]
	require.Equal(t, now.Round(0), u.From)
	u.roll(now.Add(49 * time.Hour))
	require.Equal(t, now.Round(0).Add(48*time.Hour), u.From)
	u = newSoftUse([]SoftLimit{{Requests: 10, From: now}}, now)[0]
	require.Equal(t, now.Round(0), u.From, "whoever has read it")
}
