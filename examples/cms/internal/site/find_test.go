package site

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
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

func TestFindAcceptsVariantsOfAName(t *testing.T) {
	s := siteToSearch(t)
	for query, want := range map[string]string{
		"about":             "page about",
		"abuot":             "page about",
		"ABOUT US":          "page about",
		"us about":          "page about",
		"the about page":    "page about",
		"abot us":           "page about",
		"the team page":     "page members",
		"member":            "page members",
		"membres":           "page members",
		"contacts":          "page contact",
		"contact forms":     "page contact-form",
		"form for contact":  "page contact-form",
		"uber uns":          "page ueber-uns",
		"über  UNS":         "page ueber-uns",
		"plan and pricing":  "page pricing",
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
		res, err := s.Find(t.Context(), query, index.Filter{}, 0)
		require.NoError(t, err, query)
		got := ""
		if len(res.Hits) > 0 {
			got = res.Hits[0].Item.Kind + " " + res.Hits[0].Item.Aliases[0]
		}
		if want != got {
			t.Errorf("query %q found %v", query, index.Render(res))
		}
	}
}

// embeds is an embedder that counts the texts it is given, and how often it was called while no
// search held the site's token.
type embeds struct {
	index.Local
	site             *Site
	texts, outOfTurn atomic.Int64
}

func (e *embeds) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.texts.Add(int64(len(texts)))
	if e.site.finding.TryAcquire(1) {
		e.site.finding.Release(1)
		e.outOfTurn.Add(1)
	}
	return e.Local.Embed(ctx, texts)
}

// meant returns the only item that a query finds.
func meant(t testing.TB, s *Site, query string) index.Item {
	t.Helper()
	res, err := s.Find(t.Context(), query, index.Filter{}, 0)
	require.NoError(t, err)
	hit, ok := res.One()
	require.True(t, ok, "%q: %s", query, index.Render(res))
	return hit.Item
}

// none requires that a query finds nothing.
func none(t testing.TB, s *Site, query string) {
	t.Helper()
	res, err := s.Find(t.Context(), query, index.Filter{}, 0)
	require.NoError(t, err)
	require.Empty(t, res.Hits, query)
}

func TestFindSeesTheCurrentContentOfTheFile(t *testing.T) {
	ctx := t.Context()
	mine := newSite(t)
	theirs := openSite(t, mine.Path()) // as another process opens it
	none(t, mine, "team")
	p, err := theirs.CreatePage(ctx, CreatePage{Name: "Members", Description: "team, people, staff"})
	require.NoError(t, err)
	for _, s := range []*Site{mine, theirs} {
		require.Equal(t, p.ID, meant(t, s, "team").ID)
		require.Equal(t, p.ID, meant(t, s, "membres").ID)
	}

	_, err = mine.UpdatePage(ctx, UpdatePage{Page: "members", Name: new("Zoology"), Description: new("animals")})
	require.NoError(t, err)
	for _, s := range []*Site{mine, theirs} {
		none(t, s, "team")
		require.Equal(t, p.ID, meant(t, s, "zoolgy").ID)
		require.Equal(t, p.ID, meant(t, s, "members").ID, "the slug is still the old name")
	}
	_, err = mine.UpdatePage(ctx, UpdatePage{Page: "members", NewSlug: new("fauna")})
	require.NoError(t, err)
	for _, s := range []*Site{mine, theirs} {
		none(t, s, "members")
		require.Equal(t, "fauna", meant(t, s, "fauna").Aliases[0])
	}

	gone, err := theirs.DeletePage(ctx, p.ID)
	require.NoError(t, err)
	for _, s := range []*Site{mine, theirs} {
		none(t, s, "zoology")
		none(t, s, "fauna")
		none(t, s, p.ID)
	}
	_, err = mine.RestorePage(ctx, gone)
	require.NoError(t, err)
	for _, s := range []*Site{mine, theirs} {
		require.Equal(t, p.ID, meant(t, s, "animals").ID)
	}

	_, err = mine.CreateSectionDef(ctx,
		CreateSectionDef{Name: "Price list", Elements: rows(Slot{Key: "title", Type: TypeText})})
	require.NoError(t, err)
	require.Equal(t, KindSection, meant(t, theirs, "price lists").Kind)
	e, err := mine.UpsertEntry(ctx,
		UpsertEntry{Collection: "blog", Title: "Spring launch", Content: map[string]any{"body": "x"}})
	require.NoError(t, err)
	require.Equal(t, e.ID, meant(t, theirs, "sprnig launch").ID)
	_, err = theirs.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Entry: e.ID, Title: "Winter sale"})
	require.NoError(t, err)
	require.Equal(t, e.ID, meant(t, mine, "wintr sale").ID)
}

func TestOnlyChangedNamesAreEmbeddedAgain(t *testing.T) {
	ctx := t.Context()
	s := siteToSearch(t)
	counts := &embeds{site: s}
	var err error
	s.finder, err = index.New(index.Config{Embedder: counts})
	require.NoError(t, err)
	embedded := func() int64 { // without the query
		t.Helper()
		counts.texts.Store(0)
		_, err := s.Find(ctx, "about", index.Filter{}, 0)
		require.NoError(t, err)
		return counts.texts.Load() - 1
	}
	require.EqualValues(t, 9+4+1+1, embedded(), "everything, when the file is opened")
	require.Zero(t, embedded())
	_, err = s.SyncContents(ctx, SyncContents{Page: "home", Content: map[string]any{"title": "Zeppelin"}})
	require.NoError(t, err)
	_, err = s.AddSection(ctx, AddSection{Page: "about", Section: "text", Content: map[string]any{"body": "Zeppelins"}})
	require.NoError(t, err)
	require.Zero(t, embedded(), "contents are not searched")
	none(t, s, "zeppelin")
	_, err = s.UpdatePage(ctx, UpdatePage{Page: "about", Description: new("zeppelins")})
	require.NoError(t, err)
	require.EqualValues(t, 1, embedded())
	_, err = s.DeletePage(ctx, "members")
	require.NoError(t, err)
	require.Zero(t, embedded())
	none(t, s, "members")
	require.Zero(t, counts.outOfTurn.Load(), "what one look-up has read goes into the index before another reads")
}

func TestFindRunsConcurrentlyWithWrites(t *testing.T) {
	mine := newSite(t)
	theirs := openSite(t, mine.Path())
	g, ctx := errgroup.WithContext(t.Context())
	for i, s := range []*Site{mine, theirs, mine} {
		g.Go(func() error {
			for n := range 5 {
				name := fmt.Sprintf("Page%c%c", 'a'+i, 'a'+n)
				p, err := s.CreatePage(ctx, CreatePage{Name: name})
				if err != nil {
					return err
				}
				res, err := s.Find(ctx, name, index.Filter{}, 1)
				if err != nil {
					return err
				}
				if len(res.Hits) == 0 || res.Hits[0].Item.ID != p.ID {
					return fmt.Errorf("%s was written and isn't found", name)
				}
				if _, err := s.DeletePage(ctx, p.ID); err != nil {
					return err
				}
				if res, err = s.Find(ctx, p.ID, index.Filter{}, 1); err != nil {
					return err
				}
				if len(res.Hits) > 0 && res.Hits[0].Item.ID == p.ID {
					return fmt.Errorf("%s was deleted and is found", name)
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

func TestFindEndsWithItsContextAndWithTheSite(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Find(ctx, "home", index.Filter{}, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, s.finding.TryAcquire(1)) // another search is in progress
	_, err = s.Find(ctx, "home", index.Filter{}, 0)
	require.ErrorIs(t, err, context.Canceled)
	s.finding.Release(1)
	require.Equal(t, "pg_home", meant(t, s, "hoem").ID)
	require.NoError(t, s.Close())
	_, err = s.Find(t.Context(), "home", index.Filter{}, 0)
	require.ErrorIs(t, err, ErrClosed)
}

func TestADescriptionMayBeAListOfNames(t *testing.T) {
	for description, want := range map[string][]string{
		"":                                   {},
		"team, our people; staff.":           {"team", "our people", "staff"},
		"Mannschaft,,  das ganze Team ,":     {"Mannschaft", "das ganze Team"},
		"Who is on the team, with photos":    nil,
		"associates":                         {"associates"},
		strings.Repeat("x,", 21):             nil,
		"our team\nthe people who work here": nil,
	} {
		require.Equal(t, want, otherNames(description), description)
	}
	s := siteToSearch(t)
	_, err := s.CreatePage(t.Context(), CreatePage{Name: "Team building"})
	require.NoError(t, err)
	require.Equal(t, "Team building", meant(t, s, "team").Name)
	_, err = s.UpdatePage(t.Context(), UpdatePage{Page: "members", Description: new("team, people, staff")})
	require.NoError(t, err)
	require.Equal(t, "Members", meant(t, s, "peopel").Name)
	require.Equal(t, "Members", meant(t, s, "team").Name, "the one is called so, the other only begins with it")
	require.Equal(t, "Team building", meant(t, s, "team building").Name)
	_, err = s.UpdatePage(t.Context(), UpdatePage{Page: "team-building", Description: new("team")})
	require.NoError(t, err)
	res, err := s.Find(t.Context(), "team", index.Filter{}, 0)
	require.NoError(t, err)
	require.Len(t, res.Ambiguous, 2, "both are called so")
}

func TestAHintNamesTheNearestOption(t *testing.T) {
	require.Equal(t, `did you mean "title"? use one of "body", "title"`, didYouMean("titel", []string{"body", "title"}))
	require.Equal(t, `use one of "body", "title"`, didYouMean("xyzzy", []string{"body", "title"}))
	require.Empty(t, didYouMean("x", nil))
	require.Contains(t, didYouMean("", make([]string, 25)), "5 more")
}

func BenchmarkFindAmongAThousandPages(b *testing.B) {
	s := newSite(b)
	for i := range 1000 {
		if _, err := s.db.ExecContext(b.Context(),
			`INSERT INTO pages (id, site_id, environment_id, slug, name, search, created_at, updated_at)
			VALUES (?, 'site_local', 'env_main', ?, ?, '', '', '')`, fmt.Sprintf("pg_%d", i), fmt.Sprintf("page-%d", i),
			fmt.Sprintf("Page about subject %d", i)); err != nil {
			b.Fatal(err)
		}
	}
	find := func(b *testing.B) {
		if _, err := s.Find(b.Context(), "subjcet 500", index.Filter{}, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.finder, _ = index.New(index.Config{})
			find(b)
		}
	})
	b.Run("next", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			find(b)
		}
	})
}

// A remote embedder is asked first, and words count while it fails.
func TestARemoteEmbedderMayFail(t *testing.T) {
	remote := &faulty{Local: index.Local{}}
	path := filepath.Join(t.TempDir(), "site.db")
	s, err := Open(path, Small, WithEmbedder(remote, .25, .85))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.Equal(t, "col_blog", meant(t, s, "blgo").ID)
	require.Positive(t, remote.asked.Load())
	remote.err = errors.New("503 from the provider")
	_, err = s.CreatePage(t.Context(), CreatePage{Name: "Members"})
	require.NoError(t, err)
	require.Equal(t, "Members", meant(t, s, "membres").Name)
	_, err = Open(path, WithEmbedder(remote, 2, 1))
	require.Error(t, err)
}

type faulty struct {
	index.Local
	asked atomic.Int64
	err   error
}

func (f *faulty) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	f.asked.Add(1)
	if f.err != nil {
		return nil, f.err
	}
	return f.Local.Embed(ctx, texts)
}
