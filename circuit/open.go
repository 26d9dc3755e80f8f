package circuit

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An OpenError refuses a call: the breaker is open, or half-open with all its probes on their way. Its class is
// [fault.Degraded]. The call wasn't made, so whoever gets it must not report it to the breaker.
type OpenError struct {
	Name string // the breaker's

	// RetryAfter is how long the breaker stays open from when it refused, rounded up to the millisecond, and Until the time
	// when that ends. Both are zero while it is half-open: it closes or opens when its probes end. fault.RetryAfter finds
	// RetryAfter unless it is zero.
	RetryAfter time.Duration
	Until      time.Time

	// Cause is the failure that opened the breaker, some other call's: nil if nothing is known of it. It is not part of the
	// error's text, since that call may have been another person's.
	Cause error
}

// Error says which breaker refused, and for how long it will.
func (e *OpenError) Error() string {
	if e.RetryAfter <= 0 {
		return fmt.Sprintf("circuit: %q is half-open and waits for its probes", e.Name)
	}
	return fmt.Sprintf("circuit: %q is open, next try in %v", e.Name, e.RetryAfter)
}

// Fault returns [fault.Degraded].
func (e *OpenError) Fault() fault.Class { return fault.Degraded }

// Unwrap returns an error that advises to wait for RetryAfter and wraps Cause.
func (e *OpenError) Unwrap() error { return opened{e} }

// opened stands between an OpenError and its cause, to give the advice: OpenError can't have a method of its field's name.
type opened struct{ e *OpenError }

func (o opened) Error() string { return o.e.Error() }

func (o opened) Unwrap() error { return o.e.Cause }

func (o opened) RetryAfter() (time.Duration, bool) { return o.e.RetryAfter, o.e.RetryAfter > 0 }
