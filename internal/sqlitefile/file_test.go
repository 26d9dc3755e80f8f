package sqlitefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

const instead = "take a map"

func TestAFileIsCreatedForItsOwnerAndNotChangedLater(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	abs, err := sqlitefile.Make("a?b #%.db", instead)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "a?b #%.db"), abs)
	info, err := os.Stat(abs)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.Zero(t, info.Size())

	require.NoError(t, os.WriteFile(abs, []byte("text"), 0o600))
	require.NoError(t, os.Chmod(abs, 0o640))
	again, err := sqlitefile.Make(abs, instead)
	require.NoError(t, err)
	require.Equal(t, abs, again)
	info, err = os.Stat(abs)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	require.EqualValues(t, 4, info.Size())
}

func TestAnInvalidPathIsRejected(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for path, want := range map[string]string{
		"":                             "name a file",
		":memory:":                     "take a map",
		"file:a.db?mode=memory":        "use a plain path",
		"a\x00b":                       "contains a NUL",
		"a.db-wal":                     "use another name",
		"a.db-shm":                     "use another name",
		"a.db-journal":                 "use another name",
		"a" + string(os.PathSeparator): "name a file in it",
		dir:                            "is a folder",
		os.DevNull:                     "is a device",
		filepath.Join("none", "a"):     "creating the file",
	} {
		_, err := sqlitefile.Make(path, instead)
		require.ErrorContains(t, err, want, "%q", path)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
