package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
)

func open(t testing.TB, path string, cfg sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestStoreKeepsTheContract(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store {
		return open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
	})
}

func TestWhatWasAppendedIsThereAfterOpeningAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs of a site?#%.db")
	first, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	lease, err := first.Lease(t.Context(), "s", "one", time.Hour)
	require.NoError(t, err)
	at := time.Now()
	require.NoError(t, first.Append(t.Context(), journal.Append{Session: "s", Fence: lease.Fence,
		Records: []journal.Record{{Time: at, Kind: "k", V: 1, Data: []byte("one")}},
		Head: &journal.HeadUpdate{Status: "paused",
			Open: []journal.Open{{ID: "p", Kind: "approval", Title: "t", Expires: at}}}}))
	require.NoError(t,
		first.Post(t.Context(), "s", journal.Item{ID: "i", Kind: "steer", Data: []byte("x"), Closes: []string{"q"}}))
	before, err := first.Head(t.Context(), "s")
	require.NoError(t, err)
	require.NoError(t, first.Close())

	second := open(t, path, sqlite.Config{})
	head, err := second.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, before, head)
	require.Equal(t, []journal.Open{{ID: "p", Kind: "approval", Title: "t", Expires: at.Round(0).UTC()}}, head.Open)
	require.Equal(t, 1, head.Inbox)
	err = second.Post(t.Context(), "s", journal.Item{ID: "q", Kind: "steer"})
	require.Equal(t, &journal.PostedError{Session: "s", ID: "q", Taken: true}, err)
	for r, err := range second.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Equal(t, journal.Record{Seq: 1, Time: at.Round(0).UTC(), Kind: "k", V: 1, Data: []byte("one")}, r)
	}
	other, err := second.Lease(t.Context(), "t", "two", time.Hour)
	require.NoError(t, err)
	require.Greater(t, other.Fence, lease.Fence)
}

func TestOddPathsAreRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, path := range []string{"", ":memory:", "file::memory:", "file:runs.db?mode=memory", "a\x00b", "runs.db-wal",
		"runs.db-shm", "runs.db-journal",
		dir, dir + string(filepath.Separator), filepath.Join(dir, "no such folder", "runs.db"), os.DevNull} {
		s, err := sqlite.Open(path, sqlite.Config{})
		require.Nil(t, s, "%q", path)
		require.ErrorContains(t, err, "sqlite: ", "%q", path)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestConfigurationsThatMakeNoSenseAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	_, err := sqlite.Open(path, sqlite.Config{Durability: 7})
	require.ErrorContains(t, err, "Config.Durability")
	require.NoFileExists(t, path)
}

func TestTheFileIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.Config{})
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	for _, of := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + of)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), of)
	}
}

func TestTheFileMayHoldOtherTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	site := raw(t, path)
	_, err := site.Exec(
		"PRAGMA user_version = 42; CREATE TABLE sessions (id INTEGER PRIMARY KEY); INSERT INTO sessions VALUES (1)")
	require.NoError(t, err)
	s := open(t, path, sqlite.Config{})
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	var version, rows int
	require.NoError(t, site.QueryRow("PRAGMA user_version").Scan(&version))
	require.NoError(t, site.QueryRow("SELECT count(*) FROM sessions").Scan(&rows))
	require.Equal(t, []int{42, 1}, []int{version, rows})
}

// The second store of a process must not take the locks of the first away.
func TestTwoStoresOfOneProcessShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	a, b := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	for n := range uint64(20) {
		s := a
		if n%2 == 1 {
			s = b
		}
		require.NoError(t, s.Append(t.Context(), one("s", n)))
	}
	holds(t, a, 20)
	var conflict *journal.ConflictError
	require.ErrorAs(t, b.Append(t.Context(),
		journal.Append{Session: "s", After: 19, Records: []journal.Record{{Kind: "k"}}}), &conflict)
}
