// Package pawl is the map of Pawl, a library for agents that think, act and observe inside a Go service. It holds no code.
//
// A run of an agent is a deterministic state machine over facts. A fact (the model replied, a call was started, a call has
// its result, a person decided) is recorded before anyone sees it, so a finished step is neither lost nor repeated: not by
// a crash, and not while a call waits for somebody's consent. What remains after breaking out of a run is nothing.
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
//   - [github.com/pawlkit/pawl/agent] runs agents: input, events, results, approvals, modes, hooks, limits. Most programs
//     begin here.
//   - [github.com/pawlkit/pawl/tools] is what an agent acts with: typed functions with a schema, a risk and a time limit.
//     [github.com/pawlkit/pawl/tools/process] and [github.com/pawlkit/pawl/tools/file] are ready-made.
//   - [github.com/pawlkit/pawl/provider] is the vocabulary of model calls, and the one method that makes a model. Beside it
//     are the adapters: openai, anthropic, gemini, langchain.
//   - [github.com/pawlkit/pawl/provider/providertest] has models for tests, and the tests that every model must pass.
//   - [github.com/pawlkit/pawl/provider/guard] is the path of a model call: gate, budget, breaker, retries, timeouts, ledger,
//     and failover to another provider.
//   - [github.com/pawlkit/pawl/ratelimit] lets people go before background work, holds rates and budgets, and counts what was
//     used. [github.com/pawlkit/pawl/circuit] leaves alone what keeps failing. Both serve any program, without an agent.
//   - [github.com/pawlkit/pawl/stream] is plumbing for the answers of models: timeouts, checks, buffers, several readers.
//   - [github.com/pawlkit/pawl/agent/machine] is the loop without its effects: a state machine over the facts of a session.
//   - [github.com/pawlkit/pawl/agent/journal] is where a run's facts are kept: in memory, in files, in SQLite, in PostgreSQL.
//     [github.com/pawlkit/pawl/agent/journal/journaltest] is the suite for a store of one's own.
//   - [github.com/pawlkit/pawl/agent/prompt] composes system texts from files.
//   - [github.com/pawlkit/pawl/agent/approvals] lists what waits for a person, and takes decisions over HTTP.
//   - [github.com/pawlkit/pawl/memory] counts tokens, says what fits a window, and compacts long conversations. Beside it,
//     [github.com/pawlkit/pawl/memory/index] finds things by name, with [github.com/pawlkit/pawl/memory/langchain] on langchaingo's
//     embedders and stores, and [github.com/pawlkit/pawl/memory/recall] is working memory as tools.
//   - [github.com/pawlkit/pawl/circuit/fault] says of any error what kind of failure it is, and what to do about it.
//
// Imports point downwards only. The packages below agent know nothing of agents, and may be used without it.
package pawl
