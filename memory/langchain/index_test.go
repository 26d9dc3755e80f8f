package langchain_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/internal/indextest"
	"github.com/pawlkit/pawl/memory/langchain"
	"github.com/pawlkit/pawl/stream"
)

// vectors returns an Index of a store like pgvector, which gets the vectors.
func vectors(t testing.TB, cfg langchain.Config) (*fake, *langchain.Index) {
	store := &fake{flavour: pgvector}
	cfg.Vectors, cfg.Delete = true, store.delete
	if cfg.Ledger == nil {
		cfg.Ledger = &langchain.MapLedger{}
	}
	x, err := langchain.New(store, cfg)
	require.NoError(t, err)
	return store, x
}

func entry(id string, v ...float32) index.Entry {
	return index.Entry{Item: index.Item{ID: id, Name: "name of " + id}, Vector: v, Model: "m"}
}

func query(k int, v ...float32) index.Query { return index.Query{Vector: v, Model: "m", K: k} }

func idsOf(found []index.Match) []string {
	var out []string
	for _, m := range found {
		out = append(out, m.Item.ID)
	}
	return out
}

func TestAnUnsupportedOperationIsAnErrorAndChangesNothing(t *testing.T) {
	store := &fake{flavour: pgvector}
	reader, err := langchain.New(store, langchain.Config{Vectors: true})
	require.NoError(t, err)
	adder, err := langchain.New(store, langchain.Config{Vectors: true, Ledger: &langchain.MapLedger{}})
	require.NoError(t, err)
	require.NoError(t, adder.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}))
	embeds, err := langchain.New(&fake{embedder: langchain.Embeddings(index.Local{})}, langchain.Config{Model: "m"})
	require.NoError(t, err)
	require.NoError(t, adder.Delete(t.Context(), []string{"unknown"}), "there is nothing to delete")

	for name, c := range map[string]struct {
		do      func() error
		missing string
	}{
		"add without a ledger": {func() error {
			return reader.Upsert(t.Context(), []index.Entry{entry("b", 1, 0)})
		}, "Config.Ledger"},
		"replace without a ledger": {func() error { return reader.Replace(t.Context(), nil) }, "Config.Ledger"},
		"delete without a ledger": {func() error {
			return reader.Delete(t.Context(), []string{"a"})
		}, "Config.Ledger"},
		"get without a ledger": {func() error {
			_, err := reader.Get(t.Context(), "a")
			return err
		}, "Config.Ledger"},
		"ids without a ledger": {func() error { _, err := reader.IDs(t.Context()); return err }, "Config.Ledger"},
		"change without delete": {func() error {
			return adder.Upsert(t.Context(), []index.Entry{entry("b", 1, 0), entry("a", 0, 1)})
		}, "Config.Delete"},
		"replace without delete": {func() error { return adder.Replace(t.Context(), nil) }, "Config.Delete"},
		"delete without delete": {func() error {
			return adder.Delete(t.Context(), []string{"a"})
		}, "Config.Delete"},
		"vector of a self-embedder": {func() error {
			_, err := embeds.Search(t.Context(), query(1, 1, 0))
			return err
		}, "Config.Vectors"},
		"embedder with vectors": {func() error {
			_, err := adder.Embedder().Embed(t.Context(), []string{"a"})
			return err
		}, "Config.Vectors"},
	} {
		err := c.do()
		var missing *langchain.UnsupportedError
		require.ErrorAs(t, err, &missing, name)
		require.Contains(t, missing.Missing, c.missing, name)
		require.ErrorIs(t, err, langchain.ErrUnsupported, name)
		require.ErrorIs(t, err, errors.ErrUnsupported, name)
		require.Equal(t, fault.Permanent, fault.Of(err), name)
		require.Equal(t, 1, store.len(), name)
		ids, err := adder.IDs(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, ids, name)
	}
}

func TestAStoreThatIgnoresTheVectorsIsDetected(t *testing.T) {
	store := &fake{flavour: qdrant, embedder: answers(numbers)}
	x, err := langchain.New(store,
		langchain.Config{Vectors: true, Ledger: &langchain.MapLedger{}, Delete: store.delete})
	require.NoError(t, err)
	require.ErrorIs(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}), langchain.ErrUnsupported)
	require.Zero(t, store.len(), "what was added is taken back")
	ids, err := x.IDs(t.Context())
	require.NoError(t, err)
	require.Empty(t, ids)
	_, err = x.Search(t.Context(), query(1, 1, 0))
	require.ErrorIs(t, err, langchain.ErrUnsupported)
	store.flavour = chroma
	require.ErrorContains(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}), "unsupported options")
}

func TestVectorsOfTwoModelsAreNeverCompared(t *testing.T) {
	_, x := vectors(t, langchain.Config{})
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}))
	other, short := entry("b", 1, 0), entry("b", 1)
	other.Model = "n"
	for _, e := range []index.Entry{other, short} {
		var model *index.ModelError
		require.ErrorAs(t, x.Upsert(t.Context(), []index.Entry{entry("c", 1, 0), e}), &model)
		require.Equal(t, "m", model.Have)
		require.Equal(t, 2, model.HaveSize)
		_, err := x.Search(t.Context(), index.Query{Vector: e.Vector, Model: e.Model, K: 1})
		require.ErrorAs(t, err, &model)
		require.ErrorAs(t, x.Replace(t.Context(), []index.Entry{entry("c", 1, 0), e}), &model)
	}
	require.NoError(t, x.Replace(t.Context(), []index.Entry{other}), "all at once it may change")
	found, err := x.Search(t.Context(), index.Query{Vector: []float32{1, 0}, Model: "n", K: 9})
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, idsOf(found))

	store, self := self(t, qdrant, langchain.Config{})
	var model *index.ModelError
	require.ErrorAs(t, self.Upsert(t.Context(), []index.Entry{entry("a", 0)}), &model)
	require.ErrorAs(t, self.Replace(t.Context(), []index.Entry{entry("a", 0)}), &model)
	require.Equal(t, index.Local{}.Model(), model.Have)
	_, err = self.Search(t.Context(), index.Query{Text: "a", Model: "m", Vector: []float32{0}})
	require.ErrorAs(t, err, &model)
	require.Zero(t, store.len())
}

// The ledger was filled when the store had another embedder.
func TestAnotherModelOfAStoreNeedsAReplace(t *testing.T) {
	ledger := &langchain.MapLedger{}
	store, old := self(t, pgvector, langchain.Config{Ledger: ledger})
	item := index.Item{ID: "a", Name: "Alpha"}
	require.NoError(t, finder(t, old).Put(t.Context(), item))
	x, err := langchain.New(store, langchain.Config{Model: "new", Ledger: ledger, Delete: store.delete})
	require.NoError(t, err)
	f := finder(t, x)
	was, err := x.Get(t.Context(), "a")
	require.NoError(t, err)
	var model *index.ModelError
	require.ErrorAs(t, x.Upsert(t.Context(), []index.Entry{was}), &model)
	require.ErrorAs(t, f.Put(t.Context(), item), &model)
	_, err = f.Find(t.Context(), "alpha", index.Filter{}, 1)
	require.ErrorAs(t, err, &model)
	require.NoError(t, f.Reindex(t.Context()))
	res, err := f.Find(t.Context(), "alpha", index.Filter{}, 1)
	require.NoError(t, err)
	require.Len(t, res.Hits, 1)
	require.Equal(t, 1, store.len())
}

// Without a ledger, the model of a document is compared.
func TestAReaderRejectsDocumentsOfAnotherModel(t *testing.T) {
	store, x := vectors(t, langchain.Config{})
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}))
	reader, err := langchain.New(store, langchain.Config{Vectors: true})
	require.NoError(t, err)
	found, err := reader.Search(t.Context(), query(1, 1, 0))
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, idsOf(found))
	_, err = reader.Search(t.Context(), index.Query{Vector: []float32{1, 0}, Model: "n", K: 1})
	var model *index.ModelError
	require.ErrorAs(t, err, &model)
	var wrapped *langchain.Error
	require.False(t, errors.As(err, &wrapped))
}

func TestAnInvalidUpsertChangesNothing(t *testing.T) {
	store, x := vectors(t, langchain.Config{})
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}))
	for name, bad := range map[string]index.Entry{
		"no id": entry("", 1, 0), "bad id": entry("\xff", 1, 0), "id with NUL": entry("a\x00", 1, 0),
		"no vector": entry("x"),
		"NaN":       entry("x", 1, float32(math.NaN())), "infinite": entry("x", 1, float32(math.Inf(1))),
	} {
		require.Equal(t, fault.Invalid, fault.Of(x.Upsert(t.Context(), []index.Entry{entry("b", 1, 0), bad})), name)
		require.Equal(t, 1, store.len(), name)
	}
	_, err := x.Get(t.Context(), "x")
	require.Equal(t, fault.NotFound, fault.Of(err))
	_, err = x.Search(t.Context(), query(1, 1, float32(math.NaN())))
	require.Equal(t, fault.Invalid, fault.Of(err))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = x.Search(ctx, query(1, 1, 0))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, x.Upsert(ctx, []index.Entry{entry("b", 1, 0)}), context.Canceled)
	require.ErrorIs(t, x.Delete(ctx, []string{"a"}), context.Canceled)
	require.Equal(t, 1, store.len())
	require.NoError(t, x.Upsert(t.Context(), nil))
	require.NoError(t, x.Delete(t.Context(), nil))
	require.NoError(t, x.Replace(t.Context(), nil))
	require.Zero(t, store.len())
	found, err := x.Search(t.Context(), query(1, 1, 0))
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestAnOutdatedStateIsNeverFound(t *testing.T) {
	store, x := vectors(t, langchain.Config{})
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0), entry("b", 0, 1), entry("c", 1, 1)}))
	store.fail = func(op string) (before, after error) {
		if op == "delete" {
			return errBroken, nil
		}
		return nil, nil
	}
	moved := entry("a", -1, 0)
	moved.Item.Name = "moved"
	var left *langchain.LeftoverError
	require.ErrorAs(t, x.Upsert(t.Context(), []index.Entry{moved}), &left)
	require.Equal(t, []string{"uuid-1"}, left.Documents)
	require.ErrorIs(t, left, errBroken)
	require.ErrorAs(t, x.Delete(t.Context(), []string{"b"}), &left)
	require.ErrorAs(t, x.Upsert(t.Context(), []index.Entry{entry("c", 0, 1)}), &left, "another vector is another state")
	require.Equal(t, 5, store.len(), "nothing could be deleted")

	found, err := x.Search(t.Context(), query(9, 1, 0))
	require.NoError(t, err)
	require.Equal(t, []string{"c", "a"}, idsOf(found))
	require.Equal(t, "moved", found[1].Item.Name)
	require.InDelta(t, 0, found[0].Similarity, 1e-6)
	require.InDelta(t, -1, found[1].Similarity, 1e-6)

	store.fail = nil
	require.NoError(t, x.Delete(t.Context(), []string{"a", "c"}))
	require.Equal(t, 3, store.len(), "what is hidden stays")
}

func TestArgumentsAndResultsAreNotShared(t *testing.T) {
	store, x := vectors(t, langchain.Config{})
	store.spoils = true
	e := index.Entry{Item: index.Item{ID: "a", Aliases: []string{"x"}, Fields: map[string]string{"k": "v"}},
		Vector: []float32{1, 0}, Model: "m"}
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{e}))
	e.Item.Aliases[0], e.Item.Fields["k"], e.Vector[0] = "y", "w", 9
	out, err := x.Get(t.Context(), "a")
	require.NoError(t, err)
	out.Item.Aliases[0], out.Item.Fields["k"], out.Vector[0] = "y", "w", 9
	found, err := x.Search(t.Context(), query(1, 1, 0))
	require.NoError(t, err)
	found[0].Item.Aliases[0], found[0].Item.Fields["k"] = "y", "w"
	out, err = x.Get(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, index.Entry{Item: index.Item{ID: "a", Aliases: []string{"x"}, Fields: map[string]string{"k": "v"}},
		Vector: []float32{1, 0}, Model: "m"}, out)
}

// A sharing is a ledger that returns its own records.
type sharing struct {
	langchain.Ledger
	record langchain.Record
}

func (s sharing) Get(context.Context, []string) ([]langchain.Record, error) {
	return []langchain.Record{s.record}, nil
}

func TestALedgersRecordsAreNotReturned(t *testing.T) {
	ledger := &langchain.MapLedger{}
	store, x := vectors(t, langchain.Config{Ledger: ledger})
	e := entry("a", 1, 0)
	e.Item.Aliases = []string{"x"}
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{e}))
	records, err := ledger.Get(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	require.Len(t, records, 1)
	x, err = langchain.New(store, langchain.Config{Vectors: true, Ledger: sharing{ledger, records[0]}})
	require.NoError(t, err)
	got, err := x.Get(t.Context(), "a")
	require.NoError(t, err)
	got.Item.Aliases[0], got.Vector[0] = "y", 9
	found, err := x.Search(t.Context(), query(1, 1, 0))
	require.NoError(t, err)
	found[0].Item.Aliases[0] = "z"
	require.Equal(t, e, records[0].Entry)

	records[0].Entry.Item.Aliases[0], records[0].Documents[0] = "y", "y"
	records, err = ledger.Get(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.Equal(t, e, records[0].Entry)
	require.NotEqual(t, "y", records[0].Documents[0])
}

func TestALedgerSurvivesJSON(t *testing.T) {
	ledger := &langchain.MapLedger{}
	store, x := vectors(t, langchain.Config{Ledger: ledger})
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0), entry("b", 1, 0), entry("c", 1, 0)}))
	store.fail = func(op string) (before, after error) { return errBroken, nil }
	require.ErrorIs(t, x.Delete(t.Context(), []string{"b"}), errBroken)
	store.fail = nil
	x, err := langchain.New(store, langchain.Config{Vectors: true, Ledger: reloaded(t, ledger), Delete: store.delete})
	require.NoError(t, err)
	ids, err := x.IDs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, ids)
	require.Error(t, ledger.UnmarshalJSON([]byte(`{"records":[`)))
	page, err := ledger.IDs(t.Context(), "a", 1)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, page)
}

func TestAChangeWaitsForTheOneBeforeOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, x := vectors(t, langchain.Config{})
		let, adds := make(chan struct{}), 0
		store.fail = func(op string) (before, after error) {
			if op == "add" {
				if adds++; adds == 1 {
					<-let
				}
			}
			return nil, nil
		}
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { second <- x.Upsert(ctx, []index.Entry{entry("b", 1, 0)}) }()
		synctest.Wait()
		require.Equal(t, 1, adds)
		found, err := x.Search(t.Context(), query(1, 1, 0))
		require.NoError(t, err, "a search waits for nobody")
		require.Empty(t, found)
		cancel()
		require.ErrorIs(t, <-second, context.Canceled)
		close(let)
		require.NoError(t, <-first)
		require.Equal(t, 1, adds)
	})
}

func TestDocumentsOfACanceledChangeAreDeleted(t *testing.T) {
	store, x := vectors(t, langchain.Config{Batch: 2})
	ctx, cancel := context.WithCancel(t.Context())
	adds := 0
	store.fail = func(op string) (before, after error) {
		if op == "add" {
			if adds++; adds == 2 {
				cancel()
				return context.Canceled, nil
			}
		}
		return nil, nil
	}
	require.ErrorIs(t, x.Upsert(ctx, []index.Entry{entry("a", 1, 0), entry("b", 1, 0), entry("c", 1, 0)}),
		context.Canceled)
	require.Equal(t, 2, adds)
	require.Zero(t, store.len())
}

// A lying is a store whose answers to AddDocuments are changed by a function.
type lying struct {
	*fake
	lie func(ids []string) []string
}

func (l lying) AddDocuments(ctx context.Context, docs []schema.Document, o ...vectorstores.Option) ([]string, error) {
	ids, err := l.fake.AddDocuments(ctx, docs, o...)
	return l.lie(ids), err
}

func TestAnInvalidAnswerIsRejected(t *testing.T) {
	for name, lie := range map[string]func([]string) []string{
		"none":  func([]string) []string { return nil },
		"fewer": func(ids []string) []string { return ids[1:] },
		"empty": func(ids []string) []string { return make([]string, len(ids)) },
		"twice": func(ids []string) []string { return slices.Repeat(ids[:1], len(ids)) },
	} {
		store := lying{&fake{flavour: pgvector}, lie}
		x, err := langchain.New(store,
			langchain.Config{Vectors: true, Ledger: &langchain.MapLedger{}, Delete: store.delete})
		require.NoError(t, err)
		var bad *langchain.AnswerError
		require.ErrorAs(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0), entry("b", 1, 0)}), &bad, name)
		found, err := x.Search(t.Context(), query(9, 1, 0))
		require.NoError(t, err, name)
		require.Empty(t, found, name)
	}
}

// An own is a store with its own method for deleting documents.
type own struct{ *fake }

func (o own) Delete(ctx context.Context, ids []string) error { return o.delete(ctx, ids) }

func TestADeleterNeedsNoDeleteFunction(t *testing.T) {
	store := own{&fake{flavour: pgvector}}
	x, err := langchain.New(store, langchain.Config{Vectors: true, Ledger: &langchain.MapLedger{}})
	require.NoError(t, err)
	require.NoError(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}))
	require.NoError(t, x.Delete(t.Context(), []string{"a", "a", "b"}))
	require.Zero(t, store.len())
}

// A reusing is a store that takes the ids of items as the ids of its documents.
type reusing struct{ *fake }

func (r reusing) AddDocuments(ctx context.Context, docs []schema.Document, o ...vectorstores.Option) ([]string, error) {
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.Metadata[langchain.MetaID].(string)
	}
	if err := r.delete(ctx, ids); err != nil {
		return nil, err
	}
	if _, err := r.fake.AddDocuments(ctx, docs, o...); err != nil {
		return nil, err
	}
	for i, id := range ids {
		r.rows[len(r.rows)-len(ids)+i].id = id
	}
	return ids, nil
}

// A store may give a document the id of the one that it replaces.
func TestADocumentWithAReusedIDIsNotDeleted(t *testing.T) {
	store := reusing{&fake{flavour: pgvector, embedder: langchain.Embeddings(index.Local{})}}
	x, err := langchain.New(store, langchain.Config{Model: index.Local{}.Model(), Ledger: &langchain.MapLedger{},
		Delete: store.delete, Filter: langchain.EqualFilter})
	require.NoError(t, err)
	f := finder(t, x)
	require.NoError(t, f.Put(t.Context(), index.Item{ID: "a", Name: "Alpha"}, index.Item{ID: "b", Name: "Beta"}))
	require.NoError(t, f.Put(t.Context(), index.Item{ID: "a", Name: "Gamma"}))
	require.Equal(t, 2, store.len())
	res, err := f.Find(t.Context(), "gamma", index.Filter{}, 1)
	require.NoError(t, err)
	require.Len(t, res.Hits, 1)
	require.Equal(t, "a", res.Hits[0].Item.ID)
	require.NoError(t, f.Remove(t.Context(), "a", "b"))
	require.Zero(t, store.len())
	require.NoError(t, f.Put(t.Context(), index.Item{ID: "a", Name: "Gamma"}))
	require.Equal(t, 1, store.len())

	down := true
	x, err = langchain.New(store, langchain.Config{Model: index.Local{}.Model(), Ledger: &langchain.MapLedger{},
		Delete: func(ctx context.Context, ids []string) error {
			if down {
				return errBroken
			}
			return store.delete(ctx, ids)
		}})
	require.NoError(t, err)
	f = finder(t, x)
	require.NoError(t, f.Put(t.Context(), index.Item{ID: "d", Name: "Delta"}))
	require.ErrorIs(t, f.Remove(t.Context(), "d"), errBroken)
	require.NoError(t, f.Put(t.Context(), index.Item{ID: "d", Name: "Delta"}), "what was left is what counts again")
	down = false
	require.Equal(t, 2, store.len())
}

// A failing is a ledger that fails in one way.
type failing struct {
	langchain.MapLedger
	op string
	do func() error
}

func (f *failing) try(op string) error {
	if f.op == op {
		return f.do()
	}
	return nil
}

func (f *failing) Get(ctx context.Context, ids []string) ([]langchain.Record, error) {
	if err := f.try("get"); err != nil {
		return nil, err
	}
	return f.MapLedger.Get(ctx, ids)
}

func (f *failing) Any(ctx context.Context) (langchain.Record, bool, error) {
	if err := f.try("any"); err != nil {
		return langchain.Record{}, false, err
	}
	return f.MapLedger.Any(ctx)
}

func (f *failing) IDs(ctx context.Context, after string, limit int) ([]string, error) {
	if err := f.try("ids"); err != nil {
		return nil, err
	}
	return f.MapLedger.IDs(ctx, after, limit)
}

func (f *failing) Commit(ctx context.Context, c langchain.Change) error {
	if err := f.try("commit"); err != nil {
		return err
	}
	return f.MapLedger.Commit(ctx, c)
}

func TestAPanicOfForeignCodeIsAnErrorWhereverItIs(t *testing.T) {
	boom := func() error { panic("boom") }
	for _, op := range []string{"get", "any", "ids", "commit", "add", "search", "delete", "filter", "similarity"} {
		ledger := &failing{}
		store := &fake{flavour: pgvector}
		on := false
		x, err := langchain.New(store, langchain.Config{Vectors: true, Ledger: ledger, Delete: store.delete,
			Filter: func(f index.Filter) (any, error) {
				if on && op == "filter" {
					panic("boom")
				}
				return langchain.EqualFilter(f)
			},
			Similarity: func(s float32) float64 {
				if on && op == "similarity" {
					panic("boom")
				}
				return float64(s)
			}})
		require.NoError(t, err)
		require.NoError(t, x.Upsert(t.Context(), []index.Entry{entry("a", 1, 0)}))
		on, ledger.op, ledger.do = true, op, boom
		store.fail = func(o string) (error, error) {
			if o == op {
				panic("boom")
			}
			return nil, nil
		}
		_, err = x.Search(t.Context(), query(1, 1, 0))
		err = errors.Join(err, x.Upsert(t.Context(), []index.Entry{entry("a", 0, 1)}),
			x.Delete(t.Context(), []string{"a"}), x.Replace(t.Context(), nil))
		_, errIDs := x.IDs(t.Context())
		var panicked *stream.PanicError
		require.ErrorAs(t, errors.Join(err, errIDs), &panicked, op)
		require.NotContains(t, errors.Join(err, errIDs).Error(), "goroutine", op)
	}
}

// If the lookup of an item failed, a Finder must not treat it as new.
func TestALedgersFailureIsNotNotFound(t *testing.T) {
	ledger := &failing{op: "get", do: func() error { return fault.New(fault.NotFound, "no such table") }}
	store, x := self(t, pgvector, langchain.Config{Ledger: ledger})
	err := finder(t, x).Put(t.Context(), index.Item{ID: "a", Name: "Alpha"})
	require.ErrorContains(t, err, "no such table")
	require.Equal(t, fault.Permanent, fault.Of(err))
	require.Zero(t, store.len())
}

func TestALedgerThatRepeatsItselfIsDetected(t *testing.T) {
	_, x := vectors(t, langchain.Config{Ledger: circling{&langchain.MapLedger{}}})
	_, err := x.IDs(t.Context())
	var bad *langchain.AnswerError
	require.ErrorAs(t, err, &bad)
}

type circling struct{ *langchain.MapLedger }

func (circling) IDs(context.Context, string, int) ([]string, error) { return []string{"a", "b"}, nil }

func TestAnIndexIsSafeForConcurrentUse(t *testing.T) {
	store, x := vectors(t, langchain.Config{Filter: langchain.EqualFilter})
	entries := indextest.Random(3, 60, 8)
	indextest.Crowd(t, x, entries, 20)
	require.Equal(t, len(entries), store.len())
}

func TestAnInvalidFieldOfAConfigIsNamed(t *testing.T) {
	store := &fake{}
	item := func(schema.Document) (index.Item, bool) { return index.Item{}, false }
	var none *fake
	for says, f := range map[string]func() (*langchain.Index, error){
		"store is nil": func() (*langchain.Index, error) { return langchain.New(none, langchain.Config{Model: "m"}) },
		"Config.Model": func() (*langchain.Index, error) { return langchain.New(store, langchain.Config{}) },
		"Config.Item": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m", Item: item, Ledger: &langchain.MapLedger{}})
		},
		"Config.Batch": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m", Batch: -1})
		},
		"Config.MaxFetch": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m", MaxFetch: -1})
		},
		"Config.MinSimilarity": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m", MinSimilarity: math.NaN()})
		},
		"Config.AddOptions contains a": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m", AddOptions: []vectorstores.Option{nil}})
		},
		"no embedder": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m",
				SearchOptions: []vectorstores.Option{vectorstores.WithEmbedder(answers(numbers))}})
		},
		"no deduplicater": func() (*langchain.Index, error) {
			return langchain.New(store,
				langchain.Config{Model: "m",
					AddOptions: []vectorstores.Option{
						vectorstores.WithDeduplicater(func(context.Context, schema.Document) bool { return true })}})
		},
		"set only one": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m", Filter: langchain.EqualFilter,
				SearchOptions: []vectorstores.Option{vectorstores.WithFilters("x")}})
		},
		"panicked": func() (*langchain.Index, error) {
			return langchain.New(store, langchain.Config{Model: "m",
				SearchOptions: []vectorstores.Option{func(*vectorstores.Options) { panic("boom") }}})
		},
	} {
		x, err := f()
		require.Nil(t, x, says)
		require.ErrorContains(t, err, says)
	}
}
