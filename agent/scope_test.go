package agent_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type command struct {
	Line string `json:"line"`
}

// shell returns a tool that always asks. Its scopes are the first two words of a line.
func shell(ran *[]string, ask func(context.Context, command) (string, error)) tools.Tool {
	return tools.Func[command, string]{
		Spec: tools.Spec{Name: "shell", Approval: tools.AskAlways},
		Run: func(_ context.Context, in command) (string, error) {
			*ran = append(*ran, in.Line)
			return "ok", nil
		},
		Ask: ask,
		Scope: func(in command) string {
			words := strings.Fields(in.Line)
			return strings.Join(words[:min(len(words), 2)], " ")
		},
	}
}

func shells(lines ...string) providertest.Step {
	specs := make([]providertest.CallSpec, len(lines))
	for i, line := range lines {
		specs[i] = providertest.CallSpec{Tool: "shell", Input: command{line}}
	}
	return providertest.Calls(specs...)
}

func TestAStandingRuleIsForTheScopeThatItWasGivenFor(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var ran []string
		a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{shell(&ran, nil)}},
			shells("git status"), shells("git status -s"), shells("git push"),
			shells("git push -f", "git status", "git pull"), say("Done."), say("Done."))
		res := run(t, a)
		require.Equal(t, "git status", res.Pending[0].Scope)
		require.True(t, res.Pending[0].Always)
		res = runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID).By("ann")))
		require.Equal(t, []string{"git status", "git status -s"}, ran)
		require.Equal(t, "git push", res.Pending[0].Scope)
		res = runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
		require.Len(t, res.Pending, 1)
		require.Equal(t, "git pull", res.Pending[0].Scope)
		runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		rules, err := a.Session("s").Rules(t.Context())
		require.NoError(t, err)
		require.Len(t, rules, 2)
		require.Equal(t, "git status", rules[0].Scope)
		require.Equal(t, "git push", rules[1].Scope)

		require.NoError(t, a.Session("s").Fork(t.Context(), "copy", 0))
		rules, err = a.Session("copy").Rules(t.Context())
		require.NoError(t, err)
		require.Empty(t, rules)
		require.NoError(t, a.Session("s").Revoke(t.Context(), "shell", "bob"))
		rules, err = a.Session("s").Rules(t.Context())
		require.NoError(t, err)
		require.Empty(t, rules, "all scopes of the tool are revoked together")
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestARuleOfTheHostMayHaveAScope(t *testing.T) {
	var ran []string
	tool := shell(&ran, nil)
	d, err := tool.Define()
	require.NoError(t, err)
	a, _ := scripted(t,
		agent.Config{Tools: []tools.Tool{tool},
			Rules: []agent.Rule{{Tool: "shell", Fingerprint: d.Fingerprint(), Scope: "git status"}}},
		shells("git status", "git push", "ls"))
	require.Len(t, run(t, a).Pending, 2)
	require.Equal(t, []string{"git status"}, ran)
}

func TestAStandingRuleDoesntAnswerWhatAPolicyOrTheToolItselfAsks(t *testing.T) {
	policy := func(standing bool) tools.Policy {
		return func(_ context.Context, _ *tools.Definition, c *tools.Call) tools.Verdict {
			if strings.Contains(string(c.Input), "-f") {
				return tools.Verdict{Effect: tools.Ask, Reason: "forced", Standing: standing}
			}
			return tools.Verdict{}
		}
	}
	own := func(_ context.Context, in command) (string, error) {
		if strings.Contains(in.Line, "-f") {
			return "forced", nil
		}
		return "", nil
	}
	for name, c := range map[string]struct {
		policies []tools.Policy
		ask      func(context.Context, command) (string, error)
		asked    bool
	}{
		"nobody else asks":                          {nil, nil, false},
		"a policy asks":                             {[]tools.Policy{policy(false)}, nil, true},
		"a policy asks what a rule may answer":      {[]tools.Policy{policy(true)}, nil, false},
		"of two policies one asks about each call":  {[]tools.Policy{policy(true), policy(false)}, nil, true},
		"of two policies the first asks every time": {[]tools.Policy{policy(false), policy(true)}, nil, true},
		"the tool asks":                             {nil, own, true},
		"the tool asks, and a policy":               {[]tools.Policy{policy(true)}, own, true},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []string
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{shell(&ran, c.ask)}, Policies: c.policies},
				shells("git push"), shells("git push -f"), shells("git push -f"), say("Done."))
			res := run(t, a)
			res = runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
			if !c.asked {
				require.Equal(t, "Done.", res.Text())
				return
			}
			require.Equal(t, "forced", res.Pending[0].Reason)
			require.False(t, res.Pending[0].Always)
			require.Empty(t, res.Pending[0].Scope)
			_, err := a.Run(t.Context(), agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
			var refused *agent.DecisionError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, machine.DecisionBad, refused.Code)
			res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
			require.Len(t, res.Pending, 1, "the next call is asked about again")
			require.Len(t, ran, 2)
		})
	}
}

func TestACallWithoutAUsableScopeHasNoStandingRule(t *testing.T) {
	for name, scope := range map[string]func(Number) string{
		"too long":  func(Number) string { return strings.Repeat("x", 513) },
		"no text":   func(Number) string { return "a\xff" },
		"it panics": func(Number) string { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			tool := tools.Func[Number, string]{Spec: tools.Spec{Name: "ask", Approval: tools.AskAlways}, Scope: scope,
				Run: func(context.Context, Number) (string, error) { return "ok", nil }}
			d, err := tool.Define()
			require.NoError(t, err)
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool},
				Rules: []agent.Rule{{Tool: "ask", Fingerprint: d.Fingerprint()}}}, call("ask", 1))
			res := run(t, a)
			require.Len(t, res.Pending, 1)
			require.False(t, res.Pending[0].Always)
		})
	}
}

// forged is a store in which somebody has changed the input of each pause.
type forged struct {
	journal.Store
	old, new string
}

func (f *forged) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		f.Store.Read(ctx, session, after)(func(r journal.Record, err error) bool {
			if r.Kind == "suspended" {
				r.Data = []byte(strings.ReplaceAll(string(r.Data), f.old, f.new))
			}
			return yield(r, err)
		})
	}
}

func TestAPauseIsForTheStoredCallOnly(t *testing.T) {
	store := &journal.MapStore{}
	a, _, done := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
	res := run(t, a)
	b, _, _ := risky(t, agent.Config{Journal: &forged{Store: store, old: `{"n":1}`, new: `{"n":666}`}}, say("Done."))
	_, err := b.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	var refused *agent.DecisionError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, machine.DecisionBad, refused.Code)
	require.Zero(t, done.all())
}

func TestMorePausesThanAHeadHasAreListedAndDecidedOnTogether(t *testing.T) {
	const n = journal.MaxOpen + 100
	store := &journal.MapStore{}
	ns := make([]int, n)
	for i := range ns {
		ns[i] = i
	}
	a, _, done := risky(t, agent.Config{Journal: store, Limits: agent.Limits{ReplyCalls: -1}}, calls("risky", ns...),
		say("Done."))
	res := run(t, a)
	require.Len(t, res.Pending, n)
	h, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, h.Open, journal.MaxOpen)
	require.Equal(t, "Done.", runInput(t, a, approveAll(res)).Text())
	require.Equal(t, n, done.all())
}
