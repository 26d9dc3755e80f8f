package sqlite_test

import (
	"path/filepath"
	"testing"

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
