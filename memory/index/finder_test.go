package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

func find(t testing.TB, f *index.Finder, query string, filter index.Filter) index.Result {
	res, err := f.Find(context.Background(), query, filter, 0)
	require.NoError(t, err)
	return res
}

func TestAnExactNameIsCertain(t *testing.T) {
	f := finder(t, index.Config{}, site(t)[:200]...)
	for query, id := range map[string]string{"about": "page-about", "ÜBER UNS": "page-ueber", "page-faq": "page-faq",
		"hero_banner": "sec-hero"} {
		hit, ok := find(t, f, query, index.Filter{}).One()
		require.True(t, ok, query)
		require.Equal(t, id, hit.Item.ID)
		require.True(t, hit.Exact)
		require.GreaterOrEqual(t, hit.Score, .98)
	}
	hit, ok := find(t, f, "abuot", index.Filter{}).One()
	require.True(t, ok)
	require.False(t, hit.Exact)
	require.Less(t, hit.Score, .98, "what isn't the very name is never as sure")
}

func TestCloseHitsAreAmbiguous(t *testing.T) {
	f := finder(t, index.Config{},
		index.Item{ID: "a", Name: "Annual Budget 2024"}, index.Item{ID: "b", Name: "Annual Budget 2025"},
		index.Item{ID: "c", Name: "Holiday Plan"})
	res := find(t, f, "annual budget", index.Filter{})
	_, ok := res.One()
	require.False(t, ok)
	require.Len(t, res.Ambiguous, 2)
	require.Less(t, res.Hits[0].Margin, .05)
	res = find(t, f, "annual budget 2025", index.Filter{})
	hit, ok := res.One()
	require.True(t, ok)
	require.Equal(t, "b", hit.Item.ID)
	require.Empty(t, res.Ambiguous)

	twins := finder(t, index.Config{}, index.Item{ID: "x", Name: "News"}, index.Item{ID: "y", Name: "News"})
	res, err := twins.Find(t.Context(), "news", index.Filter{}, 1)
	require.NoError(t, err)
	require.Len(t, res.Hits, 1)
	require.Len(t, res.Ambiguous, 2, "a limit of one doesn't hide that there are two")
}

func TestHitsBelowTheThresholdAreNotReturned(t *testing.T) {
	items := site(t)
	for _, query := range []string{"", "?!", "quantum chromodynamics", "  \n", "\xff\xfe"} {
		require.Empty(t, find(t, finder(t, index.Config{}, items[:60]...), query, index.Filter{}).Hits, query)
	}
	strict := finder(t, index.Config{Threshold: .97}, items[:60]...)
	require.Empty(t, find(t, strict, "abuot", index.Filter{}).Hits)
	require.Len(t, find(t, strict, "About", index.Filter{}).Hits, 1)
	require.Empty(t, find(t, finder(t, index.Config{}), "about", index.Filter{}).Hits, "an empty index")
}

func TestOnlyItemsThatTheFilterSelectsAreFound(t *testing.T) {
	f := finder(t, index.Config{},
		index.Item{ID: "a", Kind: "page", Name: "Contact", Fields: map[string]string{"tenant": "one"}},
		index.Item{ID: "b", Kind: "page", Name: "Contact", Fields: map[string]string{"tenant": "two"}},
		index.Item{ID: "c", Kind: "form", Name: "Contact", Fields: map[string]string{"tenant": "two"}})
	hit, ok := find(t, f, "contact",
		index.Filter{Kinds: []string{"page"}, Fields: map[string]string{"tenant": "two"}}).One()
	require.True(t, ok)
	require.Equal(t, "b", hit.Item.ID)
	require.Empty(t, find(t, f, "contact", index.Filter{Fields: map[string]string{"tenant": "three"}}).Hits)
	require.Len(t, find(t, f, "contact", index.Filter{}).Ambiguous, 3)
}

func TestFreshnessAndTrustCountIfConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		items := []index.Item{
			{ID: "old", Name: "Report", Updated: now.Add(-300 * 24 * time.Hour)},
			{ID: "new", Name: "Report", Updated: now},
			{ID: "web", Name: "Report", Kind: "web", Updated: now.Add(time.Hour)}, // a clock that is ahead
		}
		plain := find(t, finder(t, index.Config{}, items...), "report", index.Filter{})
		require.InDelta(t, 1, plain.Hits[2].Score, 0)
		f := finder(t, index.Config{
			Freshness: index.HalfLife(30*24*time.Hour, .7),
			Trust: func(i index.Item) float64 {
				if i.Kind == "web" {
					return .6
				}
				return 7 // out of range: 1
			},
		}, items...)
		res := find(t, f, "report", index.Filter{})
		require.Equal(t, "new", res.Hits[0].Item.ID)
		require.InDelta(t, 1, res.Hits[0].Score, 1e-9)
		require.InDelta(t, .7, res.Hits[1].Score, .001)
		require.InDelta(t, .6, res.Hits[2].Score, 1e-9)
		_, ok := res.One()
		require.True(t, ok)
	})
	require.InDelta(t, .75, index.HalfLife(time.Hour, .5)(time.Hour), 1e-9)
	require.InDelta(t, 1, index.HalfLife(time.Hour, .5)(-time.Hour), 1e-9)
	require.InDelta(t, .5, index.HalfLife(0, .5)(time.Hour), 1e-9)
	var age time.Duration
	ahead := finder(t, index.Config{Freshness: func(a time.Duration) float64 { age = a; return 1 }},
		index.Item{ID: "a", Name: "Report", Updated: time.Now().Add(time.Hour)})
	age = -1
	require.Len(t, find(t, ahead, "report", index.Filter{}).Hits, 1)
	require.Zero(t, age, "a time in the future is now")
	nan := finder(t, index.Config{Trust: func(index.Item) float64 { return math.NaN() }},
		index.Item{ID: "a", Name: "A page"})
	require.Empty(t, find(t, nan, "a page", index.Filter{}).Hits)
}

func TestAnInvalidConfigIsRejected(t *testing.T) {
	for _, cfg := range []index.Config{{Threshold: 2}, {Threshold: math.NaN()}, {Margin: -1}, {Low: .9, High: .1},
		{Embedder: &recorder{size: -1}}} {
		_, err := index.New(cfg)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
}

// A recorder is an embedder that notes what it is given, and fails as told.
type recorder struct {
	index.Local
	size int
	name string

	mu    sync.Mutex
	texts []string
	fail  error
	wrong bool
}

func (r *recorder) Dimensions() int {
	if r.size != 0 {
		return r.size
	}
	return r.Local.Dimensions()
}

func (r *recorder) Model() string { return r.name + r.Local.Model() }

func (r *recorder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return nil, r.fail
	}
	if r.wrong {
		return make([][]float32, len(texts)), nil
	}
	r.texts = append(r.texts, texts...)
	return r.Local.Embed(ctx, texts)
}

func (r *recorder) took() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.texts)
	r.texts = nil
	return n
}

func TestTheResultOfAnEmbedderIsChecked(t *testing.T) {
	down := errors.New("down")
	e := &recorder{fail: fault.Wrap(fault.Degraded, down)}
	f, err := index.New(index.Config{Embedder: e})
	require.NoError(t, err)
	err = f.Put(t.Context(), index.Item{ID: "a", Name: "A"})
	require.ErrorIs(t, err, down)
	require.Equal(t, fault.Degraded, fault.Of(err))
	_, err = f.Find(t.Context(), "page", index.Filter{}, 1)
	require.ErrorIs(t, err, down)
	e.fail, e.wrong = nil, true
	require.Error(t, f.Put(t.Context(), index.Item{ID: "a", Name: "A"}))
	_, err = f.Find(t.Context(), "page", index.Filter{}, 1)
	require.Error(t, err)
}

func TestLongTextsAndQueriesAreLimited(t *testing.T) {
	long := strings.Repeat("wörter ohne ende ", 50_000)
	f := finder(t, index.Config{}, index.Item{ID: "a", Name: long, Text: long, Aliases: []string{long}},
		index.Item{ID: "b", Name: "Home"})
	require.NotPanics(t, func() { find(t, f, long, index.Filter{}) })
	hit, ok := find(t, f, "home", index.Filter{}).One()
	require.True(t, ok)
	require.Equal(t, "b", hit.Item.ID)
	require.Less(t, len(index.Render(find(t, f, "wörter ohne ende", index.Filter{}))), 2_000)
}

func TestTheSameQueryHasTheSameResult(t *testing.T) {
	items := site(t)[:200]
	a := finder(t, index.Config{}, items...)
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	b := finder(t, index.Config{}, items...)
	for _, q := range []string{"oak", "table", "team page", "budget"} {
		require.Equal(t, fmt.Sprint(find(t, a, q, index.Filter{})), fmt.Sprint(find(t, b, q, index.Filter{})))
	}
}
