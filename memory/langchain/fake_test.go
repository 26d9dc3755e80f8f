package langchain_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/internal/indextest"
	"github.com/pawlkit/pawl/memory/langchain"
)

// A flavour describes how a langchaingo store treats options, scores and metadata; each is modeled
// on that store's source.
type flavour struct {
	name         string
	usesEmbedder bool // respects vectorstores.WithEmbedder
	refuses      bool // rejects it
	match        func(filter any) (func(map[string]any) bool, error)
	score        func(cosine float64) float32
	strings      bool // returns metadata as strings, with an additional field
	spoils       bool // modifies the documents that it gets

	filter     func(index.Filter) (any, error) // what goes into Config
	similarity func(float32) float64
}

func plainScore(cosine float64) float32 { return float32(cosine) }

var (
	// pgvector ranks by 1 - cosine distance, compares metadata as text, takes maps only, and embeds
	// by whatever it is given.
	pgvector = flavour{name: "pgvector", usesEmbedder: true, match: matchEqual, score: plainScore,
		filter: langchain.EqualFilter}
	// qdrant ignores WithEmbedder, and sends filters unchanged.
	qdrant = flavour{name: "qdrant", match: matchMust, score: plainScore, filter: langchain.QdrantFilter}
	// chroma rejects WithEmbedder, and silently drops filters that aren't a map[string]any.
	chroma = flavour{name: "chroma", refuses: true, match: matchOperators, score: plainScore,
		filter: langchain.OperatorFilter}
	// mongovector's score is a certainty. It knows no filter but MQL.
	mongovector = flavour{name: "mongovector", usesEmbedder: true, score: func(c float64) float32 {
		return float32((1 + c) / 2)
	}, similarity: langchain.FromCertainty}
	// redisvector's score is the distance; it returns metadata as strings, and writes vectors into
	// the documents it is handed.
	redisvector = flavour{name: "redisvector", score: func(c float64) float32 {
		return float32(1 - c)
	}, strings: true, spoils: true, similarity: langchain.FromDistance}

	flavours = []flavour{pgvector, qdrant, chroma, mongovector, redisvector}
)

func matchEqual(filter any) (func(map[string]any) bool, error) {
	want, ok := filter.(map[string]any)
	if !ok {
		return nil, errors.New("invalid filters")
	}
	return func(meta map[string]any) bool {
		for k, v := range want {
			if got, ok := meta[k]; !ok || fmt.Sprint(got) != fmt.Sprint(v) {
				return false
			}
		}
		return true
	}, nil
}

func matchMust(filter any) (func(map[string]any) bool, error) {
	data, err := json.Marshal(filter)
	if err != nil {
		return nil, err
	}
	var f struct {
		Must []struct {
			Key   string
			Match struct {
				Value any
				Any   []any
			}
		}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return func(meta map[string]any) bool {
		for _, m := range f.Must {
			if strings.Contains(m.Key, ".") {
				return false // a path into what isn't there
			}
			if got := meta[m.Key]; got == nil || got != m.Match.Value && !slices.Contains(m.Match.Any, got) {
				return false
			}
		}
		return true
	}, nil
}

func matchOperators(filter any) (func(map[string]any) bool, error) {
	var match func(f, meta map[string]any) bool
	match = func(f, meta map[string]any) bool {
		for k, v := range f {
			if k == "$and" {
				for _, part := range v.([]map[string]any) {
					if !match(part, meta) {
						return false
					}
				}
				continue
			}
			op := v.(map[string]any)
			got, _ := meta[k].(string)
			if in, ok := op["$in"].([]string); ok && !slices.Contains(in, got) {
				return false
			}
			if eq, ok := op["$eq"]; ok && eq != meta[k] {
				return false
			}
		}
		return true
	}
	f, _ := filter.(map[string]any)
	return func(meta map[string]any) bool { return match(f, meta) }, nil
}

// A fake is a store in memory. With the zero flavour it ignores every option.
type fake struct {
	flavour
	embedder embeddings.Embedder
	fail     func(op string) (before, after error) // of add, search, delete
	onSearch func()

	mu       sync.Mutex
	rows     []fakeRow
	next     int
	asked    []int // numbers of documents that searches asked for
	filters  []any
	embedded int
}

type fakeRow struct {
	id, content string
	meta        map[string]any // as JSON brings it back
	vector      []float32
}

func (f *fake) failing(op string) (before, after error) {
	if f.fail == nil {
		return nil, nil
	}
	return f.fail(op)
}

func (f *fake) options(options []vectorstores.Option) (vectorstores.Options, embeddings.Embedder, error) {
	var o vectorstores.Options
	for _, set := range options {
		set(&o)
	}
	if o.Embedder != nil && f.refuses {
		return o, nil, errors.New("unsupported options: Embedder")
	}
	if o.Embedder != nil && f.usesEmbedder {
		return o, o.Embedder, nil
	}
	return o, f.embedder, nil
}

func (f *fake) AddDocuments(ctx context.Context, docs []schema.Document, options ...vectorstores.Option) ([]string,
	error) {
	o, embedder, err := f.options(options)
	if err != nil {
		return nil, err
	}
	if o.ScoreThreshold != 0 || o.Filters != nil {
		return nil, errors.New("unsupported options")
	}
	before, after := f.failing("add")
	if before != nil {
		return nil, before
	}
	texts := make([]string, len(docs))
	for i, d := range docs {
		texts[i] = d.PageContent
		for k, v := range d.Metadata {
			if k != langchain.MetaItem && !utf8.ValidString(k+v.(string)) ||
				strings.Contains(d.PageContent+k+v.(string), "\x00") {
				return nil, errors.New("invalid byte sequence") // as PostgreSQL has it
			}
		}
	}
	vectors, err := embedder.EmbedDocuments(ctx, texts)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.embedded += len(docs)
	var ids []string
	for i, d := range docs {
		data, err := json.Marshal(d.Metadata)
		if err != nil {
			return nil, err
		}
		var meta map[string]any
		if err := json.Unmarshal(data, &meta); err != nil {
			return nil, err
		}
		f.next++
		ids = append(ids, fmt.Sprintf("uuid-%d", f.next))
		f.rows = append(f.rows, fakeRow{ids[i], d.PageContent, meta, slices.Clone(vectors[i])})
		if f.spoils {
			d.Metadata["content_vector"] = vectors[i]
		}
	}
	if after != nil {
		return nil, after
	}
	return ids, nil
}

func (f *fake) SimilaritySearch(ctx context.Context, query string, count int,
	options ...vectorstores.Option) ([]schema.Document, error) {
	o, embedder, err := f.options(options)
	if err != nil {
		return nil, err
	}
	if before, _ := f.failing("search"); before != nil {
		return nil, before
	}
	vector, err := embedder.EmbedQuery(ctx, query)
	if err != nil {
		return nil, err
	}
	match := func(map[string]any) bool { return true }
	if o.Filters != nil && f.match != nil {
		if match, err = f.match(o.Filters); err != nil {
			return nil, err
		}
	}
	out := f.nearest(vector, count, match, o)
	if f.onSearch != nil {
		f.onSearch()
	}
	return out, nil
}

func (f *fake) nearest(vector []float32, count int, match func(map[string]any) bool,
	o vectorstores.Options) []schema.Document {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.filters = append(f.asked, count), append(f.filters, o.Filters)
	type hit struct {
		doc    schema.Document
		cosine float64
	}
	var hits []hit
	for _, r := range f.rows {
		if !match(r.meta) {
			continue
		}
		meta := maps.Clone(r.meta)
		if f.strings {
			for k, v := range meta {
				meta[k] = fmt.Sprint(v)
			}
			meta["id"] = "doc:" + r.id
		}
		cos := indextest.Cosine(r.vector, vector)
		if o.ScoreThreshold != 0 && !(cos >= float64(o.ScoreThreshold)) {
			continue
		}
		score := float32(cos)
		if f.score != nil {
			score = f.score(cos)
		}
		hits = append(hits, hit{schema.Document{PageContent: r.content, Metadata: meta, Score: score}, cos})
	}
	slices.SortStableFunc(hits, func(a, b hit) int { // NaN last, as in PostgreSQL
		return cmp.Or(-cmp.Compare(a.cosine, b.cosine))
	})
	out := []schema.Document{}
	for _, h := range hits[:min(count, len(hits))] {
		out = append(out, h.doc)
	}
	return out
}

// delete is a function that a host sets as Config.Delete.
func (f *fake) delete(_ context.Context, ids []string) error {
	before, after := f.failing("delete")
	if before != nil {
		return before
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = slices.DeleteFunc(f.rows, func(r fakeRow) bool { return slices.Contains(ids, r.id) })
	return after
}

func (f *fake) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.rows)
}
