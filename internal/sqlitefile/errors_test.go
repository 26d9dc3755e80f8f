package sqlitefile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

var words = sqlitefile.Errors{Busy: errors.New("busy"), Full: errors.New("full"), ReadOnly: errors.New("read only"),
	Damaged: errors.New("damaged")}

// failed returns the error of the last of some statements, which one connection to a new file runs.
func failed(t *testing.T, statements ...string) (err error) {
	t.Helper()
	pool := open(t, file(t), sqlitefile.Options{Conns: 1})
	for _, s := range statements {
		require.NoError(t, err)
		_, err = pool.Exec(s)
	}
	require.Error(t, err)
	return err
}

// busy returns an error of a file that somebody else writes to.
func busy(t *testing.T) error {
	t.Helper()
	path := file(t)
	tx, err := open(t, path, sqlitefile.Options{Conns: 1, Immediate: true}).Begin()
	require.NoError(t, err)
	_, err = open(t, path, sqlitefile.Options{Conns: 1}).Exec("CREATE TABLE a (n INTEGER)")
	require.Error(t, err)
	require.NoError(t, tx.Rollback())
	return err
}

// overtaken returns an error whose code has an extension: of a transaction that has read, and would
// write after somebody else did.
func overtaken(t *testing.T) error {
	t.Helper()
	pool := open(t, file(t), sqlitefile.Options{Conns: 2})
	require.NoError(t, sqlitefile.WAL(t.Context(), pool, time.Second))
	_, err := pool.Exec("CREATE TABLE a (n INTEGER)")
	require.NoError(t, err)
	tx, err := pool.Begin()
	require.NoError(t, err)
	var n int
	require.NoError(t, tx.QueryRow("SELECT count(*) FROM a").Scan(&n))
	_, err = pool.Exec("INSERT INTO a VALUES (1)")
	require.NoError(t, err)
	_, err = tx.Exec("INSERT INTO a VALUES (2)")
	require.Error(t, err)
	require.NoError(t, tx.Rollback())
	return err
}

func TestSQLitesErrorsAreWrappedInTheStores(t *testing.T) {
	for err, want := range map[error]error{
		busy(t):      words.Busy,
		overtaken(t): words.Busy,
		failed(t, "PRAGMA max_page_count = 2", "CREATE TABLE a (n)",
			"INSERT INTO a VALUES (zeroblob(10000))"): words.Full,
		failed(t, "PRAGMA query_only = on", "CREATE TABLE a (n)"): words.ReadOnly,
	} {
		is := words.Class(err)
		require.ErrorIs(t, is, want)
		require.ErrorIs(t, is, err)
		require.EqualError(t, is, want.Error()+": "+err.Error())
		require.Equal(t, want == words.Busy, sqlitefile.Busy(is))
	}
	for _, err := range []error{nil, context.Canceled, failed(t, "SELECT nothing")} {
		require.Equal(t, err, words.Class(err))
		require.False(t, sqlitefile.Busy(err))
	}
}
