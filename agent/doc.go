// Package agent runs agents: a model with instructions and tools that thinks, acts and observes
// until it is done, needs a person, or reaches a limit.
//
//	a, err := agent.New(agent.Config{Provider: model, Instructions: "Answer briefly.", Tools: []tools.Tool{weather}})
//	if err != nil {
//		return err
//	}
//	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "How cold is it in Oslo?"})
//	if err != nil {
//		return err
//	}
//	fmt.Println(res.Text(), res.Status, res.Steps)
//
// [Agent.Run], [Agent.Stream] and [RunFor] start and resume runs; they share one loop. What they do
// is [Work]: an [Input] is a prompt, a [Resumption] continues an open run, and a [HostCall]
// calls one tool without a model. [Agent.Advance] drives a run for a part of it, for jobs that may
// be stopped at any moment. [Agent.Session] returns a handle for everything else that concerns one
// session. [Config] lists what can be configured, and [Hooks] what can be changed during a run.
//
// # Facts and notes
//
// A run emits two kinds of events. A [Fact] is stored before anyone sees it, and before anything
// happens because of it. With a Config.Journal, facts are kept in a store, and another process can
// resume the run with [Resume] and [Continue]. All other events, such as [TextDelta], are notes:
// they are shown once and not kept. Tools and hooks add events of their own with [Emit] and [Show].
// [MarshalEvent] returns events as JSON.
//
// # Tool calls and approvals
//
// Each call is named by its run, step and index. The calls of a reply that need no approval run
// first, in call order, and in parallel where the tools permit it. Then the run pauses with all
// calls that need a decision; a paused run costs a record in a store and no goroutine. A decision
// ([Approve], [Reject], [Edit], [Suggest], [Answer], [AllowAlways]) names a [Pause] by its id. The
// id is valid for one call with one input, in one session, once. What runs is the stored call,
// which is checked against the policies again.
//
// A decision that was posted ([Session.Decide]) is checked again when the run takes it, perhaps in
// another process, which may have another version of the tool. If it doesn't fit then, an edit for
// another schema, or if who decided hasn't a role that the tool asks for ([Config].Roles), it isn't
// accepted: nothing runs, and the pause opens again under another id, with what was wrong in
// [Pause].Refused. It still expires when it would have.
// Decisions on the old id are refused with [machine.DecisionReplaced] and the new id.
//
// # Guarantees
//
//   - Each call that a model made has exactly one result, whether it ran, failed, was paused or was
//     denied. Results are in call order.
//   - A call that has its result never runs again. A call that was started and has no result is in
//     doubt: it runs again only if its tool is idempotent or read-only; otherwise a person decides,
//     or the model is informed (Config.InDoubt).
//   - A model call is retried only before any tool of its reply has run. [Reset] withdraws what it
//     had shown.
//   - Calls of a reply that was cut off never run.
//   - An error of a tool is a result that the model reads. It doesn't end the run, but 8 calls in a
//     row that fail or are refused do (Limits.Failures).
//   - Leaving the loop over a stream, at any event, stops the run and leaves no goroutine running,
//     even if the loop's body panics. The exception is a function that ignores the end of its
//     context, of a provider or a tool, for example: see [Agent.Abandoned].
//   - The error of [Agent.Run], [RunFor] and [Session.Call] is nil only if the run completed. Any
//     other end is a typed reason, [Result.Err], beside the complete Result. A run completes when
//     the model ends its turn with an answer, or when a stop condition holds: a refusal, and a
//     reply that is cut, filtered, empty or invisible, is no answer.
//   - A session has one run at a time. Another one is refused with [ErrBusy].
//   - Each loop ends: see [Limits], which are on by default.
//   - A run ends when its context or its time does (Limits.Duration, 30 minutes), even if the model
//     continues to write: the reply is cut at the next chunk. With [Agent.Advance], the end of the
//     context pauses it instead.
//   - A provider, a tool, a store, a compaction, or a function that writes notes or lists tools is
//     abandoned 5 s after its context ends, if it ignores that. All other functions of the host hold
//     a run until they return, so they must respect their context or be short.
//   - A wait for the store ends with the context, too, except that an append has 30 s: what has
//     happened is recorded. Every other call of the store has 10 s.
//   - The cost of a run doesn't grow with its session. An agent remembers the sessions that it ran
//     last (64 MiB of facts), and reads only what is new. Another process reads a session from its
//     last [machine.Snapshot]; one is taken after every 500 facts, when a run has ended or paused.
//
// # Reading on
//
// docs/maintaining.md says where things are in this package, for those who change it. Package
// machine has the rules of a run, and what must be stored before what.
package agent
