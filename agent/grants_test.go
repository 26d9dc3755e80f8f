package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// offering returns a policy that offers scopes.
func offering(scopes ...tools.Scope) tools.Policy {
	return func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Scopes: scopes}
	}
}

// taken notes the decisions that the hook AfterDecision sees.
type taken struct {
	pauses    []agent.Pause
	decisions []agent.Decision
	calls     []agent.ToolCall
	err       error
}

func (s *taken) hooks() []agent.Hooks {
	return []agent.Hooks{{Name: "taken", AfterDecision: func(_ context.Context, c *agent.ToolCall, p agent.Pause,
		d agent.Decision) error {
		s.calls, s.pauses, s.decisions = append(s.calls, *c), append(s.pauses, p), append(s.decisions, d)
		return s.err
	}}}
}

func TestAPauseOffersTheSessionAndThenWhatPoliciesOffer(t *testing.T) {
	session := tools.Scope{Name: tools.ScopeSession, Text: "all calls of ask, in this session"}
	policies := []tools.Policy{
		offering(tools.Scope{Name: "project", Text: "in the\nproject"}, tools.Scope{}, tools.Scope{Name: "session"},
			tools.Scope{Name: "\xff"}, tools.Scope{Name: strings.Repeat("x", 513)}),
		offering(tools.Scope{Name: "project", Text: "another"}, tools.Scope{Name: "token 4711"},
			tools.Scope{Name: "user", Text: "for 4711"}),
	}
	for name, c := range map[string]struct {
		spec     tools.Spec
		policies []tools.Policy
		want     []tools.Scope
	}{
		"without policies": {tools.Spec{Approval: tools.AskAlways}, nil, []tools.Scope{session}},
		"with them": {tools.Spec{Approval: tools.AskAlways}, policies,
			[]tools.Scope{session, {Name: "project", Text: "in the project"}, {Name: "user", Text: "for [redacted]"}}},
		"of high risk": {tools.Spec{Risk: tools.High}, policies, nil},
		"asked by a policy": {tools.Spec{}, append([]tools.Policy{func(context.Context, *tools.Definition,
			*tools.Call) tools.Verdict {
			return tools.Verdict{Effect: tools.Ask}
		}}, policies...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			c.spec.Name = "ask"
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(c.spec)}, Policies: c.policies,
				Redact: func(s string) string { return strings.ReplaceAll(s, "4711", "[redacted]") }}, call("ask", 1))
			p := run(t, a).Pending[0]
			require.Equal(t, c.want, p.Scopes)
			require.Equal(t, c.want != nil, p.Always)
		})
	}
}

func TestAScopeThatIsNotOfferedConsumesNothing(t *testing.T) {
	var done effects
	var seen taken
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})},
		Policies: []tools.Policy{offering(tools.Scope{Name: "project"})}, Hooks: seen.hooks()},
		call("ask", 1), say("Done."))
	id := run(t, a).Pending[0].ID
	for want, d := range map[string]agent.Decision{
		`the scopes are "session", "project"`: agent.Approve(id).For("planet"),
		`only "always" can have one`:          agent.Reject(id, "no").For("project"),
		`"edit" has the scope "project"`:      agent.Edit(id, Number{2}).For("project"),
		`"approve" has the scope "project"`:   {ID: id, Kind: machine.Approved, Scope: "project"},
	} {
		_, err := a.Run(t.Context(), agent.Resume("s", d))
		var refused *agent.DecisionError
		require.ErrorAs(t, err, &refused, want)
		require.Equal(t, machine.DecisionBad, refused.Code)
		require.ErrorContains(t, err, want)
		require.Empty(t, seen.decisions)
	}
	require.Equal(t, agent.Completed, runInput(t, a, agent.Resume("s", agent.Approve(id).For("project"))).Status)
}

func TestADecisionForAnotherScopeApprovesTheCallAndMakesNoRule(t *testing.T) {
	for scope, rules := range map[string]int{"project": 0, tools.ScopeSession: 1, "": 0} {
		t.Run(scope, func(t *testing.T) {
			var done effects
			var seen taken
			store := &journal.MapStore{}
			cfg := agent.Config{Journal: store, Hooks: seen.hooks(),
				Tools:    []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})},
				Policies: []tools.Policy{offering(tools.Scope{Name: "project"})}}
			a, _ := scripted(t, cfg, call("ask", 1), say("Done."))
			id := run(t, a).Pending[0].ID
			b, _ := scripted(t, agent.Config{Journal: store}, say("")) // a process without the tools posts the decision
			require.NoError(t, b.Session("s").Decide(t.Context(), agent.Approve(id).For(scope).By("ann")))
			require.Empty(t, seen.decisions, "it isn't taken yet")
			require.Equal(t, agent.Completed, runInput(t, a, agent.Continue("s")).Status)
			require.Equal(t, 1, done.all())
			got, err := a.Session("s").Rules(t.Context())
			require.NoError(t, err)
			require.Len(t, got, rules)

			require.Len(t, seen.decisions, 1)
			require.Equal(t, "ann", seen.decisions[0].User)
			require.Equal(t, strings.TrimSuffix(scope, tools.ScopeSession), seen.decisions[0].Scope)
			require.Equal(t, id, seen.pauses[0].ID)
			require.Equal(t, "ask", seen.calls[0].Name)
			require.JSONEq(t, `{"n":1}`, string(seen.calls[0].Input))
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestAfterDecisionSeesEachDecisionOfAPersonOnce(t *testing.T) {
	var done effects
	var seen taken
	a, _ := scripted(t, agent.Config{Hooks: seen.hooks(),
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})}},
		calls("ask", 1, 2, 3), say("Done."))
	pending := run(t, a).Pending
	seen.err = errors.New("the store of grants is down") // is logged
	res := runInput(t, a, agent.Resume("s", agent.Reject(pending[0].ID, "no"), agent.Edit(pending[1].ID, Number{9})))
	require.Equal(t, agent.Paused, res.Status)
	require.Len(t, seen.decisions, 2)
	require.Equal(t, machine.Rejected, seen.decisions[0].Kind)
	require.JSONEq(t, `{"n":2}`, string(seen.calls[1].Input), "as it was asked about")
	require.JSONEq(t, `{"n":9}`, string(seen.decisions[1].Input))

	seen.err = agent.Abort(errors.New("enough"))
	res, err := a.Run(t.Context(), agent.Resume("s", agent.Approve(pending[2].ID)))
	require.ErrorContains(t, err, "enough")
	require.Equal(t, 1, done.all(), "the call of the newest decision doesn't run")
	require.Len(t, seen.decisions, 3)
	require.NotEqual(t, agent.Completed, res.Status)
}

func TestAfterDecisionOfASubagentIsItsOwn(t *testing.T) {
	var done effects
	var inner, outer taken
	child, _ := scripted(t, agent.Config{Name: "child", Hooks: inner.hooks(),
		Tools:    []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})},
		Policies: []tools.Policy{offering(tools.Scope{Name: "project"})}}, call("ask", 1), say("Done."))
	sub := agent.AsTool(child, tools.Spec{Name: "child", Description: "x"})
	a, _ := scripted(t, agent.Config{Hooks: outer.hooks(), Tools: []tools.Tool{sub}}, task("child", "x"), say("Done."))
	p := run(t, a).Pending[0]
	require.Len(t, p.Scopes, 2)
	_, err := a.Run(t.Context(), agent.Resume("s", agent.AllowAlways(p.ID).For("planet")))
	require.ErrorContains(t, err, "planet")
	require.Equal(t, agent.Completed, runInput(t, a, agent.Resume("s", agent.AllowAlways(p.ID).For("project"))).Status)
	require.Equal(t, 1, done.all())
	require.Empty(t, outer.decisions)
	require.Len(t, inner.decisions, 1)
	require.Equal(t, "project", inner.decisions[0].Scope)
}
