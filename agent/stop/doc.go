// Package stop has the conditions that complete a run before its model ends the turn. Set them as
// StopWhen in the Config of an agent:
//
//	a, err := agent.New(agent.Config{
//		Provider: model,
//		Tools:    []tools.Tool{search, publish},
//		StopWhen: []stop.Condition{stop.AfterTool("publish"), stop.AfterSteps(8)},
//	})
//
// A [Condition] is a function of a [State], so a host can write its own. Conditions are called
// after each step, and a run for which one holds has completed: it isn't an error, as reaching a
// limit is.
package stop
