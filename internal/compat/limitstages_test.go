package compat

import (
	"errors"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// under is a stage whose process dies after the first step of a run, which has a limit of its own.
// Another process goes on, and the run ends at that limit.
func under(limit string, limits agent.Limits, replies []providertest.Step, effects ...string) stage {
	return stage{name: "under a limit of " + limit, replies: replies, hooked: true, leave: func(p *process) {
		p.betweenSteps = p.kill
		_, err := p.run(agent.Input{Prompt: "Go: " + odd, Limits: &limits})
		require.Error(p.t, err)
		require.NotErrorAs(p.t, err, new(*agent.LimitError))
	}, goOn: func(p *process) {
		res, err := p.agent.Run(p.t.Context(), agent.Continue(p.name))
		reached, ok := errors.AsType[*agent.LimitError](err)
		require.True(p.t, ok, "%v", err)
		require.Equal(p.t, limit, reached.Limit)
		require.Equal(p.t, limit, res.Limit)
	}, effects: effects}
}

// large is a reply that takes 600 tokens.
func large(tag string) providertest.Step {
	return providertest.WithUsage(provider.Usage{Input: 100, Output: 500}, step(call("save", tag)))
}

var limitStages = []stage{
	under(machine.LimitSteps, agent.Limits{Steps: 2}, manyCalls, "save 1", "save 2"),
	under(machine.LimitStepsPerPhase, agent.Limits{StepsPerPhase: 3}, manyCalls, "save 1", "save 2", "save 3"),
	under(machine.LimitTokens, agent.Limits{Tokens: 1_000}, []providertest.Step{large("1"), large("2"), large("3")},
		"save 1", "save 2"),
	under(machine.LimitRepeats, agent.Limits{Repeats: 3}, []providertest.Step{step(call("save", "same")),
		step(call("save", "same")), step(call("save", "same")), step(call("save", "same"))}, "save same", "save same",
		"save same"),
	under(machine.LimitFailures, agent.Limits{Failures: 2}, []providertest.Step{step(call("save", "1")),
		step(call("unknown", "2")), step(call("unknown", "3")), step(call("unknown", "4"))}, "save 1"),
	under(machine.LimitReplyBytes, agent.Limits{ReplyBytes: 10_000}, []providertest.Step{step(call("save", "1")),
		providertest.Say(strings.Repeat("text ", 4_000))}, "save 1"),
}
