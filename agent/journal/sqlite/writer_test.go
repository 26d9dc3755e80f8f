package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

func TestADurabilityIsWhatSQLiteIsTold(t *testing.T) {
	for d, want := range map[Durability]int{Power: 2, Process: 1} {
		s, err := Open(filepath.Join(t.TempDir(), "runs.db"), Config{Durability: d})
		require.NoError(t, err)
		var level int
		require.NoError(t, s.db.Write(t.Context(), func(ctx context.Context, tx sqljournal.Tx) error {
			return tx.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level)
		}))
		require.Equal(t, want, level)
		require.Panics(t, func() {
			_ = s.db.Write(t.Context(), func(context.Context, sqljournal.Tx) error { panic("x") })
		})
		require.NoError(t, s.db.Write(t.Context(), migrate), "no transaction is open")
		require.NoError(t, s.Close())
	}
}

// What is appended after a transaction that couldn't be ended isn't part of it.
func TestAConnectionThatIsDiscardedTakesItsTransactionAlong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := Open(path, Config{})
	require.NoError(t, err)
	one := func(after uint64) journal.Append {
		return journal.Append{Session: "s", After: after, Records: []journal.Record{{Kind: "k"}}}
	}
	require.NoError(t, s.Append(t.Context(), one(0)))
	require.NoError(t, s.db.withWriter(t.Context(), func(w *writer) error {
		for _, statement := range []string{"BEGIN IMMEDIATE", "DELETE FROM pawl_records"} {
			_, err := w.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		w.discard()
		return nil
	}))
	require.NoError(t, s.Append(t.Context(), one(1)))
	require.NoError(t, s.Append(t.Context(), one(2)))
	other, err := Open(path, Config{})
	require.NoError(t, err)
	n := 0
	for _, err := range other.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 3, n)
	require.NoError(t, other.Close())
	require.NoError(t, s.Close())
}

func TestTheStatementsOfAppendsStayPrepared(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "runs.db"), Config{})
	require.NoError(t, err)
	prepared := func() (stmts map[string]*sql.Stmt) {
		require.NoError(t, s.db.withWriter(t.Context(), func(w *writer) error {
			stmts = maps.Clone(w.stmts)
			return nil
		}))
		return stmts
	}
	add := func(after uint64) {
		require.NoError(t, s.Append(t.Context(), journal.Append{Session: "s", After: after,
			Records: []journal.Record{{Kind: "k"}}, Head: &journal.HeadUpdate{Status: "open"}}))
	}
	add(0)
	add(1)
	before := prepared()
	require.NotEmpty(t, before)
	add(2)
	require.Equal(t, before, prepared(), "nothing is prepared again")
	require.NoError(t, s.Close())
}
