package services

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestABadConfigurationLeavesNothingOpen(t *testing.T) {
	db := filepath.Join(t.TempDir(), "cms.db")
	empty := t.TempDir()
	_, err := New(Config{DB: db, Templates: empty})
	require.ErrorContains(t, err, "layout/page.html is missing")
	_, err = New(Config{DB: db, FetchHosts: []string{"http://x/y"}})
	require.Error(t, err)
	_, err = New(Config{})
	require.ErrorContains(t, err, "is empty")
	require.NoError(t, os.Remove(db))
	_, err = os.Stat(db + "-wal")
	require.ErrorIs(t, err, os.ErrNotExist, "the site was closed")
}
