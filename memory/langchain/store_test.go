package langchain_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/langchain"
	"github.com/pawlkit/pawl/stream"
)

// A local is index.Local as an embedder of langchaingo.
type local struct{}

func (local) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return index.Local{}.Embed(ctx, texts)
}

func (local) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := index.Local{}.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// A fake is a store in memory that compares metadata for equality, as pgvector does. It can't
// delete, as the interface of all stores.
type fake struct {
	local
	fails func() error
	score func(cosine float64) float32

	docs    []schema.Document
	vectors [][]float32
	options []vectorstores.Options
	counts  []int
}

func (f *fake) AddDocuments(ctx context.Context, docs []schema.Document, _ ...vectorstores.Option) ([]string, error) {
	for _, d := range docs {
		v, err := f.EmbedQuery(ctx, d.PageContent)
		if err != nil {
			return nil, err
		}
		f.docs, f.vectors = append(f.docs, d), append(f.vectors, v)
	}
	return make([]string, len(docs)), nil
}

func (f *fake) SimilaritySearch(ctx context.Context, query string, count int,
	options ...vectorstores.Option) ([]schema.Document, error) {
	var o vectorstores.Options
	for _, set := range options {
		set(&o)
	}
	f.options, f.counts = append(f.options, o), append(f.counts, count)
	if f.fails != nil {
		return nil, f.fails()
	}
	asked, err := f.EmbedQuery(ctx, query)
	if err != nil {
		return nil, err
	}
	want, _ := o.Filters.(map[string]string)
	var out []schema.Document
	for i, d := range f.docs {
		matches := true
		for k, v := range want {
			matches = matches && d.Metadata[k] == v
		}
		if !matches {
			continue
		}
		cosine := 0.0 // the vectors have the length 1
		for k, x := range f.vectors[i] {
			cosine += float64(x * asked[k])
		}
		if d.Score = float32(cosine); f.score != nil {
			d.Score = f.score(cosine)
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b schema.Document) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(count, len(out))], nil
}

// itemOf reads the documents of this test's stores.
func itemOf(d schema.Document) (index.Item, bool) {
	item, ok := d.Metadata["item"].(index.Item)
	return item, ok
}

// filled returns a store of items, embedded as a Finder would embed them.
func filled(t *testing.T, items ...index.Item) *fake {
	store := &fake{}
	for _, i := range items {
		_, err := store.AddDocuments(t.Context(), []schema.Document{{PageContent: i.Name + "\n" + i.Text,
			Metadata: map[string]any{"item": i, "kind": i.Kind}}})
		require.NoError(t, err)
	}
	return store
}

func searcher(t *testing.T, store *fake, cfg langchain.Config) index.Searcher {
	if cfg.Item == nil {
		cfg.Item = itemOf
	}
	s, err := langchain.New(store, cfg)
	require.NoError(t, err)
	return s
}

func TestAStoreFindsWhatAFinderFinds(t *testing.T) {
	data, err := os.ReadFile("../index/testdata/site.txt")
	require.NoError(t, err)
	var items []index.Item
	for l := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSpace(l), " | "); len(f) == 5 {
			items = append(items,
				index.Item{Kind: f[0], ID: f[1], Name: f[2], Aliases: strings.Split(f[3], ", "), Text: f[4]})
		}
	}
	memory, err := index.New(index.Config{})
	require.NoError(t, err)
	require.NoError(t, memory.Put(t.Context(), items...))
	s := searcher(t, filled(t, items...), langchain.Config{Low: .25, High: .85})
	found, same := 0, 0
	for _, item := range items {
		want, err := memory.Find(t.Context(), item.Name, index.Filter{Kinds: []string{item.Kind}}, 3)
		require.NoError(t, err)
		got, err := s.Find(t.Context(), item.Name, index.Filter{Kinds: []string{item.Kind}}, 3)
		require.NoError(t, err)
		require.NotEmpty(t, got.Hits, item.Name)
		require.Equal(t, want.Hits[0].Exact, got.Hits[0].Exact, item.Name)
		found++
		if want.Hits[0].Item.ID == got.Hits[0].Item.ID {
			same++
		}
	}
	require.Greater(t, found, 50)
	require.Equal(t, found, same)
}

func TestTheFilterGoesToTheStoreAndIsCheckedAfterIt(t *testing.T) {
	page, entry := index.Item{ID: "p", Kind: "page", Name: "Home"}, index.Item{ID: "e", Kind: "entry", Name: "Home"}
	store := filled(t, page, entry)
	asked := 0
	s := searcher(t, store, langchain.Config{
		Options: []vectorstores.Option{vectorstores.WithScoreThreshold(.25)},
		Filter: func(f index.Filter) any {
			if asked++; asked > 1 || len(f.Kinds) == 0 {
				return nil
			}
			return map[string]string{"kind": f.Kinds[0]}
		}})
	for range 2 { // the store gets the filter, then none
		res, err := s.Find(t.Context(), "home", index.Filter{Kinds: []string{"page"}}, 3)
		require.NoError(t, err)
		require.Len(t, res.Hits, 1)
		require.Equal(t, page, res.Hits[0].Item)
	}
	require.Equal(t, map[string]string{"kind": "page"}, store.options[0].Filters)
	require.Nil(t, store.options[1].Filters)
	require.InDelta(t, .25, store.options[1].ScoreThreshold, 1e-6)
	require.Equal(t, []int{128, 128}, store.counts)
}

func TestOnlyDocumentsThatAreItemsAreFound(t *testing.T) {
	store := filled(t, index.Item{ID: "a", Name: "Password reset"}, index.Item{Name: "Password reset"},
		index.Item{ID: "a", Name: "Reset"})
	_, err := store.AddDocuments(t.Context(), []schema.Document{{PageContent: "Password reset"}})
	require.NoError(t, err)
	res, err := searcher(t, store, langchain.Config{}).Find(t.Context(), "password reset", index.Filter{}, 9)
	require.NoError(t, err)
	require.Len(t, res.Hits, 1, "one item of two documents; the others have no id")
	require.Equal(t, "Password reset", res.Hits[0].Item.Name, "that of the nearest document")
}

func TestScoresAreConvertedToSimilarities(t *testing.T) {
	store := filled(t, index.Item{ID: "near", Name: "Members of the team"}, index.Item{ID: "far", Name: "Imprint"})
	store.score = func(cosine float64) float32 { return float32(1 - cosine) }
	s := searcher(t, store, langchain.Config{Similarity: func(score float32) float64 { return 1 - float64(score) }})
	res, err := s.Find(t.Context(), "members of the team", index.Filter{}, 1)
	require.NoError(t, err)
	require.Equal(t, "near", res.Hits[0].Item.ID)
	require.InDelta(t, 1, res.Hits[0].Similarity, .2)
	store.score = func(float64) float32 { return float32(math.NaN()) }
	res, err = s.Find(t.Context(), "members of the team", index.Filter{}, 1)
	require.NoError(t, err)
	require.Zero(t, res.Hits[0].Similarity)
}

func TestAStoresFailureIsAnError(t *testing.T) {
	store := filled(t)
	s := searcher(t, store, langchain.Config{})
	store.fails = func() error { return errors.New("status 503: Bearer SECRET1") }
	_, err := s.Find(t.Context(), "home", index.Filter{}, 1)
	var typed *langchain.Error
	require.ErrorAs(t, err, &typed)
	require.Equal(t, "search", typed.Op)
	require.Equal(t, fault.Degraded, fault.Of(err))
	require.NotContains(t, err.Error(), "SECRET1")
	store.fails = func() error { panic("boom") }
	var panicked *stream.PanicError
	_, err = s.Find(t.Context(), "home", index.Filter{}, 1)
	require.ErrorAs(t, err, &panicked)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no longer wanted")
	cancel(why)
	_, err = s.Find(ctx, "home", index.Filter{}, 1)
	require.ErrorIs(t, err, why)
}

func TestAnIncompleteStoreIsRefused(t *testing.T) {
	_, err := langchain.New(nil, langchain.Config{Item: itemOf})
	require.ErrorContains(t, err, "the store is nil")
	_, err = langchain.New((*fake)(nil), langchain.Config{Item: itemOf})
	require.ErrorContains(t, err, "the store is nil")
	_, err = langchain.New(&fake{}, langchain.Config{})
	require.ErrorContains(t, err, "Config.Item")
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, err = langchain.New(&fake{}, langchain.Config{Item: itemOf, Low: .9, High: .1})
	require.ErrorContains(t, err, "Low")
}
