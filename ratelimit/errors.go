package ratelimit

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

var (
	// ErrPreempted is the cause of a lease's context when a person's request needs its slot. It is no failure: its class
	// is fault.None. Continue with [Lease.Requeue].
	ErrPreempted = fault.New(fault.None, "ratelimit: the slot went to a person's request; the call starts again by itself")

	// ErrClosed is what a gate answers after [Gate.Drain] or [Gate.Close]. Its class is fault.Permanent.
	ErrClosed = fault.New(fault.Permanent, "ratelimit: the gate is closed")

	// ErrReleased is the answer to [Lease.Requeue] on a lease that has been given back, or never was one. Its class is
	// fault.Permanent: it is a mistake of the program.
	ErrReleased = fault.New(fault.Permanent, "ratelimit: the lease was given back before")
)

// A QueueFullError is a background request that found no room in the queue, or had to make room for one of a higher
// priority. People's requests never get one. Its class is RateLimited, which no breaker counts: the same request may
// come again when there is less to do.
type QueueFullError struct {
	Gate     string
	Queue    int  // how many background requests may wait
	Priority int  // of the refused request
	Dropped  bool // it had been waiting, and made room
}

// Error says which gate was full.
func (e *QueueFullError) Error() string {
	if e.Dropped {
		return fmt.Sprintf("ratelimit: gate %q: a request of priority %d made room for one of a higher priority, as %d were "+
			"waiting: try it later", e.Gate, e.Priority, e.Queue)
	}
	return fmt.Sprintf("ratelimit: gate %q: %d background requests are waiting, which is the limit: try one of priority %d later",
		e.Gate, e.Queue, e.Priority)
}

// Fault returns RateLimited.
func (e *QueueFullError) Fault() fault.Class { return fault.RateLimited }

// A PauseTooLongError is a request that won't wait, because the provider asked for a pause longer than
// [GateConfig].MaxRetryAfter. Go to another provider, or give up; its class is RateLimited. fault.RetryAfter finds the
// rest of the pause, as it was when the error was made.
type PauseTooLongError struct {
	Gate  string
	Until time.Time     // when the provider wants to be called again
	Rest  time.Duration // until then, when the error was made
	Max   time.Duration // what the gate would have waited
}

// Error says how long the provider asked to wait.
func (e *PauseTooLongError) Error() string {
	return fmt.Sprintf("ratelimit: gate %q: the provider asks for a pause of %v, and at most %v is waited for: use another "+
		"provider, or try again then", e.Gate, e.Rest.Round(time.Second), e.Max)
}

// Fault returns RateLimited.
func (e *PauseTooLongError) Fault() fault.Class { return fault.RateLimited }

// RetryAfter returns the rest of the pause and true.
func (e *PauseTooLongError) RetryAfter() (time.Duration, bool) { return max(e.Rest, 0), true }
