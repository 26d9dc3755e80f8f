package langchain_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/langchain"
)

// random returns n entries of given dimensions.
func random(seed uint64, n, size int) []index.Entry {
	r := rand.New(rand.NewPCG(seed, 1))
	entries := make([]index.Entry, n)
	for i := range entries {
		v := make([]float32, size)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		entries[i] = index.Entry{Item: index.Item{ID: fmt.Sprint(i), Kind: []string{"page", "entry"}[i%2], Name: fmt.Sprint("thing ", i),
			Fields: map[string]string{"site": fmt.Sprint(i % 10)}}, Vector: v, Model: "m"}
	}
	return entries
}

// exhaustive is what a search should return, by sorting everything.
func exhaustive(all map[string]index.Entry, q index.Query) []index.Match {
	var out []index.Match
	for _, e := range all {
		if q.Filter.Match(&e.Item) {
			out = append(out, index.Match{Item: e.Item, Similarity: cosine(e.Vector, q.Vector)})
		}
	}
	slices.SortFunc(out, func(a, b index.Match) int {
		return cmp.Or(-cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.Item.ID, b.Item.ID))
	})
	return out[:min(len(out), q.K)]
}

func TestAStoreWithALedgerIsAsGoodAsAMapAndASort(t *testing.T) {
	for _, fl := range []flavour{pgvector, mongovector} {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 7))
			store, plain, ledger := &fake{flavour: fl}, map[string]index.Entry{}, &langchain.MapLedger{}
			open := func() *langchain.Index {
				x, err := langchain.New(store, langchain.Config{Vectors: true, Ledger: ledger, Delete: store.delete, Filter: fl.filter,
					Similarity: fl.similarity, Batch: 3})
				require.NoError(t, err)
				return x
			}
			x, pool := open(), random(seed, 120, 13)
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
					require.NoError(t, x.Upsert(t.Context(), some))
				case 5, 6, 7:
					var ids []string
					for range 1 + r.IntN(8) {
						ids = append(ids, fmt.Sprint(r.IntN(60)))
						delete(plain, ids[len(ids)-1])
					}
					require.NoError(t, x.Delete(t.Context(), ids))
				case 8:
					if r.IntN(5) == 0 {
						e := pool[0]
						e.Item.ID = "only"
						clear(plain)
						plain["only"] = e
						require.NoError(t, x.Replace(t.Context(), []index.Entry{e}))
					}
				case 9:
					ledger = reloaded(t, ledger)
					x = open()
				}
				require.Equal(t, len(plain), store.len(), "no document is left behind")
				same(t, x, plain, index.Query{Vector: pool[r.IntN(len(pool))].Vector, Model: "m", K: 1 + r.IntN(20)}, r)
			}
		}
	}
}

// same fails unless x holds and finds what plain does.
func same(t *testing.T, x index.Index, plain map[string]index.Entry, q index.Query, r *rand.Rand) {
	t.Helper()
	ids, err := x.IDs(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, slices.Collect(maps.Keys(plain)), ids)
	require.True(t, slices.IsSorted(ids))
	for _, id := range ids {
		e, err := x.Get(t.Context(), id)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(plain[id], e), id)
	}
	if r.IntN(2) == 0 {
		q.Filter = index.Filter{Kinds: []string{"page"}, Fields: map[string]string{"site": fmt.Sprint(2 * r.IntN(5))}}
	}
	found, err := x.Search(t.Context(), q)
	require.NoError(t, err)
	want := exhaustive(plain, q)
	require.Len(t, found, len(want))
	for i := range want { // entries made from one vector may stand either way round
		require.InDelta(t, want[i].Similarity, found[i].Similarity, 1e-5)
		require.True(t, q.Filter.Match(&found[i].Item))
		require.Equal(t, plain[found[i].Item.ID].Item, found[i].Item)
	}
}

var errBroken = errors.New("broken")

// flaky is a ledger whose commits fail now and then, some after they were made.
type flaky struct {
	langchain.MapLedger
	fail func(op string) (before, after error)
}

func (f *flaky) Commit(ctx context.Context, c langchain.Change) error {
	before, after := f.fail("commit")
	if before != nil {
		return before
	}
	return errors.Join(f.MapLedger.Commit(ctx, c), after)
}

func (f *flaky) Get(ctx context.Context, ids []string) ([]langchain.Record, error) {
	if before, _ := f.fail("get"); before != nil {
		return nil, before
	}
	return f.MapLedger.Get(ctx, ids)
}

func TestWhateverFailsAChangeIsMadeOrItIsNot(t *testing.T) {
	made, failed, leftover := 0, 0, 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		on := false
		fail := func(string) (before, after error) {
			switch n := r.IntN(12); {
			case !on:
			case n == 0:
				return errBroken, nil
			case n == 1:
				return nil, errBroken
			}
			return nil, nil
		}
		store, ledger := &fake{flavour: pgvector, fail: fail}, &flaky{fail: fail}
		x, err := langchain.New(store, langchain.Config{Vectors: true, Ledger: ledger, Delete: store.delete, Filter: langchain.EqualFilter, Batch: 3})
		require.NoError(t, err)
		plain, pool := map[string]index.Entry{}, random(seed, 60, 5)
		for range 30 {
			next := maps.Clone(plain)
			var err error
			on = true
			switch r.IntN(5) {
			case 0, 1, 2:
				var some []index.Entry
				for range 1 + r.IntN(8) {
					e := pool[r.IntN(len(pool))]
					e.Item.ID = fmt.Sprint(r.IntN(20))
					some = append(some, e)
					next[e.Item.ID] = e
				}
				err = x.Upsert(t.Context(), some)
			case 3:
				ids := []string{fmt.Sprint(r.IntN(20)), fmt.Sprint(r.IntN(20))}
				delete(next, ids[0])
				delete(next, ids[1])
				err = x.Delete(t.Context(), ids)
			case 4:
				e := pool[r.IntN(len(pool))]
				next = map[string]index.Entry{e.Item.ID: e}
				err = x.Replace(t.Context(), []index.Entry{e})
			}
			on = false
			var left *langchain.LeftoverError
			var foreign *langchain.Error
			switch {
			case err == nil:
				made++
				plain = next
			case errors.As(err, &left):
				leftover++
				plain = next
			case errors.As(err, &foreign) && foreign.Op == "ledger: commit": // unknown: one or the other, whole
				failed++
				if ids, _ := x.IDs(t.Context()); matches(t, x, next, ids) {
					plain = next
				}
			default:
				failed++
				require.ErrorIs(t, err, errBroken)
			}
			same(t, x, plain, index.Query{Vector: pool[r.IntN(len(pool))].Vector, Model: "m", K: 1 + r.IntN(10)}, r)
		}
		_, err = x.Tidy(t.Context())
		require.NoError(t, err)
		leftovers, err := ledger.Leftovers(t.Context(), 1)
		require.NoError(t, err)
		require.Empty(t, leftovers)
	}
	t.Logf("%d changes made, %d with leftovers, %d failed", made, leftover, failed)
	require.Greater(t, made, 150)
	require.Greater(t, leftover, 40)
	require.Greater(t, failed, 60)
}

func matches(t *testing.T, x index.Index, plain map[string]index.Entry, ids []string) bool {
	if len(ids) != len(plain) {
		return false
	}
	for _, id := range ids {
		e, err := x.Get(t.Context(), id)
		if err != nil || !slices.Equal(e.Vector, plain[id].Vector) {
			return false
		}
	}
	return true
}
