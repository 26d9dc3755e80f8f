package indextest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/pawlkit/pawl/memory/index"
)

// Random returns n entries with vectors of that size, always the same ones for a seed. Their ids
// are 0 to n-1, their kinds page and entry by turns; a field says which of ten sites they are of;
// the model is "m".
func Random(seed uint64, n, size int) []index.Entry {
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

// Query returns a query for what is like one of these entries, for 1 to 20 of them, and every other
// time with a filter.
func Query(r *rand.Rand, entries []index.Entry) index.Query {
	q := index.Query{Vector: entries[r.IntN(len(entries))].Vector, Model: "m", K: 1 + r.IntN(20)}
	if r.IntN(2) == 0 {
		q.Filter = index.Filter{Kinds: []string{"page"}, Fields: map[string]string{"site": fmt.Sprint(2 * r.IntN(5))}}
	}
	return q
}

// A Plain is an index that is a map, by id.
type Plain map[string]index.Entry

// Search returns what a search by vector should, by sorting everything.
func (p Plain) Search(q index.Query) []index.Match {
	var out []index.Match
	for _, e := range p {
		if q.Filter.Match(&e.Item) {
			out = append(out, index.Match{Item: e.Item, Similarity: Cosine(e.Vector, q.Vector)})
		}
	}
	slices.SortFunc(out, func(a, b index.Match) int {
		return cmp.Or(-cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.Item.ID, b.Item.ID))
	})
	return out[:min(len(out), q.K)]
}

// Cosine is the similarity of two vectors; NaN with one of zeros.
func Cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// Same fails t unless x has the items that p has, and finds as near ones. Those made from one
// vector may stand either way round: rounding decides.
func (p Plain) Same(t testing.TB, x index.Index, q index.Query) {
	t.Helper()
	ids, err := x.IDs(t.Context())
	must(t, err)
	if want := slices.Sorted(maps.Keys(p)); !slices.Equal(want, ids) {
		t.Fatalf("indextest: it has the ids %q, not %q", ids, want)
	}
	for _, id := range ids {
		e, err := x.Get(t.Context(), id)
		must(t, err)
		equal(t, e.Item, p[id].Item)
	}
	found, err := x.Search(t.Context(), q)
	must(t, err)
	want := p.Search(q)
	if len(found) != len(want) {
		t.Fatalf("indextest: it finds %d, not %d", len(found), len(want))
	}
	for i := range want {
		if got := found[i].Similarity; !(math.Abs(got-want[i].Similarity) <= 1e-5) || i > 0 &&
			got > found[i-1].Similarity {
			t.Fatalf("indextest: place %d of the found has similarity %v, not %v", i, got, want[i].Similarity)
		}
		if !q.Filter.Match(&found[i].Item) {
			t.Fatalf("indextest: %v is found through a filter that doesn't let it pass", found[i].Item)
		}
		equal(t, found[i].Item, p[found[i].Item.ID].Item)
	}
}

func equal(t testing.TB, got, want index.Item) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("indextest: got %+v, want %+v", got, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("indextest: %v", err)
	}
}
