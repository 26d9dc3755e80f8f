package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

func paused(session string, after uint64) journal.Append {
	return journal.Append{Session: session, After: after, Records: []journal.Record{{Kind: "k"}},
		Head: &journal.HeadUpdate{Status: fmt.Sprint("paused at ", after+1)}}
}

// told returns the changes after a cursor, as in "s 0-1", and the cursor after them.
func told(t *testing.T, s *Store, cursor string) (all []string, next string) {
	t.Helper()
	changes, next, err := s.Changes(t.Context(), cursor)
	require.NoError(t, err)
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s %d-%d", c.Session, c.After, c.Seq))
	}
	return all, next
}

func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path, Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// queueToCome is a table that older versions didn't have. The store of a test that opens their
// tables is of this version, and takes sessions out of it.
const queueToCome = "CREATE TABLE pawl_queue (session INTEGER PRIMARY KEY)"

func TestSessionsOfAnOlderVersionAreChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	now := migrations
	migrations = now[:3]
	old, err := Open(path, Config{})
	migrations = now
	require.NoError(t, err)
	defer func() { require.NoError(t, old.Close()) }()
	_, err = old.db.pool.Exec(queueToCome)
	require.NoError(t, err)
	lease, err := old.Lease(t.Context(), "a", "one", journal.MaxTTL)
	require.NoError(t, err)
	for n := range uint64(4) {
		a := paused("a", n)
		a.Head, a.Fence = nil, lease.Fence // the row of the session doesn't say how many there are
		require.NoError(t, old.Append(t.Context(), a))
	}
	require.NoError(t, old.Append(t.Context(), paused("b", 0)))
	require.NoError(t, old.Delete(t.Context(), "a", 2))
	_, err = old.db.pool.Exec("DROP TABLE pawl_queue")
	require.NoError(t, err)
	s := opened(t, path)
	all, cursor := told(t, s, "")
	require.Equal(t, []string{"a 2-4", "b 0-1"}, all)
	require.NoError(t, old.Append(t.Context(), paused("b", 1)), "a process of the older version goes on")
	all, _ = told(t, s, cursor)
	require.Equal(t, []string{"b 1-2"}, all)
}

func TestABackupThatIsRestoredIsToldAgain(t *testing.T) {
	dir := t.TempDir()
	first := opened(t, filepath.Join(dir, "runs.db"))
	require.NoError(t, first.Append(t.Context(), paused("a", 0)))
	_, err := first.db.pool.Exec("VACUUM INTO '" + filepath.Join(dir, "backup.db") + "'")
	require.NoError(t, err)
	require.NoError(t, first.Append(t.Context(), paused("a", 1)))
	_, cursor := told(t, first, "")
	require.NoError(t, os.Chmod(filepath.Join(dir, "backup.db"), 0o600))
	s := opened(t, filepath.Join(dir, "backup.db"))
	all, cursor := told(t, s, cursor)
	require.Equal(t, []string{"a 0-1"}, all)
	require.NoError(t, s.Append(t.Context(), paused("a", 1)))
	all, _ = told(t, s, cursor)
	require.Equal(t, []string{"a 1-2"}, all)
}
