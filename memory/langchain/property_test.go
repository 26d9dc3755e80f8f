package langchain_test

import (
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
	"github.com/pawlkit/pawl/memory/internal/indextest"
	"github.com/pawlkit/pawl/memory/langchain"
)

func TestAStoreWithALedgerMatchesAMapAndASort(t *testing.T) {
	for _, fl := range []flavour{pgvector, mongovector} {
		for seed := range uint64(3) {
			store, ledger := &fake{flavour: fl}, &langchain.MapLedger{}
			open := func() *langchain.Index {
				x, err := langchain.New(store,
					langchain.Config{Vectors: true, Ledger: ledger, Delete: store.delete, Filter: fl.filter,
						Similarity: fl.similarity, Batch: 3})
				require.NoError(t, err)
				return x
			}
			x := open()
			// no document is left behind
			indextest.History(t, seed, indextest.Subject{Index: func() index.Index { return x }, Len: store.len,
				Restart: func() { ledger = reloaded(t, ledger); x = open() },
				Check:   func(plain indextest.Plain) { require.True(t, matches(t, x, plain)) }})
		}
	}
}

var errBroken = errors.New("broken")

// A flaky is a ledger whose commits sometimes fail, some after the change was made.
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

func TestAFailedChangeIsMadeCompletelyOrNotAtAll(t *testing.T) {
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
		x, err := langchain.New(store, langchain.Config{Vectors: true, Ledger: ledger, Delete: store.delete,
			Filter: langchain.EqualFilter, Batch: 3})
		require.NoError(t, err)
		plain, pool := indextest.Plain{}, indextest.Random(seed, 60, 5)
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
				next = indextest.Plain{e.Item.ID: e}
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
				if matches(t, x, next) {
					plain = next
				}
			default:
				failed++
				require.ErrorIs(t, err, errBroken)
			}
			plain.Same(t, x, indextest.Query(r, pool))
			require.True(t, matches(t, x, plain))
		}
	}
	t.Logf("%d changes made, %d with leftovers, %d failed", made, leftover, failed)
	require.Greater(t, made, 150)
	require.Greater(t, leftover, 40)
	require.Greater(t, failed, 60)
}

// matches reports whether x has the same entries as plain, including vectors.
func matches(t *testing.T, x index.Index, plain indextest.Plain) bool {
	ids, err := x.IDs(t.Context())
	require.NoError(t, err)
	return len(ids) == len(plain) && !slices.ContainsFunc(ids, func(id string) bool {
		e, err := x.Get(t.Context(), id)
		return err != nil || !reflect.DeepEqual(plain[id], e)
	})
}
