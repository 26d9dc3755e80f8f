//go:build unix

package file

import (
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
	at := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(at, 0o644))
	done := make(chan error, 1)
	go func() {
		_, _, err := w.openRegular("pipe")
		done <- err
	}()
	select {
	case err := <-done:
		require.ErrorContains(t, err, "it is a pipe")
	case <-time.After(10 * time.Second):
		f, err := os.OpenFile(at, os.O_RDWR, 0) // ends the blocked open
		require.NoError(t, err)
		<-done
		require.NoError(t, f.Close())
		t.Fatal("it waited for a writer")
	}
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
