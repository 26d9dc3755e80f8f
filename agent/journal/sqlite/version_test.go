package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// withMigrations lets a test add versions to come.
func withMigrations(t *testing.T, more ...[]string) {
	t.Helper()
	now := migrations
	migrations = append(now[:len(now):len(now)], more...)
	t.Cleanup(func() { migrations = now })
}

func version(t *testing.T, path string) (v int) {
	t.Helper()
	db, err := openDatabase(path, Config{})
	require.NoError(t, err)
	require.NoError(t, db.pool.QueryRow("SELECT version FROM pawl_meta").Scan(&v))
	require.NoError(t, db.close())
	return v
}

func appendOnce(t *testing.T, path string, after uint64) {
	t.Helper()
	s, err := Open(path, Config{})
	require.NoError(t, err)
	require.NoError(t,
		s.Append(t.Context(), journal.Append{Session: "s", After: after, Records: []journal.Record{{Kind: "k"}}}))
	require.NoError(t, s.Close())
}

func TestTablesOfANewerVersionAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	t.Run("made by the newer one", func(t *testing.T) {
		withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"})
		appendOnce(t, path, 0)
	})
	_, err := Open(path, Config{})
	require.ErrorIs(t, err, ErrNewer)
	require.ErrorContains(t, err,
		fmt.Sprintf("they have version %d, this one knows up to %d", len(migrations)+1, len(migrations)))
	require.ErrorContains(t, err, path)
	require.NoFileExists(t, path+"-wal", "a connection was left open")

	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"})
	appendOnce(t, path, 1) // unharmed
}

func TestWhatMayNotBeMigratedIsLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	_, err := Open(path, Config{NoMigrate: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)

	appendOnce(t, path, 0)
	s, err := Open(path, Config{NoMigrate: true})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"})
	_, err = Open(path, Config{NoMigrate: true})
	require.ErrorIs(t, err, ErrOlder)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)

	other := filepath.Join(t.TempDir(), "other.db") // of another program, in another mode
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	_, err = Open(other, Config{NoMigrate: true})
	require.ErrorIs(t, err, ErrOlder)
	after, err = os.ReadFile(other)
	require.NoError(t, err)
	require.Empty(t, after)
}

func TestTablesOfAnOlderVersionAreBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	appendOnce(t, path, 0)
	require.Equal(t, len(migrations), version(t, path))
	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"},
		[]string{"ALTER TABLE @sessions ADD COLUMN yet TEXT"})
	appendOnce(t, path, 1)
	require.Equal(t, len(migrations), version(t, path))
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	appendOnce(t, path, 0)
	t.Run("failing", func(t *testing.T) {
		withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"},
			[]string{"ALTER TABLE @nothing ADD COLUMN more TEXT"})
		_, err := Open(path, Config{})
		require.ErrorContains(t, err, fmt.Sprintf("migrating the journal's tables to version %d", len(migrations)))
	})
	require.Equal(t, len(migrations), version(t, path))
	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"}) // fails if it is there
	appendOnce(t, path, 1)
}
