// Package ratelimit decides which model call may go to a provider now, which one waits, and why.
//
// A [Gate] stands before one provider and credential. It has a number of slots, and two lanes to them:
//
//	interactive  a person is waiting: first-in first-out, never refused by the queue, ahead of everything else
//	background   nobody is waiting: by priority, sessions taking turns, first-in first-out within a session
//
// Each call asks for a slot with a [AcquireRequest] and holds a [Lease] while it runs:
//
//	gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, RequestsPerMinute: 500})
//
//	lease, err := gate.Acquire(ctx, ratelimit.AcquireRequest{Session: "s-1", Tokens: 5000})
//	for err == nil {
//		reply, callErr := call(lease.Context())
//		done := ratelimit.Outcome{Err: callErr, Sent: true, Tokens: reply.Tokens}
//		if callErr == nil || !lease.Preempted() && fault.Of(callErr) != fault.RateLimited {
//			lease.Release(done)
//			break
//		}
//		lease, err = lease.Again(ctx, done) // back in its place, waiting
//	}
//
// [Do] is that loop as a function.
//
// # People first
//
// A person's request waits for background work only as long as that needs to let go. A share of the slots is kept free for
// people. When none is free, the background call of the lowest priority that was started last is preempted: its context
// is canceled with the cause [ErrPreempted], and [Lease.Requeue] puts it back where it stood, with nothing lost but the
// tokens it had used. One that hasn't let go after a second is overtaken: the person's call starts, and there is one call
// more than slots until it ends. No call is preempted while a slot is free, nor more than three times, nor once it is
// pinned ([AcquireRequest].NoPreempt, [Lease.Pin]). Such calls run into their end; where they hold every slot that isn't kept for
// people, people have the kept ones, and with a single slot a person waits for such a call.
//
// Background work has no ageing: under a steady load of people it may wait for long. [Gate.Snapshot] shows for how long.
//
// # Rates and pauses
//
// A rate limit that a provider reports ([Outcome].Err) pauses the whole gate, for as long as the provider says, else for
// 1 s, 2, 4 … 256 s, then 5 min, each ±20 %. Requests keep queueing; when the pause is over people's go first, and what
// the provider grants again is theirs: none of background work starts beside a person's call that started since, until a
// call that started since has begun to answer ([Lease.Began]) or succeeded, and for 5 s from the first of these people's
// calls at most, so that one that hangs holds up nobody for longer. Nor does one from before the rate limit. Requests
// and tokens per minute come out of token buckets of the size of a minute: first what a [AcquireRequest] estimates, corrected by
// what was really used when the lease ends. A host pauses background work alone with [Gate.PauseBackground], such as while memory
// is short. Every wait says why, and until when if that is known: see [Wait].
//
// # Budgets and the ledger
//
// A [Budget] says how many tokens and how much money may be used: in total, by session, task and provider, in periods. A
// call reserves what it may use ([Budget.Reserve]) when it has left the queue, tops that up as it goes, and settles what it
// did use, whatever came of it. One that fails only because of what others have reserved waits for them; one that fails on
// what is spent is a *[BudgetError]. A [Ledger] counts what was used, by whom and for what: totals in constant time,
// reports by filter, and a sink for all entries.
//
// Reserved plus spent never passes a limit at an admission; what a provider counts above that is booked in full.
//
// # Guarantees
//
// No background request starts while a person's request waits. No request is lost by preemption, by a pause or by a full
// queue: each Acquire and Requeue returns a lease or says why not. A request whose context ends is gone from the queue at once.
// Nothing here polls, and a gate has no goroutine of its own: a timer runs only while something waits for a time. Callbacks
// ([GateConfig].OnEvent, [AcquireRequest].OnWait) are called without a lock held. Everything is safe for concurrent use.
package ratelimit
