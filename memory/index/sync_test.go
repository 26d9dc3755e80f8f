package index_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

// all yields the items one by one.
func all(items ...index.Item) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}

func TestOnlyChangedItemsAreEmbedded(t *testing.T) {
	e := &recorder{}
	m := &index.Exact{}
	f, err := index.New(index.Config{Embedder: e, Index: m})
	require.NoError(t, err)
	items := site(t)[:200]
	done, err := f.Sync(t.Context(), all(items...))
	require.NoError(t, err)
	require.Equal(t, index.Changes{Added: 200, Embedded: 200}, done)
	require.Equal(t, 200, e.took())

	items[3].Text = "another description"
	items[4].Fields = map[string]string{"site": "other"}
	done, err = f.Sync(t.Context(), all(items[:150]...))
	require.NoError(t, err)
	require.Equal(t, index.Changes{Updated: 2, Unchanged: 148, Removed: 50, Embedded: 1}, done)
	require.Equal(t, 1, e.took())
	got, err := m.Get(t.Context(), items[4].ID)
	require.NoError(t, err)
	require.Equal(t, "other", got.Item.Fields["site"])

	require.NoError(t, f.Put(t.Context(), items[0], items[1]))
	require.Zero(t, e.took())
	items[0].Name = "Front"
	require.NoError(t, f.Put(t.Context(), items[0]))
	require.Equal(t, 1, e.took())
	hit, ok := find(t, f, "front", index.Filter{}).One()
	require.True(t, ok)
	require.Equal(t, items[0].ID, hit.Item.ID)
	require.NoError(t, f.Remove(t.Context(), items[0].ID, "unknown"))
	require.Empty(t, find(t, f, "front", index.Filter{}).Hits)

	again, err := index.New(index.Config{Embedder: e, Index: reload(t, m)})
	require.NoError(t, err)
	e.took()
	done, err = again.Sync(t.Context(), all(items[1:150]...))
	require.NoError(t, err)
	require.Equal(t, 149, done.Unchanged, "also from a file")
	require.Zero(t, e.took())
}

func TestAFailedSyncRemovesNothing(t *testing.T) {
	m := &index.Exact{}
	items := site(t)[:100]
	f := finder(t, index.Config{Index: m}, items...)
	broken := errors.New("the database is gone")
	_, err := f.Sync(t.Context(), func(yield func(index.Item, error) bool) {
		_ = yield(items[0], nil) && yield(index.Item{}, broken)
	})
	require.ErrorIs(t, err, broken)
	require.Equal(t, 100, m.Len())
	for _, bad := range [][]index.Item{{items[0], items[0]}, {{Name: "no id"}}} {
		_, err = f.Sync(t.Context(), all(bad...))
		require.Equal(t, fault.Invalid, fault.Of(err))
		require.Equal(t, fault.Invalid, fault.Of(f.Put(t.Context(), bad...)))
		require.Equal(t, 100, m.Len())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	_, err = f.Sync(ctx, all())
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, f.Put(ctx, items[0]), broken)
	require.ErrorIs(t, f.Remove(ctx, items[0].ID), broken)
	require.ErrorIs(t, f.Reindex(ctx), broken)
	require.Equal(t, 100, m.Len())
	_, err = f.Sync(t.Context(), all())
	require.NoError(t, err)
	require.Zero(t, m.Len())
}

func TestAChangeDuringASyncIsKept(t *testing.T) {
	m := &index.Exact{}
	items := site(t)[:10]
	f := finder(t, index.Config{Index: m}, items...)
	_, err := f.Sync(t.Context(), func(yield func(index.Item, error) bool) {
		for i, item := range items {
			if !yield(item, nil) {
				return
			}
			if i == 5 {
				require.NoError(t, f.Put(t.Context(), index.Item{ID: "created", Name: "Created"}))
				changed := items[2]
				changed.Name = "Changed"
				require.NoError(t, f.Put(t.Context(), changed))
				require.NoError(t, f.Remove(t.Context(), items[1].ID))
			}
		}
	})
	require.NoError(t, err)
	_, err = m.Get(t.Context(), "created")
	require.NoError(t, err)
	_, err = m.Get(t.Context(), items[1].ID)
	require.Equal(t, fault.NotFound, fault.Of(err))
	changed, err := m.Get(t.Context(), items[2].ID)
	require.NoError(t, err)
	require.Equal(t, "Changed", changed.Item.Name)
}

func TestAnotherEmbedderNeedsAReindex(t *testing.T) {
	m := &index.Exact{}
	items := site(t)[:100]
	finder(t, index.Config{Index: m}, items...)
	for _, e := range []index.Embedder{index.Local{Size: 256}, &recorder{Local: index.Local{Size: 256}, name: "v2/"}} {
		f, err := index.New(index.Config{Index: m, Embedder: e})
		require.NoError(t, err)
		var model *index.ModelError
		_, err = f.Find(t.Context(), "about", index.Filter{}, 1)
		require.ErrorAs(t, err, &model)
		_, err = f.Sync(t.Context(), all(items...))
		require.ErrorAs(t, err, &model)
		require.NoError(t, f.Reindex(t.Context()))
		require.Equal(t, 100, m.Len())
		hit, ok := find(t, f, "abuot", index.Filter{}).One()
		require.True(t, ok)
		require.Equal(t, "page-about", hit.Item.ID)
		done, err := f.Sync(t.Context(), all(items...))
		require.NoError(t, err)
		require.Equal(t, 100, done.Unchanged)
	}
}

func TestWaitingForATokenEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &hanging{let: make(chan struct{})}
		f, err := index.New(index.Config{Embedder: e})
		require.NoError(t, err)
		first := make(chan error, 1)
		go func() { first <- f.Put(t.Context(), index.Item{ID: "a", Name: "Alpha"}) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- f.Put(ctx, index.Item{ID: "b", Name: "Beta"}) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-second, context.Canceled)
		require.Empty(t, find(t, f, "beta", index.Filter{}).Hits, "a search waits for nobody")
		close(e.let)
		require.NoError(t, <-first)
		require.Len(t, find(t, f, "alpha", index.Filter{}).Hits, 1)
	})
}

// A hanging is an embedder that embeds items only when allowed, and queries at once.
type hanging struct {
	index.Local
	let chan struct{}
}

func (h *hanging) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if slices.Contains(texts, "Alpha\n") {
		<-h.let
	}
	return h.Local.Embed(ctx, texts)
}

func TestAFinderMatchesASimpleMap(t *testing.T) {
	for seed := range uint64(10) {
		m := &index.Exact{}
		f, err := index.New(index.Config{Index: m, Embedder: index.Local{Size: 32}})
		require.NoError(t, err)
		r, plain := rand.New(rand.NewPCG(seed, 3)), map[string]index.Item{}
		for range 40 {
			item := index.Item{ID: fmt.Sprint(r.IntN(30)), Name: fmt.Sprint("name ", r.IntN(5)),
				Fields: map[string]string{"f": fmt.Sprint(r.IntN(2))}}
			switch n := r.IntN(8); {
			case n < 4:
				plain[item.ID] = item
				require.NoError(t, f.Put(t.Context(), item))
			case n < 6:
				delete(plain, item.ID)
				require.NoError(t, f.Remove(t.Context(), item.ID))
			case n == 6:
				require.NoError(t, f.Reindex(t.Context()))
			default:
				clear(plain)
				var items []index.Item
				for i := range r.IntN(150) {
					items = append(items, index.Item{ID: fmt.Sprint(i), Name: fmt.Sprint("name ", r.IntN(5))})
					plain[items[i].ID] = items[i]
				}
				done, err := f.Sync(t.Context(), all(items...))
				require.NoError(t, err)
				require.Equal(t, len(items), done.Added+done.Updated+done.Unchanged)
			}
			require.Equal(t, len(plain), m.Len())
			for id, want := range plain {
				got, err := m.Get(t.Context(), id)
				require.NoError(t, err)
				require.Equal(t, want, got.Item)
			}
		}
	}
}
