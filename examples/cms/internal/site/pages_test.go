package site

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func TestAPageIsCreatedWithItsSections(t *testing.T) {
	s := newSite(t)
	p, err := s.CreatePage(t.Context(), CreatePage{
		Name:        "Über uns & Größe",
		Description: "Wer wir sind",
		Indexing:    new(false),
		Meta:        map[string]any{"title": "Über uns", "tags": []string{"a"}},
		Sections: []NewSection{
			{Section: "hero", Content: map[string]any{"title": "Hallo <b>Welt</b>",
				"ctaLink": map[string]string{"type": "page", "targetId": "pg_home"}}},
			{Section: "def_text"},
		},
	})
	require.NoError(t, err)
	require.Regexp(t, `^pg_[0-9a-z]{10}$`, p.ID)
	require.Equal(t, "ueber-uns-groesse", p.Slug)
	require.False(t, p.Indexing)
	require.Equal(t, map[string]any{"title": "Über uns", "tags": []any{"a"}}, p.Meta)
	require.Len(t, p.Sections, 2)
	require.Equal(t, "Hallo <b>Welt</b>", p.Sections[0].Content["title"])
	require.Equal(t, []string{"body"}, p.Sections[1].Missing)

	bySlug, err := s.GetPage(t.Context(), p.Slug, "en")
	require.NoError(t, err)
	require.Equal(t, p, bySlug)
	byID, err := s.GetPage(t.Context(), p.ID, "en")
	require.NoError(t, err)
	require.Equal(t, p, byID)
}

func TestAPageWithAnInvalidSectionIsNotCreated(t *testing.T) {
	s := newSite(t)
	_, err := s.CreatePage(t.Context(), CreatePage{Name: "New", Sections: []NewSection{
		{Section: "hero", Content: map[string]any{"title": "Fine"}},
		{Section: "hero", Content: map[string]any{"titel": "Typo"}},
	}})
	refused(t, err, CodeInvalid, `sections[1]: section "hero" has no slot "titel"`, `did you mean "title"?`)

	pages, err := s.ListPages(t.Context(), Query{})
	require.NoError(t, err)
	require.Equal(t, 1, pages.Total)
}

func TestTheErrorForATakenSlugNamesItsPageAndAFreeSlug(t *testing.T) {
	s := newSite(t)
	about, err := s.CreatePage(t.Context(), CreatePage{Name: "About"})
	require.NoError(t, err)

	_, err = s.CreatePage(t.Context(), CreatePage{Name: "About"})
	require.EqualError(t, err,
		`a page with the address "about" exists: About (id `+about.ID+`); use another slug such as "about-2", or update that page`)
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, err = s.CreatePage(t.Context(), CreatePage{Name: "About", Slug: "about-2"})
	require.NoError(t, err)
	_, err = s.UpdatePage(t.Context(), UpdatePage{Page: "home", NewSlug: new("about")})
	refused(t, err, CodeSlugExists, `"about-3"`)
}

func TestAnInvalidPageIsRejected(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		in   CreatePage
		says string
	}{
		"no name":     {CreatePage{}, "name is empty"},
		"blank name":  {CreatePage{Name: " \n"}, "name is empty"},
		"long name":   {CreatePage{Name: strings.Repeat("ä", 101)}, "101 characters, the limit is 100"},
		"description": {CreatePage{Name: "A", Description: strings.Repeat("d", 1001)}, "the limit is 1000"},
		"slug case":   {CreatePage{Name: "A", Slug: "About Us"}, `use "about-us"`},
		"slug dashes": {CreatePage{Name: "A", Slug: "a--b"}, `use "a-b"`},
		"slug path":   {CreatePage{Name: "A", Slug: "../etc"}, `use "etc"`},
		"slug wild":   {CreatePage{Name: "A", Slug: "%%"}, "lower-case letters"},
		"slug length": {CreatePage{Name: "A", Slug: strings.Repeat("a", 65)}, "65 characters, it needs 2 to 64"},
		"underivable": {CreatePage{Name: "日本語"}, "no slug can be derived"},
		"not UTF-8":   {CreatePage{Name: "a\xff"}, "isn't valid UTF-8"},
		"control":     {CreatePage{Name: "a\x00b"}, "U+0000"},
		"meta size": {CreatePage{Name: "A", Meta: map[string]any{"k": strings.Repeat("m", 17<<10)}},
			"the limit is 16384"},
		"meta type":     {CreatePage{Name: "A", Meta: map[string]any{"k": func() {}}}, "can't be written as JSON"},
		"many sections": {CreatePage{Name: "A", Sections: make([]NewSection, 101)}, "101 sections, the limit is 100"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := s.CreatePage(t.Context(), c.in)
			require.Nil(t, p)
			refused(t, err, CodeInvalid, c.says)
		})
	}
}

func TestAnUpdateChangesOnlyTheNamedFields(t *testing.T) {
	s := newSite(t)
	before, err := s.CreatePage(t.Context(), CreatePage{Name: "Team", Meta: map[string]any{"a": 1, "b": 2}})
	require.NoError(t, err)

	after, err := s.UpdatePage(t.Context(),
		UpdatePage{Page: "team", NewSlug: new("members"), Meta: map[string]any{"a": nil, "c": "x"}})
	require.NoError(t, err)
	require.Equal(t, before.ID, after.ID)
	require.Equal(t, "members", after.Slug)
	require.Equal(t, "Team", after.Name)
	require.True(t, after.Indexing)
	require.Equal(t, map[string]any{"b": 2.0, "c": "x"}, after.Meta)

	after, err = s.UpdatePage(t.Context(),
		UpdatePage{Page: after.ID, Name: new("Members"), Indexing: new(false), Description: new("Who works here")})
	require.NoError(t, err)
	require.Equal(t, "Members", after.Name)
	require.False(t, after.Indexing)
	require.Equal(t, "Who works here", after.Description)

	_, err = s.GetPage(t.Context(), "team", "")
	refused(t, err, CodeNotFound)
}

func TestAnInvalidUpdateIsRejected(t *testing.T) {
	s := newSite(t)
	for says, in := range map[string]UpdatePage{
		"nothing to change":        {Page: "home"},
		"new slug is empty":        {Page: "home", NewSlug: new("")},
		`use "start-page"`:         {Page: "home", NewSlug: new("Start Page")},
		"name is empty":            {Page: "home", Name: new("")},
		"no page was named":        {Name: new("X")},
		"by giving them null":      {Page: "home", Meta: map[string]any{"b": strings.Repeat("m", 15<<10)}},
		"the limit is 100; shorte": {Page: "home", Name: new(strings.Repeat("n", 101))},
	} {
		if strings.Contains(says, "null") {
			_, err := s.UpdatePage(t.Context(),
				UpdatePage{Page: "home", Meta: map[string]any{"a": strings.Repeat("m", 15<<10)}})
			require.NoError(t, err)
		}
		_, err := s.UpdatePage(t.Context(), in)
		refused(t, err, CodeInvalid, says)
	}
}

func TestTheErrorForAMissingPageNamesTheNearest(t *testing.T) {
	s := newSite(t)
	_, err := s.GetPage(t.Context(), "hoem", "")
	refused(t, err, CodeNotFound, `there is no page "hoem"`, `did you mean "home"?`)
	require.Equal(t, fault.NotFound, fault.Of(err))
	_, err = s.GetPage(t.Context(), "pg_0000000000", "")
	refused(t, err, CodeNotFound, "no page has the id")
	_, err = s.GetPage(t.Context(), "home", "fr")
	refused(t, err, CodeNotFound, `there is no locale "fr"; use one of "de", "en"`)
	_, err = s.GetPage(t.Context(), "", "")
	refused(t, err, CodeInvalid, "no page was named")
}

func TestListsAreLimitedAndInAFixedOrder(t *testing.T) {
	s := newSite(t)
	for i := range 60 {
		_, err := s.CreatePage(t.Context(), CreatePage{Name: fmt.Sprintf("Page %02d", 59-i)})
		require.NoError(t, err)
	}
	first, err := s.ListPages(t.Context(), Query{})
	require.NoError(t, err)
	require.Len(t, first.Items, 50)
	require.Equal(t, 61, first.Total)
	require.Equal(t, "home", first.Items[0].Slug)
	require.Equal(t, 1, first.Items[0].Sections)
	require.Equal(t, "page-00", first.Items[1].Slug)
	require.Equal(t, 50, *first.Next)

	rest, err := s.ListPages(t.Context(), Query{Offset: *first.Next, Limit: 1000})
	require.NoError(t, err)
	require.Len(t, rest.Items, 11)
	require.Nil(t, rest.Next)
	all, err := s.ListPages(t.Context(), Query{Limit: 1000, Offset: -3})
	require.NoError(t, err)
	require.Len(t, all.Items, 61)

	beyond, err := s.ListPages(t.Context(), Query{Offset: 100})
	require.NoError(t, err)
	require.Nil(t, beyond.Next)
	raw, err := json.Marshal(beyond)
	require.NoError(t, err)
	require.JSONEq(t, `{"items": [], "total": 61}`, string(raw))
}

func TestAFilterIgnoresCaseAndAccentsAndKnowsNoWildcards(t *testing.T) {
	s := newSite(t)
	for _, in := range []CreatePage{
		{Name: "100% Café", Slug: "cafe"},
		{Name: "Œuvre_complète", Slug: "works", Description: "Alle Größen"},
		{Name: "東京", Slug: "tokyo"},
	} {
		_, err := s.CreatePage(t.Context(), in)
		require.NoError(t, err)
	}
	for text, want := range map[string][]string{
		"CAFÉ":             {"cafe"},
		"cafe":             {"cafe"},
		"groessen":         {"works"},
		"oeuvre":           {"works"},
		"東京":               {"tokyo"},
		"%":                {"cafe"},
		"_":                {"works"},
		"e_c":              {"works"},
		"c_f":              {},
		"%home%":           {},
		"GRÖSSEN":          {"works"},
		`' OR 1=1 --`:      {},
		"":                 {"cafe", "home", "tokyo", "works"},
		"start page of":    {"home"},
		"nothing like it ": {},
	} {
		got, err := s.ListPages(t.Context(), Query{Text: text})
		require.NoError(t, err)
		slugs := []string{}
		for _, p := range got.Items {
			slugs = append(slugs, p.Slug)
		}
		require.Equal(t, want, slugs, "query %q", text)
	}
}

func TestRequestsWithTheSameKeyCreateOnePage(t *testing.T) {
	s := newSite(t)
	one, two := WithKey(t.Context(), "k-1"), WithKey(t.Context(), "k-2")
	in := CreatePage{Name: "AA", Sections: []NewSection{{Section: "hero", Content: map[string]any{"title": "T"}}}}
	first, err := s.CreatePage(one, in)
	require.NoError(t, err)
	again, err := s.CreatePage(one, in)
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)

	_, err = s.CreatePage(two, in)
	refused(t, err, CodeSlugExists, `such as "aa-2"`)
	in.Slug = "a-2"
	second, err := s.CreatePage(two, in) // a rejected request doesn't use up its key
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID)
	for _, name := range []string{"B", "C"} { // pages without a key are different pages
		_, err = s.CreatePage(t.Context(), CreatePage{Name: name})
		require.NoError(t, err)
	}
	_, err = s.CreatePage(WithKey(t.Context(), strings.Repeat("k", 201)), CreatePage{Name: "D"})
	refused(t, err, CodeInvalid, "the key has 201 characters")
}
