package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// duringStep runs a prompt in session "s", and calls fn while the first model call is in progress.
func duringStep(t *testing.T, a *agent.Agent, fn func(context.Context, *agent.Session) error) []agent.Event {
	t.Helper()
	var all []agent.Event
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		if err != nil {
			break // the run didn't complete
		}
		if s, ok := ev.(*agent.StepStarted); ok && s.Step == 1 {
			require.NoError(t, fn(t.Context(), a.Session("s")))
		}
		all = append(all, ev)
	}
	return all
}

func TestAStopHoldsThoughTheFirstCallCantStart(t *testing.T) {
	var done effects
	breakers := circuit.NewSet(circuit.Tool())
	open(t, breakers.Get("tool:first"))
	a, _ := scripted(t, agent.Config{Breakers: breakers, Limits: agent.Limits{ParallelCalls: 1},
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "first", ReadOnly: true}),
			done.tool(tools.Spec{Name: "second", ReadOnly: true})}},
		providertest.Calls(providertest.CallSpec{Tool: "first", Input: Number{1}},
			providertest.CallSpec{Tool: "second", Input: Number{2}}), say("Done."))
	all := duringStep(t, a, func(ctx context.Context, s *agent.Session) error { return s.Stop(ctx) })
	require.Zero(t, done.all())
	require.Empty(t, of[*agent.BreakerOpen](all), "the breaker isn't asked for a call that may not start")
	require.Equal(t, agent.Stopped, of[*agent.RunEnded](all)[0].Status)
}

func TestABreakerIsShownAsOpenAfterTheReplyWhoseCallItRefuses(t *testing.T) {
	var done effects
	breakers := circuit.NewSet(circuit.Tool())
	open(t, breakers.Get("tool:work"))
	a, _ := scripted(t, agent.Config{Breakers: breakers, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
		call("work", 1), say("Done."))
	replied := 0
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		switch ev.(type) {
		case *agent.Replied:
			replied++
		case *agent.BreakerOpen:
			require.Equal(t, 1, replied)
		}
	}
	require.Equal(t, 2, replied)
}
