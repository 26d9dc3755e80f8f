package indextest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/pawlkit/pawl/memory/index"
)

// A Subject is an index under test. All but Check are needed.
type Subject struct {
	Index   func() index.Index // as it is now
	Len     func() int         // of what it is kept in
	Restart func()             // closes it and opens it again, as far as it can be closed
	Check   func(Plain)        // what else must hold after each change
}

// History makes 60 random changes of an empty index and of a [Plain], and holds that they are the
// same after each.
func History(t testing.TB, seed uint64, s Subject) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	plain, pool := Plain{}, Random(seed, 120, 13)
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
			must(t, s.Index().Upsert(t.Context(), some))
		case n < 8:
			var ids []string
			for range 1 + r.IntN(8) {
				ids = append(ids, fmt.Sprint(r.IntN(60)))
				delete(plain, ids[len(ids)-1])
			}
			must(t, s.Index().Delete(t.Context(), ids))
		case n == 8 && r.IntN(5) == 0:
			e := pool[0]
			e.Item.ID = "only"
			clear(plain)
			plain["only"] = e
			must(t, s.Index().Replace(t.Context(), []index.Entry{e}))
		case n == 9:
			s.Restart()
		}
		holds(t, s.Len(), len(plain))
		plain.Same(t, s.Index(), Query(r, pool))
		if s.Check != nil {
			s.Check(plain)
		}
	}
}

// InStep makes random changes through a Finder over x, and holds that x has what a map of the items
// has after each; size is how many entries are kept.
func InStep(t testing.TB, seed uint64, changes int, f *index.Finder, x index.Index, size func() int) {
	t.Helper()
	r, plain := rand.New(rand.NewPCG(seed, 3)), map[string]index.Item{}
	for range changes {
		item := index.Item{ID: fmt.Sprint(r.IntN(30)), Name: fmt.Sprint("name ", r.IntN(5)),
			Fields: map[string]string{"f": fmt.Sprint(r.IntN(2))}}
		switch n := r.IntN(8); {
		case n < 4:
			plain[item.ID] = item
			must(t, f.Put(t.Context(), item))
		case n < 6:
			delete(plain, item.ID)
			must(t, f.Remove(t.Context(), item.ID))
		case n == 6:
			must(t, f.Reindex(t.Context()))
		default:
			clear(plain)
			var items []index.Item
			for i := range r.IntN(150) {
				it := index.Item{ID: fmt.Sprint(i), Name: fmt.Sprint("name ", r.IntN(5))}
				plain[it.ID] = it
				items = append(items, it)
			}
			done, err := f.Sync(t.Context(), All(items...))
			must(t, err)
			holds(t, done.Added+done.Updated+done.Unchanged, len(items))
		}
		holds(t, size(), len(plain))
		for id, want := range plain {
			got, err := x.Get(t.Context(), id)
			must(t, err)
			equal(t, got.Item, want)
		}
	}
}

// Crowd has eight goroutines use x at the same time, each so many times, and then puts the entries
// into it, all of them. It is for the race detector.
func Crowd(t testing.TB, x index.Index, entries []index.Entry, times int) {
	t.Helper()
	ctx := t.Context()
	must(t, x.Upsert(ctx, entries))
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range times {
				e := entries[(w*times+i)%len(entries)]
				switch w % 4 {
				case 0:
					_ = x.Upsert(ctx, []index.Entry{e})
				case 1:
					_ = x.Delete(ctx, []string{e.Item.ID})
				case 2:
					_, _ = x.Search(ctx, index.Query{Vector: e.Vector, Model: e.Model, K: 5})
				case 3:
					_, _ = x.Get(ctx, e.Item.ID)
					_, _ = x.IDs(ctx)
				}
			}
		})
	}
	all.Wait()
	must(t, x.Upsert(ctx, entries))
}

func holds(t testing.TB, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("indextest: it holds %d, not %d", got, want)
	}
}
