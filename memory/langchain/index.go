package langchain

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
)

// Config configures an [Index]. Without a Ledger it can only be searched.
type Config struct {
	// Model names the model of the store's vectors and its version. It is required unless Vectors
	// is set.
	Model string
	// Vectors passes the vectors of entries and queries to the store, with
	// vectorstores.WithEmbedder, so that the store needs no embedder and uses the vectors of the
	// Finder's embedder. Stores that respect the option: pgvector, mongovector, weaviate, mariadb,
	// dolt. With others the first change or search is an *UnsupportedError. If Vectors isn't set,
	// the store embeds by itself.
	Vectors bool
	// Ledger records the content of the store. nil: the Index can only be searched.
	Ledger Ledger
	// Delete deletes documents from the store, by the ids that its AddDocuments returned; it must
	// ignore unknown ids. nil: the store's own method, if it is a [Deleter]; else items can be
	// added, but neither changed nor removed. A function that does nothing is valid, too, if old
	// documents may stay in the store: no search finds them.
	Delete func(ctx context.Context, ids []string) error
	// Filter converts a filter to the value for vectorstores.WithFilters; nil, or a result of nil:
	// no filter. The result may select more than f, never less: every item is checked again. See
	// EqualFilter, OperatorFilter and QdrantFilter.
	Filter func(f index.Filter) (any, error)
	// Similarity converts a store's score to the similarity, the cosine, that index.Config expects.
	// nil: the score is the similarity, as in pgvector, and in qdrant, pinecone, chroma and milvus
	// if they compare by cosine. See FromCertainty and FromDistance.
	Similarity func(score float32) float64
	// MinSimilarity is the lowest similarity of a match; 0: none. Set a threshold of the store
	// itself in SearchOptions.
	MinSimilarity float64
	// Item converts a document of another langchaingo program to an item, or returns false to skip
	// it. It is for an Index without a Ledger. nil: only documents of an Index are read.
	Item func(d schema.Document) (index.Item, bool)
	// AddOptions are added to every AddDocuments, for example a namespace.
	AddOptions []vectorstores.Option
	// SearchOptions are added to every SimilaritySearch: a namespace, a score threshold in the
	// store's own measure, or a filter if Filter is nil.
	SearchOptions []vectorstores.Option
	// Batch is the number of documents that are added or deleted at once; 0: 100.
	Batch int
	// MaxFetch is the largest number of documents that a search requests from the store; 0: 1,024,
	// at least the number of requested items. A search first requests as many documents as items,
	// and then four times as many each time too few of them match.
	MaxFetch int
}

// A Deleter is a store that can delete documents by the ids that its AddDocuments returned. It must
// ignore unknown ids.
type Deleter interface {
	Delete(ctx context.Context, ids []string) error
}

// cleanup is how long undoing a failed change may take, also after its context has ended.
const cleanup = 5 * time.Second

// An Index is an [index.Index] over a langchaingo store. It is safe for concurrent use if the store
// is; changes are serialized. The package comment has its guarantees. For all methods: a panic of
// foreign code is a [*stream.PanicError], and its errors are of type [*Error], or the context's.
type Index struct {
	// fixed at creation
	store vectorstores.VectorStore
	cfg   Config

	turn    chan struct{} // holds one token for the goroutine that makes a change
	changes atomic.Uint64 // number of changes committed to the ledger
}

var _ index.Index = (*Index)(nil)

// New returns an Index over a store. An error, of class fault.Invalid, names the invalid field.
func New(store vectorstores.VectorStore, cfg Config) (*Index, error) {
	switch {
	case isNil(store):
		return nil, fault.New(fault.Invalid, "langchain: the store is nil")
	case cfg.Model == "" && !cfg.Vectors:
		return nil,
			fault.New(fault.Invalid,
				"langchain: Config.Model is empty; it should name the model that makes the store's vectors, unless "+
					"Vectors is set")
	case cfg.Item != nil && cfg.Ledger != nil:
		return nil, fault.New(fault.Invalid,
			"langchain: Config.Item is for an Index that is only searched; Ledger should be nil then")
	case cfg.Batch < 0:
		return nil, fault.Errorf(fault.Invalid, "langchain: Config.Batch is %d; it should be 1 or more, or 0 for 100",
			cfg.Batch)
	case cfg.MaxFetch < 0:
		return nil, fault.Errorf(fault.Invalid,
			"langchain: Config.MaxFetch is %d; it should be 1 or more, or 0 for 1024", cfg.MaxFetch)
	case cfg.MinSimilarity != cfg.MinSimilarity:
		return nil, fault.New(fault.Invalid, "langchain: Config.MinSimilarity is NaN")
	}
	if isNil(cfg.Ledger) {
		cfg.Ledger = nil
	}
	add, err := applied("Config.AddOptions", cfg.AddOptions)
	if err != nil {
		return nil, err
	}
	search, err := applied("Config.SearchOptions", cfg.SearchOptions)
	if err != nil {
		return nil, err
	}
	switch {
	case add.Embedder != nil || search.Embedder != nil:
		return nil, fault.New(fault.Invalid,
			"langchain: Config.AddOptions and SearchOptions should have no embedder; see Config.Vectors")
	case add.Deduplicater != nil || search.Deduplicater != nil:
		return nil,
			fault.New(fault.Invalid,
				"langchain: Config.AddOptions and SearchOptions should have no deduplicater: the ledger records what "+
					"is in the store")
	case search.Filters != nil && cfg.Filter != nil:
		return nil, fault.New(fault.Invalid,
			"langchain: Config.SearchOptions has a filter, which Config.Filter would replace: set only one of them")
	}
	cfg.AddOptions, cfg.SearchOptions = slices.Clone(cfg.AddOptions), slices.Clone(cfg.SearchOptions)
	if own, ok := store.(Deleter); ok && cfg.Delete == nil {
		cfg.Delete = own.Delete
	}
	if cfg.Batch == 0 {
		cfg.Batch = 100
	}
	if cfg.MaxFetch == 0 {
		cfg.MaxFetch = 1024
	}
	return &Index{store: store, cfg: cfg, turn: make(chan struct{}, 1)}, nil
}

// applied returns the result of options.
func applied(field string, options []vectorstores.Option) (vectorstores.Options, error) {
	var out vectorstores.Options
	if slices.ContainsFunc(options, func(o vectorstores.Option) bool { return o == nil }) {
		return out, fault.Errorf(fault.Invalid, "langchain: %s contains a nil option", field)
	}
	err := foreign(context.Background(), field, func(context.Context) error {
		for _, o := range options {
			o(&out)
		}
		return nil
	})
	return out, err
}

// Embedder returns the embedder for the Finder of a store that embeds by itself: it has
// Config.Model as its name and makes no vectors, so that nothing is embedded twice. With
// Config.Vectors its Embed returns an *UnsupportedError.
func (x *Index) Embedder() index.Embedder { return &stored{model: x.cfg.Model, vectors: x.cfg.Vectors} }

type stored struct {
	model   string
	vectors bool
}

func (s *stored) Model() string   { return s.model }
func (s *stored) Dimensions() int { return 1 }

func (s *stored) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if s.vectors {
		return nil, &UnsupportedError{Op: "embed", Missing: "an embedder of the host's, since Config.Vectors is set"}
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{0}
	}
	return out, nil
}

// Get returns the entry with an id; if the store embeds by itself, with a vector of zeros. Errors:
// class fault.NotFound if there is none, *UnsupportedError without a ledger.
func (x *Index) Get(ctx context.Context, id string) (index.Entry, error) {
	records, err := x.records(given(ctx), "get", []string{id})
	if err != nil {
		return index.Entry{}, err
	}
	r, ok := records[id]
	if !ok {
		return index.Entry{}, fault.Errorf(fault.NotFound, "langchain: there is no entry with the id %q", id)
	}
	e := r.clone().Entry
	if e.Vector == nil {
		e.Vector = make([]float32, r.Size)
	}
	return e, nil
}

// IDs returns all ids, sorted. Without a ledger it returns an *UnsupportedError.
func (x *Index) IDs(ctx context.Context) ([]string, error) {
	ctx = given(ctx)
	ids := []string{}
	for {
		page, err := x.page(ctx, "ids", ids)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return ids, nil
		}
		ids = append(ids, page...)
	}
}

const pageSize = 1000 // ids requested from a ledger at once

// page returns the ids that follow the last of those read.
func (x *Index) page(ctx context.Context, op string, read []string) ([]string, error) {
	after := ""
	if len(read) > 0 {
		after = read[len(read)-1]
	}
	if x.cfg.Ledger == nil {
		return nil, unledgered(op)
	}
	var ids []string
	err := foreign(ctx, "ledger: ids", func(ctx context.Context) (err error) {
		ids, err = x.cfg.Ledger.IDs(ctx, after, pageSize)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if id <= after || i > 0 && id <= ids[i-1] { // otherwise the loop would not end
			return nil,
				&AnswerError{Op: "ledger: ids", Problem: "the ids aren't sorted, or don't begin after the last one"}
		}
	}
	return ids, nil
}

// records returns the ledger's records of ids, by id.
func (x *Index) records(ctx context.Context, op string, ids []string) (map[string]Record, error) {
	if x.cfg.Ledger == nil {
		return nil, unledgered(op)
	}
	out := make(map[string]Record, len(ids))
	for part := range slices.Chunk(ids, pageSize) {
		var records []Record
		err := foreign(ctx, "ledger: get", func(ctx context.Context) (err error) {
			records, err = x.cfg.Ledger.Get(ctx, slices.Clone(part))
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			out[r.Entry.Item.ID] = r
		}
	}
	return out, nil
}

// holds returns the model and the dimensions of the ledger's records; ok is false if there are
// none.
func (x *Index) holds(ctx context.Context, op string) (model string, size int, ok bool, err error) {
	if x.cfg.Ledger == nil {
		return "", 0, false, unledgered(op)
	}
	var r Record
	err = foreign(ctx, "ledger: any", func(ctx context.Context) (err error) {
		r, ok, err = x.cfg.Ledger.Any(ctx)
		return err
	})
	return r.Entry.Model, r.Size, ok && err == nil, err
}

func unledgered(op string) error {
	return &UnsupportedError{Op: op, Missing: "Config.Ledger: a langchaingo store can't list its content"}
}
