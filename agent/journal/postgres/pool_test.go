package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
)

// hosts returns a pool as a host has one, and a configuration with it for a schema that nobody
// uses.
func hosts(t *testing.T, change func(*pgxpool.Config)) postgres.Config {
	t.Helper()
	cfg := empty(t)
	conf, err := pgxpool.ParseConfig(cfg.DSN)
	require.NoError(t, err)
	change(conf)
	pool, err := pgxpool.NewWithConfig(t.Context(), conf)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	cfg.DSN, cfg.Pool = "", pool
	return cfg
}

// transactionMode makes a pool be as one behind a pooler in transaction mode: whoever takes a
// connection finds nothing on it of what was there before.
func transactionMode(conf *pgxpool.Config) {
	conf.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	conf.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		_, err := conn.PgConn().Exec(ctx, "DISCARD ALL").ReadAll()
		return true, err
	}
}

func TestAStoreOnAHostsPoolKeepsTheContract(t *testing.T) {
	pgtest.DSN(t)
	journaltest.Run(t, func(t *testing.T) journal.Store { return open(t, hosts(t, transactionMode)) })
}

func TestAHostsPoolStaysAsItIs(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			cfg := hosts(t, func(conf *pgxpool.Config) {
				conf.ConnConfig.DefaultQueryExecMode = mode
				conf.ConnConfig.RuntimeParams["search_path"] = "nowhere"
				conf.MaxConns = 1
			})
			cfg.Durability = postgres.Process
			s, err := postgres.Open(t.Context(), cfg)
			require.NoError(t, err)
			lease, err := s.Lease(t.Context(), "s", "a", time.Minute)
			require.NoError(t, err)
			a := one("s", 0)
			a.Fence, a.Head = lease.Fence, &journal.HeadUpdate{Status: "idle", Labels: map[string]string{"a": "b"}}
			require.NoError(t, s.Append(t.Context(), a))
			require.NoError(t, s.Post(t.Context(), "s", journal.Item{ID: "i", Kind: "k", Data: []byte{0, 255}}))
			a = one("s", 1)
			a.Fence, a.Taken = lease.Fence, []string{"i"}
			require.NoError(t, s.Append(t.Context(), a))
			for h, err := range s.Heads(t.Context(), journal.Filter{Label: journal.Label{Key: "a", Value: "b"}}) {
				require.NoError(t, err)
				require.EqualValues(t, 2, h.Seq)
				require.Zero(t, cfg.Pool.Stat().AcquiredConns(), "a sequence holds a connection")
			}
			holds(t, s, "s", 2)
			require.NoError(t, s.Release(t.Context(), lease))
			require.NoError(t, s.Close())
			require.ErrorContains(t, s.Release(t.Context(), lease), "closed")

			require.EqualValues(t, 1, cfg.Pool.Stat().TotalConns())
			require.EqualValues(t, 1, cfg.Pool.Stat().NewConnsCount(), "a connection was thrown away")
			var commit, path string
			require.NoError(t, cfg.Pool.QueryRow(t.Context(),
				"SELECT current_setting('synchronous_commit'), current_setting('search_path')").Scan(&commit, &path))
			require.Equal(t, []string{"on", "nowhere"}, []string{commit, path})
		})
	}
}

func TestAHostsPoolThatCantKeepWhatIsPromisedIsRefused(t *testing.T) {
	cfg := hosts(t, func(conf *pgxpool.Config) { conf.ConnConfig.RuntimeParams["synchronous_commit"] = "off" })
	_, err := postgres.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "synchronous_commit")
	cfg.Durability = postgres.Process
	require.NoError(t, open(t, cfg).Append(t.Context(), one("s", 0)))

	both := cfg
	both.DSN = "host=elsewhere"
	_, err = postgres.Open(t.Context(), both)
	require.ErrorContains(t, err, "Config.DSN and Config.Pool")

	cfg.Pool.Close()
	_, err = postgres.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "closed pool")
}

func TestAStoreTakesNoMoreOfAHostsPoolThanItMay(t *testing.T) {
	cfg := hosts(t, func(conf *pgxpool.Config) { conf.MaxConns = 4 })
	cfg.MaxConns = 2
	s := open(t, cfg)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := s.Append(context.Background(), one(fmt.Sprint(i), 0)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, cfg.Pool.Stat().TotalConns(), int32(2))
}
