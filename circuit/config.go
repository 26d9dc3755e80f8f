package circuit

import (
	"math"
	"time"
)

// A Config says when a [Breaker] opens and how it closes again. A field that is 0 means its
// documented default; a figure out of its range is set to the nearest one within it.
type Config struct {
	// Consecutive is how many failures in a row open the breaker: 3 by default, at most 10,000. It
	// doesn't matter how long they are apart. A call that counts as neither (see [Permit.Done])
	// doesn't end the row. A negative number disables this rule.
	Consecutive int

	// Rate is the share of failures among the last Window results that opens the breaker. It is
	// checked at each failure once the window is full. The default is 0.5, at most 1. A negative
	// number disables this rule.
	Rate float64

	// Window is how many results Rate considers: 20 by default, 1 to 10,000.
	Window int

	// Cooldown is how long the breaker stays open before it admits probes: 30 s by default, 1 ms to
	// 24 h.
	Cooldown time.Duration

	// ClosesAfter is how many probes must succeed before the breaker closes, and how many may run
	// at once: 3 by default, 1 to 1,000.
	ClosesAfter int

	// ProbeTimeout is how long a probe may take; one that hasn't ended by then counts as a failure:
	// 1 min by default, 1 ms to 24 h.
	ProbeTimeout time.Duration

	// Counts reports whether an error of a call is a failure of the resource. nil means that every
	// error is one unless its class is known ([fault.Known]) and says that the resource isn't at
	// fault: rate limited, user-fixable, permanent, invalid, not found, denied. Counts isn't asked
	// about errors of class none (canceled, preempted), which never count. It is called without the
	// breaker's lock held, on the goroutines that end calls, several at a time. If it panics, the
	// breaker's method panics.
	Counts func(error) bool

	// OnChange, if set, is called with every change of state: in order, one at a time, without the
	// breaker's lock held, on one of the goroutines that call the breaker, which waits for it. It
	// may call the breaker. While it is busy, up to 1,000 changes of a breaker wait; older ones are
	// lost. If it panics, the breaker's method panics.
	OnChange func(Change)
}

// The ranges of a Config.
const (
	mostConsecutive = 10_000
	mostWindow      = 10_000
	mostProbes      = 1_000
	shortest        = time.Millisecond
	longest         = 24 * time.Hour
)

// normal returns c with defaults applied and every figure in its range.
func (c Config) normal() Config {
	switch {
	case c.Consecutive == 0:
		c.Consecutive = 3
	case c.Consecutive < 0:
		c.Consecutive = -1
	}
	c.Consecutive = min(c.Consecutive, mostConsecutive)
	switch {
	case c.Rate == 0 || math.IsNaN(c.Rate):
		c.Rate = .5
	case c.Rate < 0:
		c.Rate = -1
	}
	c.Rate = min(c.Rate, 1)
	c.Window = within(c.Window, 20, 1, mostWindow)
	c.Cooldown = within(c.Cooldown, 30*time.Second, shortest, longest)
	c.ClosesAfter = within(c.ClosesAfter, 3, 1, mostProbes)
	c.ProbeTimeout = within(c.ProbeTimeout, time.Minute, shortest, longest)
	return c
}

func within[T int | time.Duration](v, unset, least, most T) T {
	if v == 0 {
		return unset
	}
	return min(max(v, least), most)
}

// threshold returns how many failures in a full window reach Rate, or 0 if that rule is off.
func (c Config) threshold() int {
	if c.Rate < 0 {
		return 0
	}
	const rounding = 1e-9 // .3 of 10 is 3
	return max(1, int(math.Ceil(c.Rate*float64(c.Window)-rounding)))
}
