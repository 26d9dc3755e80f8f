// Package telemetry makes OpenTelemetry traces, metrics and log lines of what agents do. The names
// follow the conventions for generative AI ([Conventions]), so that the dashboards of common
// backends understand them.
//
//	tel, err := telemetry.New(telemetry.Config{}) // the global providers of OpenTelemetry
//	…
//	a, err := agent.New(agent.Config{
//		Provider: tel.Provider(model),             // around guards
//		Journal:  tel.Store(store),                // measures appends and approvals
//		Hooks:    []agent.Hooks{tel.Hooks(), …},   // first
//	})
//
// # Spans
//
//	invoke_agent {agent}   a run, from its beginning to its end or pause
//	  chat {model}         a model call with its retries
//	  execute_tool {tool}  a tool call with its attempts
//	    invoke_agent …     a subagent's run
//
// A run is a child of the span in the caller's context. A run that pauses ends its span. What
// continues the run, perhaps days later in another process, is a span of its own in the same trace,
// linked to the first one; for this, give [IDs] to the SDK, and [Traceparent] to Input.Trace if the
// caller has a span. Calls that aren't executed, because they were denied for example, have no
// span. Nothing is emitted again when a process reads a journal. [Telemetry.Export] makes the same
// spans of a journal afterwards.
//
// Prompts, replies, inputs and results aren't recorded unless Config.Content says so, nor are texts
// of errors, which may contain them: the attribute error.type has the class of package fault, the
// status of the call, or the code of the run.
//
// # Metrics
//
//	gen_ai.client.inference.duration     model calls, in seconds
//	gen_ai.client.inference.time_to_first_chunk until the answer begins
//	gen_ai.client.inference.usage.input_tokens, .output_tokens, and of these
//	  .cache_read.input_tokens, .cache_write.input_tokens, .reasoning.output_tokens
//	gen_ai.invoke_agent.duration         runs, without pauses
//	gen_ai.execute_tool.duration         tool calls
//	pawl.approval.duration               from a question to a person's decision
//	pawl.journal.append.duration         appends to the journal
//	pawl.compactions                     conversations that were shortened
//	pawl.gate.events                     pauses, preemptions and rejections of a gate: [Telemetry.GateEvents]
//	pawl.budget.events                   limits that are nearly or completely used up: [Telemetry.BudgetEvents]
//	pawl.breaker.changes                 breakers that open and close: [Telemetry.BreakerChanges]
//	pawl.gauge.errors                    gauges that couldn't be read
//
// Gauges, by [Telemetry.Gauges]; docs/telemetry.md has their attributes, and an alert for each:
//
//	pawl.runs                            sessions by the status of their newest run
//	pawl.queue.age                       how long the oldest queued run has been due, in seconds
//	pawl.leases                          running runs by the state of their leases
//	pawl.approval.open, .age             what waits for people, and for how long nothing has happened
//	pawl.gate.running, .waiting, .age, .slots
//	pawl.budget.left.tokens, .left.usd, .limit.tokens, .limit.usd
//	pawl.breakers                        breakers by state
//
// A dashboard for Grafana with all of these is in grafana.json.
package telemetry
