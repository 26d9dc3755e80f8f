package filetest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/filetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAFileIsMadeOnceAndEachCopyIsItsTestsOwn(t *testing.T) {
	made := 0
	next := filetest.Copies(func(path string) error {
		made++
		return os.WriteFile(path, []byte("as made"), 0o600)
	})
	first := next(t)
	require.NoError(t, os.WriteFile(first, []byte("changed"), 0o600))
	second := next(t)
	require.NotEqual(t, first, second)
	content, err := os.ReadFile(second)
	require.NoError(t, err)
	require.Equal(t, "as made", string(content))
	require.Equal(t, 1, made)
}
