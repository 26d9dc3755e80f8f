package langchain_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/internal/indextest"
	"github.com/pawlkit/pawl/memory/langchain"
)

func reloaded(t *testing.T, l *langchain.MapLedger) *langchain.MapLedger {
	data, err := json.Marshal(l)
	require.NoError(t, err)
	out := &langchain.MapLedger{}
	require.NoError(t, json.Unmarshal(data, out))
	return out
}

// site is the part of the index's search table that its queries are about.
func site(t testing.TB) []index.Item {
	items := indextest.Table(t, "../index/testdata/site.txt")
	for i := range items {
		items[i].Fields = map[string]string{"site": []string{"main", "shop"}[i%2]}
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
func TestAFinderFindsTheSameInEveryStore(t *testing.T) {
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
	for i, l := range indextest.Lines(t, "../index/testdata/queries.txt") {
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

func TestAStoreMatchesASimpleMap(t *testing.T) {
	for seed := range uint64(10) {
		store, x := self(t, flavours[seed%5], langchain.Config{})
		indextest.InStep(t, seed, 30, finder(t, x), x, store.len)
	}
}

func TestAfterARestartNothingIsAddedAgain(t *testing.T) {
	ledger := &langchain.MapLedger{}
	store, x := self(t, qdrant, langchain.Config{Ledger: ledger})
	items := site(t)
	done, err := finder(t, x).Sync(t.Context(), indextest.All(items...))
	require.NoError(t, err)
	require.Equal(t, len(items), done.Added)
	require.Equal(t, len(items), store.embedded)

	x, err = langchain.New(store, langchain.Config{Model: index.Local{}.Model(), Ledger: reloaded(t, ledger),
		Delete: store.delete, Filter: langchain.QdrantFilter})
	require.NoError(t, err)
	items[0].Text, items = "altogether new", items[:len(items)-1]
	done, err = finder(t, x).Sync(t.Context(), indextest.All(items...))
	require.NoError(t, err)
	require.Equal(t, index.Changes{Updated: 1, Unchanged: len(items) - 1, Removed: 1, Embedded: 1}, done)
	require.Equal(t, len(items), store.len())
	require.Equal(t, len(items)+2, store.embedded)
}

// The store embeds the text that a Finder would have embedded.
func TestAStoreEmbedsTheTextOfAFinder(t *testing.T) {
	spy := &texts{}
	f, err := index.New(index.Config{Embedder: spy})
	require.NoError(t, err)
	items := []index.Item{
		{ID: "1", Name: "Home"}, {ID: "2", Name: "A\nB", Aliases: []string{"C", "D\nE"}, Text: "F\nG"},
		{ID: "3", Text: "only text"}, {ID: "4"},
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
