//go:build unix

package file

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOpeningAPipeThatReplacedAFileDoesntBlock(t *testing.T) {
	w, dir := inner(t, nil)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	_, _, err := w.openRegular(w.root, "pipe")
	require.ErrorContains(t, err, "it is a pipe")
}

func TestAFailedMoveLeavesOneName(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may do everything")
	}
	w, dir := inner(t, nil)
	from := filepath.Join(dir, "from")
	require.NoError(t, os.Mkdir(from, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(from, "a"), []byte("text"), 0o644))
	require.NoError(t, os.Chmod(from, 0o555))
	t.Cleanup(func() { require.NoError(t, os.Chmod(from, 0o755)) })
	_, err := w.Move(t.Context(), "from/a", "b", "")
	require.ErrorIs(t, err, fs.ErrPermission)
	require.FileExists(t, filepath.Join(from, "a"))
	require.NoFileExists(t, filepath.Join(dir, "b"))
	_, err = w.Write(t.Context(), "from/b", []byte("x"), WriteOptions{})
	require.ErrorIs(t, err, fs.ErrPermission)
	require.Equal(t, map[string]string{"a": "text"}, all(t, from))
}

// What was resolved is opened without following a link that has replaced it or one of its
// directories since.
func TestALinkThatReplacedAResolvedNameIsntFollowed(t *testing.T) {
	w, dir := inner(t, map[string]string{".env": "hidden", "a": "text"})
	for name, text := range map[string]string{"secrets/f": "hidden", "pub/sub/f": "hidden"} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	for name, target := range map[string]string{"d": "secrets", "f": ".env", "pub/d": "sub", "gone": "none",
		"out": "..", "abs": dir} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	before := func() (texts []string) {
		for _, name := range []string{".env", "a", "secrets/f", "pub/sub/f"} {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			require.NoError(t, err)
			texts = append(texts, string(text))
		}
		return texts
	}
	was, hidden := before(), &Content{Data: []byte("hidden")}
	for _, name := range []string{"d/f", "f", "pub/d/f", "gone/f", "out/f", "abs/a"} {
		_, _, err := w.regularFile(name)
		require.Error(t, err, name)
		_, err = w.open(name, 100, nil)
		require.Error(t, err, name)
		_, err = w.current(name)
		require.Error(t, err, name)
		if name != "f" {
			require.Error(t, w.put(name, []byte("ours"), nil, 0o644), name)
			require.Error(t, w.put(name+"/new/f", []byte("ours"), nil, 0o644), name)
			require.Error(t, w.remove(name, nil), name)
			require.Error(t, w.move("a", name+"2"), name)
			require.Empty(t, w.readlink(name))
		}
		require.Error(t, w.put(name, []byte("ours"), hidden, 0o644), name)
		require.Error(t, w.remove(name, hidden), name)
		require.Error(t, w.move(name, "moved"), name)
	}
	for _, name := range []string{"d", "pub/d", "gone", "out", "abs"} {
		_, _, err := w.entries(name, 100)
		require.Error(t, err, name)
	}
	require.Equal(t, was, before())
	for at, n := range map[string]int{"": 9, "secrets": 1, "pub": 2, "pub/sub": 1} {
		list, err := os.ReadDir(filepath.Join(dir, at))
		require.NoError(t, err)
		require.Len(t, list, n, at)
	}
}

// Only what is called by its name when it is opened has been opened under it.
func TestAnOpenDirectoryThatLostItsNameIsntUsed(t *testing.T) {
	w, dir := inner(t, nil)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	a, err := w.root.Stat("a")
	require.NoError(t, err)
	require.True(t, isNamed(w.root, "a", a))
	require.False(t, isNamed(w.root, "b", a))
	require.NoError(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "c")))
	require.NoError(t, os.Symlink("c", filepath.Join(dir, "a")))
	require.False(t, isNamed(w.root, "a", a), "a link to it")
	require.True(t, isNamed(w.root, "c", a))
}

func TestWaitingForAnotherProcessEndsWithTheContext(t *testing.T) {
	w, dir := inner(t, nil)
	other, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer other.Close()
	unlock, err := tryLock(other)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = w.Write(ctx, "a", []byte("x"), WriteOptions{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, all(t, dir))
	unlock()
	_, err = w.Write(t.Context(), "a", []byte("x"), WriteOptions{})
	require.NoError(t, err)
}
