package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	require.ErrorContains(t, err,
		fmt.Sprintf("they have version %d, this one knows up to %d", len(migrations)+1, len(migrations)))
	require.ErrorContains(t, err, path)
	require.NoFileExists(t, path+"-wal", "a connection was left open")

	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"})
	appendOnce(t, path, 1) // unharmed
}

func TestWhatMayNotBeMigratedIsLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	_, err := OpenWith(path, Config{NoMigrate: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)

	appendOnce(t, path, 0)
	s, err := OpenWith(path, Config{NoMigrate: true})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"})
	_, err = OpenWith(path, Config{NoMigrate: true})
	require.ErrorIs(t, err, ErrOlder)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)

	other := filepath.Join(t.TempDir(), "other.db") // of another program, in another mode
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	_, err = OpenWith(other, Config{NoMigrate: true})
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

func TestSessionsOfTheFirstVersionAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	t.Run("made by the first one", func(t *testing.T) {
		now := migrations
		migrations = now[:1]
		defer func() { migrations = now }()
		db, err := openDatabase(path, Config{})
		require.NoError(t, err)
		for _, statement := range []string{
			`INSERT INTO @sessions
				(name, status, open, opens, seq, pruned, inbox, fence, owner, until, updated, kind, title, labels)
				VALUES ('s', 'completed', '[]', 0, 0, 0, 0, 0, '', NULL, 3, '', 'a title', '{"a":"b"}')`,
			`INSERT INTO @records (session, seq, fence, at, time, kind, v, data)
				SELECT id, 1, 0, 5, NULL, 'k', 1, x'' FROM @sessions`,
		} {
			_, err := db.pool.Exec(dialect.SQL(statement))
			require.NoError(t, err)
		}
		require.NoError(t, db.close())
	})
	s, err := OpenWith(path, Config{})
	require.NoError(t, err)
	h, err := s.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, journal.Head{Session: "s", Status: "completed", Title: "a title",
		Labels: map[string]string{"a": "b"}, Seq: 1, Created: time.Unix(0, 5).UTC(), Updated: time.Unix(0, 5).UTC()}, h)
	require.NoError(t, s.Close())
	appendOnce(t, path, 1)
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	appendOnce(t, path, 0)
	t.Run("failing", func(t *testing.T) {
		withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"},
			[]string{"ALTER TABLE @nothing ADD COLUMN more TEXT"})
		_, err := OpenWith(path, Config{})
		require.ErrorContains(t, err, fmt.Sprintf("migrating the journal's tables to version %d", len(migrations)))
	})
	require.Equal(t, len(migrations), version(t, path))
	withMigrations(t, []string{"ALTER TABLE @sessions ADD COLUMN more TEXT"}) // fails if it is there
	appendOnce(t, path, 1)
}
