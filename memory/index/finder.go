package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
)

// Config configures a Finder. Its zero value uses [Local] and an empty [Exact].
type Config struct {
	// Embedder; nil: Local{}.
	Embedder Embedder
	// Index; nil: an empty Exact. Only one Finder writes to it.
	Index Index
	// Threshold is the lowest score of a hit; 0: .5. Items with a lower score aren't returned.
	Threshold float64
	// Margin is how far ahead of the others the best hit must be; 0: .05. A closer one makes the
	// result ambiguous.
	Margin float64
	// Low and High convert a similarity to a score: at Low and below it is 0, at High and above 1.
	// 0: .25 and .85, which suit Local. Other models need other values: the usual similarity of
	// unrelated texts, and of two texts with the same meaning.
	Low, High float64
	// Freshness returns a factor from 0 to 1 for the age of an item with a time Updated; nil: age
	// doesn't count. See [HalfLife]. A time in the future is an age of 0.
	Freshness func(age time.Duration) float64
	// Trust returns a factor from 0 to 1 for the source of an item; nil: all are equal.
	Trust func(Item) float64
	// Now is the clock of Freshness; nil: time.Now.
	Now func() time.Time
}

// A Finder finds items by natural words, and says how certain each hit is. It embeds the items and
// the queries, and keeps its index up to date with the host's data. It is safe for concurrent use;
// changes are serialized, and no search waits for their embeddings.
type Finder struct {
	// fixed at creation
	cfg Config

	turn    *semaphore.Weighted // one token, for the goroutine that changes the index, also while it embeds
	syncing *semaphore.Weighted // one token, for Sync, which releases turn between two batches

	mu      sync.Mutex      // guards what follows
	touched map[string]bool // ids changed by Put and Remove since a Sync began; nil without one
}

// New returns a Finder. An error names the invalid field.
func New(cfg Config) (*Finder, error) {
	if cfg.Embedder == nil {
		cfg.Embedder = Local{}
	}
	if cfg.Index == nil {
		cfg.Index = &Exact{}
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
			return nil,
				fault.Errorf(fault.Invalid, "index: Config.%s is %v; it should be from 0 to 1", share.name, share.value)
		}
	}
	if !(cfg.Low < cfg.High) {
		return nil,
			fault.Errorf(fault.Invalid, "index: Config.Low is %v and High %v; Low should be less", cfg.Low, cfg.High)
	}
	if n := cfg.Embedder.Dimensions(); n < 1 {
		return nil, fault.Errorf(fault.Invalid, "index: Config.Embedder has %d dimensions; it should have 1 or more", n)
	}
	return &Finder{cfg: cfg, turn: semaphore.NewWeighted(1), syncing: semaphore.NewWeighted(1)}, nil
}

// A Hit is an item that was found.
type Hit struct {
	Item Item
	// Score is how certain the hit is, from 0 to 1: 1 is an exact name, about .8 and above a name
	// with typos or all words in name and description, .5 half of the query's words. It is
	// calibrated on examples, and not a probability.
	Score float64
	// Margin is the distance of the score to that of the next hit, or to 0.
	Margin float64
	// Exact says that the query is the item's name, an alias or its id, ignoring case, accents and
	// blanks.
	Exact bool
	// Complete says that each word of the query, except for stop words, matches a word of the item:
	// as it is, or with another spelling if no other item has it as it is.
	Complete bool
	// Similarity is the similarity that the index returned.
	Similarity float64
	// Why says which words of the query match which words of the item, in which field, for at most
	// eight words of the query: `"abuot" like "about" in the name`. It contains words of the item.
	Why string
}

// A Result is the result of a search.
type Result struct {
	// Query is what was asked.
	Query string
	// Hits are the hits, best first, at most the requested number, none below the threshold. Hits
	// with equal scores are ordered by id.
	Hits []Hit
	// Ambiguous are the best hits, two or more, if their scores are too close to choose: ask which
	// one is meant. An exact hit is ambiguous only because of other exact hits. Their number is at
	// most the requested one, but at least 2. Otherwise Ambiguous is empty.
	Ambiguous []Hit
	// Looked is the number of items that were compared, at most those that the filter selects: if
	// it is 0 and the query has a word, the filter selects none.
	Looked int
}

// One returns the item that is meant, and false if nothing was found, if the result is ambiguous,
// or if the best hit isn't Complete: a word that the item doesn't have may mean another one.
func (r Result) One() (Hit, bool) {
	if len(r.Hits) == 0 || len(r.Ambiguous) > 0 || !r.Hits[0].Complete {
		return Hit{}, false
	}
	return r.Hits[0], true
}

// Search limits.
const (
	defaultHits = 3
	maxHits     = 100
	pool        = 128     // nearest entries that are compared
	maxQuery    = 2 << 10 // bytes
	maxAsked    = 24      // words that are compared
)

// Find returns the items that query may mean, among those that the filter selects: at most limit
// hits (less than 1: 3, at most 100). A query without a word finds nothing. Only the first 2,048
// bytes of a query count, and only its first 24 words are compared one by one. Errors are those of
// the embedder, the index and the context.
func (f *Finder) Find(ctx context.Context, query string, filter Filter, limit int) (Result, error) {
	if limit < 1 {
		limit = defaultHits
	}
	limit = min(limit, maxHits)
	res := Result{Query: query}
	query = cut.Start(query, maxQuery)
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
		if seen[matches[i].Item.ID] { // an index may have several entries of an item; the nearest comes first
			continue
		}
		seen[matches[i].Item.ID] = true
		h := Hit{Item: matches[i].Item, Similarity: matches[i].Similarity, Exact: relevance.exact,
			Complete: relevance.all}
		h.Score = relevance.score * f.freshness(&h.Item) * f.trust(h.Item)
		if h.Score >= f.cfg.Threshold && filter.Match(&h.Item) {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), cmp.Compare(a.Item.ID, b.Item.ID))
	})
	for i := range min(limit, len(hits)) {
		h := &hits[i]
		h.Complete = h.Complete && (h.Exact || !meansAnother(asked, &h.Item, matches))
	}
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

// rivals reports whether the best and another hit are too close to choose.
func (f *Finder) rivals(best, other *Hit) bool {
	return best.Score-other.Score < f.cfg.Margin && (other.Exact || !best.Exact)
}

// embed calls the embedder and checks its result.
func (f *Finder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := f.cfg.Embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("index: embed: %w", err)
	}
	if len(vectors) != len(texts) {
		return nil, fault.Errorf(fault.Permanent, "index: the embedder returned %d vectors for %d texts", len(vectors),
			len(texts))
	}
	for _, v := range vectors {
		if len(v) != f.cfg.Embedder.Dimensions() {
			return nil,
				fault.Errorf(fault.Permanent, "index: the embedder returned a vector of %d dimensions instead of %d",
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

// share adjusts a value of the host to its range; NaN becomes 0.
func share(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}

// HalfLife returns a Freshness that halves the distance to the floor in each half-life (with a
// floor of .8, old items lose at most a fifth of their score). With a half-life of 0 or less, every
// age has the value floor.
func HalfLife(half time.Duration, floor float64) func(age time.Duration) float64 {
	floor = share(floor)
	return func(age time.Duration) float64 {
		if half <= 0 {
			return floor
		}
		return floor + (1-floor)*math.Exp2(-float64(max(age, 0))/float64(half))
	}
}
