package guard

import (
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Retry says how often a call that fails with errors of one class is made, and how long to wait in
// between. A field that is 0 has the default of that class:
//
//	class         Attempts  Min     Max
//	transient     5         100 ms  5 s
//	rate_limited  10        1 s     60 s
//	degraded      3         5 s     30 s
//	all others    1         100 ms  5 s
//
// The first delay after errors of a class is Min; each further one is Factor times as long, up to
// Max. Delays are randomized by ±20 %, so that calls that failed together aren't retried together,
// and never exceed Max: the longest are between two thirds of Max and Max. A wait that the provider
// advises replaces the delay and isn't randomized. With a Gate, a rate-limited call waits in the
// gate, so the delays of that class aren't used; its attempts are.
type Retry struct {
	// Attempts is the number of attempts of a call, including the first one and those that failed
	// with other classes: after a third attempt has failed, there is a fourth if the class of that
	// failure allows more than three. At most 100.
	Attempts int
	Min, Max time.Duration
	Factor   float64 // 0: 2; at least 1
	// Exact disables the randomization.
	Exact bool
}

const (
	spread      = 0.2
	maxAttempts = 100
)

// retries are the policies by class.
type retries [fault.Denied + 1]Retry

// resolve fills in the defaults.
func resolve(cfg *Config) (retries, error) {
	var rs retries
	for class := range rs {
		rs[class] = Retry{Attempts: 1, Min: 100 * time.Millisecond, Max: 5 * time.Second, Factor: 2}
	}
	rs[fault.Transient].Attempts = 5
	rs[fault.RateLimited] = Retry{Attempts: 10, Min: time.Second, Max: time.Minute, Factor: 2}
	rs[fault.Degraded] = Retry{Attempts: 3, Min: 5 * time.Second, Max: 30 * time.Second, Factor: 2}
	for class, given := range cfg.Retry {
		if class == fault.None || int(class) >= len(rs) {
			return rs, wrong(cfg.Name, "Retry", class.String(),
				"use a class of failures: what was canceled is never tried again")
		}
		r, err := given.over(rs[class], cfg.Name, fmt.Sprintf("Retry[%v]", class))
		if err != nil {
			return rs, err
		}
		rs[class] = r
	}
	return rs, nil
}

// over returns r with the fields of def where r has none.
func (r Retry) over(def Retry, name, field string) (Retry, error) {
	if r.Attempts < 0 || r.Attempts > maxAttempts {
		return r, wrong(name, field+".Attempts", r.Attempts, "use 1 to 100, or 0 for the default")
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"Min", r.Min}, {"Max", r.Max}} {
		if d.value < 0 || d.value > maxTime {
			return r, wrong(name, field+"."+d.field, d.value,
				"use more than 0 and at most a year, or 0 for the default")
		}
	}
	if r.Factor != 0 && !(r.Factor >= 1 && r.Factor <= math.MaxInt16) {
		return r, wrong(name, field+".Factor", r.Factor, "use at least 1, or 0 for 2")
	}
	switch {
	case r.Min != 0 && r.Max != 0 && r.Min > r.Max:
		return r, wrong(name, field+".Max", r.Max, fmt.Sprintf("use at least Min, which is %v", r.Min))
	case r.Min == 0 && r.Max == 0:
		r.Min, r.Max = def.Min, def.Max
	case r.Min == 0:
		r.Min = min(def.Min, r.Max)
	case r.Max == 0:
		r.Max = max(def.Max, r.Min)
	}
	if r.Attempts == 0 {
		r.Attempts = def.Attempts
	}
	if r.Factor == 0 {
		r.Factor = def.Factor
	}
	return r, nil
}

// delays returns the delays of one call. The library randomizes them after bounding them, so it
// gets a lower bound; and it would give up by itself after 15 minutes.
func (r Retry) delays() *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{
		InitialInterval:     r.Min,
		Multiplier:          r.Factor,
		MaxInterval:         r.Max,
		RandomizationFactor: spread,
		MaxElapsedTime:      0, // never
		Stop:                backoff.Stop,
		Clock:               backoff.SystemClock,
	}
	if r.Exact {
		b.RandomizationFactor = 0
	} else {
		b.MaxInterval = time.Duration(float64(r.Max) / (1 + spread))
	}
	b.InitialInterval = min(b.InitialInterval, b.MaxInterval)
	b.Reset()
	return b
}
