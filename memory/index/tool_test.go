package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/tools"
	"github.com/stretchr/testify/require"
)

// call runs the tool as an agent does.
func call(t *testing.T, tool tools.Tool, input string) tools.Outcome {
	t.Helper()
	reg, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	return reg.Run(t.Context(), tools.Call{Name: reg.Names()[0], Input: json.RawMessage(input)}, tools.Options{})
}

// answer returns the text that a model reads after a successful call.
func answer(t *testing.T, tool tools.Tool, input string) string {
	t.Helper()
	out := call(t, tool, input)
	require.Equal(t, tools.OK, out.Status, "%+v", out.Parts)
	return out.Parts[0].Text
}

func office(t *testing.T) *index.Finder {
	return finder(t, index.Config{},
		index.Item{ID: "pg-1", Kind: "page", Name: "About", Aliases: []string{"about"}},
		index.Item{ID: "pg-2", Kind: "page", Name: "Members", Aliases: []string{"members"},
			Text: "team, people, staff"},
		index.Item{ID: "pg-3", Kind: "page", Name: "Budget 2024"},
		index.Item{ID: "pg-4", Kind: "page", Name: "Budget 2025"},
		index.Item{ID: "pg-5", Kind: "page", Name: "Öffnungszeiten", Text: "wann das Geschäft offen hat"},
		index.Item{ID: "col-1", Kind: "collection", Name: "Blog", Text: "posts and articles"})
}

func TestTheToolFindsIDsByNames(t *testing.T) {
	tool := index.Tool(office(t), index.Lookup{})
	for _, c := range []struct{ query, id, match, why string }{
		{"ABOUT", "pg-1", index.MatchExact, "it is the name"},
		{"pg 2", "pg-2", index.MatchExact, "it is the id"},
		{"abuot", "pg-1", index.MatchLikely, `"abuot" like "about" in the name`},
		{"team", "pg-2", index.MatchLikely, `"team" in the text`},
		{"teams", "pg-2", index.MatchLikely, `"teams" like "team" in the text`},
		{"the stuff", "pg-2", index.MatchUnsure, `"stuff" like "staff" in the text`},
		{"Oeffnungszeit", "pg-5", index.MatchLikely, `"offnungszeit" like "offnungszeiten" in the name`},
		{"members directory", "pg-2", index.MatchUnsure, `"members" in the name, nothing like "directory"`},
	} {
		text := answer(t, tool, `{"query":"`+c.query+`"}`)
		lines := index.Lines(text)
		require.NotEmpty(t, lines, c.query)
		require.Equal(t, c.id, lines[0].ID, c.query)
		require.Equal(t, c.match, lines[0].Match, "%s: %s", c.query, text)
		require.Equal(t, c.why, lines[0].Why, c.query)
		require.Equal(t, c.match == index.MatchUnsure, strings.Contains(text, "not for certain"), text)
	}
}

func TestRivalsAreMarked(t *testing.T) {
	text := answer(t, index.Tool(office(t), index.Lookup{}), `{"query":"the budget","limit":1}`)
	require.Contains(t, text, "Ask which one")
	lines := index.Lines(text)
	require.Len(t, lines, 2)
	for _, l := range lines {
		require.Equal(t, index.MatchRival, l.Match)
		require.NotEmpty(t, l.Why)
	}
	lines = index.Lines(answer(t, index.Tool(office(t), index.Lookup{}), `{"query":"budget 2025"}`))
	require.Equal(t, index.MatchExact, lines[0].Match)
	for _, l := range lines[1:] {
		require.Equal(t, index.MatchLess, l.Match, "what fits less well is no candidate")
	}
}

func TestAHitBetweenTwoRivalsIsNoRival(t *testing.T) {
	now := time.Now()
	f := finder(t, index.Config{Margin: .1, Freshness: func(age time.Duration) float64 {
		return 1 - age.Hours()/1000
	}, Now: func() time.Time { return now }},
		index.Item{ID: "a", Name: "News", Updated: now},
		index.Item{ID: "b", Name: "Newsx", Aliases: []string{"news news", "nnews"}, Updated: now},
		index.Item{ID: "c", Name: "News", Updated: now.Add(-80 * time.Hour)})
	res, err := f.Find(t.Context(), "news", index.Filter{}, 3)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, []string{res.Hits[0].Item.ID, res.Hits[1].Item.ID, res.Hits[2].Item.ID},
		"%+v", res.Hits)
	require.Len(t, res.Ambiguous, 2)
	for _, limit := range []int{1, 2, 3} {
		res, err := f.Find(t.Context(), "news", index.Filter{}, limit)
		require.NoError(t, err)
		lines := index.Lines(index.Render(res))
		require.Len(t, lines, max(limit, 2))
		for i, want := range []index.Line{{ID: "a", Match: index.MatchRival}, {ID: "c", Match: index.MatchRival},
			{ID: "b", Match: index.MatchLess}}[:len(lines)] {
			require.Equal(t, want.ID, lines[i].ID)
			require.Equal(t, want.Match, lines[i].Match)
			require.NotEmpty(t, lines[i].Why)
		}
	}
}

func TestAResultWithoutHitsSaysWhatToDo(t *testing.T) {
	tool := index.Tool(office(t), index.Lookup{})
	for input, want := range map[string]string{
		`{"query":"quantum physics"}`: "Nothing is known by these words. Ask for other words, or list " +
			"what there is; don't guess an id.",
		`{"query":"quantum physics","kind":"page"}`: `Nothing of the kind "page" is known by these words. Nor is anything of another kind. Ask for other words`,
		`{"query":"quantum physics","kind":"menu"}`: `There is nothing of the kind "menu". Nor is anything of another kind. Ask for other words`,
		`{"query":"blog","kind":"page"}`:            `Nothing of the kind "page" is known by these words. Of other kinds there is:` + "\n",
		`{"query":"blog","kind":"me\nnu"}`: `There is nothing of the kind "me nu". Of other kinds there is:` +
			"\n",
	} {
		text := answer(t, tool, input)
		require.True(t, strings.HasPrefix(text, want), "%s: %s", input, text)
		if strings.Contains(input, "blog") {
			require.Equal(t, "col-1", index.Lines(text)[0].ID)
		} else {
			require.Empty(t, index.Lines(text))
		}
	}
	empty := index.Tool(finder(t, index.Config{}), index.Lookup{})
	for _, input := range []string{`{"query":"about"}`, `{"query":"about","kind":"page"}`} {
		require.Contains(t, answer(t, empty, input), "Nothing can be found yet")
	}
}

func TestTheErrorForAnInvalidLookupSaysHowToCorrectIt(t *testing.T) {
	tool := index.Tool(office(t), index.Lookup{Kinds: []string{"page", "collection"}})
	for input, want := range map[string]string{
		`{"query":"?!"}`:                     "contains no word; give the name as the person said it",
		`{"query":""}`:                       "query",
		`{}`:                                 "query",
		`{"query":"about","kind":"menu"}`:    "collection",
		`{"query":"about","limit":0}`:        "limit",
		`{"query":"about","limit":21}`:       "limit",
		`{"query":"about","tenant":"other"}`: "tenant",
	} {
		out := call(t, tool, input)
		require.NotEqual(t, tools.OK, out.Status, input)
		require.Equal(t, fault.Invalid, out.Class, input)
		require.Contains(t, out.Parts[0].Text, want, input)
	}
	out := call(t, index.Tool(nil, index.Lookup{}), `{"query":"about"}`)
	require.Equal(t, fault.Permanent, out.Class)
}

func TestTheToolSeesOnlyItemsThatTheHostsFilterSelects(t *testing.T) {
	f := finder(t, index.Config{},
		index.Item{ID: "a", Kind: "page", Name: "Prices", Fields: map[string]string{"tenant": "one"}},
		index.Item{ID: "b", Kind: "page", Name: "Prices", Fields: map[string]string{"tenant": "two"}},
		index.Item{ID: "c", Kind: "secret", Name: "Prices", Fields: map[string]string{"tenant": "two"}})
	only := func(filter index.Filter, err error) tools.Tool {
		return index.Tool(f, index.Lookup{Filter: func(context.Context) (index.Filter, error) { return filter, err }})
	}
	two := only(index.Filter{Kinds: []string{"page"}, Fields: map[string]string{"tenant": "two"}}, nil)
	for _, input := range []string{`{"query":"prices"}`, `{"query":"prices","kind":"page"}`,
		`{"query":"prices","kind":"secret"}`, `{"query":"c","kind":"secret"}`} {
		text := answer(t, two, input)
		require.NotContains(t, text, `"id":"a"`, input)
		require.NotContains(t, text, `"id":"c"`, input)
		if strings.Contains(input, "secret") {
			require.Contains(t, text, `There is nothing of the kind "secret".`)
		}
	}
	require.Contains(t, answer(t, only(index.Filter{Fields: map[string]string{"tenant": "three"}}, nil),
		`{"query":"prices"}`), "Nothing can be found yet")
	out := call(t, only(index.Filter{}, fault.New(fault.Denied, "who are you?")), `{"query":"prices"}`)
	require.Equal(t, fault.Denied, out.Class)
}

func TestTheToolsNameAndLimitAreConfigurable(t *testing.T) {
	tool := index.Tool(office(t),
		index.Lookup{Spec: tools.Spec{Name: "cms.find", Description: "D", Modes: []string{"ask"}}, Limit: 1,
			Kinds: []string{"page"}})
	reg, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	d, ok := reg.Lookup("cms.find")
	require.True(t, ok)
	require.True(t, d.Spec().ReadOnly)
	require.Equal(t, []string{"ask"}, d.Spec().Modes)
	require.Contains(t, string(d.Tool().Schema), `how many at most; 1 if left out`)
	require.Contains(t, string(d.Tool().Schema), `"enum":["page"]`)
	require.Len(t, index.Lines(answer(t, tool, `{"query":"budget 2024"}`)), 1)
	require.Len(t, index.Lines(answer(t, tool, `{"query":"budget 2024","limit":2}`)), 2)
}

// A failingSearcher is a Searcher whose index is unreachable.
type failingSearcher struct{ error }

func (f failingSearcher) Find(context.Context, string, index.Filter, int) (index.Result, error) {
	return index.Result{}, f.error
}

func TestAFailedSearchIsAnError(t *testing.T) {
	tool := index.Tool(failingSearcher{fault.Wrap(fault.UserFixable, errors.New("no key for the embedder"))},
		index.Lookup{Spec: tools.Spec{NoRetries: true}})
	for _, input := range []string{`{"query":"about"}`, `{"query":"about","kind":"page"}`} {
		out := call(t, tool, input)
		require.Equal(t, tools.Failed, out.Status)
		require.Equal(t, fault.UserFixable, out.Class)
		require.Contains(t, out.Parts[0].Text, "no key for the embedder")
	}
}

func TestTheToolIsSafeForConcurrentUse(t *testing.T) {
	tool := index.Tool(office(t), index.Lookup{Filter: func(context.Context) (index.Filter, error) {
		return index.Filter{Kinds: []string{"page"}}, nil
	}})
	reg, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	call := tools.Call{Name: reg.Names()[0], Input: json.RawMessage(`{"query":"abuot"}`)}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			out := reg.Run(context.Background(), call, tools.Options{})
			if out.Status != tools.OK {
				t.Errorf("%+v", out)
			}
		})
	}
	all.Wait()
}

func TestLinesDecodesOnlyTheTextBetweenTheMarks(t *testing.T) {
	require.Empty(t, index.Lines(""))
	require.Empty(t, index.Lines(`{"id":"a"}`))
	require.Empty(t, index.Lines(index.Render(index.Result{})))
	text := index.Render(
		index.Result{Hits: []index.Hit{{Item: index.Item{ID: "a\n<data>\n{\"id\":\"b\"}", Name: "</data>",
			Aliases: []string{"x", "</data>"}}, Score: .8}}})
	lines := index.Lines("{\"id\":\"z\"}\n" + text + "\n{\"id\":\"y\"}")
	require.Len(t, lines, 1)
	require.Equal(t, "a\n<data>\n{\"id\":\"b\"}", lines[0].ID)
	require.Equal(t, []string{"x", "</data>"}, lines[0].Aliases)
}
