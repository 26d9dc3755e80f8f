// Package work drives queued runs: [agent.Agent.Enqueue] stores inputs in the journal, and a
// [Worker] of any process that has the journal and the agent starts them, several at a time. There
// is no other queue: what waits, runs and has ended are sessions of the journal, and a store that
// is a [journal.Queue] keeps the order of those that wait.
//
//	w, err := work.New(work.Config{Agents: []*agent.Agent{a}, Leg: agent.Leg{Time: time.Minute}, Ended: tell})
//	…
//	err = w.Run(ctx) // until ctx ends
//
// A Worker also does what [agent.Agent.Recover] does: it resumes runs whose process has died, that
// were decided on, or whose time to decide is over. So a process that has a Worker needs no
// live.Hub for that.
//
// Several processes with one journal share the work: on one machine with a file of SQLite, on
// several with PostgreSQL. Packages river and temporal, in modules of their own below this one,
// hand the runs to an engine instead.
//
// # Guarantees
//
//   - A queued run is started once, whatever process dies when. One that fails is tried again as
//     often as QueueOptions.Attempts says, where it failed.
//   - Groups (QueueOptions.Group) take turns, and of a group the run with the highest priority is
//     started next, then the one that was due first, however many wait. With a store that isn't a
//     [journal.Queue] there are no turns, and the order is that of the 1,000 that have waited longest.
//   - A run whose process dies before it has started is started by another after 10 s. One that can't
//     be started, because its agent is drained for example, is tried again after 10 s, and after twice
//     as long each further time, up to 7.5 minutes.
//   - A Worker that has nothing to do asks the store one thing in each Config.Poll, and that reads
//     nothing that isn't due.
//   - When Run's context ends, each run pauses at its next safe point, and another process goes on.
//   - Config.Ended is called at least once for each queued run that has ended: see
//     [agent.Session.Deliver].
//   - At most Config.Parallel runs are driven at a time by one Worker. No claim exceeds
//     Config.PerGroup. Config.PerLabel may be exceeded for a moment, by the number of processes minus
//     one.
//   - One process at a time acts on Config.Rules, and they never touch a run that has something in
//     its inbox.
//   - When [Worker.Run] returns, no goroutine of the Worker is left.
//
// # Where things are
//
// config.go has the settings, worker.go the Worker and what it does for a session, queue.go how
// queued runs are claimed, list.go what is due where a store has no queue, rules.go the rules and
// who acts on them, and stats.go counts, dead letters and retries.
package work
