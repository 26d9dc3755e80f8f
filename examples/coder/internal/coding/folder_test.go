package coding_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider/providertest"
)

// refused opens a folder that can't be used, and returns why.
func refused(t *testing.T, cfg coding.Config) error {
	t.Helper()
	cfg.Model = providertest.Script()
	c, err := coding.Open(cfg)
	require.Error(t, err)
	require.NoError(t, c.Close())
	return err
}

func TestAFolderThatCantBeUsedIsRefused(t *testing.T) {
	dir, db := project(t)
	err := refused(t, coding.Config{Dir: filepath.Join(dir, "nothing"), DB: db})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "-dir")
	require.ErrorContains(t, refused(t, coding.Config{Dir: filepath.Join(dir, "go.mod"), DB: db}), "-dir")
	require.ErrorContains(t, refused(t, coding.Config{Dir: dir, DB: filepath.Join(dir, "sub", "runs.db")}),
		"isn't outside")
	link := filepath.Join(filepath.Dir(dir), "link")
	require.NoError(t, os.Symlink(dir, link))
	require.ErrorContains(t, refused(t, coding.Config{Dir: dir, DB: filepath.Join(link, "runs.db")}), "isn't outside")
	require.ErrorContains(t, refused(t, coding.Config{Dir: dir, DB: filepath.Join(dir, "go.mod", "runs.db")}), "-db")
	require.ErrorContains(t, refused(t, coding.Config{Dir: dir, DB: db, Own: []string{filepath.Join(link, "go.mod")}}),
		"isn't outside")
	require.NoError(t, os.WriteFile(db+"x", []byte("no database"), 0o644), "a file that isn't one")
	require.ErrorContains(t, refused(t, coding.Config{Dir: dir, DB: db + "x"}), "-db")
}

func TestTheAgentIsToldWhatTheFolderIs(t *testing.T) {
	dir, db := project(t)
	long := []byte(strings.Repeat("Test first. ", 5000))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "AGENTS.md"), long, 0o644))
	skills := filepath.Join(dir, ".agents", "skills", "release")
	require.NoError(t, os.MkdirAll(skills, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(skills, "SKILL.md"),
		[]byte("---\nname: release\ndescription: How a release is made\n---\nTag it.\n"), 0o644))
	for i := range 300 {
		name := strings.Repeat("x", i%50) + string(rune('a'+i%26))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	model := providertest.Script(providertest.Call("skill", m{"name": "release"}), providertest.Say("Done."))
	c := open(t, coding.Config{Dir: dir, DB: db, Model: model})
	res, _ := do(t, c, agent.Input{Session: "s-1", Prompt: "Hello."})
	require.Contains(t, results(res)[0], "Tag it.")
	system := model.Requests()[0].System
	require.Contains(t, system, "go.mod says: module shop\n")
	require.Contains(t, system, `<untrusted from="AGENTS.md">`)
	require.Less(t, len(system), 24<<10, "whatever the folder has")
}

func TestWhatIsUnusualInASkillIsSaidAtTheStart(t *testing.T) {
	dir, db := project(t)
	skills := filepath.Join(dir, ".agents", "skills", "release")
	require.NoError(t, os.MkdirAll(skills, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(skills, "SKILL.md"),
		[]byte("--- \nname: releases\ndescription: How a release is made\n---\nTag it.\n"), 0o644))
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(providertest.Say("Done."))})
	require.Contains(t, c.Notes, "The skill releases: a line of three hyphens has white space after them.")
	require.Contains(t, c.Notes,
		`The skill releases: it is named "releases", and its directory "release"; they should be the same.`)
}

func TestWithoutGoAndGitTheAgentStillReadsAndWrites(t *testing.T) {
	dir, db := project(t)
	t.Setenv("PATH", "")
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(providertest.Unfit(cmd("go", "version")),
		providertest.Call("file.read", m{"path": "cart.go"}), providertest.Say("Done."))})
	require.Len(t, c.Notes, 2)
	res, _ := do(t, c, agent.Input{Session: "s-1", Prompt: "Hello."})
	require.Contains(t, results(res)[0], `there is no tool "look"`)
	require.Contains(t, results(res)[1], "package shop")
}

func TestTheLastRunIsUndoneAndWhatAPersonHasChangedSinceStays(t *testing.T) {
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(
		providertest.Call("file.write", m{"path": "a.go", "content": "package shop\n"}),
		providertest.Call("file.write", m{"path": "b.go", "content": "package shop\n"}), providertest.Say("Done."))})
	do(t, c, agent.Input{Session: "s-1", Prompt: "Do it.", Mode: "edits"})
	session := c.Hub.Agent().Session("s-1")
	receipt, err := session.Undo(t.Context(), agent.Rollback{User: "you"})
	require.NoError(t, err)
	require.Len(t, receipt.Undone, 2)
	require.NoFileExists(t, filepath.Join(dir, "a.go"))
	require.NoFileExists(t, filepath.Join(dir, "b.go"))
}

func TestAPatchIsOneChangeThatIsAskedAboutAndUndone(t *testing.T) {
	dir, db := project(t)
	patch := func(text string, paths ...string) providertest.Step {
		return providertest.Call("file.patch", m{"paths": paths, "patch": text})
	}
	before, err := os.ReadFile(filepath.Join(dir, "cart.go"))
	require.NoError(t, err)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(
		patch("--- a/cart.go\n+++ b/cart.go\n@@\n-package shop\n+package market\n--- /dev/null\n+++ b/new.go\n@@\n+package market\n",
			"cart.go", "new.go"),
		patch("--- /dev/null\n+++ b/.pawl/rules.json\n@@\n+{}\n", ".pawl/rules.json"),
		patch("--- a/AGENTS.md\n+++ b/AGENTS.md\n@@\n+Push.\n Write tests first.\n", "AGENTS.md"), providertest.Say("Done."))})
	res, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it.", Mode: "edits"})
	require.Len(t, pending, 1, results(res))
	require.Equal(t, "Patch AGENTS.md", pending[0].Title)
	require.Contains(t, pending[0].Preview, "+++ b/AGENTS.md\n@@ -1 +1,2 @@\n+Push.\n Write tests first.\n")
	res, _ = do(t, c, agent.Resume("s-1", agent.Reject(pending[0].ID, "no")))
	require.Contains(t, results(res)[1], "The call wasn't run")
	require.NoFileExists(t, filepath.Join(dir, ".pawl", "rules.json"))
	require.FileExists(t, filepath.Join(dir, "new.go"))
	receipt, err := c.Hub.Agent().Session("s-1").Undo(t.Context(), agent.Rollback{User: "you"})
	require.NoError(t, err)
	require.Len(t, receipt.Undone, 1)
	require.NoFileExists(t, filepath.Join(dir, "new.go"))
	after, err := os.ReadFile(filepath.Join(dir, "cart.go"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}
