package ratelimit

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An AllowanceKind is a kind of limit of an [Allowance].
type AllowanceKind string

// The kinds of limits.
const (
	AllowanceInWindow   AllowanceKind = "window"     // of AllowanceConfig.Windows
	AllowancePerDay     AllowanceKind = "day"        // AllowanceConfig.PerDay
	AllowanceConcurrent AllowanceKind = "concurrent" // AllowanceConfig.Concurrent
)

// An AllowanceLimit is one limit of a key, as it stood when it was looked at.
type AllowanceLimit struct {
	Kind      AllowanceKind
	Limit     int           // the most takes
	Per       time.Duration // the length of the window; 0 for other kinds
	Remaining int           // the takes that are left
	// Reset is when Remaining next grows, if no take is released before: when the oldest take
	// leaves the window, or when the day ends. If none is left, it is when one can be taken again.
	// It is zero if nothing is taken, and for AllowanceConcurrent, where it depends on a release.
	Reset time.Time
	Wait  time.Duration // until Reset; 0 if that is zero
}

// SetHeader sets the fields by which a server tells its clients of l: RateLimit-Limit,
// RateLimit-Remaining and RateLimit-Reset in seconds, as in the IETF's
// draft-ietf-httpapi-ratelimit-headers-06, and Retry-After if none is left. Seconds are rounded up.
// It omits RateLimit-Reset and Retry-After if Reset is zero.
func (l AllowanceLimit) SetHeader(h http.Header) {
	h.Set("RateLimit-Limit", strconv.Itoa(l.Limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(l.Remaining))
	if l.Reset.IsZero() {
		return
	}
	seconds := strconv.FormatInt(int64((l.Wait+time.Second-1)/time.Second), 10)
	h.Set("RateLimit-Reset", seconds)
	if l.Remaining == 0 {
		h.Set("Retry-After", seconds)
	}
}

// what describes the limit, without its state.
func (l AllowanceLimit) what() string {
	switch l.Kind {
	case AllowanceInWindow:
		return fmt.Sprintf("%d in %v", l.Limit, l.Per)
	case AllowancePerDay:
		return fmt.Sprintf("%d a day", l.Limit)
	}
	return fmt.Sprintf("%d at a time", l.Limit)
}

// tighter reports whether l leaves less than m: fewer takes, or as many for longer.
func (l AllowanceLimit) tighter(m AllowanceLimit) bool {
	if l.Remaining != m.Remaining {
		return l.Remaining < m.Remaining
	}
	return l.Wait > m.Wait
}

// An AllowanceStatus has the limits of a key, the tightest first: the one with the fewest takes
// left, and of those with equally many the one that resets last. It is empty if the Allowance has
// no limits.
type AllowanceStatus []AllowanceLimit

// SetHeader sets the fields of the tightest limit, see [AllowanceLimit.SetHeader], or none if there
// are no limits.
func (s AllowanceStatus) SetHeader(h http.Header) {
	if len(s) > 0 {
		s[0].SetHeader(h)
	}
}

// An AllowanceError says that nothing could be taken from an [Allowance]. If several limits refuse,
// it is about the one that refuses for the longest. Its class is RateLimited, and fault.RetryAfter
// returns its Wait if Reset isn't zero.
type AllowanceError struct {
	AllowanceLimit // the limit that refused: Remaining is 0
	Key            string
}

// Error says which limit refused and when to try again. It doesn't show the key.
func (e *AllowanceError) Error() string {
	if e.Reset.IsZero() {
		return fmt.Sprintf("ratelimit: the allowance of %s is used up: try again when one has ended", e.what())
	}
	return fmt.Sprintf("ratelimit: the allowance of %s is used up: try again in %v, at %s", e.what(),
		max(e.Wait.Round(time.Second), time.Second), e.Reset.Format(time.RFC3339))
}

// Is reports whether target is [ErrUsedUp].
func (e *AllowanceError) Is(target error) bool { return target == ErrUsedUp }

// Fault returns RateLimited.
func (e *AllowanceError) Fault() fault.Class { return fault.RateLimited }

// RetryAfter returns how long it takes until the limit allows one more, and whether that is known.
func (e *AllowanceError) RetryAfter() (time.Duration, bool) { return e.Wait, !e.Reset.IsZero() }
