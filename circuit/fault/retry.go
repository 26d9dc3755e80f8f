package fault

import (
	"cmp"
	"time"

	"github.com/pawlkit/pawl/internal/backoff"
)

// A Retry says how often a call that fails with errors of one class is made, and how long to wait
// in between. A field that is 0 has the default of that class; who makes the calls documents these.
//
// The first delay after errors of a class is Min; each further one is twice as long, up to Max.
// Delays are randomized by ±20 %, so that calls that failed together aren't retried together, and
// never exceed Max: the longest are between two thirds of Max and Max. What an error advises
// ([RetryAfter]) replaces the delay and isn't randomized.
type Retry struct {
	// Attempts is the number of attempts of a call, including the first one and those that failed
	// with other classes: after a third attempt has failed, there is a fourth if the class of that
	// failure allows more than three. At most 100.
	Attempts int
	Min, Max time.Duration // at most a year
	// Exact disables the randomization.
	Exact bool
}

const (
	mostAttempts = 100
	longestDelay = 365 * 24 * time.Hour
)

// Delay returns the delay after so many failures of the class, of a policy that [Retries] has
// completed: a zero Max is no delay.
func (r Retry) Delay(failures int) time.Duration {
	d := backoff.Delays{Min: r.Min, Max: r.Max, Spread: backoff.Spread}
	if r.Exact {
		d.Spread = 0
	}
	return d.After(failures)
}

// modelDefaults are the policies of a model call.
var modelDefaults = map[Class]Retry{
	Transient:   {Attempts: 5, Min: 100 * time.Millisecond, Max: 5 * time.Second},
	RateLimited: {Attempts: 10, Min: time.Second, Max: time.Minute},
	Degraded:    {Attempts: 3, Min: 5 * time.Second, Max: 30 * time.Second},
}

// Retries returns the policies of all classes of failures: those given, completed by the defaults;
// nil: those of [Do]. A class without a default has one attempt, and the delays of transient. The
// error names a value that is out of its range, and the range.
func Retries(given, defaults map[Class]Retry) (map[Class]Retry, error) {
	if defaults == nil {
		defaults = modelDefaults
	}
	all := make(map[Class]Retry, numClasses)
	for class := Transient; class < numClasses; class++ {
		def, known := defaults[class]
		if !known {
			def = Retry{Attempts: 1, Min: defaults[Transient].Min, Max: defaults[Transient].Max}
		}
		all[class] = def
	}
	for class, r := range given {
		def, known := all[class]
		if !known {
			return nil, Errorf(Permanent,
				"fault: there is a Retry for %v; use a class of failures: what was canceled is never tried again", class)
		}
		if err := r.check(class); err != nil {
			return nil, err
		}
		if r.Max != 0 {
			r.Min = cmp.Or(r.Min, min(def.Min, r.Max))
		}
		r.Min = cmp.Or(r.Min, def.Min)
		r.Max = cmp.Or(r.Max, max(def.Max, r.Min))
		r.Attempts = cmp.Or(r.Attempts, def.Attempts)
		all[class] = r
	}
	return all, nil
}

func (r *Retry) check(class Class) error {
	wrong := func(field string, value any, want string) error {
		return Errorf(Permanent, "fault: the Retry for %v has %s %v; use %s, or 0 for the default", class, field, value,
			want)
	}
	switch {
	case r.Attempts < 0 || r.Attempts > mostAttempts:
		return wrong("Attempts", r.Attempts, "1 to 100")
	case r.Min < 0 || r.Min > longestDelay:
		return wrong("Min", r.Min, "at most a year")
	case r.Max < 0 || r.Max > longestDelay || r.Max != 0 && r.Max < r.Min:
		return wrong("Max", r.Max, "at least Min and at most a year")
	}
	return nil
}
