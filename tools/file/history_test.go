package file_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// keyed runs a tool of a tree as a call with an idempotency key, and returns how to undo it.
func keyed(t *testing.T, tree file.Tree, key, name string, input in) (out tools.Outcome, undo func() error) {
	t.Helper()
	raw, err := json.Marshal(input)
	require.NoError(t, err)
	reg := registry(t, tree)
	d, ok := reg.Lookup(name)
	require.True(t, ok)
	c := &tools.Call{ID: key, Name: name, Input: raw, IdempotencyKey: key}
	out = run(t.Context(), reg, *c)
	var text json.RawMessage // what the agent gives
	if out.Status == tools.OK {
		text = json.RawMessage(said(out))
	}
	return out, func() error { return d.Undo(tools.WithCall(context.WithoutCancel(t.Context()), c), raw, text) }
}

func TestWhatTheToolsChangedIsUndone(t *testing.T) {
	history := filepath.Join(t.TempDir(), "history")
	trees(t, file.Config{History: history}, content{"a": "one\ntwo\n", "gone": "text", "none": ""},
		func(t *testing.T, tree file.Tree, _ string) {
			var undos []func() error
			do := func(name string, input in) {
				out, undo := keyed(t, tree, t.Name()+name+string(rune('0'+len(undos))), name, input)
				require.Equal(t, tools.OK, out.Status, said(out))
				undos = append(undos, undo)
			}
			version := func(name string) string {
				c, err := tree.Read(t.Context(), name)
				require.NoError(t, err)
				return c.Version
			}
			do("file.edit", in{"path": "a", "old": "two", "new": "three"})
			do("file.write", in{"path": "a", "content": "other", "version": version("a")})
			do("file.write", in{"path": "new/b", "content": ""})
			do("file.delete", in{"path": "gone"})
			do("file.delete", in{"path": "none"})
			for i := len(undos) - 1; i >= 0; i-- {
				require.NoError(t, undos[i]())
				require.NoError(t, undos[i](), "again")
			}
			for name, want := range map[string]string{"a": "one\ntwo\n", "gone": "text", "none": ""} {
				c, err := tree.Read(t.Context(), name)
				require.NoError(t, err)
				require.Equal(t, want, string(c.Data), name)
			}
			_, err := tree.Read(t.Context(), "new/b")
			require.ErrorIs(t, err, os.ErrNotExist)
			require.NoError(t, os.RemoveAll(history))
			require.ErrorContains(t, undos[0](), "isn't in the history any more")
		})
}

func TestAProgramThatWasDeletedCanRunAgainAfterwards(t *testing.T) {
	trees(t, file.Config{History: filepath.Join(t.TempDir(), "history")}, content{"run.sh": "exit"},
		func(t *testing.T, tree file.Tree, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
			_, undo := keyed(t, tree, t.Name(), "file.delete", in{"path": "run.sh"})
			require.NoError(t, undo())
			c, err := tree.Read(t.Context(), "run.sh")
			require.NoError(t, err)
			require.EqualValues(t, 0o755, c.Mode.Perm())
		})
}

func TestAFileThatWasChangedSinceStaysAsItIs(t *testing.T) {
	ws, dir := workspace(t, file.Config{History: filepath.Join(t.TempDir(), "history")}, content{"a": "one"})
	_, undo := keyed(t, ws, "k", "file.edit", in{"path": "a", "old": "one", "new": "two"})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("somebody's"), 0o600))
	require.ErrorIs(t, undo(), file.ErrChanged)
	text, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, "somebody's", string(text))
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	require.ErrorIs(t, undo(), file.ErrChanged)
}

func TestACallThatFailedLeavesNothingToUndo(t *testing.T) {
	history := filepath.Join(t.TempDir(), "history")
	ws, dir := workspace(t, file.Config{History: history}, content{"a": "one"})
	for _, input := range []in{{"path": "a", "old": "zero", "new": "x"}, {"path": "b", "old": "zero", "new": "x"}} {
		out, undo := keyed(t, ws, "k", "file.edit", input)
		require.NotEqual(t, tools.OK, out.Status)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("later"), 0o600))
		require.NoError(t, undo())
	}
}

// A call that is in doubt after a crash may have written or not, and may run again.
func TestACallThatRunsAgainIsUndoneToWhatWasBefore(t *testing.T) {
	ws, dir := workspace(t, file.Config{History: filepath.Join(t.TempDir(), "history")}, content{"a": "one"})
	_, undo := keyed(t, ws, "k", "file.write", in{"path": "b", "content": "new"})
	out, _ := keyed(t, ws, "k", "file.write", in{"path": "b", "content": "new"})
	require.Contains(t, said(out), "there is nothing to write")
	require.NoError(t, undo())
	_, err := os.Stat(filepath.Join(dir, "b"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAHistoryIsOutsideOfTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	for _, history := range []string{"history", dir, filepath.Join(dir, "below", "it")} {
		_, err := file.Open(dir, file.Config{History: history})
		require.ErrorContains(t, err, "outside of the workspace", history)
	}
}
