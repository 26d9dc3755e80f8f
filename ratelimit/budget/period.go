package budget

import (
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/calendar"
)

// A Period says when the spending under a [Limit] restarts at zero: [Day], [Week], [Month],
// [Every], or never.
//
// A period begins with its first instant and ends before the first instant of the next. Days, weeks
// and months are those of the calendar in Config.Location, so a day has 23 or 25 hours when clocks
// change. If midnight doesn't exist on a day, the day begins with its first instant; if midnight
// occurs twice, with the first.
//
// Nothing runs at the end of a period: older spending is dropped when the limit is next checked.
type Period int64

// The periods of the calendar, and none.
const (
	Lifetime Period = 0  // never restarts
	Day      Period = -1 // from midnight
	Week     Period = -2 // from Monday's midnight, as in ISO 8601
	Month    Period = -3 // from the midnight of the first
)

// shortest is the shortest period: a shorter one would hardly limit anything.
const shortest = time.Second

// Every returns a period of the fixed length d, independent of the time zone. Periods are counted
// from midnight of Monday, 1 January 2001, so that all processes agree on them: Every(time.Hour)
// begins with the hour and Every(14*24*time.Hour) on Mondays, as long as clocks aren't changed. A d
// under a second is taken as a second, a d of 0 or less as [Lifetime].
func Every(d time.Duration) Period {
	if d <= 0 {
		return Lifetime
	}
	return Period(max(d, shortest))
}

// String returns "lifetime", "day", "week", "month", or for example "1h30m0s".
func (p Period) String() string {
	switch {
	case p > 0:
		return time.Duration(p).String()
	case p == Day:
		return "day"
	case p == Week:
		return "week"
	case p == Month:
		return "month"
	}
	return "lifetime"
}

// ends returns the first instant after the period that contains now, or the zero Time if it never
// ends.
func (p Period) ends(now time.Time, in *time.Location) time.Time {
	switch {
	case p > 0:
		d := max(time.Duration(p), shortest)
		first := time.Date(2001, 1, 1, 0, 0, 0, 0, in)
		since := now.Sub(first)
		n := since / d
		if since%d < 0 { // division rounds towards zero
			n--
		}
		return first.Add(n * d).Add(d)
	case p < Month || p == Lifetime:
		return time.Time{}
	}
	year, month, day := now.In(in).Date()
	step := 1
	switch p {
	case Week:
		weekday := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()
		day, step = day-(int(weekday)+6)%7, 7
	case Month:
		day, step = 1, 0
	}
	// The date may go back when clocks change. Then now is in a period that has begun before.
	for {
		day += step
		if p == Month {
			month++
		}
		if end := calendar.Midnight(year, month, day, in); now.Before(end) {
			return end
		}
	}
}

// longest returns the longest length of the period, ignoring clock changes; 0 for [Lifetime].
func (p Period) longest() time.Duration {
	const day = 24 * time.Hour
	switch {
	case p > 0:
		return max(time.Duration(p), shortest)
	case p == Day:
		return day
	case p == Week:
		return 7 * day
	case p == Month:
		return 31 * day
	}
	return 0
}
