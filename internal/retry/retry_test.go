package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// try runs real tests of package testdata/NAME, and returns what was unstable.
func try(t *testing.T, name, names string) (ok bool, unstable string) {
	dir := t.TempDir()
	t.Setenv("RETRY_TEST", dir)
	list, file := filepath.Join(dir, "names"), filepath.Join(dir, "unstable")
	require.NoError(t, os.WriteFile(list, []byte(names), 0o600))
	ok, err := retried(t.Context(), list, file, []string{"go", "test", "-shuffle=7", "./testdata/" + name})
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	return ok, string(text)
}

func TestATestThatPassesAloneIsUnstable(t *testing.T) {
	ok, unstable := try(t, "once", "internal/retry/testdata/once FailsOnce|PanicsOnce # both")
	require.True(t, ok)
	require.Contains(t, unstable, "TestFailsOnce of "+module+"/internal/retry/testdata/once failed, and passed alone: "+
		"go test "+module+"/internal/retry/testdata/once -shuffle=7 '-run=^(TestFailsOnce)$' -shuffle=7 -count=1\n")
	require.Contains(t, unstable, "this comes once")
	require.Contains(t, unstable, "panic: in a goroutine")
	require.Equal(t, 2, strings.Count(unstable, "passed alone"))
}

func TestATestThatFailsTwiceFails(t *testing.T) {
	ok, unstable := try(t, "twice", "internal/retry/testdata/twice .")
	require.False(t, ok)
	require.Empty(t, unstable)
}
