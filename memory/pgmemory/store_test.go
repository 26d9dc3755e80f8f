package pgmemory_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/internal/sqlrecall/scopetest"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/pgmemory"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/recall/recalltest"
)

// configs are the ways to connect.
var configs = map[string]func(testing.TB) pgmemory.Config{"its own connections": empty, "the host's pool": pooled}

func TestTheStorePassesTheSuite(t *testing.T) {
	pgtest.DSN(t)
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			recalltest.Run(t, func(t *testing.T, limits recall.Limits) recall.Store {
				cfg := config(t)
				cfg.Limits = limits
				return open(t, cfg)
			})
		})
	}
}

func TestTheTextsOfAScopePassTheSuite(t *testing.T) {
	pgtest.DSN(t)
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			recalltest.Texts(t, func(t *testing.T, mostBytes int) memory.Store {
				cfg := config(t)
				cfg.TextBytes = int64(mostBytes)
				s := open(t, cfg)
				// which is as full as it may be, and neither takes room nor gives any
				require.NoError(t, s.Texts(recall.Scope{Tenant: "u", Session: "s"}).Put(t.Context(), "full",
					strings.Repeat("x", 900)))
				return s.Texts(recall.Scope{Tenant: "t", Session: "s"})
			})
		})
	}
}

func TestScopesAreApart(t *testing.T) {
	pgtest.DSN(t)
	scopetest.Run(t, func(t *testing.T, textBytes int64) scopetest.Store {
		cfg := empty(t)
		cfg.TextBytes = textBytes
		return open(t, cfg)
	})
}

func TestProcessesLoseNoUpdate(t *testing.T) {
	const processes, each = 3, 100
	cfg := empty(t)
	var all []*roletest.Process
	for range processes { // they make the tables together
		all = append(all, roletest.Start(t, "count", cfg.DSN, cfg.Schema, strconv.Itoa(each)))
	}
	roletest.Together(t, all...)
	require.Positive(t, roletest.Sum(t, all...), "they never met: there were no conflicts")
	e, err := open(t, cfg).Get(t.Context(), counter)
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(processes*each), string(e.Value))
}

// Texts of a tenant are put while they are forgotten: no text may be left that isn't counted.
func TestForgettingMeetsPuts(t *testing.T) {
	cfg := empty(t)
	cfg.TextBytes = 100
	s, scope := open(t, cfg), recall.Scope{Tenant: "t", Session: "s"}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 20 {
				err := s.Texts(scope).Put(context.Background(), strconv.Itoa(i*20+n), strings.Repeat("x", 48))
				if err = errors.Join(err, s.Forget(context.Background(), recall.Scope{Tenant: "t"})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 3 {
		require.NoError(t, s.Texts(scope).Put(t.Context(), "last"+strconv.Itoa(i), strings.Repeat("x", 45)))
	}
	var kept int
	require.NoError(t, pgmemory.Pool(s).QueryRow(
		`SELECT sum(size) FROM "`+cfg.Schema+`".recall_texts`).Scan(&kept))
	require.Equal(t, 100, kept)
}

func TestOtherVersionsOfTheTables(t *testing.T) {
	cfg := empty(t)
	careful := cfg
	careful.NoMigrate = true
	_, err := pgmemory.Open(t.Context(), careful)
	require.ErrorIs(t, err, pgmemory.ErrOlder, "there are no tables")
	require.Equal(t, fault.UserFixable, fault.Of(err))

	journal, err := postgres.Open(t.Context(), postgres.Config{DSN: cfg.DSN, Schema: cfg.Schema})
	require.NoError(t, err)
	require.NoError(t, journal.Close())
	_, err = pgmemory.Open(t.Context(), careful)
	require.ErrorIs(t, err, pgmemory.ErrOlder, "there are only those of a journal")

	_, err = open(t, cfg).Put(t.Context(), recall.Entry{ID: counter, Value: []byte("1")})
	require.NoError(t, err)
	_, err = open(t, careful).Get(t.Context(), counter)
	require.NoError(t, err)

	undo := pgmemory.WithMigration("ALTER TABLE @recall ADD COLUMN more text")
	_, err = pgmemory.Open(t.Context(), careful)
	require.ErrorIs(t, err, pgmemory.ErrOlder)
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs { // several at once, of which one migrates
		all.Go(func() {
			s, err := pgmemory.Open(context.Background(), cfg)
			if errs[i] = err; err == nil {
				errs[i] = s.Close()
			}
		})
	}
	all.Wait()
	undo()
	require.NoError(t, errors.Join(errs...))
	_, err = pgmemory.Open(t.Context(), cfg)
	require.ErrorIs(t, err, pgmemory.ErrNewer)
	require.Equal(t, fault.UserFixable, fault.Of(err))
}

func TestErrorsSayWhatHelps(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	n := 0
	put := func(s *pgmemory.Store) error {
		n++
		_, err := s.Put(t.Context(),
			recall.Entry{ID: recall.ID{Tenant: "t", Kind: "k", Key: strconv.Itoa(n)}, Value: []byte("1")})
		return err
	}
	pgmemory.Pool(s).SetMaxOpenConns(1)
	require.NoError(t, put(s))
	_, err := pgmemory.Pool(s).Exec("DEALLOCATE ALL")
	require.NoError(t, err)
	err = put(s)
	require.ErrorIs(t, err, pgmemory.ErrPrepared)
	require.ErrorContains(t, err, "default_query_exec_mode=exec")
	require.Equal(t, fault.UserFixable, fault.Of(err))

	readOnly := cfg
	readOnly.DSN += " default_transaction_read_only=on"
	err = put(open(t, readOnly))
	require.ErrorIs(t, err, pgmemory.ErrReadOnly)
	require.Equal(t, fault.UserFixable, fault.Of(err))

	_, err = pgmemory.Open(t.Context(), pgmemory.Config{DSN: "host=127.0.0.1 port=1 password=secret sslmode=disable"})
	require.ErrorContains(t, err, "pgmemory: opening: ")
	require.NotContains(t, err.Error(), "secret")
	_, err = pgmemory.Open(t.Context(), pgmemory.Config{DSN: cfg.DSN, Schema: `x"`})
	require.ErrorContains(t, err, "Config.Schema")
	both := pooled(t)
	both.DSN = cfg.DSN
	_, err = pgmemory.Open(t.Context(), both)
	require.ErrorContains(t, err, "Config.Pool")
}

func TestAnotherTenantsChangeDoesntWait(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	cfg.Timeout = time.Second
	hurried := open(t, cfg)
	tx, err := pgmemory.Pool(s).Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.Exec("SELECT pg_advisory_xact_lock(hashtextextended('pawl memory " + cfg.Schema + " t', 0))")
	require.NoError(t, err)
	put := func(ctx context.Context, s *pgmemory.Store, tenant string) error {
		_, err := s.Put(ctx, recall.Entry{ID: recall.ID{Tenant: tenant, Kind: "k", Key: "a"}, Value: []byte("1")})
		return err
	}
	require.NoError(t, put(t.Context(), s, "u"))
	err = put(t.Context(), hurried, "t")
	require.Equal(t, fault.Transient, fault.Of(err), "%v", err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, put(ctx, s, "t"), context.DeadlineExceeded)
	require.NoError(t, tx.Rollback())
	require.NoError(t, put(t.Context(), s, "t"))
}
