package file_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/file"
)

func TestOnlyOneOfManyWritersOfAVersionSucceeds(t *testing.T) {
	trees(t, file.Config{}, content{"a": "0"}, func(t *testing.T, tree file.Tree, dir string) {
		c, err := tree.Read(t.Context(), "a")
		require.NoError(t, err)
		for name, o := range map[string]file.WriteOptions{"a": {Version: c.Version}, "new/n": {}} {
			var all sync.WaitGroup
			var won atomic.Int32
			for i := range 20 {
				all.Go(func() {
					info, err := tree.Write(t.Context(), name, []byte(fmt.Sprint("by ", i)), o)
					switch {
					case err == nil && info.Changed:
						won.Add(1)
					case !errors.Is(err, file.ErrChanged) && !errors.Is(err, fs.ErrExist):
						t.Error(err)
					}
				})
			}
			all.Wait()
			require.EqualValues(t, 1, won.Load(), name)
		}
	})
}

// Two Workspaces over one directory behave like two processes: only one creates a new name.
func TestANewNameIsCreatedOnceAcrossWorkspaces(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, nil)
	other, err := file.Open(dir, file.Config{})
	require.NoError(t, err)
	defer other.Close()
	for i := range 50 {
		name := fmt.Sprint("d/n", i)
		var won [2]bool
		var all sync.WaitGroup
		for j, tree := range []file.Tree{ws, other} {
			all.Go(func() {
				_, err := tree.Write(t.Context(), name, []byte(fmt.Sprint("by ", j)), file.WriteOptions{})
				if won[j] = err == nil; err != nil && !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.NotEqual(t, won[0], won[1])
		winner := 0
		if won[1] {
			winner = 1
		}
		require.Equal(t, fmt.Sprint("by ", winner), read(t, dir, name))
	}
	for name := range files(t, dir) {
		require.NotContains(t, name, ".pawl-tmp-")
	}
}

func TestAReaderSeesTheOldOrTheNewContent(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"a": strings.Repeat("0", 100_000)})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			text := strings.Repeat(fmt.Sprint(i%10), 50_000+i%7)
			if _, err := ws.Write(t.Context(), "a", []byte(text), overwrite); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for range 300 {
		text, err := os.ReadFile(filepath.Join(dir, "a"))
		require.NoError(t, err)
		require.Equal(t, len(text), strings.Count(string(text), string(text[:1])))
	}
	close(stop)
	writer.Wait()
}

// A change by another program isn't overwritten: it is noticed even if it happens after the version
// was compared.
func TestAChangeByAnotherProgramIsNoticed(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"a": "old"})
	c, err := ws.Read(t.Context(), "a")
	require.NoError(t, err)
	person(t, dir, "a", "theirs")
	_, err = ws.Write(t.Context(), "a", []byte("ours"), file.WriteOptions{Version: c.Version})
	require.ErrorIs(t, err, file.ErrChanged)
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.ErrorIs(t, ws.Remove(t.Context(), "a", c.Version), file.ErrChanged)
	require.Equal(t, "theirs", read(t, dir, "a"))
}

func TestWaitingForTheWriteLockEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, dir := workspace(t, file.Config{}, nil)
		done := file.LockWrites(ws)
		ctx, cancel := context.WithCancel(t.Context())
		var waiter sync.WaitGroup
		waiter.Go(func() {
			_, err := ws.Write(ctx, "a", []byte("x"), overwrite)
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		waiter.Wait()
		done()
		require.Empty(t, files(t, dir))
	})
}

func TestAClosedWorkspaceReturnsAnError(t *testing.T) {
	ws, err := file.Open(t.TempDir(), file.Config{})
	require.NoError(t, err)
	require.NoError(t, ws.Close())
	require.NoError(t, ws.Close())
	_, err = ws.Read(t.Context(), "a")
	require.ErrorIs(t, err, os.ErrClosed)
	require.EqualError(t, err, "file: a: the workspace is closed")
	_, err = ws.Write(t.Context(), "a", nil, overwrite)
	require.ErrorIs(t, err, os.ErrClosed)
	bad(t, ws, "file.list", in{})
}

func TestAMoveDoesntCopyTheFile(t *testing.T) {
	ws, dir := workspace(t, file.Config{MaxRead: 10, MaxWrite: 10}, content{"large": strings.Repeat("x", 100)})
	before, err := os.Stat(filepath.Join(dir, "large"))
	require.NoError(t, err)
	require.Equal(t, "large: moved to d/large, 100 bytes",
		good(t, ws, "file.move", in{"from": "large", "to": "d/large"}))
	after, err := os.Stat(filepath.Join(dir, "d", "large"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	require.NoFileExists(t, filepath.Join(dir, "large"))
}

func TestSyncedWritesAreWritten(t *testing.T) {
	ws, dir := workspace(t, file.Config{Sync: true, FileMode: 0o600}, nil)
	good(t, ws, "file.write", in{"path": "d/a", "content": "x"})
	good(t, ws, "file.move", in{"from": "d/a", "to": "e/b"})
	require.Equal(t, content{"e/b": "x"}, files(t, dir))
	info, err := os.Stat(filepath.Join(dir, "e/b"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}
