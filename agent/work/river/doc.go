// Package river drives the runs of agents as jobs of River, a queue in PostgreSQL
// (github.com/riverqueue/river), for work that outlives processes and is shared by many. One job is
// one leg ([agent.Agent.Advance]). The job of the next leg is queued in the transaction that
// completes it.
//
//	cfg := &river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 50}}}
//	err := pawlriver.Configure(cfg, pawlriver.Config{Pool: pool, Agents: []*agent.Agent{writer}})
//	…
//	client, err := river.NewClient(riverpgxv5.New(pool), cfg)
//
//	// in the transaction that stores the order
//	in := agent.Input{Session: "order-7", Key: "first", Prompt: prompt}
//	err = pawlriver.Enqueue(ctx, tx, client, "writer", in, nil)
//
//	// in any process, after a person has decided
//	err = a.Session("order-7").Decide(ctx, agent.Approve(id).By("ann"))
//	…
//	err = pawlriver.Wake(ctx, client, "order-7")
//
// The journal of the agents (package agent/journal/postgres) may be in the same database or in
// another. The conversation is never in a job: a job has the session and the key of the input, and
// the input before the run has started.
//
// # Guarantees
//
//   - A run that was queued starts once, and ends, whichever processes die. An effect of a call
//     isn't repeated, as with package agent alone: the journal and its leases see to that, and a
//     job too many does nothing.
//   - River tries a job again only if nothing was recorded, because a store is down, for example. A
//     run that failed has ended, and its job is completed. An input that no attempt would take (a
//     mode that doesn't exist) is a job that is canceled.
//   - A job that was discarded or canceled isn't a run that failed or was canceled: while the run
//     is open, another job is queued. To end the run, use [agent.Session.Cancel].
//   - The leg of a worker that was killed goes on one to two Config.Watch after the lease of its
//     session has ended (agent.Config.Lease, 30 s by default). River itself would wait an hour. If
//     the leader of the River clients was killed, add up to 15 s, in which there is none.
//   - A leg waits for nothing: a run that waits for a decision costs a row of the journal, and a
//     scheduled job if the time to decide ends. River looks for scheduled jobs every 5 s.
//   - A leg with which workers die, as if it killed them, is left to River after MaxAttempts
//     deaths in a row (25 by default), and so is tried once an hour.
//   - When a client stops, its legs pause at their next safe point, and go on elsewhere.
//
// # Priorities and queues
//
// River does what has been in a queue for longer first, of one priority. The jobs of Wake have
// priority 1, the highest, which is also River's default: if many runs are queued, give them a
// lower one (2 to 4), so that decisions don't wait behind them.
//
// All jobs of a run are in the queue of the first, except for those of Wake and those that replace
// one that was discarded or canceled: they are in the default queue. So each client that works the
// default queue has all agents, or a hook of River moves them (rivertype.HookInsertBegin).
//
// # License
//
// River is under the Mozilla Public License 2.0: see the README of this module.
package river
