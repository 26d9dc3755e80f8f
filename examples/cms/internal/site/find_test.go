package site

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func siteToSearch(t testing.TB) *Site {
	s := newSite(t)
	for _, in := range []CreatePage{
		{Name: "About us", Slug: "about"},
		{Name: "Members", Description: "Who is on the team, with photos"},
		{Name: "Contact"},
		{Name: "Contact form", Slug: "contact-form"},
		{Name: "Über uns", Slug: "ueber-uns"},
		{Name: "Pricing and plans", Slug: "pricing"},
		{Name: "東京オフィス", Slug: "tokyo"},
		{Name: "100% organic", Slug: "organic"},
	} {
		_, err := s.CreatePage(t.Context(), in)
		require.NoError(t, err)
	}
	return s
}

func TestANameIsFoundHoweverItIsSaid(t *testing.T) {
	s := siteToSearch(t)
	for query, want := range map[string]string{
		"about":             "page about",
		"abuot":             "page about",
		"ABOUT US":          "page about",
		"us about":          "page about",
		"the about page":    "page about",
		"abt us":            "page about",
		"the team page":     "page members",
		"member":            "page members",
		"membres":           "page members",
		"contacts":          "page contact",
		"contact forms":     "page contact-form",
		"form for contact":  "page contact-form",
		"uber uns":          "page ueber-uns",
		"über  UNS":         "page ueber-uns",
		"plan and price":    "page pricing",
		"東京オフィス":            "page tokyo",
		"front page":        "page home",
		"landing":           "page home",
		"banner":            "section hero",
		"heros":             "section hero",
		"journal":           "collection blog",
		"blogs":             "collection blog",
		"hello wrold":       "entry hello-world",
		"100%":              "page organic",
		"pg":                "",
		"%":                 "",
		"_":                 "",
		"zzzzqqq xylophone": "",
	} {
		found, err := s.Find(t.Context(), Find{Query: query})
		require.NoError(t, err, query)
		require.NotNil(t, found)
		got := ""
		if len(found) > 0 {
			got = found[0].Kind + " " + found[0].Slug
		}
		require.Equal(t, want, got, "query %q found %v", query, found)
	}
}

func TestResultsAreRankedBoundedAndTheSameEveryTime(t *testing.T) {
	s := siteToSearch(t)
	first, err := s.Find(t.Context(), Find{Query: "contact", Limit: 3})
	require.NoError(t, err)
	require.Equal(t, "contact", first[0].Slug)
	require.Equal(t, 1.0, first[0].Similarity)
	require.Equal(t, "contact-form", first[1].Slug)
	require.LessOrEqual(t, len(first), 3)
	for i, f := range first {
		require.True(t, f.Similarity >= leastSimilarity && f.Similarity <= 1)
		require.True(t, i == 0 || f.Similarity <= first[i-1].Similarity)
	}
	for range 5 {
		again, err := s.Find(t.Context(), Find{Query: "contact", Limit: 3})
		require.NoError(t, err)
		require.Equal(t, first, again)
	}

	only, err := s.Find(t.Context(), Find{Query: "hello world", Kind: KindEntry})
	require.NoError(t, err)
	require.Len(t, only, 1)
	none, err := s.Find(t.Context(), Find{Query: "hello world", Kind: KindCollection})
	require.NoError(t, err)
	require.Equal(t, []Found{}, none)
}

func TestABadLookUpIsRefused(t *testing.T) {
	s := newSite(t)
	for says, in := range map[string]Find{
		"query is empty":       {},
		"allowed are 200":      {Query: strings.Repeat("q", 201)},
		`did you mean "page"?`: {Query: "home", Kind: "pages"},
	} {
		_, err := s.Find(t.Context(), in)
		refused(t, err, CodeInvalid, says)
	}
}

func TestDistanceCountsSwapsAsOne(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"about", "abuot", 1}, {"kitten", "sitting", 3}, {"ü", "u", 1}, {strings.Repeat("a", 90), "", 64}} {
		require.Equal(t, c.want, distance([]rune(c.a), []rune(c.b)), "%q %q", c.a, c.b)
		require.Equal(t, c.want, distance([]rune(c.b), []rune(c.a)), "%q %q", c.b, c.a)
	}
}

func FuzzSimilarityStaysInItsRange(f *testing.F) {
	for _, s := range []string{"about us", "ÜBER", "東京", "a", "", "the", "\xff\x00", "ss"} {
		f.Add(s, "about")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := newTarget(a), newTarget(b)
		for _, v := range []float64{similarity(x, y), mentions(x, y)} {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%q and %q: %v", a, b, v)
			}
		}
		if x.folded != "" && similarity(x, x) != 1 {
			t.Fatalf("%q is not like itself", a)
		}
	})
}

func BenchmarkFindAmongAThousandPages(b *testing.B) {
	s := newSite(b)
	for i := range 1000 {
		if _, err := s.db.ExecContext(b.Context(), `INSERT INTO pages (id, site_id, environment_id, slug, name, search, created_at, updated_at)
			VALUES (?, 'site_local', 'env_main', ?, ?, '', '', '')`, fmt.Sprintf("pg_%d", i), fmt.Sprintf("page-%d", i), fmt.Sprintf("Page about subject %d", i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Find(b.Context(), Find{Query: "subjcet 500"}); err != nil {
			b.Fatal(err)
		}
	}
}
