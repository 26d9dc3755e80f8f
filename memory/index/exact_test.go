package index_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

// random returns n entries with vectors of that size, always the same ones for a seed. Their ids
// are 0 to n-1, their kinds page and entry by turns; a field says which of ten sites they are of;
// the model is "m".
func random(seed uint64, n, size int) []index.Entry {
	r := rand.New(rand.NewPCG(seed, 1))
	entries := make([]index.Entry, n)
	for i := range entries {
		v := make([]float32, size)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		entries[i] = index.Entry{Item: index.Item{ID: fmt.Sprint(i), Kind: []string{"page", "entry"}[i%2],
			Name:   fmt.Sprint("thing ", i),
			Fields: map[string]string{"site": fmt.Sprint(i % 10)}}, Vector: v, Model: "m"}
	}
	return entries
}

// requireSame compares an index with a map of its entries, and a search with sorting everything.
// Items with one vector may come in either order: rounding decides.
func requireSame(t *testing.T, want map[string]index.Entry, m *index.Exact, q index.Query) {
	t.Helper()
	ids, err := m.IDs(t.Context())
	require.NoError(t, err)
	require.True(t, slices.Equal(slices.Sorted(maps.Keys(want)), ids), ids)
	require.Equal(t, len(want), m.Len())
	length := func(v []float32) float64 { return math.Sqrt(cosine(v, v)) }
	var near []index.Match
	for id, e := range want {
		got, err := m.Get(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, e.Item, got.Item)
		if q.Filter.Match(&e.Item) {
			near = append(near, index.Match{Item: e.Item,
				Similarity: cosine(e.Vector, q.Vector) / (length(e.Vector) * length(q.Vector))})
		}
	}
	slices.SortFunc(near, func(a, b index.Match) int { return -cmp.Compare(a.Similarity, b.Similarity) })
	found, err := m.Search(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, found, min(len(near), q.K))
	for i, got := range found {
		require.InDelta(t, near[i].Similarity, got.Similarity, 1e-5)
		require.True(t, i == 0 || got.Similarity <= found[i-1].Similarity)
		require.True(t, q.Filter.Match(&got.Item))
		require.Equal(t, want[got.Item.ID].Item, got.Item)
	}
}

func TestAnIndexMatchesAMapAndASort(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		m, plain, pool := &index.Exact{}, map[string]index.Entry{}, random(seed, 120, 13)
		for range 60 {
			switch n := r.IntN(10); {
			case n < 5:
				var some []index.Entry
				for range 1 + r.IntN(8) {
					e := pool[r.IntN(len(pool))]
					e.Item.ID = fmt.Sprint(r.IntN(50))
					some = append(some, e)
					plain[e.Item.ID] = e
				}
				require.NoError(t, m.Upsert(t.Context(), some))
			case n < 8:
				var ids []string
				for range 1 + r.IntN(8) {
					ids = append(ids, fmt.Sprint(r.IntN(60)))
					delete(plain, ids[len(ids)-1])
				}
				require.NoError(t, m.Delete(t.Context(), ids))
			case n == 8 && r.IntN(5) == 0:
				e := pool[0]
				e.Item.ID = "only"
				clear(plain)
				plain["only"] = e
				require.NoError(t, m.Replace(t.Context(), []index.Entry{e}))
			case n == 9:
				m = reload(t, m)
			}
			q := index.Query{Vector: pool[r.IntN(len(pool))].Vector, Model: "m", K: 1 + r.IntN(20)}
			if r.IntN(2) == 0 {
				q.Filter = index.Filter{Kinds: []string{"page"},
					Fields: map[string]string{"site": fmt.Sprint(2 * r.IntN(5))}}
			}
			requireSame(t, plain, m, q)
		}
	}
}

func TestTheFilterIsAppliedBeforeK(t *testing.T) {
	m := &index.Exact{}
	entries := random(1, 2000, 8)
	for i := range entries {
		entries[i].Item.Kind = "entry"
	}
	rare := index.Entry{Item: index.Item{ID: "rare", Kind: "page"}, Vector: []float32{-1, 0, 0, 0, 0, 0, 0, 0},
		Model: "m"}
	require.NoError(t, m.Upsert(t.Context(), append(entries, rare)))
	found, err := m.Search(t.Context(), index.Query{Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}, Model: "m", K: 1,
		Filter: index.Filter{Kinds: []string{"page"}}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "rare", found[0].Item.ID)
	require.InDelta(t, -1, found[0].Similarity, 1e-6)
}

func TestAnExactNameIsFoundWhateverItsVector(t *testing.T) {
	m := &index.Exact{}
	far := index.Entry{Item: index.Item{ID: "far", Name: "Home Page", Aliases: []string{"Start"}},
		Vector: []float32{-1, 0}, Model: "m"}
	near := index.Entry{Item: index.Item{ID: "near", Name: "x"}, Vector: []float32{1, 0}, Model: "m"}
	require.NoError(t, m.Upsert(t.Context(), []index.Entry{far, near}))
	for _, text := range []string{"homepage", "START", "far"} {
		found, err := m.Search(t.Context(), index.Query{Text: text, Vector: []float32{1, 0}, Model: "m", K: 1})
		require.NoError(t, err)
		require.Len(t, found, 2, text)
		require.Equal(t, "far", found[1].Item.ID)
	}
	far.Item.Name = "Other"
	require.NoError(t, m.Upsert(t.Context(), []index.Entry{far}))
	found, err := m.Search(t.Context(), index.Query{Text: "homepage", Vector: []float32{1, 0}, Model: "m", K: 1})
	require.NoError(t, err)
	require.Len(t, found, 1, "a former name finds nothing")
}

func TestAnInvalidUpsertChangesNothing(t *testing.T) {
	m := &index.Exact{}
	good := index.Entry{Item: index.Item{ID: "a"}, Vector: []float32{1, 0}, Model: "m"}
	require.NoError(t, m.Upsert(t.Context(), []index.Entry{good}))
	second := good
	second.Item.ID = "b"
	for name, bad := range map[string]index.Entry{
		"no id":     {Vector: []float32{1, 0}, Model: "m"},
		"bad id":    {Item: index.Item{ID: "\xff"}, Vector: []float32{1, 0}, Model: "m"},
		"no vector": {Item: index.Item{ID: "x"}, Model: "m"},
		"NaN":       {Item: index.Item{ID: "x"}, Vector: []float32{1, float32(math.NaN())}, Model: "m"},
		"infinite":  {Item: index.Item{ID: "x"}, Vector: []float32{1, float32(math.Inf(1))}, Model: "m"},
	} {
		require.Equal(t, fault.Invalid, fault.Of(m.Upsert(t.Context(), []index.Entry{second, bad})), name)
		require.Equal(t, 1, m.Len(), name)
	}
	for _, other := range []index.Entry{{Item: index.Item{ID: "x"}, Vector: []float32{1}, Model: "m"},
		{Item: index.Item{ID: "x"}, Vector: []float32{1, 0}, Model: "n"}} {
		var model *index.ModelError
		require.ErrorAs(t, m.Upsert(t.Context(), []index.Entry{second, other}), &model)
		require.Equal(t, 1, m.Len())
		_, err := m.Search(t.Context(), index.Query{Vector: other.Vector, Model: other.Model, K: 1})
		require.ErrorAs(t, err, &model)
	}
	_, err := m.Get(t.Context(), "x")
	require.Equal(t, fault.NotFound, fault.Of(err))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.Search(ctx, index.Query{Vector: good.Vector, Model: "m"})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, m.Upsert(ctx, []index.Entry{second}), context.Canceled)
	require.ErrorIs(t, m.Delete(ctx, []string{"a"}), context.Canceled)
	require.Equal(t, 1, m.Len())
}

func TestArgumentsAndResultsAreNotShared(t *testing.T) {
	m := &index.Exact{}
	e := index.Entry{Item: index.Item{ID: "a", Aliases: []string{"x"}, Fields: map[string]string{"k": "v"}},
		Vector: []float32{1, 0}, Model: "m"}
	require.NoError(t, m.Upsert(t.Context(), []index.Entry{e}))
	e.Item.Aliases[0], e.Item.Fields["k"], e.Vector[0] = "y", "w", 9
	out, err := m.Get(t.Context(), "a")
	require.NoError(t, err)
	out.Item.Aliases[0], out.Item.Fields["k"], out.Vector[0] = "y", "w", 9
	found, err := m.Search(t.Context(), index.Query{Vector: []float32{1, 0}, Model: "m", K: 1})
	require.NoError(t, err)
	require.Equal(t, index.Item{ID: "a", Aliases: []string{"x"}, Fields: map[string]string{"k": "v"}}, found[0].Item)
	require.InDelta(t, 1, found[0].Similarity, 0)
}

func TestAnIndexIsSafeForConcurrentUse(t *testing.T) {
	m := &index.Exact{}
	entries := random(3, 200, 16)
	ctx := t.Context()
	require.NoError(t, m.Upsert(ctx, entries))
	const times = 50
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range times {
				e := entries[(w*times+i)%len(entries)]
				switch w % 4 {
				case 0:
					_ = m.Upsert(ctx, []index.Entry{e})
				case 1:
					_ = m.Delete(ctx, []string{e.Item.ID})
				case 2:
					_, _ = m.Search(ctx, index.Query{Vector: e.Vector, Model: e.Model, K: 5})
				case 3:
					_, _ = m.Get(ctx, e.Item.ID)
					_, _ = m.IDs(ctx)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, m.Upsert(ctx, entries))
	require.Equal(t, len(entries), m.Len())
}
