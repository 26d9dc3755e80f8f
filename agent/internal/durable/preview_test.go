package durable

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools/file"
)

func TestAFileThatChangedSinceItsApprovalIsNotDeletedAfterARestart(t *testing.T) {
	dir := t.TempDir()
	page, db := filepath.Join(dir, "files", "page.txt"), filepath.Join(dir, "runs.db")
	require.NoError(t, os.Mkdir(filepath.Dir(page), 0o700))
	require.NoError(t, os.WriteFile(page, []byte("draft\n"), 0o600))
	process := func(in agent.Work, steps ...providertest.Step) *agent.Result {
		store, err := sqlite.Open(db, sqlite.Config{})
		require.NoError(t, err)
		defer store.Close()
		files, err := file.Open(filepath.Dir(page), file.Config{})
		require.NoError(t, err)
		defer files.Close()
		a, err := agent.New(agent.Config{Journal: store, Tools: files.Tools(), Provider: providertest.Script(steps...)})
		require.NoError(t, err)
		res, err := a.Run(t.Context(), in)
		require.NotNil(t, res, "%v", err)
		require.True(t, err == nil || errors.As(err, new(*agent.PausedError)), "%v", err)
		return res
	}
	res := process(agent.Input{Session: "s", Prompt: "Delete the page."},
		providertest.Call("file.delete", map[string]string{"path": "page.txt"}))
	require.Equal(t, "--- a/page.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-draft\n", res.Pending[0].Preview)
	require.NoError(t, os.WriteFile(page, []byte("the final text\n"), 0o600))
	res = process(agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.FileExists(t, page)
	require.Equal(t, "--- a/page.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-the final text\n", res.Pending[0].Preview)
	res = process(agent.Resume("s", agent.Approve(res.Pending[0].ID)), providertest.Say("It is gone."))
	require.Equal(t, "It is gone.", res.Text())
	require.NoFileExists(t, page)
}
