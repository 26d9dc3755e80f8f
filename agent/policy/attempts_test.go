package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
	"github.com/pawlkit/pawl/tools/process"
	"github.com/pawlkit/pawl/tools/web"
)

var update = flag.Bool("update", false, "write the table of attempts into docs/permissions.md")

// An attempt is a call that tries to get round a rule.
type attempt struct {
	group, tool, input, how string
}

// attempts reads testdata/attempts.txt.
func attempts(t *testing.T) (all []attempt) {
	t.Helper()
	text, err := os.ReadFile("testdata/attempts.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		require.Len(t, f, 4, line)
		all = append(all, attempt{f[0], f[1], f[2], f[3]})
	}
	return all
}

// groups are the rules, the grants and the modes that attempts try to get round.
var groups = map[string]struct {
	rules, grants string
	mode          policy.Mode
}{
	"push":   {rules: `{"effect":"deny","tool":"run","args":["git","push"]}`, mode: policy.Auto},
	"argv":   {rules: `{"effect":"deny","tool":"exec","args":["git","push"]}`, mode: policy.Ask},
	"gotest": {grants: `{"effect":"allow","tool":"run","args":["go","test"]}`, mode: policy.Ask},
	"input":  {grants: `{"effect":"allow","tool":"exec","args":["go","test"]}`, mode: policy.Ask},
	"exact": {grants: `{"effect":"allow","tool":"run","args":["git","log","--oneline"],"exact":true}`,
		mode: policy.Ask},
	"secrets": {rules: `{"effect":"deny","tool":"file.*","path":"secrets/**"}`, mode: policy.Auto},
	"docs":    {grants: `{"effect":"allow","tool":"file.write","path":"docs/*.md"}`, mode: policy.Ask},
	"hosts": {rules: `{"effect":"deny","tool":"web.fetch","host":"internal.example.com"},
		{"effect":"deny","tool":"web.fetch","host":"*.corp.example.com"},
		{"effect":"deny","tool":"web.fetch","host":"192.0.2.1"}`, mode: policy.Auto},
	"api":  {grants: `{"effect":"allow","tool":"post","host":"api.example.com"}`, mode: policy.Ask},
	"plan": {grants: `{"effect":"allow","tool":"*"}`, mode: policy.Plan},
}

// workspace makes the folder that the tools of attempts work in.
func workspace(t *testing.T) (root string, list []tools.Tool) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs links and a program named true")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range map[string]string{"main.go": "package main\n", "docs/a.md": "# A\n",
		"docs/sub/a.md": "# A\n", "secrets/key.txt": "key 1\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	for name, to := range map[string]string{"open": "secrets", "chain": "open", "key": "secrets/key.txt", "up": ".",
		"docs/out.md": "../main.go", "docs/deep": "../docs/sub"} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, name)))
	}
	ws, err := file.Open(root, file.Config{Hide: []string{"secrets"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ws.Close()) })
	path, err := exec.LookPath("true")
	require.NoError(t, err)
	path, err = filepath.EvalSymlinks(path)
	require.NoError(t, err)
	list = append(ws.Tools(), web.Fetch(web.FetchConfig{Hosts: []string{"*"}}),
		tools.New(tools.Spec{Name: "exec"}, func(context.Context, struct {
			Argv  []string          `json:"argv,omitempty"`
			Stdin string            `json:"stdin,omitempty"`
			Env   map[string]string `json:"env,omitempty"`
		}) (string, error) {
			return "ran", nil
		}),
		tools.New(tools.Spec{Name: "post"}, func(context.Context, struct {
			URL string `json:"url"`
		}) (string, error) {
			return "posted", nil
		}),
		process.Tool(process.Config{Root: root, Spec: tools.Spec{Name: "run", AllowAlways: true},
			Programs: []process.Program{
				{Name: "git", Path: path, Check: process.Subcommands("status", "log", "push")},
				{Name: "go", Path: path, Check: withoutExec}}}))
	return root, list
}

func withoutExec(args []string) error {
	if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "exec=") }) {
		return errors.New("-exec runs a program")
	}
	return nil
}

// The layers that stop an attempt.
const (
	bySchema = "the schema of the tool"
	byRule   = "the rule"
	byMode   = "the mode"
	asked    = "a person is asked"
	byTool   = "the tool"
)

// stoppedBy makes a call, and returns what stops it, or "".
func stoppedBy(t *testing.T, reg *tools.Registry, p tools.Policy, mode policy.Mode, a attempt) string {
	t.Helper()
	c := &tools.Call{Name: a.tool, Input: json.RawMessage(a.input), Mode: string(mode), Session: "s"}
	adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{p})
	require.NoError(t, err)
	switch {
	case adm.Rejected != nil && adm.Rejected.Status == tools.Invalid:
		return bySchema
	case adm.Rejected != nil && mode == policy.Plan:
		return byMode
	case adm.Rejected != nil:
		return byRule
	case adm.Verdict.Effect == tools.Ask:
		return asked
	case reg.Recheck(t.Context(), c, []tools.Policy{p}) != nil:
		return byTool
	}
	if a.tool == "run" {
		return ""
	}
	out := tools.Execute(t.Context(), adm.Definition, c, nil)
	if out.Status != tools.OK || a.tool == "file.search" && !strings.Contains(fmt.Sprint(out.Parts), "key 1") {
		return byTool
	}
	return ""
}

func TestNoAttemptGetsRoundARule(t *testing.T) {
	root, list := workspace(t)
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	var table strings.Builder
	table.WriteString("| group | the call | how | stopped by |\n|---|---|---|---|\n")
	all, passed := attempts(t), 0
	require.GreaterOrEqual(t, len(all), 100)
	for _, a := range all {
		g, ok := groups[a.group]
		require.True(t, ok, a.group)
		set := projectSet(t, root, g.rules, g.grants)
		own := a
		own.input = strings.ReplaceAll(a.input, "$ROOT", root)
		by := stoppedBy(t, reg, set.Policy(), g.mode, own)
		if by == "" {
			passed++
			t.Errorf("%s %s: %s isn't stopped", a.group, a.input, a.how)
		}
		fmt.Fprintf(&table, "| %s | %s `%s` | %s | %s |\n", a.group, a.tool, a.input, a.how, by)
	}
	require.Zero(t, passed, "of %d", len(all))
	page := "../../docs/permissions.md"
	text, err := os.ReadFile(page)
	if *update {
		at := strings.Index(string(text), "| group |")
		require.GreaterOrEqual(t, at, 0)
		require.NoError(t, os.WriteFile(page, []byte(string(text[:at])+table.String()), 0o644))
		return
	}
	require.NoError(t, err)
	require.Contains(t, string(text), table.String(), "go test ./agent/policy -run Attempt -update writes the table")
}

// projectSet returns a set with hard rules and with grants for a folder.
func projectSet(t *testing.T, root, hard, grants string) *policy.Set {
	t.Helper()
	rules, err := policy.Parse([]byte(`{"hard":[` + hard + `]}`))
	require.NoError(t, err)
	set, err := policy.New(policy.Config{Rules: rules, Book: book(t, root, grants),
		Project: func(*tools.Call) string { return root }})
	require.NoError(t, err)
	return set
}

// book returns a book with grants for a project.
func book(t *testing.T, project, grants string) policy.Book {
	t.Helper()
	granted, err := policy.Parse([]byte(`{"rules":[` + grants + `]}`))
	require.NoError(t, err)
	b := policy.InMemory()
	for _, r := range granted.Rules {
		require.NoError(t, b.Put(t.Context(), project, r))
	}
	return b
}

// TestRandomPathsReachOnlyWhatRulesSay makes paths at random, and looks at what files they reach.
func TestRandomPathsReachOnlyWhatRulesSay(t *testing.T) {
	root, _ := workspace(t)
	ws, err := file.Open(root, file.Config{}) // it hides nothing
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ws.Close()) })
	reg, err := tools.NewRegistry(ws.Tools()...)
	require.NoError(t, err)
	denies := projectSet(t, root, groups["secrets"].rules, "")
	grants := projectSet(t, root, "", groups["docs"].grants)
	rnd := rand.New(rand.NewPCG(3, 4))
	parts := strings.Split("docs secrets open chain key up deep sub out.md a.md b.md key.txt new.md main.go .. . SECRETS ",
		" ")
	read, wrote := 0, 0
	for range *rounds / 4 {
		path := []string{"docs"}[:rnd.IntN(2)]
		for range 1 + rnd.IntN(3) {
			path = append(path, parts[rnd.IntN(len(parts))])
		}
		input, err := json.Marshal(map[string]string{"path": strings.Join(path, "/")})
		require.NoError(t, err)
		c := &tools.Call{Name: "file.read", Input: input, Mode: "auto"}
		adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{denies.Policy()})
		require.NoError(t, err)
		if adm.Rejected == nil {
			out := tools.Execute(t.Context(), adm.Definition, c, nil)
			require.NotContains(t, fmt.Sprint(out.Parts), "key 1", "%s", input)
			if out.Status == tools.OK {
				read++
			}
		}
		c = &tools.Call{Name: "file.write", Mode: "ask",
			Input: append(input[:len(input)-1:len(input)-1], `,"content":"written"}`...)}
		adm, err = reg.Admit(t.Context(), c, nil, nil, []tools.Policy{grants.Policy()})
		require.NoError(t, err)
		if adm.Rejected != nil || adm.Verdict.Effect != tools.Allow {
			continue
		}
		tools.Execute(t.Context(), adm.Definition, c, nil)
		require.NoError(t, filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			text, _ := os.ReadFile(at)
			if d.Type().IsRegular() && string(text) == "written" {
				wrote++
				require.Equal(t, filepath.Join(root, "docs"), filepath.Dir(at), "%s", input)
				require.Equal(t, ".md", filepath.Ext(at), "%s", input)
				return os.Remove(at)
			}
			return err
		}))
	}
	require.Greater(t, read, *rounds/200)
	require.Positive(t, wrote)
}

// What the rules of the attempts are for works, so that it isn't a rule for everything that stops
// them.
func TestTheRulesOfTheAttemptsLetOthersPass(t *testing.T) {
	root, list := workspace(t)
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	for _, a := range []attempt{
		{"push", "run", `{"program":"git","args":["log","-1"]}`, ""},
		{"gotest", "run", `{"program":"go","args":["test","-count=1","./..."],"dir":"docs"}`, ""},
		{"input", "exec", `{"argv":["go","test"],"stdin":"","env":{}}`, ""},
		{"exact", "run", `{"program":"git","args":["log","--oneline"]}`, ""},
		{"secrets", "file.read", `{"path":"docs/a.md"}`, ""},
		{"secrets", "file.write", `{"path":"secrets.md","content":"x"}`, ""},
		{"docs", "file.write", `{"path":"docs/b.md","content":"x"}`, ""},
		{"docs", "file.write", `{"path":"./docs//c.md","content":"x"}`, ""},
		{"api", "post", `{"url":"https://API.example.com./v1?q=1"}`, ""},
		{"plan", "file.read", `{"path":"docs/a.md"}`, ""},
	} {
		g := groups[a.group]
		require.Empty(t, stoppedBy(t, reg, projectSet(t, root, g.rules, g.grants).Policy(), g.mode, a), a)
	}
}
