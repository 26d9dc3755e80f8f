// Package tools is what an agent acts with: typed functions with a schema, a risk and a time limit, a registry that keeps
// them in order, and the path that one call takes.
//
//	weather := tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city."},
//		func(ctx context.Context, in City) (Weather, error) { … })
//
// A [Func] has more to say: whether this very input needs a person's consent (Ask), whether it may still run now (Check),
// whether it really had its effect (Verify), and how to take it back (Undo). A [Raw] tool takes and gives JSON, for tools
// whose schema is known only at run time. Anything wrong with a tool's types or names comes back as an error of
// [NewRegistry], which is where a host's mistakes surface; nothing here panics.
//
// # The path of a call
//
// [Registry.Admit] looks the tool up, fills defaults, lets the host change the input, validates what came of it against
// the schema, and judges: prerequisites, mode, the policies, the tool's approval and its Ask, of which deny beats ask beats
// allow. What is validated is what runs, byte for byte: canonical JSON without duplicate or differently cased keys.
// [Registry.Recheck] judges again right before execution, when time may have passed, and asks the tool's Check.
// [Execute] then decodes, runs, encodes, verifies and bounds. A panic in a tool, an error, an output that can't be
// encoded: each is an [Outcome] that a model can read and act on. It holds no stack trace.
//
//	call := &tools.Call{Name: "weather", Input: input}
//	admitted, err := registry.Admit(ctx, call, nil, nil, policies)
//	if err != nil || admitted.Rejected != nil || admitted.Verdict.Effect == tools.Ask {
//		… // the refusal is what the model reads; an ask is put to a person
//	}
//	if refused := registry.Recheck(ctx, call, policies); refused == nil {
//		outcome := tools.Execute(ctx, admitted.Definition, call, nil)
//		…
//	}
//
// # Failures that pass
//
// A caller that has breakers asks the one of the tool, or of the Spec.Resource that several tools share, before it executes a
// call: see [Pass]. An open one refuses the call: [Unavailable], and when to try again. What is refused was never started. The
// result of a call counts on its breaker by its class ([circuit.Permit.Done]): timeouts, transient and degraded failures do,
// mistakes and canceled calls don't.
//
// A tool that is Idempotent or ReadOnly is tried again by the class of its error: see [Retry]. Every attempt is the same call,
// with the same [IdempotencyKey] and in the same time limit, and a call counts once on its breaker however often it is tried.
//
// Functions of the host are called on the goroutine of their caller, without a lock held; their panics count as failures: a
// policy's denies, an Ask's asks, a Check's denies, a Verify's leaves the effect unconfirmed.
//
// # The context of a call
//
// A call's context ends at its time limit, with the cause [*TimeoutError], when its run's context does, and when the tool
// returns. Its Deadline is the latest time at which it ends, with all the progress that may be reported. It carries what the tool may want to know about the call: [CallOf], [IdempotencyKey] for idempotent requests to other
// systems, [Fence], and [Progress]. Ask, Check and policies are called with the context of the run instead.
//
// What a tool returns counts, also after the end of its context: a result is a result. An error then means TimedOut or
// Canceled, unless it is about what was asked for (invalid, not found, denied, or for a person to fix).
package tools
