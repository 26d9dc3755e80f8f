package budget_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

// at advances the bubble's time to t.
func at(t time.Time) { <-time.After(time.Until(t)) }

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	require.NoError(t, err)
	return l
}

func TestPeriodsFollowTheCalendarOfTheirTimeZone(t *testing.T) {
	const form = "2006-01-02 15:04:05"
	for _, tt := range []struct {
		name      string
		period    budget.Period
		zone      string
		now, want string // want in UTC
	}{
		{"a day of 24 hours", budget.Day, "Europe/Berlin", "2026-07-01 13:00:00", "2026-07-01 22:00:00"},
		{"a day of 23 hours", budget.Day, "Europe/Berlin", "2026-03-29 00:00:00", "2026-03-29 22:00:00"},
		{"a day of 25 hours", budget.Day, "Europe/Berlin", "2026-10-25 00:00:00", "2026-10-25 23:00:00"},
		{"a week with a day of 23 hours", budget.Week, "Europe/Berlin", "2026-03-23 00:00:00", "2026-03-29 22:00:00"},
		{"a week that ends on Sunday night", budget.Week, "", "2026-11-22 23:59:59", "2026-11-23 00:00:00"},
		{"a week over a new year", budget.Week, "", "2026-12-31 12:00:00", "2027-01-04 00:00:00"},
		{"a month of 31 days", budget.Month, "", "2026-01-31 23:59:59", "2026-02-01 00:00:00"},
		{"a month of 28 days", budget.Month, "", "2026-02-01 00:00:00", "2026-03-01 00:00:00"},
		{"a month of 29 days", budget.Month, "", "2028-02-28 00:00:00", "2028-03-01 00:00:00"},
		{"December", budget.Month, "Europe/Berlin", "2026-12-31 23:30:00", "2026-12-31 23:00:00"},
		{"a month with a change of clocks", budget.Month, "Europe/Berlin", "2026-10-01 00:00:00",
			"2026-10-31 23:00:00"},
		{"midnight is left out", budget.Day, "America/Sao_Paulo", "2018-11-03 12:00:00", "2018-11-04 03:00:00"},
		{"after the midnight that was left out", budget.Day, "America/Sao_Paulo", "2018-11-04 01:00:00",
			"2018-11-05 02:00:00"},
		{"midnight comes twice", budget.Day, "America/Havana", "2026-10-31 12:00:00", "2026-11-01 04:00:00"},
		{"midnight comes twice, east of Greenwich", budget.Day, "Asia/Amman", "2020-10-29 12:00:00",
			"2020-10-29 21:00:00"},
		{"the date goes back", budget.Day, "America/St_Johns", "2010-11-06 12:00:00", "2010-11-07 02:30:00"},
		{"a day that doesn't exist", budget.Day, "Pacific/Apia", "2011-12-29 12:00:00", "2011-12-30 10:00:00"},
		{"an hour", budget.Every(time.Hour), "Asia/Kolkata", "2026-11-21 10:15:00", "2026-11-21 05:30:00"},
		{"14 days", budget.Every(14 * 24 * time.Hour), "", "2001-01-10 00:00:00", "2001-01-15 00:00:00"},
		{"before they are counted from", budget.Every(time.Hour), "", "2000-02-01 10:59:59", "2000-02-01 11:00:00"},
		{"less than a second", budget.Every(1), "", "2026-11-21 10:15:00", "2026-11-21 10:15:01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				place, utc := zone(t, tt.zone), time.UTC
				now, err := time.ParseInLocation(form, tt.now, place)
				require.NoError(t, err)
				want, err := time.ParseInLocation(form, tt.want, utc)
				require.NoError(t, err)
				at(now)
				b := budget.New(budget.Config{Location: place, Session: budget.Limit{Tokens: 10, Period: tt.period}})
				require.Equal(t, want.Format(form), b.Status(budget.ScopeSession, "s").Resets.UTC().Format(form))

				reserve(t, b, tokens(10)).Settle(10, 0)
				require.True(t, refused(t, b, tokens(1)).Resets.Equal(want))
				at(want.Add(-1))
				refused(t, b, tokens(1))
				at(want)
				reserve(t, b, tokens(10)).Settle(10, 0)
				refused(t, b, tokens(1))
			})
		})
	}
}

func TestADateThatGoesBackDoesNotReopenAPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Clocks went from 00:01 back to 23:01, so the new date lasted for a minute.
		place := zone(t, "America/St_Johns")
		b := budget.New(budget.Config{Location: place, Session: budget.Limit{Tokens: 1, Period: budget.Day}})
		at(time.Date(2010, 11, 7, 2, 30, 30, 0, time.UTC))
		reserve(t, b, tokens(1)).Settle(1, 0)
		at(time.Date(2010, 11, 7, 2, 40, 0, 0, time.UTC))
		require.Equal(t, 6, time.Now().In(place).Day())
		end := time.Date(2010, 11, 8, 3, 30, 0, 0, time.UTC)
		require.True(t, refused(t, b, tokens(1)).Resets.Equal(end))
		fresh := budget.New(budget.Config{Location: place, Session: budget.Limit{Tokens: 1, Period: budget.Day}})
		require.True(t, fresh.Status(budget.ScopeSession, "s").Resets.Equal(end))
	})
}

func TestEveryDayOfEveryTimeZoneEndsWhereTheNextBegins(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/Sao_Paulo", "America/Havana", "Africa/Cairo", "Asia/Tehran",
		"Atlantic/Azores",
		"Asia/Beirut", "Asia/Amman", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				place := zone(t, name)
				at(time.Date(2009, 12, 31, 12, 0, 0, 0, time.UTC))
				b := budget.New(budget.Config{Location: place, Session: budget.Limit{Tokens: 1, Period: budget.Day}})
				for days := 0; days < 2000; days++ {
					end := b.Status(budget.ScopeSession, "s").Resets
					length := time.Until(end)
					if days > 0 {
						require.True(t, length >= 22*time.Hour && length <= 26*time.Hour, "%s: %s", end, length)
					}
					at(end)
					// It is the first instant of its date and of no other date.
					require.NotEqual(t, end.In(place).YearDay(), end.Add(-1).In(place).YearDay(), "%s", end)
				}
			})
		})
	}
}

func TestALifetimeNeverEnds(t *testing.T) {
	for _, p := range []budget.Period{budget.Lifetime, budget.Every(0), budget.Every(-time.Hour), -4, math.MinInt64} {
		require.Equal(t, "lifetime", p.String())
		synctest.Test(t, func(t *testing.T) {
			b := budget.New(budget.Config{Session: budget.Limit{Tokens: 1, Period: p}})
			reserve(t, b, tokens(1)).Settle(1, 0)
			at(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
			require.Zero(t, refused(t, b, tokens(1)).Resets)
		})
	}
	require.Equal(t, []string{"day", "week", "month", "1h30m0s", "1s", "2562047h47m16.854775807s"},
		[]string{budget.Day.String(), budget.Week.String(),
			budget.Month.String(), budget.Every(90 * time.Minute).String(), budget.Every(1).String(),
			budget.Every(math.MaxInt64).String()})
	budget.New(budget.Config{Global: budget.Limit{Tokens: 1, Period: budget.Every(math.MaxInt64)}})
}

func TestReservationsOpenAtTheEndOfAPeriodCountInTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100, Period: budget.Day}})
		reserve(t, b, tokens(40)).Settle(40, 0)
		open := reserve(t, b, tokens(60))
		<-time.After(24 * time.Hour)
		s := b.Status(budget.ScopeGlobal, "")
		require.Zero(t, s.Spent)
		require.Equal(t, int64(60), s.Reserved.Tokens)
		require.NoError(t, open.TopUp(40, 0))
		require.Error(t, open.TopUp(1, 0))
		open.Settle(90, 0)
		s = b.Status(budget.ScopeGlobal, "")
		require.Equal(t, int64(90), s.Spent.Tokens)
		require.Zero(t, s.Reserved)
	})
}

func TestTheEndOfAPeriodLetsWaitingRequestsProceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(budget.Config{Global: budget.Limit{Tokens: 100, Period: budget.Day},
			Session: budget.Limit{Tokens: 100, Period: budget.Week}})
		reserve(t, b, budget.ReserveRequest{Tokens: 40}).Settle(40, 0)
		open := reserve(t, b, tokens(50))
		begun := time.Now()
		second := reserve(t, b, tokens(50)) // no call is settled: midnight admits it
		require.Equal(t, 24*time.Hour, time.Since(begun))
		open.Settle(0, 0)
		second.Settle(0, 0)
	})
}
