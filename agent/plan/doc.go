// Package plan has plans: graphs of work that are proposed, checked, approved, run, revised, and
// undone if they fail.
//
// A [Plan] has nodes. Each is a call of a tool or a task for a worker, and starts when the nodes
// that it depends on are done. Inputs refer to outputs of other nodes with [From]. [Plan.Check]
// names everything that is wrong with a plan before anything runs, [Plan.Layers] shows what can run
// at the same time, and [Plan.Hash] identifies what a person approves.
//
//	approval ─► running ─► completed
//	   ▲           │
//	   └─ revised ─┤
//	               └─► undoing ─► failed ─► the next plan, or the end
//
// A [Runner] runs plans. A node that is a call of a tool takes the path of all calls of the agent,
// with its policies, approvals, journal and undo; a node with a worker is a run of that agent. Each
// node has a session of its own: see [SessionOf]. What has happened is in the agent's journal, in a
// log whose head has the kind "plan", so a run survives its process. [Runner.Start] stores a run,
// [Runner.Serve] drives those that are due, [Runner.Watch] reads one, and [Runner.Decide] takes
// decisions on plans, nodes and calls alike. Each may be called in another process.
//
//	plans, err := plan.New(plan.Config{Agent: a, Workers: map[string]*agent.Agent{"reviewer": reviewer}})
//	if err != nil {
//		return err
//	}
//	go plans.Serve(ctx)
//	if _, err := plans.Start(ctx, "p-1", best, second); err != nil {
//		return err
//	}
//	for ev, err := range plans.Watch(ctx, "p-1", 0) {
//		…
//	}
//
// # Guarantees
//
//   - A node starts after all that it depends on has succeeded, and at most 4 are in progress (see
//     [Config]). One that waits for a person goes on when that is decided, whatever else is in
//     progress.
//   - An attempt that failed is tried again as the node's [Retry] says, with the same idempotency
//     key. What has ended well isn't done again.
//   - When a node has failed for good, all that depends on it is skipped. Then nothing starts any
//     more (or only what doesn't depend on it), what is in progress ends, and its results are kept.
//   - A stop is never a failure: the end of a context, a drain, a lost lease, a store that doesn't
//     answer. The run stays as it is, and the next process goes on. A call that was started then and
//     may not be repeated waits for a person, who knows what became of it.
//   - A plan waits for approval if it calls a tool that always asks: one of high risk, or one with
//     tools.AskAlways or Approvers. Any other plan begins at once, unless a model submits it
//     ([Tools]). What a policy or the Ask function of a tool asks is asked when the call is reached.
//   - An approval holds for one hash. It answers for the calls whose inputs are in the plan, also
//     for those of high risk; a policy may still deny them. A call whose input has outputs of other
//     nodes in it asks for itself. A revision keeps what has begun as it is. It has another
//     hash, so it needs approval again if a plan with its calls does.
//   - A decision that was accepted is taken, whenever it comes, in this or another process: before the
//     run knows that a call waits, while other nodes are in progress, or after the run has paused.
//   - Verdicts of a review hold for the round that they judge.
//   - Before the next plan runs, the effects of the one that failed are undone, the newest first.
//     [Failed] lists what was undone, and what is left, in the order of the plan.
//
// # Where things are
//
// The pure half: plan.go, ref.go, graph.go and check.go have plans, and fact.go, state.go, apply.go
// and next.go what is known about a run: facts go in, and what has to happen next comes out. The
// other half does it: run.go has the loop, tend.go those who tend a node, outcome.go what is a
// result and what is a stop, and serve.go, watch.go and decide.go what callers see.
package plan
