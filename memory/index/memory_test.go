package index_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

// exhaustive is what a search should return, by sorting everything.
func exhaustive(all map[string]index.Entry, q index.Query) []string {
	type scored struct {
		id    string
		score float64
	}
	var found []scored
	norm := func(v []float32) float64 { return math.Sqrt(cosine(v, v)) }
	for id, e := range all {
		if q.Filter.Match(&e.Item) {
			found = append(found, scored{id, cosine(e.Vector, q.Vector) / norm(e.Vector) / norm(q.Vector)})
		}
	}
	slices.SortFunc(found, func(a, b scored) int { return cmp.Or(-cmp.Compare(a.score, b.score), cmp.Compare(a.id, b.id)) })
	var ids []string
	for _, s := range found[:min(len(found), q.K)] {
		ids = append(ids, s.id)
	}
	return ids
}

func TestAnIndexIsAsGoodAsAMapAndASort(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		m, plain := &index.Memory{}, map[string]index.Entry{}
		pool := random(seed, 120, 13)
		for range 60 {
			switch r.IntN(10) {
			case 0, 1, 2, 3, 4:
				var some []index.Entry
				for range 1 + r.IntN(8) {
					e := pool[r.IntN(len(pool))]
					e.Item.ID = fmt.Sprint(r.IntN(50))
					some = append(some, e)
					plain[e.Item.ID] = e
				}
				require.NoError(t, m.Upsert(t.Context(), some))
			case 5, 6, 7:
				var ids []string
				for range 1 + r.IntN(8) {
					ids = append(ids, fmt.Sprint(r.IntN(60)))
					delete(plain, ids[len(ids)-1])
				}
				require.NoError(t, m.Delete(t.Context(), ids))
			case 8:
				if r.IntN(5) == 0 {
					e := pool[0]
					e.Item.ID = "only"
					clear(plain)
					plain["only"] = e
					require.NoError(t, m.Replace(t.Context(), []index.Entry{e}))
				}
			case 9:
				m = reload(t, m)
			}
			require.Equal(t, len(plain), m.Len())
			ids, err := m.IDs(t.Context())
			require.NoError(t, err)
			for _, id := range ids {
				require.Contains(t, plain, id)
				e, err := m.Get(t.Context(), id)
				require.NoError(t, err)
				require.Equal(t, plain[id].Item, e.Item)
			}
			q := index.Query{Vector: pool[r.IntN(len(pool))].Vector, Model: "m", K: 1 + r.IntN(20)}
			if r.IntN(2) == 0 {
				q.Filter = index.Filter{Kinds: []string{"page"}, Fields: map[string]string{"site": fmt.Sprint(2 * r.IntN(5))}}
			}
			found, err := m.Search(t.Context(), q)
			require.NoError(t, err)
			var got []string
			for i, f := range found {
				got = append(got, f.Item.ID)
				require.True(t, i == 0 || f.Similarity <= found[i-1].Similarity)
			}
			want := exhaustive(plain, q)
			// Entries that were made from one vector may stand either way round: rounding decides. Compare as sets with their similarity.
			require.Len(t, got, len(want))
			for i, id := range want {
				require.InDelta(t, cosine(plain[id].Vector, q.Vector)/math.Sqrt(cosine(plain[id].Vector, plain[id].Vector))/
					math.Sqrt(cosine(q.Vector, q.Vector)), found[i].Similarity, 1e-5)
			}
		}
	}
}

func TestTheFilterComesBeforeTheChoice(t *testing.T) {
	m := &index.Memory{}
	entries := random(1, 2000, 8)
	for i := range entries {
		entries[i].Item.Kind = "entry"
	}
	rare := index.Entry{Item: index.Item{ID: "rare", Kind: "page"}, Vector: []float32{-1, 0, 0, 0, 0, 0, 0, 0}, Model: "m"}
	require.NoError(t, m.Upsert(t.Context(), append(entries, rare)))
	found, err := m.Search(t.Context(), index.Query{Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}, Model: "m", K: 1, Filter: index.Filter{Kinds: []string{"page"}}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "rare", found[0].Item.ID)
	require.InDelta(t, -1, found[0].Similarity, 1e-6)
}

func TestTheVeryNameIsFoundWhereverItsVectorLies(t *testing.T) {
	m := &index.Memory{}
	far := index.Entry{Item: index.Item{ID: "far", Name: "Home Page", Aliases: []string{"Start"}}, Vector: []float32{-1, 0}, Model: "m"}
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

func TestByProductALongVectorIsNearer(t *testing.T) {
	m := &index.Memory{Metric: index.Dot}
	require.NoError(t, m.Upsert(t.Context(), []index.Entry{
		{Item: index.Item{ID: "short"}, Vector: []float32{1, 0}, Model: "m"}, {Item: index.Item{ID: "long"}, Vector: []float32{3, 3}, Model: "m"}}))
	m = reload(t, m)
	found, err := m.Search(t.Context(), index.Query{Vector: []float32{2, 0}, Model: "m", K: 2})
	require.NoError(t, err)
	require.Equal(t, "long", found[0].Item.ID)
	require.InDelta(t, 6, found[0].Similarity, 0)
}

func TestWhatDoesNotFitAnIndexIsRefusedWhole(t *testing.T) {
	m := &index.Memory{}
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
	for _, other := range []index.Entry{{Item: index.Item{ID: "x"}, Vector: []float32{1}, Model: "m"}, {Item: index.Item{ID: "x"}, Vector: []float32{1, 0}, Model: "n"}} {
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

func TestNothingHandedInOrOutIsShared(t *testing.T) {
	m := &index.Memory{}
	e := index.Entry{Item: index.Item{ID: "a", Aliases: []string{"x"}, Fields: map[string]string{"k": "v"}}, Vector: []float32{1, 0}, Model: "m"}
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

func TestManyMayUseAnIndexAtOnce(t *testing.T) {
	m := &index.Memory{}
	entries := random(3, 200, 16)
	require.NoError(t, m.Upsert(t.Context(), entries))
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				e := entries[(w*50+i)%len(entries)]
				switch w % 4 {
				case 0:
					_ = m.Upsert(t.Context(), []index.Entry{e})
				case 1:
					_ = m.Delete(t.Context(), []string{e.Item.ID})
				case 2:
					_, _ = m.Search(t.Context(), index.Query{Vector: e.Vector, Model: "m", K: 5})
				case 3:
					_, _ = m.Get(t.Context(), e.Item.ID)
					_, _ = m.IDs(t.Context())
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, m.Upsert(t.Context(), entries))
	require.Equal(t, len(entries), m.Len())
}
