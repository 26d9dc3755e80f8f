package policy_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/tools"
)

// effect returns what a set decides about a call.
func effect(t *testing.T, set *policy.Set, list []tools.Tool, mode policy.Mode, name, input string) tools.Effect {
	t.Helper()
	return verdict(t, set, list, mode, name, input).Effect
}

// verdict returns what a set decides about a call, and why.
func verdict(t *testing.T, set *policy.Set, list []tools.Tool, mode policy.Mode, name, input string) tools.Verdict {
	t.Helper()
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	return decided(t, set, reg, mode, name, input)
}

// decided returns what a set decides about a call of a registered tool.
func decided(t *testing.T, set *policy.Set, reg *tools.Registry, mode policy.Mode, name, input string) tools.Verdict {
	t.Helper()
	c := &tools.Call{Name: name, Input: json.RawMessage(input), Mode: string(mode)}
	adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{set.Policy()})
	require.NoError(t, err)
	if adm.Rejected != nil {
		require.Equal(t, tools.Denied, adm.Rejected.Status)
		return tools.Verdict{Effect: tools.Deny, Reason: adm.Rejected.Parts[0].Text}
	}
	return adm.Verdict
}

func TestAGrantAnswersARuleThatAsksOnlyIfItIsAsNarrow(t *testing.T) {
	root, list := workspace(t)
	for name, c := range map[string]struct{ ask, grant, tool, input string }{
		"another rule asks, too": {`{"effect":"ask","tool":"run","args":["go","test"]},{"effect":"ask","tool":"run","path":"docs"}`,
			`"args":["go","test"]`, "run", `{"program":"go","args":["test"],"dir":"docs"}`},
		"other words": {`{"effect":"ask","tool":"run","args":["go","-race"]}`,
			`"args":["go","test"]`, "run", `{"program":"go","args":["test","-race"]}`},
		"a path within": {`{"effect":"ask","tool":"file.*","path":"docs/sub"}`,
			`"path":"docs/**"`, "file.write", `{"path":"docs/sub/a.md","content":"x"}`},
		"a host within": {`{"effect":"ask","tool":"post","host":"a.example.com"}`,
			`"host":"*.example.com"`, "post", `{"url":"https://a.example.com"}`},
	} {
		rules := parsed(t, `{"rules":[`+c.ask+`,{"effect":"allow","tool":"*",`+c.grant+`}]}`)
		set, err := policy.New(policy.Config{Rules: rules, Project: func(*tools.Call) string { return root }})
		require.NoError(t, err)
		require.Equal(t, tools.Ask, effect(t, set, list, policy.Auto, c.tool, c.input), name)
	}
}

func TestAGrantForMoreToolsAnswersNoRuleThatAsksAboutOne(t *testing.T) {
	list := []tools.Tool{tool("deploy", tools.Spec{}), tool("look", tools.Spec{})}
	for _, allow := range []string{`"tool":"*"`, `"tool":"*o*"`, `"tool":"*","args":["ls"],"exact":true`} {
		set, err := policy.New(policy.Config{Rules: parsed(t,
			`{"rules":[{"effect":"ask","tool":"deploy"},{"effect":"allow",`+allow+`}]}`)})
		require.NoError(t, err)
		require.Equal(t, tools.Ask, effect(t, set, list, policy.Ask, "deploy", `{"program":"ls"}`), allow)
		require.Equal(t, tools.Allow, effect(t, set, list, policy.Ask, "look", `{"program":"ls"}`), allow)
	}
}

func TestARuleForFilesInAnyFolderIsntAboutOtherFiles(t *testing.T) {
	root, list := workspace(t)
	set := projectSet(t, root, `{"effect":"deny","tool":"*","path":"**/key.txt"}`, "")
	for input, want := range map[string]tools.Effect{
		`{"path":"docs/b.md","content":"x"}`:       tools.Allow,
		`{"path":"docs/key.txt","content":"x"}`:    tools.Deny,
		`{"path":"key.txt/b.md","content":"x"}`:    tools.Deny,
		`{"from":"docs/a.md","to":"docs/b.md"}`:    tools.Ask,
		`{"from":"docs/a.md","to":"docs/key.txt"}`: tools.Deny,
		`{"from":"secrets","to":"docs/elsewhere"}`: tools.Deny,
		`{"from":"docs/a.md","to":"docs/c/b.md"}`:  tools.Ask,
	} {
		name := "file.write"
		if input[2] == 'f' {
			name = "file.move"
		}
		require.Equal(t, want, effect(t, set, list, policy.Auto, name, input), input)
	}
}

// Programs that are started in several directories may share a file of grants.
func TestByDefaultTheProjectIsTheWorkingDirectory(t *testing.T) {
	list := []tools.Tool{tool("run", tools.Spec{})}
	book := policy.File(filepath.Join(t.TempDir(), "grants.json"))
	for i, want := range []tools.Effect{tools.Allow, tools.Ask} {
		t.Chdir(t.TempDir())
		dir, err := os.Getwd()
		require.NoError(t, err)
		set, err := policy.New(policy.Config{Book: book})
		require.NoError(t, err)
		if i == 0 {
			require.NoError(t, book.Put(t.Context(), dir, policy.Rule{Tool: "run"}))
		}
		require.Equal(t, want, effect(t, set, list, policy.Ask, "run", `{"program":"ls"}`))
	}
}

func TestMembersThatCantBeReadMatchEveryRuleThatDenies(t *testing.T) {
	open := tools.New(tools.Spec{Name: "open"}, func(context.Context, map[string]any) (string, error) {
		return "ran", nil
	})
	for input, rule := range map[string]string{
		`{"argv":[["git","push"]]}`:                  `"args":["git","push"]`,
		`{"program":{"name":"git"},"args":["push"]}`: `"args":["git","push"]`,
		`{"paths":[{"name":"secrets/key.txt"}]}`:     `"path":"secrets"`,
		`{"source":"secrets/key.txt"}`:               `"path":"secrets"`,
		`{"destination":"secrets/key.txt"}`:          `"path":"secrets"`,
		`{"url":{"host":"example.com"}}`:             `"host":"example.com"`,
	} {
		set, err := policy.New(policy.Config{Rules: parsed(t, `{"hard":[{"effect":"deny","tool":"*",`+rule+`}]}`)})
		require.NoError(t, err)
		require.Equal(t, tools.Deny, effect(t, set, []tools.Tool{open}, policy.Auto, "open", input), input)
		require.Equal(t, tools.Allow, effect(t, set, []tools.Tool{open}, policy.Auto, "open", `{"from":3,"path":null}`))
	}
}

func TestAnExactRuleWithoutConditionsIsForCallsThatNameNothing(t *testing.T) {
	rules := parsed(t, `{"rules":[{"effect":"allow","tool":"run","exact":true}]}`)
	set, err := policy.New(policy.Config{Rules: rules})
	require.NoError(t, err)
	list := []tools.Tool{tools.New(tools.Spec{Name: "run"}, func(context.Context, map[string]any) (string, error) {
		return "ran", nil
	})}
	for input, want := range map[string]tools.Effect{`{"count":3}`: tools.Allow, `{"program":"ls"}`: tools.Ask,
		`{"path":"a"}`: tools.Ask, `{"url":"https://example.com"}`: tools.Ask} {
		require.Equal(t, want, effect(t, set, list, policy.Ask, "run", input), input)
	}
}
