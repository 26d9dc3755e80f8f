// Package eval says whether a change made an agent better or worse.
//
// A [Case] is something that the agent should do, and a [Scorer] says whether a [Trial] of it did.
// A model doesn't do the same twice, so each case is tried several times, and a comparison says
// which differences chance doesn't explain. In go test:
//
//	func TestAgent(t *testing.T) {
//		eval.Test(t, newAgent, eval.Config{
//			Cases: []eval.Case{{
//				Name:  "weather",
//				Input: agent.Input{Prompt: "How cold is it in Oslo?"},
//				Score: []eval.Scorer{eval.Called("weather"), eval.Text("3"), eval.Cost(provider.USD / 100)},
//			}},
//			Trials:  20,
//			Against: "testdata/eval.json",
//		})
//	}
//
// PAWL_EVAL=write go test writes testdata/eval.json, which is committed; from then on the test
// fails if something got worse. [Run] does the same without a test, [Report.Compare] compares two
// reports, and [Report.Rescore] scores one again without running anything.
//
// # Guarantees
//
//   - Each trial has an agent and a session of its own. What the world looks like is up to
//     newAgent: see docs/evaluation.md, and package tools/mock for outside calls of tools.
//   - A trial that says nothing about the agent is never counted as failed: one that wasn't run
//     because a budget or a context ended ([Trial].NotRun), whose agent couldn't be made, that
//     panicked, or whose model couldn't be called ([Trial].Error). Nor is a score that isn't known
//     ([Score].Error). A run that was stopped by a limit or that waits for a person is counted: it
//     didn't complete.
//   - What a comparison calls better or worse is chance in at most 5 % of comparisons, over all
//     cases and scores of a report together.
//   - Config.Budget is exceeded by at most one model call for each trial that runs at the time,
//     and by what its subagents use in one call.
//   - Run returns after all its goroutines have ended. It waits for functions that ignore their
//     context, as [agent.Agent.Run] does.
//
// # Where things are
//
// eval.go has the settings and runs trials, score.go the scorers and the judge, compare.go the
// statistics, report.go the file and what people read, and gotest.go [Test].
package eval
