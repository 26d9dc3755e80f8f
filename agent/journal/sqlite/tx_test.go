package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A host has a table in the file of the journal, and an agent.
type host struct {
	*testing.T
	store *sqlite.Store
	agent *agent.Agent
	db    *sql.DB
}

func newHost(t *testing.T, hooks ...agent.Hooks) *host {
	t.Helper()
	path := filepath.Join(t.TempDir(), "host.db")
	h := &host{T: t, store: open(t, path, sqlite.Config{})}
	var err error
	h.db, err = sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.db.Close()) })
	_, err = h.db.ExecContext(t.Context(), "CREATE TABLE orders (id TEXT PRIMARY KEY)")
	require.NoError(t, err)
	h.agent, err = agent.New(agent.Config{Name: "clerk", Journal: h.store, NoGuard: true, Hooks: hooks,
		Provider: providertest.Script(providertest.Say("Done."))})
	require.NoError(t, err)
	return h
}

// place stores an order, queues a run with it, and commits if nothing is wrong.
func (h *host) place(id string, more ...func(tx *sql.Tx) error) (err error) {
	h.Helper()
	ctx := h.Context()
	tx, err := h.db.BeginTx(ctx, nil)
	require.NoError(h, err)
	defer func() {
		if err != nil {
			require.NoError(h, tx.Rollback())
			return
		}
		err = tx.Commit()
	}()
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders VALUES (?)", id); err != nil {
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
		if err := f(tx); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether there is an order, and a run that waits.
func (h *host) has(id string) (order, run bool) {
	h.Helper()
	n := 0
	require.NoError(h, h.db.QueryRowContext(h.Context(), "SELECT count(*) FROM orders WHERE id = ?", id).Scan(&n))
	head, err := h.store.Head(h.Context(), id)
	if !errors.Is(err, journal.ErrNoSession) {
		require.NoError(h, err)
	}
	return n == 1, head.Status == string(agent.Queued)
}

func TestARunIsQueuedInATransactionOfTheHosts(t *testing.T) {
	h := newHost(t)
	require.NoError(t, h.place("o-1"))
	order, run := h.has("o-1")
	require.True(t, order && run)

	boom := errors.New("the host changes its mind")
	require.ErrorIs(t, h.place("o-2", func(*sql.Tx) error { return boom }), boom)
	order, run = h.has("o-2")
	require.False(t, order || run, "both or none")
	require.NoError(t, h.place("o-2"), "it can be placed again")

	_, err := h.db.ExecContext(t.Context(), "DELETE FROM orders WHERE id = 'o-1'")
	require.NoError(t, err)
	err = h.place("o-1")
	require.ErrorIs(t, err, agent.ErrDuplicate)
	require.ErrorContains(t, err, "only a new session can be begun in a transaction")
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

// TestARollbackLeavesNothing: at each statement that the agent makes, the context ends.
func TestARollbackLeavesNothing(t *testing.T) {
	h := newHost(t)
	failed := 0
	for n := 0; ; n++ {
		id := fmt.Sprint("o-", n)
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := h.db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(ctx, "INSERT INTO orders VALUES (?)", id)
		require.NoError(t, err)
		in, err := h.store.Tx(ctx, tx)
		require.NoError(t, err)
		calls := 0
		err = h.agent.EnqueueIn(ctx, &ending{in, func() {
			if calls++; calls > n {
				cancel()
			}
		}}, agent.Input{Session: id, Prompt: "Ship it."}, agent.QueueOptions{})
		ended := ctx.Err() != nil
		cancel()
		if err == nil {
			require.NoError(t, tx.Commit())
			order, run := h.has(id)
			require.True(t, order && run)
			if !ended {
				break
			}
			continue
		}
		failed++
		_ = tx.Rollback()
		order, run := h.has(id)
		require.False(t, order || run, id)
	}
	require.GreaterOrEqual(t, failed, 2)
}

// An ending store calls a function before each of its calls.
type ending struct {
	journal.Store
	before func()
}

func (e *ending) Head(ctx context.Context, session string) (journal.Head, error) {
	e.before()
	return e.Store.Head(ctx, session)
}

func (e *ending) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	e.before()
	return e.Store.Lease(ctx, session, owner, ttl)
}

func (e *ending) Append(ctx context.Context, a journal.Append) error {
	e.before()
	return e.Store.Append(ctx, a)
}

func TestATransactionElsewhereIsRefused(t *testing.T) {
	h, other := newHost(t), newHost(t)
	tx, err := other.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = h.store.Tx(t.Context(), tx)
	require.ErrorContains(t, err, "the transaction isn't in the file of the store")
	_, err = h.store.Tx(t.Context(), nil)
	require.ErrorContains(t, err, "the transaction is nil")
	in := agent.Input{Session: "s", Prompt: "Hi"}
	for _, store := range []journal.Store{nil, h.store} {
		err = h.agent.EnqueueIn(t.Context(), store, in, agent.QueueOptions{})
		require.ErrorAs(t, err, new(*agent.ArgError))
		require.ErrorContains(t, err, "method Tx")
	}
	err = h.agent.EnqueueIn(t.Context(), &journal.MapStore{}, agent.Continue("s"), agent.QueueOptions{})
	require.ErrorContains(t, err, "Resumption")
}

// TestHooksSeeTheTextsBeforeTheTransactionIsUsed: they may take long, and read the same file.
func TestHooksSeeTheTextsBeforeTheTransactionIsUsed(t *testing.T) {
	var h *host
	var seen []string
	h = newHost(t, agent.Hooks{BeforeInput: func(ctx context.Context, in *agent.IncomingText) error {
		h.agent.Session("other").SetLabel(ctx, "seen", "yes") // it writes
		seen = append(seen, in.Session)
		in.Text = "[" + in.Text + "]"
		return nil
	}})
	works := []agent.Work{agent.Input{Session: "a", Prompt: "One."}, agent.Input{Session: "b", Prompt: "Two."}}
	require.NoError(t, h.agent.EnqueueAll(t.Context(), works, agent.QueueOptions{}))
	require.Equal(t, []string{"a", "b"}, seen, "once each")
	facts, err := h.agent.Session("b").Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, "[Two.]", facts[0].(*agent.RunStarted).Message.Text())
}

func TestManyAreQueuedTogetherOrNone(t *testing.T) {
	h := newHost(t)
	ctx := t.Context()
	var works []agent.Work
	for n := range 50 {
		works = append(works, agent.Input{Session: fmt.Sprint("s-", n), Prompt: "Hi", Key: "1"})
	}
	bad := append(append([]agent.Work{}, works...), agent.Input{Session: "s-7", Prompt: "again", Key: "1"})
	err := h.agent.EnqueueAll(ctx, bad, agent.QueueOptions{})
	require.ErrorIs(t, err, agent.ErrDuplicate)
	require.ErrorContains(t, err, `queueing session "s-7"`)
	_, run := h.has("s-0")
	require.False(t, run)
	require.NoError(t, h.agent.EnqueueAll(ctx, works, agent.QueueOptions{}))
	depths, err := h.store.Depths(ctx)
	require.NoError(t, err)
	require.Len(t, depths, 1)
	require.Equal(t, 50, depths[0].Waiting)

	require.NoError(t, h.agent.EnqueueAll(ctx, nil, agent.QueueOptions{}))
	require.ErrorContains(t, h.agent.EnqueueAll(ctx, make([]agent.Work, 1001), agent.QueueOptions{}), "at most 1000")
	require.Error(t, h.agent.EnqueueAll(ctx, []agent.Work{nil}, agent.QueueOptions{}))
	require.ErrorContains(t, h.agent.EnqueueAll(ctx, []agent.Work{agent.Input{Prompt: "Hi"}}, agent.QueueOptions{}),
		"name of a session")
	require.Error(t, (*agent.Agent)(nil).EnqueueAll(ctx, works, agent.QueueOptions{}))
	require.Error(t, (*agent.Agent)(nil).EnqueueIn(ctx, h.store, works[0], agent.QueueOptions{}))
}

// TestWhatIsRefusedInATransactionHoldsUpNobody: nothing outside of the transaction is used, which
// would wait for it, and the error is the agent's.
func TestWhatIsRefusedInATransactionHoldsUpNobody(t *testing.T) {
	h := newHost(t)
	wrong := agent.CallTool("s", "nope", struct{}{}) // what is wrong is found when the session is leased
	store := &counting{Store: h.store}
	a, err := agent.New(agent.Config{Name: "clerk", Journal: store, NoGuard: true,
		Provider: providertest.Script(providertest.Say("Done."))})
	require.NoError(t, err)
	err = a.EnqueueAll(t.Context(), []agent.Work{wrong}, agent.QueueOptions{})
	require.ErrorAs(t, err, new(*agent.ArgError))
	require.NotContains(t, err.Error(), "sqlite:")
	require.Zero(t, store.deletes, "it is deleted in the transaction")

	tx, err := h.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	in, err := h.store.Tx(t.Context(), tx)
	require.NoError(t, err)
	require.ErrorAs(t, h.agent.EnqueueIn(t.Context(), in, wrong, agent.QueueOptions{}), new(*agent.ArgError))
	require.NoError(t, tx.Rollback())
}

// A counting store counts deletions outside of transactions.
type counting struct {
	*sqlite.Store
	deletes int
}

func (c *counting) Delete(ctx context.Context, session string, upTo uint64) error {
	c.deletes++
	return c.Store.Delete(ctx, session, upTo)
}

// TestALeasedSessionIsNotWaitedForInATransaction: whoever has it couldn't give it back meanwhile.
func TestALeasedSessionIsNotWaitedForInATransaction(t *testing.T) {
	h := newHost(t)
	store := &asking{Store: h.store}
	a, err := agent.New(agent.Config{Name: "clerk", Journal: store, NoGuard: true,
		Provider: providertest.Script(providertest.Say("Done."))})
	require.NoError(t, err)
	work := []agent.Work{agent.Input{Session: "s", Prompt: "Hi"}}
	require.NoError(t, a.EnqueueAll(t.Context(), work, agent.QueueOptions{}))
	require.NoError(t, a.Session("s").Cancel(t.Context()))
	_, err = h.store.Lease(t.Context(), "s", "somebody", time.Hour)
	require.NoError(t, err)
	store.leases, store.heads = 0, 0
	require.ErrorIs(t, a.EnqueueAll(t.Context(), work, agent.QueueOptions{}), agent.ErrBusy)
	require.Equal(t, 1, store.leases)
	require.Zero(t, store.heads, "nobody looks whether it was given back")
}

// An asking store counts how often its transactions ask for a lease.
type asking struct {
	*sqlite.Store
	leases, heads int
}

func (s *asking) Transact(ctx context.Context, fn func(context.Context, journal.Store) error) error {
	return s.Store.Transact(ctx, func(ctx context.Context, in journal.Store) error {
		return fn(ctx, &askingIn{in, s})
	})
}

type askingIn struct {
	journal.Store
	of *asking
}

func (s *askingIn) Head(ctx context.Context, session string) (journal.Head, error) {
	s.of.heads++
	return s.Store.Head(ctx, session)
}

func (s *askingIn) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	s.of.leases++
	return s.Store.Lease(ctx, session, owner, ttl)
}

// TestATransactionOfAnotherStoreIsRefused: the agent's workers would never find the run.
func TestATransactionOfAnotherStoreIsRefused(t *testing.T) {
	h, other := newHost(t), newHost(t)
	tx, err := other.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	in, err := other.store.Tx(t.Context(), tx)
	require.NoError(t, err)
	err = h.agent.EnqueueIn(t.Context(), in, agent.Input{Session: "s", Prompt: "Hi"}, agent.QueueOptions{})
	require.ErrorContains(t, err, "it is of another store than the agent's journal")
}
