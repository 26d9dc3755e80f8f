package index_test

import (
	"context"
	"math"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/internal/indextest"
	"github.com/stretchr/testify/require"
)

func TestAnIndexMatchesAMapAndASort(t *testing.T) {
	for seed := range uint64(12) {
		m := &index.Memory{}
		indextest.History(t, seed,
			indextest.Subject{Index: func() index.Index { return m }, Len: func() int { return m.Len() },
				Restart: func() { m = reload(t, m) }})
	}
}

func TestTheFilterIsAppliedBeforeK(t *testing.T) {
	m := &index.Memory{}
	entries := indextest.Random(1, 2000, 8)
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
	m := &index.Memory{}
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
	m := &index.Memory{}
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
	m := &index.Memory{}
	entries := indextest.Random(3, 200, 16)
	indextest.Crowd(t, m, entries, 50)
	require.Equal(t, len(entries), m.Len())
}
