package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Config is a Finder's. Its zero value finds with [Local] in a [Memory] of its own.
type Config struct {
	// Embedder; nil: Local{}.
	Embedder Embedder
	// Index; nil: an empty Memory. Only one Finder writes to it.
	Index Index
	// Threshold is the least score of what is found; 0: .5. What lies below isn't said at all.
	Threshold float64
	// Margin is how far ahead of the others the best must be; 0: .05. Closer ones make a result ambiguous.
	Margin float64
	// Low and High say what a similarity is worth: at Low and below nothing, at High and above it is certain. 0: .25 and
	// .85, which suits Local. Other models want other figures: the usual similarity of unrelated texts, and of two ways
	// to say the same.
	Low, High float64
	// Freshness is what an age is worth, from 0 to 1, for items with a time Updated; nil: age counts nothing.
	// See [HalfLife]. A time in the future is an age of 0.
	Freshness func(age time.Duration) float64
	// Trust is how far the source of an item is to be trusted, from 0 to 1; nil: all alike.
	Trust func(Item) float64
	// Now is the clock of Freshness; nil: time.Now.
	Now func() time.Time
}

// A Finder finds items by natural words. It embeds, keeps its index in step with the host's data, and says how sure it is.
// It is safe for concurrent use; changes are made one after the other, and no search waits for them to be embedded.
type Finder struct {
	// fixed at creation
	cfg Config

	turn    chan struct{} // who changes the index holds its only token, also while others embed and store
	syncing chan struct{} // likewise of Sync, which gives turn back between two batches

	mu      sync.Mutex      // guards what follows
	touched map[string]bool // by Put and Remove since a Sync began, nil without one
}

// New returns a Finder. An error names the field that makes no sense.
func New(cfg Config) (*Finder, error) {
	if cfg.Embedder == nil {
		cfg.Embedder = Local{}
	}
	if cfg.Index == nil {
		cfg.Index = &Memory{}
	}
	cfg.Threshold = cmp.Or(cfg.Threshold, .5)
	cfg.Margin = cmp.Or(cfg.Margin, .05)
	cfg.Low, cfg.High = cmp.Or(cfg.Low, .25), cmp.Or(cfg.High, .85)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	for _, share := range []struct {
		name  string
		value float64
	}{{"Threshold", cfg.Threshold}, {"Margin", cfg.Margin}} {
		if !(share.value >= 0 && share.value <= 1) {
			return nil, fault.Errorf(fault.Invalid, "index: Config.%s is %v; it should be from 0 to 1", share.name, share.value)
		}
	}
	if !(cfg.Low < cfg.High) {
		return nil, fault.Errorf(fault.Invalid, "index: Config.Low is %v and High %v; Low should be less", cfg.Low, cfg.High)
	}
	if n := cfg.Embedder.Dimensions(); n < 1 {
		return nil, fault.Errorf(fault.Invalid, "index: Config.Embedder has %d dimensions; it should have 1 or more", n)
	}
	return &Finder{cfg: cfg, turn: make(chan struct{}, 1), syncing: make(chan struct{}, 1)}, nil
}

// A Hit is an item that was found.
type Hit struct {
	Item Item
	// Score is how sure it is that this is meant, from 0 to 1: 1 is the very name, from about .8 on a name with typos or all
	// words in name and description, .5 half of what the query says. It is fitted, not a probability.
	Score float64
	// Margin is how far the score is ahead of the next hit's, or of nothing.
	Margin float64
	// Exact says that the query is, but for case, marks and blanks, the item's name, an alias or its id.
	Exact bool
	// Similarity is what the index said.
	Similarity float64
	// Why says which words of the query are met by which of the item, and where they stand, with at most eight words of the
	// query: `"abuot" like "about" in the name`. It holds words of the item.
	Why string
}

// A Result is what a search found.
type Result struct {
	// Query is what was asked.
	Query string
	// Hits are at most the number asked for, best first, none below the threshold. Hits of one score stand in order of
	// their ids.
	Hits []Hit
	// Ambiguous are the best, two or more, if they are too close to each other to choose: ask which one is meant. What is called
	// exactly so is in doubt only because of others that are. There are as many as were asked for at most, but never only one.
	// Otherwise it is empty.
	Ambiguous []Hit
	// Looked is how many items were looked at closely, at most those that the filter lets through: if it is 0 and the query
	// has a word, there are none.
	Looked int
}

// One returns the item that is meant, and false if nothing was found or more than one may be meant.
func (r Result) One() (Hit, bool) {
	if len(r.Hits) == 0 || len(r.Ambiguous) > 0 {
		return Hit{}, false
	}
	return r.Hits[0], true
}

// Search limits.
const (
	defaultHits = 3
	maxHits     = 100
	pool        = 128     // nearest entries that are looked at closely
	maxQuery    = 2 << 10 // bytes
	maxAsked    = 24      // words that are looked at closely
)

// Find returns what query may mean among the items that the filter lets through: at most limit hits (less than 1: 3, at most
// 100). A query without a word finds nothing. Of a query the first 2,048 bytes count,
// and word by word the first 24 words. Errors are the embedder's, the index's
// and the context's.
func (f *Finder) Find(ctx context.Context, query string, filter Filter, limit int) (Result, error) {
	if limit < 1 {
		limit = defaultHits
	}
	limit = min(limit, maxHits)
	res := Result{Query: query}
	query = clip(query, maxQuery)
	asked := words(query, maxAsked)
	if len(asked) == 0 {
		return res, nil
	}
	vectors, err := f.embed(ctx, []string{query})
	if err != nil {
		return Result{}, err
	}
	matches, err := f.cfg.Index.Search(ctx, Query{
		Text: query, Vector: vectors[0], Model: f.cfg.Embedder.Model(), Filter: filter, K: max(pool, 2*limit),
	})
	if err != nil {
		return Result{}, fmt.Errorf("index: search: %w", err)
	}
	res.Looked = len(matches)
	hits := make([]Hit, 0, len(matches))
	seen := make(map[string]bool, len(matches))
	for i, relevance := range f.judge(key(query), asked, matches) {
		if seen[matches[i].Item.ID] { // another's index may hold an item in pieces; the nearest stands first
			continue
		}
		seen[matches[i].Item.ID] = true
		h := Hit{Item: matches[i].Item, Similarity: matches[i].Similarity, Exact: relevance.exact}
		h.Score = relevance.score * f.freshness(&h.Item) * f.trust(h.Item)
		if h.Score >= f.cfg.Threshold && filter.Match(&h.Item) {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), cmp.Compare(a.Item.ID, b.Item.ID))
	})
	rivals := 1 // the best itself
	for i := range hits {
		next := 0.0
		if i+1 < len(hits) {
			next = hits[i+1].Score
		}
		hits[i].Margin = hits[i].Score - next
		if i > 0 && f.rivals(&hits[0], &hits[i]) {
			rivals++
		}
	}
	res.Hits = hits[:min(limit, len(hits)):min(limit, len(hits))]
	if rivals > 1 {
		others := slices.DeleteFunc(slices.Clone(hits[1:]), func(h Hit) bool { return !f.rivals(&hits[0], &h) })
		res.Ambiguous = append(hits[:1:1], others[:min(rivals, max(limit, 2))-1]...)
	}
	for _, told := range [][]Hit{res.Hits, res.Ambiguous} {
		for i := range told {
			told[i].Why = why(key(query), asked, &told[i].Item)
		}
	}
	return res, nil
}

// rivals reports that the best and another hit are too close to choose.
func (f *Finder) rivals(best, other *Hit) bool {
	return best.Score-other.Score < f.cfg.Margin && (other.Exact || !best.Exact)
}

// embed asks the embedder and doesn't believe what doesn't fit.
func (f *Finder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := f.cfg.Embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("index: embed: %w", err)
	}
	if len(vectors) != len(texts) {
		return nil, fault.Errorf(fault.Permanent, "index: the embedder returned %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, v := range vectors {
		if len(v) != f.cfg.Embedder.Dimensions() {
			return nil, fault.Errorf(fault.Permanent, "index: the embedder returned a vector of %d dimensions, it says %d",
				len(v), f.cfg.Embedder.Dimensions())
		}
	}
	return vectors, nil
}

func (f *Finder) freshness(i *Item) float64 {
	if f.cfg.Freshness == nil || i.Updated.IsZero() {
		return 1
	}
	return share(f.cfg.Freshness(max(f.cfg.Now().Sub(i.Updated), 0)))
}

func (f *Finder) trust(i Item) float64 {
	if f.cfg.Trust == nil {
		return 1
	}
	return share(f.cfg.Trust(i.clone()))
}

// share brings a figure of the host's into its range; what is none counts nothing.
func share(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}

// HalfLife is a Freshness by which an item loses half of what it can lose in each half-life, down to the floor (.8, say:
// old items lose at most a fifth of their score). A half-life of 0 or less makes every age worth the floor.
func HalfLife(half time.Duration, floor float64) func(age time.Duration) float64 {
	floor = share(floor)
	return func(age time.Duration) float64 {
		if half <= 0 {
			return floor
		}
		return floor + (1-floor)*math.Exp2(-float64(max(age, 0))/float64(half))
	}
}
