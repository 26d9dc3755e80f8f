package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

func TestARevokedRuleAsksAgain(t *testing.T) {
	for name, store := range map[string]journal.Store{"in memory": nil, "in a journal": &journal.MapStore{}} {
		t.Run(name, func(t *testing.T) {
			var done effects
			a, _ := scripted(t, agent.Config{Journal: store,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})}},
				call("ask", 1), call("ask", 2), say("Done."), call("ask", 3), say("Done again."))
			res := run(t, a)
			require.Equal(t, "Done.",
				runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID).By("ann"))).Text())
			rules, err := a.Session("s").Rules(t.Context())
			require.NoError(t, err)
			require.Len(t, rules, 1)
			require.Equal(t, "ask", rules[0].Tool)
			require.Equal(t, "ann", rules[0].By)

			require.NoError(t, a.Session("s").Revoke(t.Context(), "ask", "bob"))
			rules, err = a.Session("s").Rules(t.Context())
			require.NoError(t, err)
			require.Empty(t, rules)
			log := facts(t, a, "s")
			require.Equal(t, "bob", log[len(log)-1].(*machine.RuleRevoked).By)

			res = run(t, a)
			require.Equal(t, agent.Paused, res.Status)
			require.Equal(t, 2, done.all())
		})
	}
}

func TestRevokingWhatIsNoRuleIsAnError(t *testing.T) {
	for name, store := range map[string]journal.Store{"in memory": nil, "in a journal": &journal.MapStore{}} {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Journal: store}, say("Done."))
			require.ErrorIs(t, a.Session("s").Revoke(t.Context(), "ask", ""), agent.ErrNoRule)
			run(t, a)
			require.ErrorIs(t, a.Session("s").Revoke(t.Context(), "ask", ""), agent.ErrNoRule)
			require.Len(t, facts(t, a, "s"), 4, "and leaves nothing in the log")
			require.Equal(t, agent.Completed, mustHead(t, a, store))
		})
	}
}

// mustHead returns the status that a journal shows of session "s".
func mustHead(t *testing.T, _ *agent.Agent, store journal.Store) agent.Status {
	t.Helper()
	if store == nil {
		return agent.Completed
	}
	h, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, h.Owner, "the lease was given back")
	return agent.Status(h.Status)
}

func TestARuleIsRevokedInARunUnderWay(t *testing.T) {
	for name, other := range map[string]bool{"here": false, "from another process": true} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			var done effects
			var a, b *agent.Agent
			revoke := tools.New(tools.Spec{Name: "revoke"}, func(ctx context.Context, _ Number) (string, error) {
				if other {
					return "ok", b.Session("s").Revoke(ctx, "ask", "bob")
				}
				return "ok", a.Session("s").Revoke(ctx, "ask", "bob")
			})
			cfg := agent.Config{Journal: store,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways}), revoke}}
			a, _ = scripted(t, cfg, call("ask", 1), call("revoke", 0), call("ask", 2), say("Done."))
			b, _ = scripted(t, cfg)
			res := run(t, a)
			res = runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
			require.Equal(t, agent.Paused, res.Status)
			require.Equal(t, 1, done.all())
		})
	}
}

func TestRulesOfTheHostHoldInEverySessionButForHighRisk(t *testing.T) {
	var done effects
	list := []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways}),
		done.tool(tools.Spec{Name: "risky", Risk: tools.High})}
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	var rules []agent.Rule
	for _, d := range reg.All() {
		rules = append(rules, agent.Rule{Tool: d.Name(), Fingerprint: d.Fingerprint()})
	}
	a, _ := scripted(t, agent.Config{Tools: list, Rules: rules}, call("ask", 1), call("risky", 2))
	res := run(t, a)
	require.Equal(t, agent.Paused, res.Status)
	require.Equal(t, 1, done.of(1))
	require.Zero(t, done.of(2))

	rules[0].Fingerprint = "of another schema"
	b, _ := scripted(t, agent.Config{Tools: list, Rules: rules}, call("ask", 3))
	require.Equal(t, agent.Paused, run(t, b).Status)
	require.Zero(t, done.of(3))
}

func TestARuleEndsWhenTheToolDescribesItselfAnew(t *testing.T) {
	for name, c := range map[string]struct {
		description string
		want        agent.Status
	}{
		"the same":            {"Asks.", agent.Completed},
		"another description": {"Asks, and tells others.", agent.Paused},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			var done effects
			spec := tools.Spec{Name: "ask", Description: "Asks.", Approval: tools.AskAlways}
			a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{done.tool(spec)}}, call("ask", 1),
				say("Done."))
			res := run(t, a)
			res = runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
			require.Equal(t, agent.Completed, res.Status)

			spec.Description = c.description
			b, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{done.tool(spec)}}, call("ask", 2),
				say("Done."))
			require.Equal(t, c.want, run(t, b).Status)
		})
	}
}
