package sqlitefile_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

// open returns the connections to a new file.
func open(t *testing.T, path string, o sqlitefile.Options) *sql.DB {
	t.Helper()
	abs, err := sqlitefile.Make(path, instead)
	require.NoError(t, err)
	pool, err := sqlitefile.Open(abs, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "a?b #%.db") }

func TestEveryConnectionHasTheOptions(t *testing.T) {
	for o, want := range map[sqlitefile.Options][]int{
		{Conns: 3, LogLimit: 1 << 20}:                                   {2, 1 << 20, 20, 0},
		{Conns: 2, LogLimit: 2 << 20, Process: true, ForeignKeys: true}: {1, 2 << 20, 20, 1},
	} {
		path := file(t)
		pool := open(t, path, o)
		require.NoError(t, sqlitefile.WAL(t.Context(), pool, time.Second))
		require.Equal(t, o.Conns, pool.Stats().MaxOpenConnections)
		conns := make([]*sql.Conn, o.Conns) // each held until the end
		for i := range conns {
			conn, err := pool.Conn(t.Context())
			require.NoError(t, err)
			conns[i] = conn
			for i, pragma := range []string{"synchronous", "journal_size_limit", "busy_timeout", "foreign_keys"} {
				var is int
				require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&is))
				require.Equal(t, want[i], is, pragma)
			}
			var mode string
			require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
			require.Equal(t, "wal", mode)
		}
		for _, conn := range conns {
			require.NoError(t, conn.Close())
		}
		require.Equal(t, o.Conns, pool.Stats().Idle)
		require.FileExists(t, path+"-wal", "another file was opened")
	}
}

func TestAnImmediateTransactionHasTheLockFromItsStart(t *testing.T) {
	for _, immediate := range []bool{true, false} {
		pool := open(t, file(t), sqlitefile.Options{Conns: 2, Immediate: immediate})
		require.NoError(t, sqlitefile.WAL(t.Context(), pool, time.Second))
		tx, err := pool.Begin()
		require.NoError(t, err)
		_, err = pool.Exec("CREATE TABLE a (n INTEGER)")
		require.Equal(t, immediate, sqlitefile.Busy(err), "%v", err)
		require.NoError(t, tx.Rollback())
	}
}

func TestAFileThatIsNoDatabaseGetsNoLog(t *testing.T) {
	path := file(t)
	require.NoError(t,
		os.WriteFile(path,
			[]byte(
				"a letter that is long enough to be read as a database, which it isn't, however long one looks at it"),
			0o600))
	pool := open(t, path, sqlitefile.Options{Conns: 1})
	require.ErrorIs(t, words.Class(sqlitefile.WAL(t.Context(), pool, time.Second)), words.Damaged)
}

// A database in memory stands for a disk that can't map memory: its mode isn't what was asked for.
func TestAFileThatCantHaveALogIsRejected(t *testing.T) {
	pool, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	defer pool.Close()
	require.ErrorContains(t, sqlitefile.WAL(t.Context(), pool, time.Second), "mode memory")
}
