// Package budget limits what model calls may use, in tokens and money, and counts what they have
// used.
//
// A [Budget] has limits: in total, by tenant, user, session, task and provider, in periods. A call
// reserves what it may use ([Budget.Reserve]), tops that up as its answer grows
// ([Reservation.TopUp]), and settles what it used, whatever the outcome ([Reservation.Settle]):
//
//	limits := budget.New(budget.Config{
//		Global:  budget.Limit{Tokens: 5_000_000, USD: 40, Period: budget.Day},
//		Session: budget.Limit{Tokens: 300_000},
//	})
//
//	need := budget.ReserveRequest{Names: budget.Names{Session: "s-1"}, Tokens: 1200 + 4096, Micros: 3000}
//	reply, err := budget.Do(ctx, limits, need, func(ctx context.Context, r *budget.Reservation) (Reply, error) {
//		reply, err := call(ctx)
//		r.Settle(reply.Tokens, reply.Micros)
//		return reply, err
//	})
//
// [Do] does so, and books what was reserved if the function doesn't settle, or panics.
//
// If only reservations of other calls leave no room, the call waits for them; if spending leaves no
// room, it gets an [*Error]. At each admission, reserved plus spent is within every limit; usage
// above a reservation is booked in full.
//
// A [Ledger] counts what was used, by whom and for what: totals in constant time, reports by
// filter, and a sink for all entries.
//
// Neither depends on package ratelimit or on agents. Both are safe for concurrent use, call
// callbacks without a lock held, and start no goroutine.
package budget
