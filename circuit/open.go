package circuit

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// ErrOpen is what each [OpenError] matches with errors.Is, however it is wrapped.
var ErrOpen = errors.New("circuit: the breaker is open")

// An OpenError rejects a call: the breaker is open, or half-open with all its probes in progress.
// Its class is [fault.Degraded]. The call wasn't made, so the caller must not report the error to a
// breaker. It wraps its Cause, so errors.Is also matches that: ask for [ErrOpen] before other
// errors.
type OpenError struct {
	Name string // the breaker's

	// RetryAfter is how long the breaker stays open after the rejection, rounded up to the
	// millisecond, and Until is when that ends. Both are zero while it is half-open: it closes or
	// opens when its probes end. fault.RetryAfter returns RetryAfter unless it is zero.
	RetryAfter time.Duration
	Until      time.Time

	// Cause is the failure of another call that opened the breaker; nil if it isn't known. It is
	// not part of the error's text, since that call may have belonged to another person.
	Cause error
}

// Error names the breaker and how long it stays open.
func (e *OpenError) Error() string {
	if e.RetryAfter <= 0 {
		return fmt.Sprintf("circuit: %q is half-open and waits for its probes", e.Name)
	}
	return fmt.Sprintf("circuit: %q is open, next try in %v", e.Name, e.RetryAfter)
}

// Is reports whether target is [ErrOpen].
func (e *OpenError) Is(target error) bool { return target == ErrOpen }

// Fault returns [fault.Degraded].
func (e *OpenError) Fault() fault.Class { return fault.Degraded }

// Unwrap returns an error that advises to wait for RetryAfter and wraps Cause.
func (e *OpenError) Unwrap() error { return opened{e} }

// opened wraps the cause and implements the RetryAfter method: OpenError itself can't have a method
// with its field's name.
type opened struct{ e *OpenError }

func (o opened) Error() string { return o.e.Error() }

func (o opened) Unwrap() error { return o.e.Cause }

func (o opened) RetryAfter() (time.Duration, bool) { return o.e.RetryAfter, o.e.RetryAfter > 0 }
