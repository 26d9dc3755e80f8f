package pgtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestANamedServerIsUsed(t *testing.T) {
	t.Setenv(variable, "host=elsewhere")
	require.Equal(t, "host=elsewhere", DSN(t))
	require.False(t, Restart(t))
	Stop() // nothing was started
}

func TestAServerLeavesNothingBehind(t *testing.T) {
	if _, err := binaries(); err != nil {
		t.Skip(err)
	}
	dsn, p, err := start(false)
	require.NoError(t, err)
	dir, _, _ := strings.Cut(strings.TrimPrefix(dsn, "host="), " ")
	sockets, err := filepath.Glob(filepath.Join(dir, ".s.PGSQL.*"))
	require.NoError(t, err)
	require.NotEmpty(t, sockets, "it doesn't listen")
	p.stop()
	_, err = os.Stat(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
