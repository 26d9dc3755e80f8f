package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
)

var schemas atomic.Int64

// empty returns a configuration for a schema that nobody uses, and drops that at the end.
func empty(t testing.TB) postgres.Config {
	t.Helper()
	cfg := postgres.Config{DSN: pgtest.DSN(t), Schema: fmt.Sprintf("pawl_test_%d", schemas.Add(1))}
	drop := func() { sqlExec(t, `DROP SCHEMA IF EXISTS "`+cfg.Schema+`" CASCADE`) }
	drop() // what an earlier run left behind
	t.Cleanup(drop)
	return cfg
}

// sqlExec runs a statement on the server, past the store.
func sqlExec(t testing.TB, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("pgx", pgtest.DSN(t))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), statement, args...)
	require.NoError(t, err)
}

func open(t testing.TB, cfg postgres.Config) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestStoreKeepsTheContract(t *testing.T) {
	pgtest.DSN(t)
	journaltest.Run(t, func(t *testing.T) journal.Store { return open(t, empty(t)) })
}
