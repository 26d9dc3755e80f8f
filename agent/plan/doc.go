// Package plan has plans: graphs of work that are proposed, checked, approved, run, revised, and
// undone if they fail.
//
// A [Plan] has nodes. Each is a call of a tool or a task for a worker, and starts when the nodes
// that it depends on are done. Inputs refer to outputs of other nodes with [From]. [Plan.Check]
// names everything that is wrong with a plan before anything runs, [Plan.Layers] shows what can run
// at the same time, and [Plan.Hash] identifies what a person approves.
//
// A [Machine] runs plans as far as that can be done without doing anything. Its only input are
// facts: the same facts make the same state, so a log of them is all that has to survive a crash.
// [Machine.Next] says what has to happen next, [Machine.Apply] is told what has happened.
//
//	proposed ─► approval ─► running ─► ended
//	                ▲          │
//	                └─ revised ┤
//	                           └─► undoing ─► failed ─► the next plan, or ended
//
// A [Runner] does what the machine says. A node that is a call of a tool takes the path of all
// calls of the agent, with its policies, approvals, journal and undo; a node with a worker is a run
// of that agent. Each node has a session of its own, see [SessionOf]. The facts are in the agent's
// journal, in a log whose head has the kind "plan". The loop over [Runner.Run] drives the run; it
// ends paused when a person has to decide. [Runner.Decide] takes decisions about the plan, in any
// process, and agent.Session.Decide those about a call of a node.
//
//	runner, err := plan.NewRunner(plan.Config{Agent: a, Workers: map[string]*agent.Agent{"reviewer": reviewer}})
//	if err != nil {
//		return err
//	}
//	for ev, err := range runner.Run(ctx, "p-1", best, second) {
//		…
//	}
//
// What the machine holds to:
//   - A node starts after all that it depends on has succeeded, and at most 4 are in progress (see
//     [Options]).
//   - An attempt that failed is tried again as the node's [Retry] says, with the same idempotency
//     key. What has ended well isn't done again.
//   - When a node has failed for good, all that depends on it is skipped. Then nothing starts any
//     more (or only what doesn't depend on it), what is in progress ends, and its results are kept.
//   - An approval holds for one hash. A revision keeps what has begun as it is, and needs approval
//     again.
//   - Verdicts of a review hold for the round that they judge.
//   - Before the next plan runs, the effects of the one that failed are undone, the newest first.
//     [Failed] lists what was undone, and what is left.
package plan
