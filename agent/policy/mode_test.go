package policy_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestWhatEachModePermits: by mode, what is decided about a call of each kind of tool.
func TestWhatEachModePermits(t *testing.T) {
	preview := func(spec tools.Spec) tools.Tool {
		return tools.Func[command, string]{Spec: spec, Run: func(context.Context, command) (string, error) {
			return "ran", nil
		}, Preview: func(context.Context, command) (string, error) { return "+x", nil }}
	}
	type spec = tools.Spec
	reads := spec{ReadOnly: true, Approval: tools.AskAlways}
	planning := spec{Category: "planning", Risk: tools.High, Approval: tools.AskNever}
	may := spec{Risk: tools.High, AllowAlways: true}
	never := spec{Risk: tools.High, Approval: tools.AskNever}
	for name, c := range map[string]struct {
		tool                   tools.Tool
		plan, ask, edits, auto string
	}{
		"read-only":            {tool("t", spec{ReadOnly: true}), "allow", "allow", "allow", "allow"},
		"read-only that asks":  {tool("t", reads), "ask", "ask", "ask", "allow"},
		"plain":                {tool("t", spec{}), "deny", "ask", "ask", "allow"},
		"that asks":            {tool("t", spec{Approval: tools.AskAlways}), "deny", "ask", "ask", "allow"},
		"with a preview":       {preview(spec{Name: "t"}), "deny", "ask", "allow", "allow"},
		"high with a preview":  {preview(spec{Name: "t", Risk: tools.High}), "deny", "ask", "ask", "ask"},
		"high that may":        {tool("t", may), "deny", "ask", "ask", "allow"},
		"high":                 {tool("t", spec{Risk: tools.High}), "deny", "ask", "ask", "ask"},
		"high that never asks": {tool("t", never), "deny", "ask", "ask", "ask"},
		"for planning":         {tool("t", spec{Category: "planning"}), "allow", "ask", "ask", "allow"},
		"high for planning":    {tool("t", planning), "ask", "ask", "ask", "ask"},
		"for the mode plan":    {tool("t", spec{Modes: []string{"plan", "auto"}}), "allow", "deny", "deny", "allow"},
	} {
		set, err := policy.New(policy.Config{})
		require.NoError(t, err)
		reg, err := tools.NewRegistry(c.tool)
		require.NoError(t, err)
		for mode, want := range map[string]string{"plan": c.plan, "ask": c.ask, "edits": c.edits, "auto": c.auto,
			"": c.ask} {
			if mode == "" && want == "deny" { // the tool is for some modes
				continue
			}
			call := &tools.Call{Name: "t", Input: words("x"), Mode: mode}
			adm, err := reg.Admit(t.Context(), call, nil, nil, []tools.Policy{set.Policy()})
			require.NoError(t, err)
			got := adm.Verdict.Effect
			if adm.Rejected != nil {
				got = tools.Deny
			}
			require.Equal(t, want, got.String(), "%s in %q", name, mode)
		}
	}
}

func TestPlanSaysWhatToDoInstead(t *testing.T) {
	var l ledger
	set, err := policy.New(policy.Config{})
	require.NoError(t, err)
	a := newAgent(t, set, nil, agent.Config{Tools: []tools.Tool{l.run()}, Modes: set.Modes()})
	require.Empty(t, ask(t, a, agent.Input{Session: "s", Prompt: "ls"}), "the first mode is plan")
	require.Empty(t, l.take())
	require.Contains(t, denied(t, a, "s")[0], "Say what you would do, step by step")
}

// atSwitch returns hooks that call a function, with the session, after the command "switch".
func atSwitch(do func(ctx context.Context, session string) error) agent.Hooks {
	return agent.Hooks{Name: "switch", AfterTool: func(ctx context.Context, c *agent.ToolCall,
		_ *agent.ToolResult) error {
		if string(c.Input) != string(words("switch")) {
			return nil
		}
		return do(ctx, c.Session)
	}}
}

func TestTheModeOfTheAgentLastsOverAResumeAndChangesAtTheNextCall(t *testing.T) {
	var l ledger
	set, err := policy.New(policy.Config{})
	require.NoError(t, err)
	store := &journal.MapStore{}
	var a *agent.Agent
	toPlan := atSwitch(func(ctx context.Context, _ string) error {
		return agent.SwitchMode(ctx, "plan", "a person said so")
	})
	open := func() *agent.Agent {
		return newAgent(t, set, store, agent.Config{Tools: []tools.Tool{l.run()}, Modes: set.Modes(),
			Hooks: []agent.Hooks{toPlan}})
	}
	a = open()
	require.Empty(t, ask(t, a, agent.Input{Session: "s", Mode: "auto", Prompt: "ls\nswitch\nls"}))
	require.Equal(t, []string{"ls", "switch"}, l.take())
	require.Len(t, denied(t, a, "s"), 1)
	a = open()
	require.Empty(t, ask(t, a, agent.Input{Session: "s", Prompt: "ls"}), "another process: still plan")
	require.Empty(t, l.take())
	require.Empty(t, ask(t, a, agent.Input{Session: "s", Mode: "auto", Prompt: "ls"}))
	require.Equal(t, []string{"ls"}, l.take())
}

func TestASwitchedModeLastsOverAResumeAndChangesAtTheNextCall(t *testing.T) {
	auto := func(*tools.Call) policy.Mode { return policy.Auto }
	memory := policy.InMemory()
	for name, open := range map[string]func(path string) policy.Book{
		"in memory": func(string) policy.Book { return memory },
		"in a file": policy.File,
	} {
		t.Run(name, func(t *testing.T) {
			var l ledger
			path := filepath.Join(t.TempDir(), "grants.json")
			store := &journal.MapStore{}
			var set *policy.Set
			start := func() *agent.Agent {
				var err error
				set, err = policy.New(policy.Config{Book: open(path), Mode: auto})
				require.NoError(t, err)
				return newAgent(t, set, store, agent.Config{Tools: []tools.Tool{l.run()},
					Modes: []agent.Mode{{Name: "coder"}}, Hooks: []agent.Hooks{
						atSwitch(func(ctx context.Context, session string) error {
							return set.Switch(ctx, session, policy.Plan)
						})}})
			}
			a := start()
			require.Empty(t, ask(t, a, agent.Input{Session: "s", Prompt: "ls\nswitch\nls"}))
			require.Equal(t, []string{"ls", "switch"}, l.take())
			a = start()
			require.Empty(t, ask(t, a, agent.Input{Session: "s", Prompt: "ls"}), "another process: still plan")
			require.Empty(t, l.take())
			require.Empty(t, ask(t, a, agent.Input{Session: "other", Prompt: "ls"}))
			require.Equal(t, []string{"ls"}, l.take(), "other sessions have their own mode")

			require.NoError(t, set.Switch(t.Context(), "s", policy.Ask))
			pauses := ask(t, a, agent.Input{Session: "s", Prompt: "ls"})
			require.Len(t, pauses, 1)
			require.NoError(t, set.Switch(t.Context(), "s", policy.Plan))
			require.Empty(t, ask(t, a, agent.Resume("s", agent.Approve(pauses[0].ID))))
			require.Empty(t, l.take(), "plan denies what was approved before")
			require.NoError(t, set.Switch(t.Context(), "s", ""))
			require.Empty(t, ask(t, a, agent.Input{Session: "s", Prompt: "ls"}))
			require.Equal(t, []string{"ls"}, l.take())
			require.ErrorContains(t, set.Switch(t.Context(), "s", "both"), "give plan, ask, edits or auto")
		})
	}
}

func TestSwitchIsForHostsWhoseModesAreRoles(t *testing.T) {
	set, err := policy.New(policy.Config{})
	require.NoError(t, err)
	require.ErrorContains(t, set.Switch(t.Context(), "s", policy.Plan), "Config.Mode")
}

func TestEditsAsksAboutAPathThatLeadsElsewhere(t *testing.T) {
	root, list := workspace(t)
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	set, err := policy.New(policy.Config{Project: func(*tools.Call) string { return root }})
	require.NoError(t, err)
	for path, want := range map[string]tools.Effect{"docs/b.md": tools.Allow, "../b.md": tools.Ask,
		"docs/deep/b.md": tools.Ask, root + "/b.md": tools.Ask} {
		input, err := json.Marshal(map[string]string{"path": path, "content": "x"})
		require.NoError(t, err)
		call := &tools.Call{Name: "file.write", Input: input, Mode: "edits"}
		adm, err := reg.Admit(t.Context(), call, nil, nil, []tools.Policy{set.Policy()})
		require.NoError(t, err)
		require.Equal(t, want, adm.Verdict.Effect, path)
	}
}

// The tools of agent/plan are for planning.
func TestModesAreThoseOfAnAgent(t *testing.T) {
	set, err := policy.New(policy.Config{})
	require.NoError(t, err)
	_, err = agent.New(agent.Config{Provider: providertest.Script(), Modes: set.Modes()})
	require.NoError(t, err)
	for i, name := range []policy.Mode{policy.Plan, policy.Ask, policy.Edits, policy.Auto} {
		require.Equal(t, string(name), set.Modes()[i].Name)
	}
}
