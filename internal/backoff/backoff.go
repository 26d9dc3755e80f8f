package backoff

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Spread is the [Delays].Spread of callers that may fail at the same time as others: ±20 %.
const Spread = 0.2

// A Delays is an exponential back-off: the first delay is Min, and each further one is twice as
// long, up to Max. No delay exceeds Max.
type Delays struct {
	Min, Max time.Duration
	// Spread randomizes a delay by so much of it either way; 0: not at all. The longest delay is
	// then Max/(1+Spread) before it is randomized.
	Spread float64
}

// After returns the delay after so many failures in a row; fewer than one count as one.
func (d Delays) After(failures int) time.Duration {
	doublings := min(max(failures, 1), 64) - 1
	wait := min(math.Ldexp(float64(d.Min), doublings), float64(d.Max)/(1+d.Spread))
	wait *= 1 + d.Spread*(2*rand.Float64()-1)
	if wait >= float64(d.Max) { // the largest durations, as floating point, are no durations
		return d.Max
	}
	return time.Duration(wait)
}

// Wait waits, and reports whether the time has passed before ctx ended.
func Wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
