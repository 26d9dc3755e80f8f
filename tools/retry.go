package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Retry says how often a call that fails with errors of one class is tried, and how long to wait
// in between. A field that is 0 has the default of that class:
//
//	class         Attempts  Min     Max
//	transient     3         100 ms  1 s
//	rate_limited  5         1 s     30 s
//	degraded      2         1 s     5 s
//	all others    1         100 ms  1 s
//
// The attempts are fewer and the delays shorter than those of a model call, because a model reads
// the failure and can do something else. The first delay after errors of a class is Min; each
// further one is twice as long, up to Max. Delays are spread by 20 % either way, and never exceed
// Max. What the error advises ([fault.RetryAfter]) replaces the delay and is not spread.
//
// All attempts share the time limit of the call. If the delay isn't shorter than the time left, the
// call fails at once; the same applies while its breaker is open. A panic isn't retried.
type Retry struct {
	// Attempts is the number of attempts of a call, including the first one and those that failed
	// with other classes: after a second attempt has failed, there is a third if the class of that
	// failure allows more than two. At most 100.
	Attempts int
	Min, Max time.Duration
}

// A Retrying is passed to OnRetry between two attempts at a call.
type Retrying struct {
	Attempt int // that follows; the first was 1
	Of      int // as many as the class of Err allows
	Class   fault.Class
	Err     error // of the attempt before
	// Wait is the time from now to the attempt.
	Wait time.Duration
}

const (
	mostAttempts  = 100
	longestDelay  = 24 * time.Hour
	spread        = 0.2
	retryClasses  = int(fault.Denied) + 1
	onceMin       = 100 * time.Millisecond
	onceMax       = time.Second
	retriesWanted = "Retries[%v].%s is %v; %s"
)

// retries are the policies of a tool by class.
type retries [retryClasses]Retry

// completeRetries checks the spec's retries and fills in defaults.
func (d *Definition) completeRetries() error {
	s := &d.spec
	if len(s.Retries) > 0 && (s.NoRetries || !s.Repeatable()) {
		return specError(s.Name,
			"it has Retries, but NoRetries is set, or it is neither Idempotent nor ReadOnly, so that it is never "+
				"tried again")
	}
	if s.NoRetries || !s.Repeatable() {
		return nil
	}
	rs := new(retries)
	for c := range rs {
		rs[c] = Retry{Attempts: 1, Min: onceMin, Max: onceMax}
	}
	rs[fault.Transient] = Retry{Attempts: 3, Min: 100 * time.Millisecond, Max: time.Second}
	rs[fault.RateLimited] = Retry{Attempts: 5, Min: time.Second, Max: 30 * time.Second}
	rs[fault.Degraded] = Retry{Attempts: 2, Min: time.Second, Max: 5 * time.Second}
	for class, given := range s.Retries {
		if class == fault.None || int(class) >= len(rs) {
			return specError(s.Name,
				"Retries names the class %v; use a class of failures: what was canceled is never tried again", class)
		}
		r := &rs[class]
		switch {
		case given.Attempts < 0 || given.Attempts > mostAttempts:
			return specError(s.Name, retriesWanted, class, "Attempts", given.Attempts,
				"give 1 to 100, or 0 for the default")
		case given.Min < 0 || given.Min > longestDelay:
			return specError(s.Name, retriesWanted, class, "Min", given.Min, "give up to 24 h, or 0 for the default")
		case given.Max < 0 || given.Max > longestDelay || given.Max != 0 && given.Max < given.Min:
			return specError(s.Name, retriesWanted, class, "Max", given.Max, "give Min to 24 h, or 0 for the default")
		}
		r.Attempts = cmp.Or(given.Attempts, r.Attempts)
		switch {
		case given.Max != 0:
			r.Min, r.Max = cmp.Or(given.Min, min(r.Min, given.Max)), given.Max
		case given.Min != 0:
			r.Min, r.Max = given.Min, max(r.Max, given.Min)
		}
	}
	d.retries = rs
	return nil
}

// delay returns the time to wait after the nth failure of this class.
func (r *Retry) delay(n int) time.Duration {
	most := time.Duration(float64(r.Max) / (1 + spread))
	d := min(r.Min, most)
	for ; n > 1 && d < most; n-- {
		d = min(2*d, most)
	}
	return time.Duration(float64(d) * (1 - spread + 2*spread*rand.Float64()))
}

// retry waits and reports whether the call is to be tried again after an attempt has failed with
// err.
func (r *running) retry(pass *Pass, err error) bool {
	if r.d.retries == nil {
		return false
	}
	next := Retrying{Attempt: r.attempts + 1, Err: err}
	if guarded(r.d.spec.Name, func() error { return r.plan(&next) }) != nil || next.Of == 0 || !pass.ready() {
		return false
	}
	if r.ctx.Err() != nil || next.Wait >= time.Until(r.deadline()) {
		return false
	}
	if r.call.OnRetry != nil {
		r.call.OnRetry(r.call, next)
	}
	pause(r.ctx, next.Wait)
	return r.ctx.Err() == nil
}

// plan fills in the attempt that follows next.Err. Without one Of stays 0.
func (r *running) plan(next *Retrying) error {
	next.Class = fault.Of(next.Err)
	policy := &r.d.retries[next.Class]
	if next.Class == fault.None || r.attempts >= policy.Attempts {
		return nil
	}
	var (
		panicked *PanicError
		suspend  Suspend
		pointer  *Suspend
	)
	if errors.As(next.Err, &panicked) || errors.As(next.Err, &suspend) || errors.As(next.Err, &pointer) ||
		errors.Is(next.Err, errEncode) {
		return nil
	}
	_ = next.Err.Error() // an error that panics isn't retried either
	r.failures[next.Class]++
	wait, advised := fault.RetryAfter(next.Err)
	if !advised {
		wait = policy.delay(r.failures[next.Class])
	}
	next.Of, next.Wait = policy.Attempts, wait
	return nil
}

// pause waits, or returns when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// retryHint says how often a call was tried and when it may be tried again, if that is useful to
// the model.
func (r *running) retryHint(err error) string {
	text := ""
	if r.attempts > 1 {
		text = fmt.Sprintf(" (tried %d times)", r.attempts)
	}
	if wait, ok := fault.RetryAfter(err); ok && wait > 0 && fault.Retryable(fault.Of(err)) {
		text += fmt.Sprintf(" (try again in %s)", seconds(wait))
	}
	return text
}
