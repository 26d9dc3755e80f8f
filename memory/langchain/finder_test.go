package langchain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/langchain"
)

func reloaded(t *testing.T, l *langchain.MapLedger) *langchain.MapLedger {
	data, err := json.Marshal(l)
	require.NoError(t, err)
	out := &langchain.MapLedger{}
	require.NoError(t, json.Unmarshal(data, out))
	return out
}

// lines returns the lines of a file of the index's search table that aren't comments.
func lines(t testing.TB, name string) []string {
	data, err := os.ReadFile("../index/testdata/" + name)
	require.NoError(t, err)
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(data)), "\n"), func(l string) bool { return strings.HasPrefix(l, "#") })
}

// site is the part of the index's search table that its queries are about.
func site(t testing.TB) []index.Item {
	var items []index.Item
	for _, l := range lines(t, "site.txt") {
		f := strings.Split(l, "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		items = append(items, index.Item{Kind: f[0], ID: f[1], Name: f[2], Aliases: strings.Split(f[3], ", "), Text: f[4],
			Fields: map[string]string{"site": []string{"main", "shop"}[len(items)%2]}})
	}
	return items
}

// self returns a store that embeds by itself, and an Index over it.
func self(t testing.TB, fl flavour, cfg langchain.Config) (*fake, *langchain.Index) {
	store := &fake{flavour: fl, embedder: langchain.Embeddings(index.Local{})}
	cfg.Model, cfg.Similarity, cfg.Filter = index.Local{}.Model(), fl.similarity, fl.filter
	if cfg.Ledger == nil {
		cfg.Ledger = &langchain.MapLedger{}
	}
	cfg.Delete = store.delete
	x, err := langchain.New(store, cfg)
	require.NoError(t, err)
	return store, x
}

func finder(t testing.TB, x *langchain.Index) *index.Finder {
	f, err := index.New(index.Config{Index: x, Embedder: x.Embedder()})
	require.NoError(t, err)
	return f
}

// Every query of the index's own search table finds the same, as surely, as in an index.Memory.
func TestAFinderFindsTheSameWhateverTheStore(t *testing.T) {
	items := site(t)
	memory, err := index.New(index.Config{})
	require.NoError(t, err)
	require.NoError(t, memory.Put(t.Context(), items...))
	var finders []*index.Finder
	for _, fl := range flavours {
		_, x := self(t, fl, langchain.Config{})
		finders = append(finders, finder(t, x))
		require.NoError(t, finders[len(finders)-1].Put(t.Context(), items...))
	}
	found := 0
	for i, l := range lines(t, "queries.txt") {
		query, _, _ := strings.Cut(l, " =>")
		filter := index.Filter{}
		if i%2 == 1 {
			filter = index.Filter{Kinds: []string{"page", "section"}, Fields: map[string]string{"site": "shop"}}
		}
		want, err := memory.Find(t.Context(), query, filter, 3)
		require.NoError(t, err)
		fl := flavours[i%len(flavours)].name
		got, err := finders[i%len(flavours)].Find(t.Context(), query, filter, 3)
		require.NoError(t, err)
		require.Len(t, got.Hits, len(want.Hits), "%s: %q", fl, query)
		require.Len(t, got.Ambiguous, len(want.Ambiguous), "%s: %q", fl, query)
		for i, h := range want.Hits {
			require.Equal(t, h.Item, got.Hits[i].Item, "%s: %q", fl, query)
			require.InDelta(t, h.Score, got.Hits[i].Score, 1e-5, "%s: %q", fl, query)
		}
		found += len(got.Hits)
	}
	require.Greater(t, found, 100)
}

func all(items ...index.Item) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}

func TestAFinderKeepsAStoreInStepWithAPlainMap(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 3))
		store, x := self(t, flavours[seed%5], langchain.Config{})
		plain, f := map[string]index.Item{}, finder(t, x)
		for range 30 {
			item := index.Item{ID: fmt.Sprint(r.IntN(30)), Name: fmt.Sprint("name ", r.IntN(5)), Fields: map[string]string{"f": fmt.Sprint(r.IntN(2))}}
			switch r.IntN(8) {
			case 0, 1, 2, 3:
				plain[item.ID] = item
				require.NoError(t, f.Put(t.Context(), item))
			case 4, 5:
				delete(plain, item.ID)
				require.NoError(t, f.Remove(t.Context(), item.ID))
			case 6:
				require.NoError(t, f.Reindex(t.Context()))
			case 7:
				clear(plain)
				var items []index.Item
				for i := range r.IntN(150) {
					it := index.Item{ID: fmt.Sprint(i), Name: fmt.Sprint("name ", r.IntN(5))}
					plain[it.ID] = it
					items = append(items, it)
				}
				_, err := f.Sync(t.Context(), all(items...))
				require.NoError(t, err)
			}
			require.Equal(t, len(plain), store.len())
			for id, want := range plain {
				got, err := x.Get(t.Context(), id)
				require.NoError(t, err)
				require.Equal(t, want, got.Item)
			}
		}
	}
}

func TestAfterARestartNothingIsAddedAgain(t *testing.T) {
	ledger := &langchain.MapLedger{}
	store, x := self(t, qdrant, langchain.Config{Ledger: ledger})
	items := site(t)
	done, err := finder(t, x).Sync(t.Context(), all(items...))
	require.NoError(t, err)
	require.Equal(t, len(items), done.Added)
	require.Equal(t, len(items), store.embedded)

	x, err = langchain.New(store, langchain.Config{Model: index.Local{}.Model(), Ledger: reloaded(t, ledger), Delete: store.delete, Filter: langchain.QdrantFilter})
	require.NoError(t, err)
	items[0].Text, items = "altogether new", items[:len(items)-1]
	done, err = finder(t, x).Sync(t.Context(), all(items...))
	require.NoError(t, err)
	require.Equal(t, index.Changes{Updated: 1, Unchanged: len(items) - 1, Removed: 1, Embedded: 1}, done)
	require.Equal(t, len(items), store.len())
	require.Equal(t, len(items)+2, store.embedded)
}

// The store embeds the text that a Finder would have embedded.
func TestAStoreEmbedsWhatAFinderEmbeds(t *testing.T) {
	spy := &texts{}
	f, err := index.New(index.Config{Embedder: spy})
	require.NoError(t, err)
	items := []index.Item{
		{ID: "1", Name: "Home"}, {ID: "2", Name: "A\nB", Aliases: []string{"C", "D\nE"}, Text: "F\nG"}, {ID: "3", Text: "only text"}, {ID: "4"},
	}
	require.NoError(t, f.Put(t.Context(), items...))
	store, x := self(t, pgvector, langchain.Config{})
	require.NoError(t, finder(t, x).Put(t.Context(), items...))
	var contents []string
	for _, r := range store.rows {
		contents = append(contents, r.content)
	}
	require.Equal(t, spy.seen, contents)
}

type texts struct {
	index.Local
	seen []string
}

func (s *texts) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.seen = append(s.seen, texts...)
	return s.Local.Embed(ctx, texts)
}
