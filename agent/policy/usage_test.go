package policy_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// coder is a program as users write it.
func coder(model provider.Provider, list []tools.Tool) (*agent.Agent, error) {
	text, err := os.ReadFile("rules.json")
	if err != nil {
		return nil, err
	}
	rules, err := policy.Parse(text) // an unknown field is an error
	if err != nil {
		return nil, err
	}
	set, err := policy.New(policy.Config{Rules: rules, Book: policy.File(".pawl/grants.json")})
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Provider: model,
		Tools:    list,
		Modes:    set.Modes(), // plan, ask, edits, auto
		Policies: []tools.Policy{set.Policy()},
		Hooks:    []agent.Hooks{set.Hooks()}, // "always, in this project" becomes a grant
	})
}

func decide(ctx context.Context, a *agent.Agent, session string) error {
	pending, err := a.Session(session).Pending(ctx)
	if err != nil {
		return err
	}
	for _, p := range pending {
		fmt.Println(p.Title)   // what it does, in words
		fmt.Println(p.Preview) // what the call would change, as a unified diff; what runs is bound to it
		if err := a.Session(session).Decide(ctx, agent.Approve(p.ID).By("ann")); err != nil {
			return err
		}
	}
	return nil
}

func TestAProgramAsUsersWriteIt(t *testing.T) {
	t.Chdir(t.TempDir())
	var l ledger
	_, err := coder(providertest.Func(obedient), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile("rules.json",
		[]byte(`{"hard": [{"effect": "deny", "tool": "run", "args": ["git", "push"], "why": "A person pushes."}]}`), 0o600))
	a, err := coder(providertest.Func(obedient), []tools.Tool{l.run()})
	require.NoError(t, err)
	pauses := ask(t, a, agent.Input{Session: "s", Mode: "ask", Prompt: "git push\ngit log"})
	require.Len(t, pauses, 1)
	require.NoError(t, decide(t.Context(), a, "s"))
	require.Empty(t, ask(t, a, agent.Continue("s")))
	require.Equal(t, []string{"git log"}, l.take())

	pauses = ask(t, a, agent.Input{Session: "s-2", Mode: "ask", Prompt: "git log -1"})
	require.Empty(t, ask(t, a, agent.Resume("s-2", agent.Approve(pauses[0].ID).For(policy.Project))))
	a, err = coder(providertest.Func(obedient), []tools.Tool{l.run()})
	require.NoError(t, err)
	require.Empty(t, ask(t, a, agent.Input{Session: "s-3", Mode: "ask", Prompt: "git log -1"}), "another process")
	require.Equal(t, []string{"git log -1", "git log -1"}, l.take())
}
