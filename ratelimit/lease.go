package ratelimit

import (
	"context"
)

// A Ticket is what a request says of itself when it asks for a slot. The zero Ticket is a background request of priority
// [Execution] of the nameless session.
type Ticket struct {
	// Interactive says that a person is waiting. Priority and Session then don't matter to the order.
	Interactive bool
	// Priority orders background requests, higher first, from 1 to 255; 0 stands for [Execution], and what is out of range is
	// brought into it.
	Priority int
	// Session is whose turn it is. All requests without one take turns as one session.
	Session string
	// NoPreempt says that a background request, once started, can't be started again. It is as if pinned from the start.
	NoPreempt bool
	// Tokens is what the call will use, input and output, as far as can be told; it counts against the tokens per minute
	// until the call's [Outcome] says what was really used. Less than 0 counts as 0.
	Tokens int64
	// OnWait, if not nil, is told why the request waits: once before it blocks, and again whenever the reason or its end
	// changes. It is called in the goroutine that called Acquire or Again, with no lock held, and not after these return.
	OnWait func(Wait)
}

// An Outcome says how a call ended. The zero Outcome is a call that was never made: what was counted for it is given back.
type Outcome struct {
	// Err is the call's error. One that is a rate limit (fault.RateLimited) pauses the gate, once for all calls that ran into
	// it together, for as long as fault.RetryAfter says. Other errors say nothing about the rate.
	Err error
	// Sent says that the request went to the provider, so that it counts as one. A rate limit in Err implies it.
	Sent bool
	// Tokens is what the call has used. Less than 0: unknown, the ticket's estimate stands.
	Tokens int64
	// Quota, if not nil, is what the provider's headers say is left: see [ParseQuota].
	Quota *Quota
}

// A Lease is a slot of a [Gate] that a call holds while it runs. It is a value that may be copied; it ends once, with
// [Lease.Release] or [Lease.Again], on whichever copy that is called first. The zero Lease holds nothing. A Lease is safe for
// concurrent use.
type Lease struct {
	slot *slot
	gen  uint64 // the slot is another lease's when its own generation differs
	ctx  context.Context
}
