package ratelimit

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

var (
	// ErrPreempted is the cause of a lease's context when an interactive request needs its slot. It
	// is no failure: its class is fault.None. Continue with [Lease.Requeue].
	ErrPreempted = fault.New(fault.None,
		"ratelimit: the call was preempted by an interactive request; it starts again automatically")

	// ErrClosed is returned by a gate after [Gate.Close]. Its class is
	// fault.Permanent.
	ErrClosed = fault.New(fault.Permanent, "ratelimit: the gate is closed")

	// ErrFull is what each [QueueFullError] matches with errors.Is, however it is wrapped.
	ErrFull = errors.New("ratelimit: the queue is full")

	// ErrPauseTooLong is what each [PauseTooLongError] matches with errors.Is.
	ErrPauseTooLong = errors.New("ratelimit: the provider's pause is too long")

	// ErrUsedUp is what each [AllowanceError] matches with errors.Is.
	ErrUsedUp = errors.New("ratelimit: the allowance is used up")

	// errReleased is returned by [Lease.Requeue] of a lease that has ended, and of the zero Lease.
	// Its class is fault.Permanent: it is a programming mistake.
	errReleased = fault.New(fault.Permanent, "ratelimit: the lease has ended already")
)

// A QueueFullError rejects a background request because the queue is full. Interactive requests
// never get one. Its class is RateLimited, which no breaker counts: the same request may be made
// again later.
type QueueFullError struct {
	Gate     string
	Queue    int // the largest number of waiting background requests
	Priority int // of the rejected request
}

// Error says which gate was full, and what to do.
func (e *QueueFullError) Error() string {
	return fmt.Sprintf(
		"ratelimit: gate %q: %d background requests are waiting, which is the limit: try one of priority %d later",
		e.Gate, e.Queue, e.Priority)
}

// Is reports whether target is [ErrFull].
func (e *QueueFullError) Is(target error) bool { return target == ErrFull }

// Fault returns RateLimited.
func (e *QueueFullError) Fault() fault.Class { return fault.RateLimited }

// A PauseTooLongError rejects a request because the provider asked for a pause longer than
// [GateConfig].MaxRetryAfter. Use another provider, or give up. Its class is RateLimited.
// fault.RetryAfter returns the rest of the pause when the error was made.
type PauseTooLongError struct {
	Gate  string
	Until time.Time     // when the provider wants to be called again
	Rest  time.Duration // until then, when the error was made
	Max   time.Duration // the longest pause that the gate waits for
}

// Error says how long the provider asked to wait.
func (e *PauseTooLongError) Error() string {
	return fmt.Sprintf(
		"ratelimit: gate %q: the provider asks for a pause of %v, and at most %v is waited for: use another "+
			"provider, or try again then", e.Gate, e.Rest.Round(time.Second), e.Max)
}

// Is reports whether target is [ErrPauseTooLong].
func (e *PauseTooLongError) Is(target error) bool { return target == ErrPauseTooLong }

// Fault returns RateLimited.
func (e *PauseTooLongError) Fault() fault.Class { return fault.RateLimited }

// RetryAfter returns the rest of the pause and true.
func (e *PauseTooLongError) RetryAfter() (time.Duration, bool) { return max(e.Rest, 0), true }
