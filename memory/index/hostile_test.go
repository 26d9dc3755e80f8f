package index_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

func TestAnExactNameIsNotAmbiguousWithItsPlural(t *testing.T) {
	f := finder(t, index.Config{}, index.Item{ID: "1", Name: "Contact"}, index.Item{ID: "2", Name: "Contacts"},
		index.Item{ID: "3", Name: "Contakt"})
	for query, id := range map[string]string{"contact": "1", "Contacts": "2", "contakt": "3"} {
		hit, ok := find(t, f, query, index.Filter{}).One()
		require.True(t, ok, query)
		require.Equal(t, id, hit.Item.ID)
		require.True(t, hit.Exact)
	}
	f = finder(t, index.Config{}, index.Item{ID: "1", Name: "Contact"}, index.Item{ID: "contact", Name: "Other"},
		index.Item{ID: "3", Name: "Contacts"})
	res := find(t, f, "contact", index.Filter{})
	require.Len(t, res.Ambiguous, 2, "two are called so")
	require.Equal(t, "Contact", res.Ambiguous[0].Item.Name)
	require.Equal(t, "Other", res.Ambiguous[1].Item.Name)

	// By age the near one stands between those that are called so.
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f = finder(t, index.Config{Now: func() time.Time { return now }, Freshness: func(age time.Duration) float64 {
		return 1 - age.Hours()/100
	}},
		index.Item{ID: "1", Name: "Contact", Updated: now.Add(-5 * time.Hour)},
		index.Item{ID: "2", Name: "Contacts", Updated: now.Add(-4 * time.Hour)},
		index.Item{ID: "3", Name: "Contact", Updated: now.Add(-8 * time.Hour)})
	res = find(t, f, "contact", index.Filter{})
	require.Equal(t, []string{"1", "2", "3"}, []string{res.Hits[0].Item.ID, res.Hits[1].Item.ID, res.Hits[2].Item.ID})
	require.Len(t, res.Ambiguous, 2)
	require.Equal(t, "3", res.Ambiguous[1].Item.ID)
}

// Times that a file can't represent are converted to the same instant, or rejected at once, so that
// saving never fails.
func TestAnUnusualTimeDoesntPreventSaving(t *testing.T) {
	zone := func(hours int) *time.Location { return time.FixedZone("odd", hours*3600+7) }
	for _, c := range []struct {
		at time.Time
		ok bool
	}{
		{time.Date(2026, 1, 2, 3, 4, 5, 6, zone(30)), true}, {time.Date(2026, 1, 2, 3, 4, 5, 6, zone(-30)), true},
		{time.Time{}, true},
		{time.Date(0, 1, 1, 0, 0, 0, 0, zone(10)), false}, {time.Date(9999, 12, 31, 23, 0, 0, 0, zone(-10)), false},
		{time.Unix(math.MaxInt64, 0), false},
		{time.Date(9998, 12, 31, 23, 0, 0, 0, zone(10)), true},
	} {
		m := small(t)
		err := m.Upsert(t.Context(),
			[]index.Entry{{Item: index.Item{ID: "odd", Updated: c.at}, Vector: []float32{1, 0, 0, 0}, Model: "m"}})
		if !c.ok {
			require.Equal(t, fault.Invalid, fault.Of(err), c.at)
			continue
		}
		require.NoError(t, err, c.at)
		again, err := reload(t, m).Get(t.Context(), "odd")
		require.NoError(t, err, c.at)
		require.True(t, again.Item.Updated.Equal(c.at), "%v %v", again.Item.Updated, c.at)
	}
}

// A stuttering is an index that returns everything twice, with invalid similarities.
type stuttering struct{ *index.Exact }

func (s stuttering) Search(ctx context.Context, q index.Query) ([]index.Match, error) {
	found, err := s.Exact.Search(ctx, q)
	for i := range found {
		found[i].Similarity = math.NaN()
	}
	return append(found, found...), err
}

func TestDuplicateMatchesOfAnIndexAreIgnored(t *testing.T) {
	f := finder(t, index.Config{Index: stuttering{&index.Exact{}}}, index.Item{ID: "a", Name: "Members"},
		index.Item{ID: "b", Name: "News"})
	for _, query := range []string{"members", "membres"} {
		res := find(t, f, query, index.Filter{})
		require.Len(t, res.Hits, 1, query)
		hit, ok := res.One()
		require.True(t, ok)
		require.False(t, math.IsNaN(hit.Score))
		require.InDelta(t, hit.Score, hit.Margin, 0, "nothing else was found")
	}
}

func TestASyncOfNilIsRejected(t *testing.T) {
	f := finder(t, index.Config{}, index.Item{ID: "a", Name: "Members"})
	_, err := f.Sync(t.Context(), nil)
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Len(t, find(t, f, "members", index.Filter{}).Hits, 1)
}

// A careless is an index that ignores filters.
type careless struct{ *index.Exact }

func (c careless) Search(ctx context.Context, q index.Query) ([]index.Match, error) {
	q.Filter = index.Filter{}
	return c.Exact.Search(ctx, q)
}

func TestAnIndexThatIgnoresTheFilterRevealsNothing(t *testing.T) {
	f := finder(t, index.Config{Index: careless{&index.Exact{}}},
		index.Item{ID: "a", Name: "Members", Fields: map[string]string{"tenant": "one"}})
	require.Len(t, find(t, f, "members", index.Filter{Fields: map[string]string{"tenant": "one"}}).Hits, 1)
	require.Empty(t, find(t, f, "members", index.Filter{Fields: map[string]string{"tenant": "two"}}).Hits)
}

func TestItemsWithTheExactNameAreFilteredAndLimited(t *testing.T) {
	m := &index.Exact{}
	entries := []index.Entry{{Item: index.Item{ID: "near"}, Vector: []float32{1, 0}, Model: "m"}}
	for i := range 50 {
		entries = append(entries,
			index.Entry{Item: index.Item{ID: fmt.Sprint("n", i), Name: "News", Kind: []string{"page", "post"}[i/40]},
				Vector: []float32{0, 1}, Model: "m"})
	}
	require.NoError(t, m.Upsert(t.Context(), entries))
	q := index.Query{Text: "news", Vector: []float32{1, 0}, Model: "m", K: 1}
	found, err := m.Search(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, found, 1+32)
	q.Filter = index.Filter{Kinds: []string{"post"}}
	found, err = m.Search(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, found, 10)
	for _, f := range found {
		require.Equal(t, "post", f.Item.Kind)
	}
}

func TestAnInvalidFileWithARightChecksumIsRejected(t *testing.T) {
	data := written(t, small(t))
	body := data[:len(data)-len("01234567\n")]
	_, err := index.Read(seal(body))
	require.NoError(t, err)
	lines := bytes.SplitAfter(body, []byte("\n"))
	other := func(old, new string) []byte { return bytes.Replace(body, []byte(old), []byte(new), 1) }
	for name, bad := range map[string][]byte{
		"empty": {}, "no header": bytes.Join(lines[1:], nil), "another metric": other(`"metric":0`, `"metric":2`),
		"version 0":    other(`index":1`, `index":0`),
		"more follows": append(bytes.Clone(body), 0), "an id twice": other(`"id":"2"`, `"id":"1"`),
		"a short line": body[:len(body)-2],
		"no id":        other(`"id":"2"`, `"ix":"2"`), "no item": other(`{"id":"2"`, `["id":"2"`),
		"a short sum": other(`"text":"AQIA`, `"text":"`),
		"no vector":   other(`"vector":"`, `"vectors":"`), "part of a number": other(`"vector":"`, `"vector":"AAAA`),
		"one dimension more": other(`"vector":"`, `"vector":"AAAAAAAAAAAAAAAA`),
	} {
		require.NotEqual(t, body, bad, name)
		_, err := index.Read(seal(bad))
		require.ErrorIs(t, err, index.ErrDamaged, name)
	}
}
