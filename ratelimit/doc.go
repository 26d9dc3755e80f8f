// Package ratelimit decides which model call may go to a provider now, which one waits, and why.
// What calls may use in all, in tokens and money, is for package budget below it. How much each
// user may start is for an [Allowance].
//
// A [Gate] controls the calls to one provider and credential. It has a number of slots, and two
// lanes for them:
//
//	interactive  a person is waiting: first-in first-out, never rejected by the queue, ahead of everything else
//	background   nobody is waiting: by priority, sessions taking turns, first-in first-out within a session
//
// [Do] calls a function with a slot:
//
//	gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, RequestsPerMinute: 500})
//
//	reply, err := ratelimit.Do(ctx, gate, ratelimit.AcquireRequest{Session: "s-1", Tokens: 5000}, call)
//
// For more, such as the tokens that were used, each call requests a slot with an [AcquireRequest]
// and holds a [Lease] while it runs:
//
//	lease, err := gate.Acquire(ctx, ratelimit.AcquireRequest{Session: "s-1", Tokens: 5000})
//	for err == nil {
//		reply, callErr := call(lease.Context())
//		done := ratelimit.Outcome{Err: callErr, Tokens: reply.Tokens}
//		if callErr == nil || !lease.Preempted() && fault.Of(callErr) != fault.RateLimited {
//			lease.Release(done)
//			break
//		}
//		lease, err = lease.Requeue(ctx, done) // waits at its old place in the queue
//	}
//
// # Interactive requests first
//
// An interactive request waits for background work only until a preempted call ends. A share of the
// slots is reserved for interactive requests: by default, 0.2 of four or more. When no slot is
// free, the background call of the lowest priority that was started last is preempted: its context
// is canceled with the cause [ErrPreempted], and [Lease.Requeue] puts it back at its old place in
// the queue; it loses only the tokens it had used. A preempted call that hasn't ended after a
// second is overtaken: the interactive call starts, and there is one call more than slots, for each
// that was overtaken, until that one ends. No call is preempted while a slot is free, nor more than
// three times, nor once it is pinned ([AcquireRequest].NoPreempt, [Lease.Pin]). Pinned calls run to
// their end; where they hold every slot that isn't reserved, interactive requests have the reserved
// slots, and where none is reserved they wait for such a call.
//
// Background work has no ageing: under a steady interactive load it may wait for long.
// [Gate.Snapshot] shows how long.
//
// # Rates and pauses
//
// A rate limit that a provider reports ([Outcome].Err) pauses the whole gate, for as long as the
// provider says, else for 1 s, 2, 4 … 256 s, then 5 min, each ±20 %. Requests keep queueing. When
// the pause is over, interactive requests go first: while an interactive call that started after
// the rate limit runs, no background call starts until some call that started after it has begun to
// answer ([Lease.Began]) or succeeded. This lasts at most 5 s from the first of these interactive
// calls, so that a call that hangs doesn't block for longer; calls from before the rate limit don't
// block at all. Requests and tokens per minute are taken from token buckets that hold a quarter of
// a minute's worth ([GateConfig].Burst): first the estimate of an [AcquireRequest], which is
// corrected by the real usage when the lease ends. A host can pause only the background lane with
// [Gate.PauseBackground], for example while memory is short. Every wait has a reason, and an end if
// that is known: see [Delay].
//
// # Users
//
// An [Allowance] limits the runs of each user: in sliding windows, in a calendar day, and at the
// same time. Nothing waits for it: [Allowance.Take] returns an [*AllowanceError] that says which
// limit refused, what is left and when to try again. A service asks it before it starts a run;
// gates know nothing of it. Processes share the limits through [AllowanceConfig].Store, which
// agent/journal/sqlite and agent/journal/postgres have.
//
// # Guarantees
//
// No background request starts while an interactive request waits. No request is lost by
// preemption, by a pause or by a full queue: each Acquire and Requeue returns a lease or an error.
// A request whose context ends leaves the queue at once. Nothing polls, and a gate has no goroutine
// of its own: a timer runs only while something waits for a point in time. Callbacks
// ([GateConfig].OnEvent, [AcquireRequest].OnWait) are called without a lock held. Everything is
// safe for concurrent use.
package ratelimit
