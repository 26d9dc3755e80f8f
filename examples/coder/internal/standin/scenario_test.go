package standin

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
	"github.com/pawlkit/pawl/tools/process"
)

// A desk is an agent in a directory, whose policies are those of package policy: in the mode ask it
// asks about edits and commits.
type desk struct {
	agent   *agent.Agent
	session string
	asked   []string // programs with their first argument, and other tools
}

const rules = `{"rules": [{"effect": "allow", "tool": "run", "args": ["go"]}]}`

// newDesk makes a desk with tools that run programs.
func newDesk(t *testing.T, dir string, model provider.Provider, programs ...tools.Tool) *desk {
	t.Helper()
	files, err := file.Open(dir, file.Config{History: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	parsed, err := policy.Parse([]byte(rules))
	require.NoError(t, err)
	set, err := policy.New(policy.Config{Rules: parsed})
	require.NoError(t, err)
	list := append(append(files.Tools(), programs...), agent.AskTool())
	a, err := agent.New(agent.Config{Provider: model, Tools: list,
		Modes: set.Modes(), Policies: []tools.Policy{set.Policy()}, Hooks: []agent.Hooks{set.Hooks()}})
	require.NoError(t, err)
	return &desk{agent: a, session: "s-1"}
}

// programs returns the tools look and run.
func programs(t *testing.T, dir string) []tools.Tool {
	t.Helper()
	cfg := process.Config{Root: dir, Spec: tools.Spec{Name: "look", ReadOnly: true, AllowAlways: true}}
	for _, name := range []string{"go", "git"} {
		p, err := process.Lookup(name)
		if err != nil {
			t.Skip(err)
		}
		p.Risk = func([]string) tools.Risk { return tools.Low }
		cfg.Programs = append(cfg.Programs, p)
	}
	look := process.Tool(cfg)
	cfg.Spec.Name, cfg.Spec.ReadOnly = "run", false
	return []tools.Tool{look, process.Tool(cfg)}
}

// wordsOf returns the program and its first argument.
func wordsOf(input json.RawMessage) string {
	var in struct {
		Program string
		Args    []string
	}
	if json.Unmarshal(input, &in) != nil || len(in.Args) == 0 {
		return ""
	}
	return in.Program + " " + in.Args[0]
}

// say sends a message, and decides until nothing waits. decide may be nil: all is approved.
func (d *desk) say(t *testing.T, in agent.Input, decide func(p agent.Pause) agent.Decision) *agent.Result {
	t.Helper()
	d.asked = nil
	in.Session = d.session
	var work agent.Work = in
	for {
		res, err := d.agent.Run(t.Context(), work)
		if !errors.As(err, new(*agent.PausedError)) {
			require.NoError(t, err)
			return res
		}
		p := res.Pending[0]
		d.asked = append(d.asked, strings.TrimSpace(p.Call.Name+" "+wordsOf(p.Call.Input)))
		decision := agent.Approve(p.ID)
		if decide != nil {
			decision = decide(p)
		}
		work = agent.Resume(d.session, decision)
	}
}

// The scenario: go test fails, an edit is approved, go test fails elsewhere, which is mended, too,
// and git commits. Files, go and git are real.
func TestTheScenarioWithRealPrograms(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, Unpack(dir))
	d := newDesk(t, dir, New(0), programs(t, dir)...)
	res := d.say(t, agent.Input{Prompt: Requests[0], Mode: "ask"}, func(p agent.Pause) agent.Decision {
		require.Equal(t, p.Call.Name == "file.edit", strings.Contains(p.Preview, "+++ "), p.Preview)
		return agent.Approve(p.ID)
	})
	require.Equal(t, []string{"file.edit", "file.edit", "run git commit"}, d.asked)
	require.Contains(t, res.Text(), "git says:")
	require.Contains(t, res.Text(), "A text without words has no lines; Letters count, not bytes")
	receipt, err := d.agent.Session(d.session).Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Len(t, receipt.Undone, 2)
	text, err := os.ReadFile(filepath.Join(dir, "wrap.go"))
	require.NoError(t, err)
	require.Contains(t, string(text), repairs()[0].Old)
	require.Contains(t, d.say(t, agent.Input{Prompt: "review my changes"}, nil).Text(), "return nil")
}
