package fault

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestAdvice is the longest wait that is returned. No caller waits for a year, and adding to a
// year can't overflow.
const longestAdvice = 365 * 24 * time.Hour

// RetryAfter returns how long to wait before retrying the call that failed with err, and whether
// there is such an advice. It comes from the first error, in the order of [Of], whose method
//
//	RetryAfter() (time.Duration, bool)
//
// returns true. 0 with true means at once. The duration is never negative.
func RetryAfter(err error) (wait time.Duration, ok bool) { return find(err, advice) }

func advice(err error) (time.Duration, bool) {
	e, is := err.(interface{ RetryAfter() (time.Duration, bool) })
	if !is {
		return 0, false
	}
	wait, ok := e.RetryAfter()
	return max(wait, 0), ok
}

// WithRetryAfter returns err with the advice to wait for d, which [RetryAfter] finds before any
// other advice in err. A negative d becomes 0, at once. Text, class and chain are those of err.
// WithRetryAfter of nil is nil.
func WithRetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &advised{err: err, wait: max(d, 0)}
}

type advised struct {
	err  error
	wait time.Duration
}

func (e *advised) Error() string                     { return e.err.Error() }
func (e *advised) Unwrap() error                     { return e.err }
func (e *advised) RetryAfter() (time.Duration, bool) { return e.wait, true }

// ParseRetryAfter returns how long the server that sent h asks to wait, counted from now. It knows
// three forms:
//
//	Retry-After-Ms: 1500                          milliseconds, with or without a fraction; wins over Retry-After
//	Retry-After: 1.5                              seconds, with or without a fraction
//	Retry-After: Sat, 21 Nov 2026 09:20:00 GMT    a date, in each of the three formats of HTTP
//
// A value that can't be parsed or isn't finite, a figure of 0 or less, and a date that isn't after
// now are no advice: it returns 0 and false. A duration returned with true is more than 0 and at
// most 365 days; a longer wait is cut to that.
func ParseRetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if wait, ok = parseFigure(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait, true
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if wait, ok = parseFigure(value, time.Second); ok {
		return wait, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return bounded(at.Sub(now)) // Sub saturates
}

func parseFigure(value string, unit time.Duration) (time.Duration, bool) {
	figure, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(figure) || math.IsInf(figure, 0) {
		return 0, false
	}
	if figure > float64(longestAdvice/unit) {
		return longestAdvice, true
	}
	return bounded(time.Duration(figure * float64(unit)))
}

func bounded(wait time.Duration) (time.Duration, bool) {
	if wait <= 0 {
		return 0, false
	}
	return min(wait, longestAdvice), true
}
