// Package pawl is the overview of Pawl, a library for agents that think, act and observe inside a
// Go service. It contains no code.
//
// A run of an agent is a deterministic state machine over facts: the model replied, a call started,
// a call has its result, a person decided. A fact is stored before anyone sees it, so a completed
// step is never lost and never repeated, also after a crash and while a call waits for approval.
// Breaking out of a run leaves no goroutine, timer or connection.
//
//	weather := tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city."},
//		func(ctx context.Context, in City) (Weather, error) { return lookUp(ctx, in.Name) })
//	a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{weather}})
//	if err != nil {
//		return err
//	}
//	res, err := a.Run(ctx, agent.Input{Prompt: "How cold is it in Oslo?"})
//	if err != nil {
//		return err
//	}
//	fmt.Println(res.Text(), res.Status)
//
// # The packages, in reading order
//
//   - [github.com/pawlkit/pawl/agent] runs agents: input, events, results, approvals, modes, hooks,
//     limits. Most programs start here. Its documentation says where its parts are.
//   - [github.com/pawlkit/pawl/agent/machine] is the state machine: facts, state, decisions and
//     limits, without clock or I/O.
//   - [github.com/pawlkit/pawl/agent/notes] has progress notes, context resets and briefings for
//     long work, and [github.com/pawlkit/pawl/agent/stop] the conditions that complete a run.
//   - [github.com/pawlkit/pawl/tools] has typed functions with a schema, a risk and a time limit,
//     which an agent calls. [github.com/pawlkit/pawl/tools/process] and
//     [github.com/pawlkit/pawl/tools/file] are ready-made tools.
//   - [github.com/pawlkit/pawl/provider] has the types of model calls and the one-method interface
//     of a model. The adapters openai, anthropic, gemini and langchain are packages below it.
//   - [github.com/pawlkit/pawl/provider/providertest] has fake models for tests, and the
//     conformance suite for models.
//   - [github.com/pawlkit/pawl/provider/guard] is the path of a model call: gate, budget, breaker,
//     retries, timeouts, ledger, and failover to another provider.
//   - [github.com/pawlkit/pawl/ratelimit] gives interactive calls precedence over background work,
//     and enforces rates and budgets. [github.com/pawlkit/pawl/circuit] stops calls to what keeps
//     failing. Both can be used without agents.
//   - [github.com/pawlkit/pawl/stream] has helpers for the replies of models: timeouts, checks,
//     buffers.
//   - [github.com/pawlkit/pawl/agent/journal] is the interface of stores for facts, with stores in
//     memory, in SQLite and in PostgreSQL.
//     [github.com/pawlkit/pawl/agent/journal/journaltest] is the conformance suite for stores.
//   - [github.com/pawlkit/pawl/agent/prompt] composes system texts from files, and
//     [github.com/pawlkit/pawl/agent/skill] offers skills (SKILL.md), which a model reads on demand.
//   - [github.com/pawlkit/pawl/agent/approvals] lists what waits for a decision, and takes
//     decisions over HTTP.
//   - [github.com/pawlkit/pawl/agent/live] keeps runs apart from the requests that start them, and
//     [github.com/pawlkit/pawl/agent/serve] offers them over HTTP: a chat page, useChat, AG-UI,
//     events. The formats are packages below [github.com/pawlkit/pawl/stream].
//     [github.com/pawlkit/pawl/agent/terminal] is a conversation in a terminal, and
//     [github.com/pawlkit/pawl/agent/acp] one in an editor.
//   - [github.com/pawlkit/pawl/agent/plan] runs graphs of tool calls and tasks that a person
//     approves. [github.com/pawlkit/pawl/agent/intent], [github.com/pawlkit/pawl/agent/critic] and
//     [github.com/pawlkit/pawl/agent/screen] say what a request wants, judge answers, and check
//     texts from outside.
//   - [github.com/pawlkit/pawl/agent/policy] has permissions as data: rules, modes and grants.
//     [github.com/pawlkit/pawl/agent/team] has agents that work in the background and report back.
//     [github.com/pawlkit/pawl/agent/work] drives runs that wait their turn, in any process.
//   - [github.com/pawlkit/pawl/tools/web] and [github.com/pawlkit/pawl/tools/mcp] are the tools of
//     the web and of MCP servers, [github.com/pawlkit/pawl/agent/mcpserver] is an agent as an MCP
//     server, and [github.com/pawlkit/pawl/agent/telemetry] has OpenTelemetry.
//   - [github.com/pawlkit/pawl/memory] counts tokens, says what fits a window, and compacts long
//     conversations. [github.com/pawlkit/pawl/memory/index] finds things by name,
//     [github.com/pawlkit/pawl/memory/langchain] uses langchaingo's embedders and vector stores for
//     that, and [github.com/pawlkit/pawl/memory/recall] is working memory as tools.
//   - [github.com/pawlkit/pawl/circuit/fault] classifies errors and says what to do about them.
//
// A package imports only packages of lower layers. The packages below agent don't depend on agents
// and can be used without them.
package pawl
