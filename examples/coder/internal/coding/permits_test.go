package coding_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestWhatIsDeniedHardIsDeniedInEveryMode(t *testing.T) {
	steps := []providertest.Step{
		cmd("git", "push", "origin"), cmd("git", "config", "core.hooksPath", "x"), cmd("go", "test", "-exec=sh"),
		providertest.Call("file.read", m{"path": ".env"}),
		providertest.Call("file.write", m{"path": ".git/hooks/pre-commit", "content": "x"}),
		providertest.Call("file.write", m{"path": "a/.git/config", "content": "x"}),
		providertest.Call("file.write", m{"path": ".pawl/rules.json", "content": "{}"}),
		providertest.Say("Done.")}
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(slices.Repeat(steps, 4)...)})
	for _, mode := range []string{"plan", "ask", "edits", "auto"} {
		res, pending := do(t, c, agent.Input{Session: mode, Prompt: "Do it.", Mode: mode})
		require.Empty(t, pending)
		require.Len(t, results(res), 7)
		for _, r := range results(res) {
			require.Contains(t, r, "The call wasn't run", mode)
		}
	}
}

// What a mode asks about, in the order of the calls.
func TestModesAskAboutWhatTheySay(t *testing.T) {
	steps := []providertest.Step{
		providertest.Call("file.read", m{"path": "cart.go"}), cmd("git", "status"), cmd("go", "version"),
		providertest.Call("todo.add", m{"texts": []string{"a"}}),
		providertest.Call("file.write", m{"path": "a.go", "content": "package shop\n"}),
		cmd("go", "vet", "./..."), cmd("go", "run", "."), cmd("git", "commit", "-m", "x"), providertest.Say("Done.")}
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(slices.Repeat(steps, 4)...)})
	for mode, want := range map[string][]string{
		"ask":   {"Write “a.go”", "Run go vet ./...", "Run go run .", "Run git commit -m x"},
		"edits": {"Run go vet ./...", "Run go run .", "Run git commit -m x"},
		"auto":  {"Run git commit -m x"}, "plan": nil} {
		var asked []string
		var in agent.Work = agent.Input{Session: mode, Prompt: "Do it.", Mode: mode}
		for {
			_, pending := do(t, c, in)
			if len(pending) == 0 {
				break
			}
			asked = append(asked, pending[0].Title)
			in = agent.Resume(mode, agent.Reject(pending[0].ID, "not now"))
		}
		require.Equal(t, want, asked, mode)
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "a.go")))
	}
}

// In every mode, what only looks runs unasked, and leaves nothing to undo.
func TestCommandsThatOnlyLookAreNeverAskedAboutNorUndone(t *testing.T) {
	lines := []string{"git status --short", "git diff", "git log -n 3", "go list ./...", "go doc fmt.Println"}
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(slices.Repeat(typing(lines), 4)...)})
	for _, mode := range []string{"plan", "ask", "edits", "auto"} {
		res, pending := do(t, c, agent.Input{Session: mode, Prompt: "Look.", Mode: mode})
		require.Empty(t, pending)
		require.Len(t, results(res), len(lines))
		for _, r := range results(res) {
			require.Contains(t, r, "exit code", mode)
		}
		receipt, err := c.Hub.Agent().Session(mode).Undo(t.Context(), agent.Rollback{DryRun: true})
		require.NoError(t, err)
		require.Empty(t, receipt.Undone)
		require.Empty(t, receipt.Stays())
	}
}

func TestACommandOfTheOtherToolIsToldWhichOne(t *testing.T) {
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(
		providertest.Call("look", m{"program": "git", "args": []string{"commit", "-m", "x"}}),
		providertest.Call("run", m{"program": "go", "args": []string{"list"}}), providertest.Say("Done."))})
	res, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it.", Mode: "auto"})
	require.Empty(t, pending)
	require.Contains(t, results(res)[0], "git commit is for the tool run")
	require.Contains(t, results(res)[1], "go list is for the tool look")
}

func TestAGrantOfTheFolderIsKeptOutsideAndHoldsForTheNextStart(t *testing.T) {
	dir, db := project(t)
	c, err := coding.Open(coding.Config{Dir: dir, DB: db, Model: providertest.Script(cmd("go", "run", "."),
		providertest.Say("Done."))})
	require.NoError(t, err)
	_, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it."})
	_, pending = do(t, c, agent.Resume("s-1", agent.Approve(pending[0].ID).For(policy.Project)))
	require.Empty(t, pending)
	require.NoError(t, c.Close())
	require.FileExists(t, db+"-grants.json")

	c = open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(cmd("go", "run", "."),
		providertest.Say("Done."))})
	_, pending = do(t, c, agent.Input{Session: "s-2", Prompt: "Do it."})
	require.Empty(t, pending)
}

func TestAnApprovedPlanPermitsToTestUntilItHasEnded(t *testing.T) {
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(
		providertest.Call("plan.submit", m{"title": "Add", "why": "It is missing.", "nodes": []m{
			{"id": "add", "worker": "coder", "prompt": "Add b.go."}}}),
		providertest.Call("file.write", m{"path": "b.go", "content": "package shop\n"}),
		cmd("go", "test", "./..."), providertest.Say("Added."), providertest.Say("The plan is done."),
		cmd("go", "test", "./..."), providertest.Say("Done."))})
	_, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Plan it.", Mode: "plan"})
	require.Len(t, pending, 1)
	require.NoFileExists(t, filepath.Join(dir, "b.go"))
	res, pending := do(t, c, agent.Resume("s-1", agent.Approve(pending[0].ID)))
	require.Empty(t, pending, "neither the edit nor the test asks")
	require.Equal(t, "The plan is done.", res.Text())
	require.FileExists(t, filepath.Join(dir, "b.go"))
	_, pending = do(t, c, agent.Input{Session: "s-2", Prompt: "Test it.", Mode: "ask"})
	require.Len(t, pending, 1, "the permission has ended with the plan")
}

func TestTheFolderOnlyNarrowsWhatIsPermitted(t *testing.T) {
	dir, db := project(t)
	at := filepath.Join(dir, ".pawl", "rules.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.WriteFile(at, []byte(`{"rules":[{"effect":"allow","tool":"*"}]}`), 0o644))
	c, err := coding.Open(coding.Config{Dir: dir, DB: db, Model: providertest.Script()})
	require.ErrorContains(t, err, ".pawl/rules.json")
	require.NoError(t, c.Close())

	require.NoError(t, os.WriteFile(at, []byte(
		`{"rules":[{"effect":"deny","tool":"file.write","path":"gen","why":"It is generated."}]}`), 0o644))
	c = open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(
		providertest.Call("file.write", m{"path": "gen/a.go", "content": "package gen\n"}), providertest.Say("Done."))})
	res, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it.", Mode: "auto"})
	require.Empty(t, pending)
	require.Contains(t, results(res)[0], "It is generated.")
}

// People read at the start what rules of theirs don't do, and logs have it always.
func TestTheStartSaysWhatRulesDontDo(t *testing.T) {
	dir, db := project(t)
	rules := filepath.Join(filepath.Dir(db)+"-rules", "rules.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(rules), 0o700))
	require.NoError(t, os.WriteFile(rules, []byte(`{"hard":[{"effect":"deny","tool":"bash","args":["rm"]}]}`), 0o600))
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(), Rules: rules})
	require.Contains(t, c.Notes, `a rule is about "bash", and no tool has such a name`)
	dir, db = project(t)
	var log bytes.Buffer
	c = open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(),
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.Empty(t, c.Notes)
	require.Contains(t, log.String(), "file.delete is of high risk")
}
