package file

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// If the disk is full, a failed write changes nothing. The limit applies to a process, so the test
// starts another one.
func TestAFailedWriteOnAFullDiskChangesNothing(t *testing.T) {
	const child = "FILE_TEST_FULL"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), child+"=1",
			"GORACE=atexit_sleep_ms=0") // with the race detector it would wait a second when it exits
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	w, dir := inner(t, map[string]string{"a": "as it was"})
	ctx := t.Context()
	s, err := w.Stage(filepath.Join(t.TempDir(), "staging"))
	require.NoError(t, err)
	defer s.Cleanup()
	c, err := s.Read(ctx, "a")
	require.NoError(t, err)

	signal.Ignore(syscall.SIGXFSZ)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2048, Max: 2048}))
	big := []byte(strings.Repeat("x", 4096))
	for _, tree := range []Tree{w, s} {
		_, err := tree.Write(ctx, "a", big, WriteOptions{Version: c.Version})
		require.ErrorIs(t, err, syscall.EFBIG)
		require.NotContains(t, err.Error(), dir)
		_, err = tree.Write(ctx, "new", big, WriteOptions{})
		require.ErrorIs(t, err, syscall.EFBIG)
		got, err := tree.Read(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, "as it was", string(got.Data))
	}
	require.Empty(t, s.Changes())
	require.Equal(t, map[string]string{"a": "as it was"}, all(t, dir))
	require.Len(t, all(t, filepath.Join(s.store.dir, blobsDir)), 1)
	for i := 0; ; i++ { // at some point the log is full; it must not contain half a record
		before := len(s.store.files)
		if _, err := s.Write(ctx, strings.Repeat("n", i+1), []byte("x"), WriteOptions{}); err != nil {
			require.ErrorIs(t, err, syscall.EFBIG)
			require.Len(t, s.store.files, before)
			break
		}
	}
	known := len(s.store.files)
	again := s.store.dir
	require.NoError(t, s.Close())
	require.NoError(t, w.Close())
	w, err = Open(dir, Config{})
	require.NoError(t, err)
	s, err = w.Stage(again)
	require.NoError(t, err)
	require.Len(t, s.store.files, known)
}
