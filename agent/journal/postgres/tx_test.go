package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A host has a table in the database of the journal, and an agent.
type host struct {
	*testing.T
	store *postgres.Store
	agent *agent.Agent
	conn  *pgx.Conn
}

func newHost(t *testing.T) *host {
	t.Helper()
	cfg := empty(t)
	h := &host{T: t, store: open(t, cfg)}
	var err error
	h.conn, err = pgx.Connect(t.Context(), cfg.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.conn.Close(t.Context())) })
	_, err = h.conn.Exec(t.Context(), "CREATE TEMPORARY TABLE orders (id TEXT PRIMARY KEY)")
	require.NoError(t, err)
	h.agent, err = agent.New(agent.Config{Name: "clerk", Journal: h.store, NoGuard: true,
		Provider: providertest.Script(providertest.Say("Done."))})
	require.NoError(t, err)
	return h
}

// place stores an order, queues a run with it, and commits if nothing is wrong.
func (h *host) place(id string, more ...func() error) error {
	h.Helper()
	ctx := h.Context()
	return pgx.BeginFunc(ctx, h.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders VALUES ($1)", id); err != nil {
			return err
		}
		in, err := h.store.Tx(ctx, tx)
		if err != nil {
			return err
		}
		if err := h.agent.EnqueueIn(ctx, in, agent.Input{Session: id, Prompt: "Ship it."},
			agent.QueueOptions{Group: "acme"}); err != nil {
			return err
		}
		for _, f := range more {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
}

// has reports whether there is an order, and a run that waits.
func (h *host) has(id string) (order, run bool) {
	h.Helper()
	n := 0
	require.NoError(h, h.conn.QueryRow(h.Context(), "SELECT count(*) FROM orders WHERE id = $1", id).Scan(&n))
	head, err := h.store.Head(h.Context(), id)
	if !errors.Is(err, journal.ErrNoSession) {
		require.NoError(h, err)
	}
	return n == 1, head.Status == string(agent.Queued)
}

func TestARunIsQueuedInATransactionOfTheHosts(t *testing.T) {
	h := newHost(t)
	require.NoError(t, h.place("o-1", func() error { // nobody sees it before the commit
		_, err := h.store.Head(t.Context(), "o-1")
		require.ErrorIs(t, err, journal.ErrNoSession)
		return nil
	}))
	order, run := h.has("o-1")
	require.True(t, order && run)

	boom := errors.New("the host changes its mind")
	require.ErrorIs(t, h.place("o-2", func() error { return boom }), boom)
	order, run = h.has("o-2")
	require.False(t, order || run, "both or none")
	require.NoError(t, h.place("o-2"), "it can be placed again")

	_, err := h.conn.Exec(t.Context(), "DELETE FROM orders WHERE id = 'o-1'")
	require.NoError(t, err)
	require.ErrorIs(t, h.place("o-1"), agent.ErrDuplicate)
	order, _ = h.has("o-1")
	require.False(t, order)

	q, _, err := h.store.Claim(t.Context(), journal.Claim{Agents: []string{"clerk"}}, "w", time.Minute)
	require.NoError(t, err)
	require.Equal(t, "o-1", q.Session)
	require.Equal(t, "acme", q.Group)
	progress, err := h.agent.Advance(t.Context(), agent.Continue("o-2"), agent.Leg{})
	require.NoError(t, err)
	require.Equal(t, agent.Completed, progress.Result.Status)
}

// TestAFailedStatementEndsTheTransactionAtOnce: in PostgreSQL nothing can be done after it, so
// nothing is tried again.
func TestAFailedStatementEndsTheTransactionAtOnce(t *testing.T) {
	h := newHost(t)
	tx, err := h.conn.Begin(t.Context())
	require.NoError(t, err)
	in, err := h.store.Tx(t.Context(), tx)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT 1/0")
	require.Error(t, err)
	err = h.agent.EnqueueIn(t.Context(), in, agent.Input{Session: "s", Prompt: "Hi"}, agent.QueueOptions{})
	require.ErrorIs(t, err, journal.ErrUnusable)
	require.ErrorContains(t, err, "current transaction is aborted")
	require.NoError(t, tx.Rollback(t.Context()))
	_, run := h.has("s")
	require.False(t, run)
}

// TestTwoTransactionsCannotBeginTheSameSession: the second one waits for the first.
func TestTwoTransactionsCannotBeginTheSameSession(t *testing.T) {
	h := newHost(t)
	other, err := pgx.Connect(t.Context(), h.conn.Config().ConnString())
	require.NoError(t, err)
	defer other.Close(t.Context())
	var second sync.WaitGroup
	var lost error
	require.NoError(t, h.place("o-1", func() error {
		second.Go(func() {
			lost = pgx.BeginFunc(t.Context(), other, func(tx pgx.Tx) error {
				in, err := h.store.Tx(t.Context(), tx)
				if err != nil {
					return err
				}
				return h.agent.EnqueueIn(t.Context(), in, agent.Input{Session: "o-1", Prompt: "Me, too."},
					agent.QueueOptions{})
			})
		})
		return nil
	}))
	second.Wait()
	require.Error(t, lost)
	facts, err := h.agent.Session("o-1").Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Ship it.", facts[0].(*agent.RunStarted).Message.Text())
}

func TestATransactionElsewhereIsRefused(t *testing.T) {
	h := newHost(t)
	const drop = "DROP DATABASE IF EXISTS pawl_test_other WITH (FORCE)"
	sqlExec(t, drop)
	sqlExec(t, "CREATE DATABASE pawl_test_other")
	t.Cleanup(func() { sqlExec(t, drop) })
	cfg, err := pgx.ParseConfig(pgtest.DSN(t))
	require.NoError(t, err)
	cfg.Database = "pawl_test_other"
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = h.store.Tx(t.Context(), tx)
	require.ErrorContains(t, err, "the transaction isn't in the database of the store")
	_, err = h.store.Tx(t.Context(), nil)
	require.ErrorContains(t, err, "the transaction is nil")
}

func TestManyAreQueuedTogetherOrNone(t *testing.T) {
	h := newHost(t)
	var works []agent.Work
	for n := range 50 {
		works = append(works, agent.Input{Session: fmt.Sprint("s-", n), Prompt: "Hi", Key: "1"})
	}
	bad := append(append([]agent.Work{}, works...), agent.Input{Session: "s-7", Prompt: "again", Key: "1"})
	require.ErrorIs(t, h.agent.EnqueueAll(t.Context(), bad, agent.QueueOptions{}), agent.ErrDuplicate)
	_, run := h.has("s-0")
	require.False(t, run)
	require.NoError(t, h.agent.EnqueueAll(t.Context(), works, agent.QueueOptions{}))
	depths, err := h.store.Depths(t.Context())
	require.NoError(t, err)
	require.Equal(t, 50, depths[0].Waiting)
}

// TestTxNeedsNoConnectionOfItsOwn: the host's transactions may have all of them.
func TestTxNeedsNoConnectionOfItsOwn(t *testing.T) {
	cfg := empty(t)
	pooled, err := pgxpool.ParseConfig(cfg.DSN)
	require.NoError(t, err)
	pooled.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), pooled)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	cfg.DSN, cfg.Pool = "", pool
	store := open(t, cfg)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = store.Tx(t.Context(), tx)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
}
