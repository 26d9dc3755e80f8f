package langchain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
)

// Search returns the K items nearest to the query among those that the filter selects, nearest
// first, equally near ones by their ids. The filter is passed to the store with Config.Filter, and
// checked again. A store that embeds by itself gets q.Text, others q.Vector. Items whose name is
// the text aren't searched separately. Errors: [*index.ModelError]; [*ShortError]; *AnswerError for
// scores that are NaN, or that rise although the store returns the nearest first; *UnsupportedError
// for a query without text to a store that embeds by itself.
func (x *Index) Search(ctx context.Context, q index.Query) ([]index.Match, error) {
	ctx = given(ctx)
	if err := x.askable(ctx, q); err != nil {
		return nil, err
	}
	options, err := x.options(ctx, q.Filter)
	if err != nil {
		return nil, err
	}
	// An item that changes during the search may be hidden between the store's answer and the
	// ledger's: then repeat both.
	for try := 1; ; try++ {
		before := x.changes.Load()
		found, hidden, err := x.search(ctx, q, options)
		if err != nil || hidden == 0 || try == 3 || x.changes.Load() == before {
			return found, err
		}
	}
}

// askable returns an error if the store can't answer a query.
func (x *Index) askable(ctx context.Context, q index.Query) error {
	if !x.cfg.Vectors && q.Text == "" {
		return &UnsupportedError{Op: "search by a vector alone",
			Missing: "Config.Vectors, and a store that respects vectorstores.WithEmbedder"}
	}
	if x.cfg.Vectors {
		if _, ok := squared(q.Vector); !ok || len(q.Vector) == 0 {
			return fault.New(fault.Invalid, "langchain: the query's vector is empty or contains NaN or infinite values")
		}
	}
	if x.cfg.Model != "" && q.Model != x.cfg.Model {
		return &index.ModelError{Have: x.cfg.Model, Given: q.Model, GivenSize: len(q.Vector)}
	}
	if x.cfg.Ledger == nil {
		return nil
	}
	model, size, ok, err := x.holds(ctx, "search")
	if err == nil && ok && (model != q.Model || size != len(q.Vector)) {
		err = &index.ModelError{Have: model, HaveSize: size, Given: q.Model, GivenSize: len(q.Vector)}
	}
	return err
}

// options returns the options of a search, without the embedder.
func (x *Index) options(ctx context.Context, f index.Filter) ([]vectorstores.Option, error) {
	out := slices.Clone(x.cfg.SearchOptions)
	if x.cfg.Filter == nil {
		return out, nil
	}
	var filter any
	err := foreign(ctx, "Config.Filter", func(context.Context) (err error) {
		filter, err = x.cfg.Filter(f)
		return err
	})
	if filter != nil {
		out = append(out, vectorstores.WithFilters(filter))
	}
	return out, err
}

// search requests more documents until enough items match. hidden counts documents of outdated
// states.
func (x *Index) search(ctx context.Context, q index.Query, options []vectorstores.Option) (found []index.Match,
	hidden int, err error) {
	k := max(q.K, 1)
	most := max(x.cfg.MaxFetch, k)
	for ask := k; ; ask = min(4*ask, most) {
		docs, err := x.ask(ctx, q, ask, options)
		if err != nil {
			return nil, 0, err
		}
		scored, more, err := x.scored(ctx, docs)
		if err != nil {
			return nil, 0, err
		}
		found, hidden, err = x.known(ctx, q, scored)
		switch {
		case err != nil:
			return nil, 0, err
		case len(found) >= k:
			return found[:k:k], hidden, nil
		case !more || len(docs) < ask:
			return found, hidden, nil
		case ask == most:
			return nil, hidden, &ShortError{Asked: k, Found: len(found), Looked: len(docs)}
		}
	}
}

// ask requests the nearest documents from the store.
func (x *Index) ask(ctx context.Context, q index.Query, count int, options []vectorstores.Option) ([]schema.Document,
	error) {
	vector := &fixed{texts: []string{q.Text}, vectors: [][]float32{q.Vector}}
	if x.cfg.Vectors {
		options = append(slices.Clone(options), vectorstores.WithEmbedder(vector))
	}
	var docs []schema.Document
	err := foreign(ctx, "store: search", func(ctx context.Context) (err error) {
		docs, err = x.store.SimilaritySearch(ctx, q.Text, count, options...)
		return err
	})
	if err == nil && x.cfg.Vectors && !vector.asked.Load() {
		err = ignored("search")
	}
	if err != nil {
		return nil, err
	}
	return docs[:min(len(docs), count)], nil
}

// A candidate is a document with its similarity.
type candidate struct {
	doc        schema.Document
	similarity float64
}

// scored returns the documents that are near enough. more says that all are, so that there may be
// more.
func (x *Index) scored(ctx context.Context, docs []schema.Document) (out []candidate, more bool, err error) {
	more = true
	first, last := math.NaN(), math.NaN()
	err = foreign(ctx, "Config.Similarity", func(context.Context) error {
		for _, d := range docs {
			s := float64(d.Score)
			if x.cfg.Similarity != nil {
				s = x.cfg.Similarity(d.Score)
			}
			if math.IsNaN(s) { // databases return NaN as the cosine with a vector of zeros
				s = 0
			} else {
				if last = s; math.IsNaN(first) {
					first = s
				}
			}
			out = append(out, candidate{d, s})
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	for _, c := range out {
		if math.IsInf(c.similarity, 0) {
			return nil, false,
				&AnswerError{Op: "store: search", Problem: fmt.Sprintf("it returned the score %v", c.doc.Score)}
		}
	}
	if last-first > .01 {
		return nil, false, &AnswerError{Op: "store: search",
			Problem: fmt.Sprintf("similarities rise from %.3f to %.3f although the nearest should come first: "+
				"set Config.Similarity to match the store's score, for example to FromDistance", first, last)}
	}
	if x.cfg.MinSimilarity != 0 {
		near := slices.DeleteFunc(out, func(c candidate) bool { return c.similarity < x.cfg.MinSimilarity })
		more, out = len(near) == len(docs), near
	}
	return out, more, nil
}

// known returns the current items of candidates, sorted.
func (x *Index) known(ctx context.Context, q index.Query, docs []candidate) (found []index.Match, hidden int,
	err error) {
	best := make(map[string]index.Match, len(docs))
	keep := func(item index.Item, similarity float64) {
		if old, twice := best[item.ID]; q.Filter.Match(&item) && (!twice || old.Similarity < similarity) {
			best[item.ID] = index.Match{Item: item, Similarity: similarity}
		}
	}
	if x.cfg.Ledger == nil {
		err = x.read(ctx, q, docs, keep)
	} else {
		hidden, err = x.lookUp(ctx, docs, keep)
	}
	if err != nil {
		return nil, 0, err
	}
	for _, m := range best {
		found = append(found, m)
	}
	slices.SortFunc(found, func(a, b index.Match) int {
		return cmp.Or(-cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.Item.ID, b.Item.ID))
	})
	return found, hidden, nil
}

// lookUp passes on the items whose state in the ledger is that of the documents.
func (x *Index) lookUp(ctx context.Context, docs []candidate, keep func(index.Item, float64)) (hidden int, err error) {
	ids := make(map[string]bool, len(docs))
	var ask []string
	for _, c := range docs {
		if id, _ := c.doc.Metadata[MetaID].(string); id != "" && !ids[id] {
			ids[id] = true
			ask = append(ask, id)
		}
	}
	records, err := x.records(ctx, "search", ask)
	if err != nil {
		return 0, err
	}
	for _, c := range docs {
		id, _ := c.doc.Metadata[MetaID].(string)
		r, ok := records[id]
		if !ok || c.doc.Metadata[MetaRevision] != r.Revision {
			hidden++
			continue
		}
		keep(cloneItem(r.Entry.Item), c.similarity)
	}
	return hidden, nil
}

// read passes on the items in the documents, without a ledger.
func (x *Index) read(ctx context.Context, q index.Query, docs []candidate, keep func(index.Item, float64)) error {
	for _, c := range docs {
		if model, _ := c.doc.Metadata[MetaModel].(string); model != "" && model != plain(q.Model) {
			return &index.ModelError{Have: model, Given: q.Model, GivenSize: len(q.Vector)}
		}
	}
	of := itemOf
	if x.cfg.Item != nil {
		of = x.cfg.Item
	}
	return foreign(ctx, "Config.Item", func(context.Context) error {
		for _, c := range docs {
			if item, ok := of(c.doc); ok && readable(&item) {
				keep(cloneItem(item), c.similarity)
			}
		}
		return nil
	})
}

// A fixed is an embedder with the precomputed vectors of some texts.
type fixed struct {
	texts   []string
	vectors [][]float32
	asked   atomic.Bool
}

func (f *fixed) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	f.asked.Store(true)
	if !slices.Equal(texts, f.texts) {
		return nil, fault.New(fault.Permanent, "langchain: the store embeds other texts than it was given")
	}
	out := make([][]float32, len(f.vectors))
	for i, v := range f.vectors {
		out[i] = slices.Clone(v)
	}
	return out, nil
}

// EmbedQuery returns the vector of the only text.
func (f *fixed) EmbedQuery(context.Context, string) ([]float32, error) {
	f.asked.Store(true)
	if len(f.vectors) != 1 {
		return nil, fault.New(fault.Permanent, "langchain: the store embeds a query while documents are added")
	}
	return slices.Clone(f.vectors[0]), nil
}

func ignored(op string) error {
	return &UnsupportedError{Op: op,
		Missing: "a store that respects vectorstores.WithEmbedder; without Config.Vectors the store embeds by itself"}
}
