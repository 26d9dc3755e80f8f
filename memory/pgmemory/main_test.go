package pgmemory_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/memory/pgmemory"
	"github.com/pawlkit/pawl/memory/recall"
)

var roles = roletest.Roles{"count": count}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}

var counter = recall.ID{Tenant: "t", Kind: "k", Key: "counter"}

// count adds one to the counter by compare and swap, as often as it is told, once it is told to
// begin, and says how often another was faster.
func count(args []string) error {
	ctx := context.Background()
	s, err := pgmemory.Open(ctx, pgmemory.Config{DSN: args[0], Schema: args[1]})
	if err != nil {
		return err
	}
	defer s.Close()
	times, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	roletest.Ready()
	conflicts := 0
	for times > 0 {
		e, err := s.Get(ctx, counter)
		if err != nil && !errors.Is(err, recall.ErrNotFound) {
			return err
		}
		n, _ := strconv.Atoi(string(e.Value)) // of nothing: 0
		_, err = s.Put(ctx, recall.Entry{ID: counter, Version: e.Version, Value: []byte(strconv.Itoa(n + 1))})
		var c *recall.ConflictError
		switch {
		case errors.As(err, &c):
			conflicts++
		case err != nil:
			return err
		default:
			times--
		}
	}
	fmt.Println(conflicts)
	return nil
}

var schemas atomic.Int64

// empty returns a configuration for a schema that nobody uses, and drops that at the end.
func empty(t testing.TB) pgmemory.Config {
	t.Helper()
	cfg := pgmemory.Config{DSN: pgtest.DSN(t), Schema: fmt.Sprintf("pawl_memory_%d", schemas.Add(1))}
	drop := func() { run(t, `DROP SCHEMA IF EXISTS "`+cfg.Schema+`" CASCADE`) }
	drop() // what an earlier run left behind
	t.Cleanup(drop)
	return cfg
}

// run runs a statement on the server, past the store.
func run(t testing.TB, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", pgtest.DSN(t))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), statement)
	require.NoError(t, err)
}

func open(t testing.TB, cfg pgmemory.Config) *pgmemory.Store {
	t.Helper()
	s, err := pgmemory.Open(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// pooled returns a configuration with a pool of the host's, behind a pooler in transaction mode:
// whoever takes a connection finds nothing on it of what was there before.
func pooled(t testing.TB) pgmemory.Config {
	t.Helper()
	cfg := empty(t)
	conf, err := pgxpool.ParseConfig(cfg.DSN)
	require.NoError(t, err)
	conf.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	conf.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		_, err := conn.PgConn().Exec(ctx, "DISCARD ALL").ReadAll()
		return true, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), conf)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	cfg.DSN, cfg.Pool = "", pool
	return cfg
}
