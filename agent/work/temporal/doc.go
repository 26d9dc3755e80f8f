// Package temporal runs agents on [Temporal]. It is a module of its own, because it needs
// Temporal's SDK.
//
//	// a process that works
//	w := worker.New(c, "agents", worker.Options{WorkerStopTimeout: 30 * time.Second}) // legs pause before that
//	if err := temporal.Register(w, writer); err != nil {
//		return err // says what to do
//	}
//	return w.Run(worker.InterruptCh())
//
//	// a process that starts a run, and one in which a person decides
//	run, err := temporal.Start(ctx, c, "writer", agent.Input{Session: "s-1", Key: "first", Prompt: prompt},
//		temporal.Options{TaskQueue: "agents"})
//	err = temporal.Decided(ctx, c, writer.Session("s-1"), agent.Approve(id).By("ann"))
//
// A run is one workflow, [Workflow]. Its activities are legs of the run ([agent.Agent.Advance]): so
// many model calls, so much time, or until the worker stops. The journal of the agent decides what
// has happened, so whatever Temporal does twice is done once: a leg that was canceled, that timed
// out, or whose worker was killed goes on in the next one. Temporal notices after 20 s that a
// worker was killed; then another one has the run as soon as the dead one's lease of the session
// has ended (agent.Config.Lease). An agent needs a journal that all workers reach, such as that of
// agent/journal/postgres.
//
// # What the history has
//
// The workflow's history has the names of the agent and of the session, the input until the run has
// begun (twice, as a rule), and for each leg what has to happen next, about 1 kB in all. The
// conversation is never in it: [agent.Session.Messages] reads it from the journal, and [Ended] has
// no answer. An input that can't be written as JSON in 1 MiB, and one with a History, is refused by
// [Start]. After 500 legs, or when the server suggests it, the workflow continues as a new one,
// which gets the names and the settings of the legs.
//
// # Waiting
//
// A run that waits for a decision is a timer until its first pause expires, and ends early when
// [Decided] signals the workflow. For decisions that were made otherwise, or whose signal got lost,
// the workflow also looks a minute after it has begun to wait, then after two more, four more, and
// so on, up to every six hours. A wait of 48 hours makes about 170 events.
//
// # Errors and the end of a run
//
// The workflow completes however the run ended: [Ended] has its status. It fails if Advance refuses
// the input, or if no version of the agent that could go on has come for an hour. The type of the
// ApplicationError is then that of the error: ArgError, LimitError, PausedError, SessionError or
// ChangedError. The run stays as it was: Start with the same key continues it.
// Everything else, such as a database that can't be reached, is tried again without limit, up to a
// minute apart.
//
// [Cancel] cancels the workflow and with it the run, also while it waits: open pauses are rejected,
// and what is in progress stops at once, or at the next safe point if another process drives it.
// Terminating a workflow leaves its run as it is.
//
// [Temporal]: https://docs.temporal.io
package temporal
