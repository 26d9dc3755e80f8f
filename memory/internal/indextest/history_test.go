package indextest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/internal/indextest"
)

// A told test fails without anybody minding, and keeps why.
type told struct {
	testing.TB
	why string
}

func (t *told) Fatalf(format string, args ...any) {
	t.why = fmt.Sprintf(format, args...)
	panic(t)
}

func (t *told) Helper() {}

// why returns how a check fails, "" if it holds.
func why(t *testing.T, check func(t testing.TB)) string {
	fails := &told{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(fails) {
				panic(v)
			}
		}()
		check(fails)
	}()
	return fails.why
}

// An odd index is right but for what these do.
type odd struct {
	*index.Memory
	remove func(ids []string) []string
	get    func(index.Entry) index.Entry
	search func(index.Query) index.Query
	found  func([]index.Match) []index.Match
}

func (o *odd) Delete(ctx context.Context, ids []string) error {
	if o.remove != nil {
		ids = o.remove(ids)
	}
	return o.Memory.Delete(ctx, ids)
}

func (o *odd) Get(ctx context.Context, id string) (index.Entry, error) {
	e, err := o.Memory.Get(ctx, id)
	if o.get != nil {
		e = o.get(e)
	}
	return e, err
}

func (o *odd) Search(ctx context.Context, q index.Query) ([]index.Match, error) {
	if o.search != nil {
		q = o.search(q)
	}
	found, err := o.Memory.Search(ctx, q)
	if o.found != nil {
		found = o.found(found)
	}
	return found, err
}

func TestAnIndexThatIsWrongIsFoundOut(t *testing.T) {
	for name, c := range map[string]struct {
		odd  odd
		want string
	}{
		"right":             {odd{}, ""},
		"forgets to delete": {odd{remove: func(ids []string) []string { return ids[1:] }}, "holds"},
		"changes an item": {odd{get: func(e index.Entry) index.Entry { e.Item.Name += "!"; return e }},
			"want"},
		"ignores the filter": {odd{search: func(q index.Query) index.Query {
			q.Filter = index.Filter{}
			return q
		}}, "finds"},
		"finds one less": {odd{found: func(m []index.Match) []index.Match { return m[:max(len(m)-1, 0)] }},
			"finds"},
		"finds in the wrong order": {odd{found: func(m []index.Match) []index.Match { slices.Reverse(m); return m }},
			"similarity"},
	} {
		got := why(t, func(t testing.TB) {
			o := c.odd
			o.Memory = &index.Memory{}
			indextest.History(t, 1,
				indextest.Subject{Index: func() index.Index { return &o }, Len: o.Len, Restart: func() {}})
		})
		require.Equal(t, c.want == "", got == "", "%s: %s", name, got)
		require.Contains(t, got, c.want, name)
	}
}

func TestARestartThatLosesEntriesIsFoundOut(t *testing.T) {
	m, checks := &index.Memory{}, 0
	s := indextest.Subject{Index: func() index.Index { return m }, Len: func() int { return m.Len() },
		Restart: func() { m = &index.Memory{} }, Check: func(indextest.Plain) { checks++ }}
	require.Contains(t, why(t, func(t testing.TB) { indextest.History(t, 1, s) }), "holds 0")
	require.Positive(t, checks)
}

func TestAFinderThatIsOutOfStepIsFoundOut(t *testing.T) {
	for _, right := range []bool{true, false} {
		o := &odd{Memory: &index.Memory{}}
		if !right {
			o.remove = func([]string) []string { return nil }
		}
		f, err := index.New(index.Config{Index: o, Embedder: index.Local{Size: 32}})
		require.NoError(t, err)
		require.Equal(t, right, why(t, func(t testing.TB) { indextest.InStep(t, 1, 40, f, o, o.Len) }) == "")
	}
}

func TestACrowdLeavesAllThere(t *testing.T) {
	m, entries := &index.Memory{}, indextest.Random(1, 40, 4)
	indextest.Crowd(t, m, entries, 10)
	require.Equal(t, 40, m.Len())
}

func TestTheTableIsThatOfTheSearches(t *testing.T) {
	items := indextest.Table(t, "../../index/testdata/site.txt")
	require.Equal(t, index.Item{Kind: "page", ID: "page-home", Name: "Home", Aliases: []string{"index", "start"},
		Text: "the first page visitors see, landing page"}, items[0])
	require.NotEmpty(t, indextest.Lines(t, "../../index/testdata/queries.txt"))
}
