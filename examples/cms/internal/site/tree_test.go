package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATreeShowsThePageAsText(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	_, err := s.AddSection(ctx, AddSection{Page: "home", Section: "text", Content: map[string]any{
		"heading": "News", "body": "## First\n\nOne\nline.\n\n- a\n- b\n"}})
	require.NoError(t, err)

	v, err := s.Tree(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t, "/", v.Path)
	require.Empty(t, v.Notes)
	require.Contains(t, v.Text(), "Home (/, en)\n\n## Hero [sec_home_hero]\ntitle: Welcome to local-site\n")
	require.Contains(t, v.Text(), "image: /uploads/site_local/env_main/med_hero.jpg (Three loaves of bread on a board)\n")
	require.Contains(t, v.Text(), "ctaLink: /blog/hello-world\n")
}

func TestATreeNotesHiddenAndMissingParts(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	about, err := s.CreatePage(ctx, CreatePage{Name: "About", Meta: map[string]any{"title": "All about us"}})
	require.NoError(t, err)
	v, err := s.Tree(ctx, "about", "")
	require.NoError(t, err)
	require.Equal(t, []string{"This page has no sections yet."}, v.Notes)
	require.Equal(t, "/about", v.Path)

	_, err = s.SyncContents(ctx, SyncContents{Page: "home",
		Content: map[string]any{"ctaLink": map[string]any{"type": "page", "targetId": about.ID}}})
	require.NoError(t, err)
	_, err = s.DeletePage(ctx, "about")
	require.NoError(t, err)
	v, err = s.Tree(ctx, "home", "")
	require.NoError(t, err)
	require.Contains(t, v.Text(), "ctaLink: (its target is gone)")

	v, err = s.Tree(ctx, "home", "de")
	require.NoError(t, err)
	require.Equal(t, []string{
		"Visitors don't see Deutsch (de): the language is inactive.",
		"The section Hero (sec_home_hero) has no contents in de yet.",
	}, v.Notes)
	require.Contains(t, v.Text(), "(no contents)")

	_, err = s.UpdateSection(ctx, UpdateSection{SectionID: "sec_home_hero", Status: new(Unpublished)})
	require.NoError(t, err)
	v, err = s.Tree(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t, []string{"Visitors don't see the section Hero (sec_home_hero): it is unpublished."}, v.Notes)
	require.NotContains(t, v.Text(), "Welcome")

	_, err = s.Tree(ctx, "nowhere", "")
	refused(t, err, CodeNotFound)
}

func TestEverySlotTypeIsShown(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	_, err := s.CreateSectionDef(ctx, CreateSectionDef{Name: "Everything", Elements: everySlot()})
	require.NoError(t, err)
	type m = map[string]any
	_, err = s.CreatePage(ctx, CreatePage{Name: "All", Sections: []NewSection{{Section: "everything", Content: m{
		"text": "T", "rich": "one\n\ntwo", "gallery": []m{{"url": "/1.png", "alt": "one"}, {"url": "/2.png"}},
		"link": m{"type": "media", "targetId": "med_hero"}, "web": m{"type": "url", "href": "https://example.com"},
		"tags": []string{"news", "guide"}, "ref": m{"collectionId": "col_blog", "entryId": "ent_hello"},
	}}}})
	require.NoError(t, err)

	v, err := s.Tree(ctx, "all", "")
	require.NoError(t, err)
	_, body, _ := strings.Cut(v.Text(), "]\n")
	require.Equal(t,
		"text: T\nrich:\n  one\n  \n  two\ngallery: /1.png (one)\ngallery: /2.png\nlink: /uploads/site_local/env_main/med_hero.jpg\nweb: "+
			"https://example.com\ntags: news, guide\nref: col_blog ent_hello\n", body)
}

func TestAnEntryIsShownInItsOwnCollectionAlone(t *testing.T) {
	s := newSite(t)
	_, err := s.CreateCollection(t.Context(),
		CreateCollection{Name: "Dates", Elements: rows(Slot{Key: "body", Type: TypeText})})
	require.NoError(t, err)
	tree, err := s.EntryTree(t.Context(), "blog", "ent_hello", "")
	require.NoError(t, err)
	require.Equal(t, "/blog/hello-world", tree.Path)
	for _, entry := range []string{"ent_hello", "hello-world"} {
		_, err = s.EntryTree(t.Context(), "dates", entry, "")
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, CodeNotFound, e.Code)
	}
}
