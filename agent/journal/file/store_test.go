package file

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
)

func openAt(t testing.TB, dir string, cfg Config) *Store {
	t.Helper()
	if cfg.OnRepair == nil {
		cfg.OnRepair = func(r Repair) { t.Errorf("repaired: %+v", r) }
	}
	st, err := OpenWith(dir, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func one(session string, after uint64) journal.Append {
	return journal.Append{Session: session, After: after, Records: []journal.Record{rec(int(after + 1))}}
}

func rec(n int) journal.Record {
	return journal.Record{Time: time.Unix(int64(n), 5), Kind: "kind", V: 1, Data: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// read returns the records of a session.
func read(t testing.TB, st *Store, session string, after uint64) []journal.Record {
	t.Helper()
	var out []journal.Record
	for r, err := range st.Read(t.Context(), session, after) {
		require.NoError(t, err)
		require.Equal(t, after+uint64(len(out))+1, r.Seq)
		out = append(out, r)
	}
	return out
}

func TestFilesAreAStore(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store { return openAt(t, t.TempDir(), Config{Durability: Process}) })
}

// It runs in memory, because a real disk would sync for minutes.
func TestFilesThatAreSyncedAreAStore(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return open(newMemDisk(1), Config{}) })
}

// All that a store knows about a session comes from the files.
func TestFilesOpenedAgainForEachCallAreAStore(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store {
		return &reopener{t, t.TempDir()}
	})
}

// A reopener is a store that is opened for each call, and closed after it.
type reopener struct {
	t   *testing.T
	dir string
}

func (r *reopener) open() *Store {
	st, err := OpenWith(r.dir, Config{Durability: Process, OnRepair: func(c Repair) { r.t.Errorf("repaired: %+v", c) }})
	require.NoError(r.t, err)
	st.every = 1000
	return st
}

func (r *reopener) Append(ctx context.Context, a journal.Append) error {
	st := r.open()
	defer st.Close()
	return st.Append(ctx, a)
}

func (r *reopener) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		st := r.open()
		defer st.Close()
		st.Read(ctx, session, after)(yield)
	}
}

func (r *reopener) Head(ctx context.Context, session string) (journal.Head, error) {
	st := r.open()
	defer st.Close()
	return st.Head(ctx, session)
}

func (r *reopener) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		st := r.open()
		defer st.Close()
		st.Heads(ctx, f)(yield)
	}
}

func (r *reopener) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	st := r.open()
	defer st.Close()
	return st.Lease(ctx, session, owner, ttl)
}

func (r *reopener) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	st := r.open()
	defer st.Close()
	return st.Renew(ctx, l, ttl)
}

func (r *reopener) Release(ctx context.Context, l journal.Lease) error {
	st := r.open()
	defer st.Close()
	return st.Release(ctx, l)
}

func (r *reopener) Post(ctx context.Context, session string, it journal.Item) error {
	st := r.open()
	defer st.Close()
	return st.Post(ctx, session, it)
}

func (r *reopener) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	st := r.open()
	defer st.Close()
	return st.Take(ctx, session, fence)
}

func (r *reopener) Delete(ctx context.Context, session string, upTo uint64) error {
	st := r.open()
	defer st.Close()
	return st.Delete(ctx, session, upTo)
}
