package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

// inner returns a Workspace for tests that need its unexported methods, to cause changes at a
// certain moment.
func inner(t *testing.T, files map[string]string) (*Workspace, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	w, err := Open(dir, Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w, dir
}

func TestAChangeRightBeforeTheRenameIsNoticed(t *testing.T) {
	w, dir := inner(t, map[string]string{"a": "a person's"})
	before := &Content{Data: []byte("as it was")}
	require.ErrorIs(t, w.put("a", []byte("ours"), before, 0o644), ErrChanged)
	require.ErrorIs(t, w.put("a", []byte("ours"), &Content{Data: []byte("as it was, longer")}, 0o644), ErrChanged)
	require.ErrorIs(t, w.remove("a", before), ErrChanged)
	require.ErrorIs(t, w.put("gone", []byte("ours"), before, 0o644), fs.ErrNotExist)
	require.Equal(t, map[string]string{"a": "a person's"}, all(t, dir))
}

func TestANewFileDoesntReplaceOneCreatedInTheMeantime(t *testing.T) {
	w, dir := inner(t, map[string]string{"a": "a person's"})
	require.ErrorIs(t, w.put("a", []byte("ours"), nil, 0o644), fs.ErrExist)
	require.Equal(t, map[string]string{"a": "a person's"}, all(t, dir))
}

func all(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := map[string]string{}
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(text)
	}
	return out
}

func TestAFileThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	w, dir := inner(t, map[string]string{"a": ""})
	at := filepath.Join(dir, "a")
	for changes := range attempts + 1 {
		require.NoError(t, os.WriteFile(at, nil, 0o644))
		opened := 0
		data, info, err := steady("a", 100, func() (*os.File, fs.FileInfo, error) {
			f, before, err := w.regularFile("a")
			if opened++; err == nil && opened <= changes {
				more, err := os.OpenFile(at, os.O_WRONLY|os.O_APPEND, 0)
				require.NoError(t, err)
				_, err = more.WriteString("x")
				require.NoError(t, errors.Join(err, more.Close()))
			}
			return f, before, err
		})
		require.Equal(t, min(changes+1, attempts), opened)
		if changes == attempts {
			require.Equal(t, fault.Transient, fault.Of(err))
			continue
		}
		require.NoError(t, err)
		require.Len(t, data, changes)
		require.EqualValues(t, changes, info.Size())
	}
}

func TestUnusedContentsAreDeleted(t *testing.T) {
	w, _ := inner(t, map[string]string{"a": "base"})
	s, err := w.Stage(filepath.Join(t.TempDir(), "staging"))
	require.NoError(t, err)
	defer s.Cleanup()
	kept := func() int { return len(all(t, filepath.Join(s.store.dir, blobsDir))) }
	ctx := t.Context()
	c, err := s.Read(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, 1, kept())
	for _, text := range []string{"one", "two", "three"} {
		info, err := s.Write(ctx, "a", []byte(text), WriteOptions{Version: c.Version})
		require.NoError(t, err)
		c.Info = info
		require.Equal(t, 2, kept())
	}
	require.NoError(t, s.Drop("a"))
	require.Zero(t, kept())
	require.Zero(t, s.store.total)
}

func TestContentsLeftByACrashAreDeleted(t *testing.T) {
	w, _ := inner(t, map[string]string{"a": "base"})
	dir := filepath.Join(t.TempDir(), "staging")
	s, err := w.Stage(dir)
	require.NoError(t, err)
	_, err = s.Read(t.Context(), "a")
	require.NoError(t, err)
	_, err = s.store.keep("a", []byte("never noted"), 100)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Len(t, all(t, filepath.Join(dir, blobsDir)), 2)
	s, err = w.Stage(dir)
	require.NoError(t, err)
	defer s.Cleanup()
	require.Equal(t, map[string]string{sumOf([]byte("base")): "base"}, all(t, filepath.Join(dir, blobsDir)))
}

// A content that one file no longer uses may be used by another file in the same change.
func TestAContentThatMovesToAnotherFileStays(t *testing.T) {
	w, dir := inner(t, map[string]string{"a": "A\n2\nC\n", "b": "1\n2\n3\n"})
	s, err := w.Stage(filepath.Join(t.TempDir(), "staging"))
	require.NoError(t, err)
	defer s.Cleanup()
	ctx := t.Context()
	for name, text := range map[string]string{"a": "other\n", "b": "A\n2\n3\n"} {
		c, err := s.Read(ctx, name)
		require.NoError(t, err)
		_, err = s.Write(ctx, name, []byte(text), WriteOptions{Version: c.Version})
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("1\n2\nC\n"), 0o644))
	res, err := s.Merge(ctx) // b gets the content of a
	require.NoError(t, err)
	require.Equal(t,
		[]Change{{Name: "a", Action: Replace}, {Name: "b", Action: Replace, Merged: true}}, res.Applied)
	c, err := s.Read(ctx, "b")
	require.NoError(t, err)
	require.Equal(t, "A\n2\nC\n", string(c.Data))
}

func TestAMergeReportsItsActions(t *testing.T) {
	w, _ := inner(t, map[string]string{"old": "x", "gone": "y"})
	s, err := w.Stage(filepath.Join(t.TempDir(), "staging"))
	require.NoError(t, err)
	defer s.Cleanup()
	ctx := t.Context()
	c, err := s.Read(ctx, "old")
	require.NoError(t, err)
	_, err = s.Write(ctx, "old", []byte("z"), WriteOptions{Version: c.Version})
	require.NoError(t, err)
	_, err = s.Write(ctx, "new", nil, WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Remove(ctx, "gone", ""))
	want := []Change{{Name: "gone", Action: Delete}, {Name: "new", Action: Create},
		{Name: "old", Action: Replace}}
	require.Equal(t, want, s.Changes())
	res, err := s.Merge(ctx)
	require.NoError(t, err)
	require.Equal(t, want, res.Applied)
}
