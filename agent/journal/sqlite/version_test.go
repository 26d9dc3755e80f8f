package sqlite

import (
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
	require.NoError(t, db.pool.QueryRow(readMeta).Scan(&v))
	require.NoError(t, db.close())
	return v
}

func appendOnce(t *testing.T, path string, after uint64) {
	t.Helper()
	s, err := OpenWith(path, Config{})
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
	_, err := OpenWith(path, Config{})
	require.ErrorIs(t, err, ErrNewer)
	require.ErrorContains(t, err, "they have version 2, this one knows up to 1")
	require.ErrorContains(t, err, path)
	require.NoFileExists(t, path+"-wal", "a connection was left open")

	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"})
	appendOnce(t, path, 1) // unharmed
}

func TestTablesOfAnOlderVersionAreBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	appendOnce(t, path, 0)
	require.Equal(t, 1, version(t, path))
	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"},
		[]string{"ALTER TABLE @sessions ADD COLUMN yet TEXT"})
	appendOnce(t, path, 1)
	require.Equal(t, 3, version(t, path))
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	appendOnce(t, path, 0)
	t.Run("failing", func(t *testing.T) {
		withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"},
			[]string{"ALTER TABLE @nothing ADD COLUMN more TEXT"})
		_, err := OpenWith(path, Config{})
		require.ErrorContains(t, err, "migrating the journal's tables to version 3")
	})
	require.Equal(t, 1, version(t, path))
	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"}) // fails if it is there
	appendOnce(t, path, 1)
}
