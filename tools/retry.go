package tools

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
)

// A Retrying is passed to OnRetry between two attempts at a call.
type Retrying struct {
	Attempt int // that follows; the first was 1
	Of      int // as many as the class of Err allows
	Class   fault.Class
	Err     error // of the attempt before
	// Wait is the time from now to the attempt.
	Wait time.Duration
}

// defaultRetries are fewer and sooner than those of a model call, because a model reads the failure
// and can do something else.
var defaultRetries = map[fault.Class]fault.Retry{
	fault.Transient:   {Attempts: 3, Min: 100 * time.Millisecond, Max: time.Second},
	fault.RateLimited: {Attempts: 5, Min: time.Second, Max: 30 * time.Second},
	fault.Degraded:    {Attempts: 2, Min: time.Second, Max: 5 * time.Second},
}

// completeRetries checks the spec's retries and fills in defaults.
func (d *Definition) completeRetries() (err error) {
	s := &d.spec
	if len(s.Retries) > 0 && (s.NoRetries || !s.Repeatable()) {
		return specError(s.Name,
			"it has Retries, but NoRetries is set, or it is neither Idempotent nor ReadOnly, so that it is never "+
				"tried again")
	}
	if s.NoRetries || !s.Repeatable() {
		return nil
	}
	if d.retries, err = fault.Retries(s.Retries, defaultRetries); err != nil {
		return specError(s.Name, "Retries: %v", err)
	}
	return nil
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
	return backoff.Wait(r.ctx, next.Wait)
}

// plan fills in the attempt that follows next.Err. Without one Of stays 0.
func (r *running) plan(next *Retrying) error {
	next.Class = fault.Of(next.Err)
	policy := r.d.retries[next.Class]
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
		wait = policy.Delay(r.failures[next.Class])
	}
	next.Of, next.Wait = policy.Attempts, wait
	return nil
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
