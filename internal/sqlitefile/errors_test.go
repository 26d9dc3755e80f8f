package sqlitefile_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

var words = sqlitefile.Errors{Busy: errors.New("busy"), Full: errors.New("full"), ReadOnly: errors.New("read only"), Damaged: errors.New("damaged")}

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

func TestWhatSQLiteReportsIsSaidInTheStoresWords(t *testing.T) {
	for want, err := range map[error]error{
		words.Busy:     busy(t),
		words.Full:     failed(t, "PRAGMA max_page_count = 2", "CREATE TABLE a (n)", "INSERT INTO a VALUES (zeroblob(10000))"),
		words.ReadOnly: failed(t, "PRAGMA query_only = on", "CREATE TABLE a (n)"),
	} {
		is := words.Class(err)
		require.ErrorIs(t, is, want)
		require.ErrorIs(t, is, err)
		require.EqualError(t, is, want.Error()+": "+err.Error())
		require.Equal(t, want == words.Busy, sqlitefile.Busy(is))
		require.ErrorIs(t, words.Class(sqlitefile.Final(err)), want)
	}
	for _, err := range []error{nil, context.Canceled, failed(t, "SELECT nothing")} {
		require.Equal(t, err, words.Class(err))
		require.False(t, sqlitefile.Busy(err))
	}
}
