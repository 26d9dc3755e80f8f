// Package due finds sessions that are due, and drives them, several at a time.
//
// A [Loop] calls Config.List at intervals, and Config.Drive for what it yields. What is due and
// what driving means is up to its user: [Sessions] lists the sessions of agents that are due, and
// agent/live drives them with Agent.Recover. What waits elsewhere, in an order of its own, is one
// [Item] without a session, for which Config.Claim takes the first.
//
//	l := due.New(due.Config{List: list, Drive: drive})
//	l.Start(ctx)
//	defer l.Stop()
//	…
//	l.Poke("s-1") // something was posted to it
//
// # Guarantees
//
//   - A session isn't driven twice at the same time by one Loop. Leases see to other processes.
//   - At most Config.Parallel sessions are driven at a time. While so many are, there is no search.
//   - What has a higher priority is driven first, then what has been due for longer.
//   - A session that fails is tried again later: after Config.Interval to 1.5 times that, then
//     after twice as long each time, up to 16 intervals to 24 intervals, and 7.5 minutes at most.
//     One success, or a search that doesn't find it any more, ends this.
//   - After [Loop.Poke] nothing waits for the interval, and the session not for the time after a
//     failure.
//   - When [Loop.Stop] returns, no goroutine of the Loop is left.
//
// # Where things are
//
// loop.go has the Loop and what it does for a session, search.go how it finds the next one,
// failures.go when a session that failed is tried again, and sessions.go which sessions of agents
// are due.
package due
