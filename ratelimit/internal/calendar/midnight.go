package calendar

import "time"

// Midnight returns the first instant of a date, which may be out of range as for [time.Date].
// time.Date isn't enough where midnight occurs twice or not at all: it returns either, or an
// instant of the day before.
func Midnight(year int, month time.Month, day int, in *time.Location) time.Time {
	guess := time.Date(year, month, day, 0, 0, 0, 0, in)
	clock := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()

	// The date begins in the first stretch of constant offset that has an instant of it, or of a
	// later date.
	from, to := guess.ZoneBounds()
	if !from.IsZero() {
		if t, ok := firstWithin(from.Add(-1), clock); ok {
			return t
		}
	}
	if t, ok := firstWithin(guess, clock); ok || to.IsZero() {
		return t
	}
	t, _ := firstWithin(to, clock)
	return t
}

// firstWithin returns the first instant of the stretch of constant offset around t at which clocks
// show the given time (in seconds, as if it were UTC) or a later one, and whether there is one.
func firstWithin(t time.Time, clock int64) (time.Time, bool) {
	from, to := t.ZoneBounds()
	_, offset := t.Zone()
	first := time.Unix(clock-int64(offset), 0).In(t.Location())
	if first.Before(from) { // never, if from is zero
		first = from
	}
	return first, to.IsZero() || first.Before(to)
}
