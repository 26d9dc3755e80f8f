// Package tools defines the tools of an agent: typed functions with a schema, a risk and a time
// limit, a registry that keeps them in order, and the execution of one call.
//
//	weather := tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city."},
//		func(ctx context.Context, in City) (Weather, error) { … })
//
// A [Func] has more hooks: whether this input needs approval (Ask), whether the call may still run
// now (Check), whether it really had its effect (Verify), and how to revert it (Undo). A [Raw] tool
// takes and returns JSON, for tools whose schema is known only at run time. Mistakes in a tool's
// types or names are errors of [NewRegistry], not panics.
//
// [Wrap] puts a function around a tool and keeps everything else of it, [Lazy] makes a tool one
// that must be loaded before it is offered, and [Untrusted] marks text from outside as data for the
// model. An [External] tool is executed by somebody else, such as a front end. A [Source] is a set
// of tools that may change during an agent's lifetime.
//
// [Registry.Run] runs a call, from what a model wrote to what it reads:
//
//	registry, err := tools.NewRegistry(weather)
//	…
//	call := tools.Call{ID: id, User: user, Name: "weather", Input: input}
//	outcome := registry.Run(ctx, call, tools.Options{})
//	if q := outcome.Question; q != nil {
//		call.By = approver(q) // a person who has seen q.Input and said yes
//		outcome = registry.Run(ctx, call, tools.Options{Approved: q.Hash})
//	}
//
// # How a call is executed
//
// An agent does the same in steps, because it records what happens between them. [Registry.Admit]
// looks the tool up, fills in defaults, lets the host change the input, validates the result
// against the schema, and then evaluates prerequisites, mode, policies, the tool's approval and its
// Ask: deny overrides ask, and ask overrides allow. What is validated is what runs, byte for byte:
// canonical JSON without duplicate keys or keys that differ only in case. [Registry.Recheck]
// evaluates again right before execution, because time may have passed, and calls the tool's Check.
// [Execute] then decodes the input, runs the tool, encodes the output, verifies the effect and
// bounds the output. A panic in a tool, an error, an output that can't be encoded: each is an
// [Outcome] that a model can read and act on. It contains no stack trace.
//
// # Transient failures
//
// A caller with breakers takes a [Pass] before it executes a call, from the breaker of the tool or
// of the Spec.Resource that several tools share. An open breaker rejects the call with the status
// [Unavailable] and says when to try again. A rejected call was never started. The result of a call
// counts on its breaker by its class ([Pass.Done]): timeouts, transient and degraded failures
// count; mistakes, errors of unknown class and canceled calls don't.
//
// A tool that is Idempotent or ReadOnly is retried depending on the class of its error: see
// Spec.Retries. All attempts are the same call, with the same [IdempotencyKey] and within the same
// time limit, and they count once on its breaker.
//
// Functions of the host are called on the goroutine of the caller, without a lock held. A panic in
// a policy, a Preview or a Check denies the call, a panic in an Ask asks for approval, and a panic
// in a Verify leaves the effect unconfirmed.
//
// # The context of a call
//
// A call's context ends at its time limit, with the cause [*TimeoutError], when the run's context
// ends, and when the tool returns. Its Deadline is the latest time at which it can end, with all
// progress that may be reported. It carries information about the call: [CallOf], [IdempotencyKey]
// for idempotent requests to other systems, [Fence], and [Progress]. Ask, Preview, Check and
// policies are called with the context of the run instead.
//
// A result that a tool returns after the end of its context still counts. An error returned then
// means TimedOut or Canceled, unless it is about the request itself (invalid, not found, denied, or
// for a person to fix).
//
// # Programs
//
// A tool that runs a program says in its result how that ended: see [Exit]. A call whose program
// has failed is OK: the tool did what it should, and the call counts neither on its breaker nor as
// a failure of the tool. But [Outcome.Succeeded] is false, people are shown that it failed, and
// tools that require it (Spec.Requires) can't be called yet.
package tools
