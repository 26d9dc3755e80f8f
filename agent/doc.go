// Package agent runs agents: a model with instructions and tools that thinks, acts and observes until it is done, needs a
// person, or reaches a limit.
//
//	a, err := agent.New(agent.Config{Provider: model, Instructions: "Answer briefly.", Tools: []tools.Tool{weather}})
//	…
//	res, err := a.Run(ctx, agent.Input{Prompt: "How cold is it in Oslo?"})
//	fmt.Println(res.Text(), res.Status, res.Steps)
//
// [Agent.Stream] yields what happens while it happens, [RunFor] returns a typed answer. There is one loop; the three are
// the same run.
//
// # Machine and driver
//
// A run is a [Machine]: a pure state machine over facts that does no I/O. Its driver, behind [Agent.Run] and
// [Agent.Stream], calls the model and the tools, and records what came of it. A [Fact] is recorded before it is applied
// and before anyone sees it; with a Config.Journal it is kept in a store, and a run can continue in another process with
// [Resume] and [Continue]. Notes, such as [TextDelta], are shown and forgotten.
//
// # Calls and approvals
//
// The machine names each call by run, step and index. Calls that need no approval run first, in call order, beside each other
// where the tools permit it; then the run pauses with all that ask, which costs a record in a store and no goroutine. A
// decision ([Approve], [Reject], [Edit], [Suggest], [Answer], [AllowAlways]) names a [Pause] by its id, which stands for one
// call with one input, in one session, once. What runs is the call as it was stored, judged again right before.
//
// # Failures
//
// A model call is made again where that may help, and so is a call of a tool that declares itself idempotent or read-only;
// [Waiting] says why, and until when. A tool that keeps failing is left alone for a while ([BreakerOpen], Config.Breakers).
// What the run can't help by itself is shown as [Escalated]: what failed, what was tried, and what may help.
//
// # Long work
//
// With a Config.Memory a conversation is kept within the model's window: it is compacted before a model call when that is
// due, by groups, so that no call loses its result and neither the goal nor what is open is forgotten. What was done is a
// fact ([Compacted]); the original stays in the log. [ProgressNotes] are typed notes at shares of the window, a [ContextReset] begins
// a fresh run with what the old one leaves, and a [Briefing] tells a retry what was tried before. Config.Compose composes the system text
// from files, with package agent/prompt.
//
// # What holds
//
//   - Every call that a model made has exactly one result, whatever failed, paused or was denied; results are in call order.
//   - A call that has its result never runs again. One that was started and has none is in doubt: it is repeated only if its
//     tool says that it may be, else a person decides.
//   - A retry of the model wraps a model call alone, and only before any tool of its reply has run. [Reset] voids what it had shown.
//   - Calls of a reply that was cut are never run.
//   - A tool's error is something for the model to read, never the end of a run.
//   - Leaving the loop over a stream, at any event, stops the run and leaves no goroutine behind; nor does a panic in its
//     body. The exception is a function that ignores its context, of a tool or one that writes notes: see [Agent.LeftBehind].
//   - A session has one run at a time; another is a *[BusyError].
//   - Every loop ends: see [Limits], which are on by default.
package agent
