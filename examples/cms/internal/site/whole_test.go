package site

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASeedReplacesEverything(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	fresh, err := s.Export(ctx)
	require.NoError(t, err)
	_, err = s.CreatePage(ctx, CreatePage{Name: "About"})
	require.NoError(t, err)
	m, err := s.UploadMedia(ctx, UploadMedia{Name: "a.txt", Content: strings.NewReader("text")})
	require.NoError(t, err)
	_, err = s.DeletePage(ctx, "home")
	require.NoError(t, err)
	require.NoError(t, s.Seed(ctx))
	require.NoFileExists(t, s.file(m.Path))
	again, err := s.Export(ctx)
	require.NoError(t, err)
	for table, rows := range fresh {
		require.Len(t, again[table], len(rows), table)
	}
}

func TestAResetNeedsTheFileForItself(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "site.db")
	s, err := Open(path)
	require.NoError(t, err)
	mine, err := s.UploadMedia(ctx, UploadMedia{Name: "a.txt", Content: strings.NewReader("a")})
	require.NoError(t, err)
	refused(t, Reset(ctx, path), CodeBusy, "site.db open")
	require.NoError(t, s.Close())
	beside, err := Open(filepath.Join(filepath.Dir(path), "beside.db"))
	require.NoError(t, err)
	defer beside.Close()
	its, err := beside.UploadMedia(ctx, UploadMedia{Name: "b.txt", Content: strings.NewReader("b")})
	require.NoError(t, err)
	require.NoError(t, Reset(ctx, path))
	require.NoFileExists(t, path)
	require.NoFileExists(t, s.file(mine.Path))
	require.FileExists(t, beside.file(its.Path), "another site in the folder")
	require.FileExists(t, beside.file("/uploads/site_local/env_main/med_team.jpg"))
	other := filepath.Join(t.TempDir(), "letter.txt")
	require.NoError(t, os.WriteFile(other, []byte("a letter"), 0o600))
	refused(t, Reset(ctx, other), CodeStorage)
	require.FileExists(t, other)
}

func TestASearchFindsPartsOfNamesThenSimilarNames(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	hits, err := s.Search(ctx, "hero", 0)
	require.NoError(t, err)
	require.Equal(t, []Hit{{KindSection, "def_hero", "Hero", "hero", 1}}, hits)
	hits, err = s.Search(ctx, "rea", 0)
	require.NoError(t, err)
	require.Equal(t, []Hit{{"media", "med_hero", "bread.jpg", "/uploads/site_local/env_main/med_hero.jpg", 0.67}}, hits)
	hits, err = s.Search(ctx, "headline", 0)
	require.NoError(t, err)
	require.Equal(t, "def_hero", hits[0].ID)
	require.Less(t, hits[0].Score, 1.0, "a word of the description is less than the name")
	hits, err = s.Search(ctx, "Blgo", 0)
	require.NoError(t, err)
	require.Equal(t, "col_blog", hits[0].ID)
	require.Less(t, hits[0].Score, 1.0)
	_, err = s.Search(ctx, " ", 0)
	refused(t, err, CodeInvalid)
}

func TestEntriesHaveAnOrder(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	first, err := s.UpsertEntry(ctx,
		UpsertEntry{Collection: "blog", Title: "First", Content: map[string]any{"body": "B"}})
	require.NoError(t, err)
	require.NoError(t, s.OrderEntries(ctx, "blog", []EntryOrder{{"ent_hello", 2}, {first.ID, 1}}))
	list, err := s.ListEntries(ctx, ListEntries{Collection: "blog"})
	require.NoError(t, err)
	require.Equal(t, "first", list.Items[0].Slug)
	refused(t, s.OrderEntries(ctx, "blog", []EntryOrder{{first.ID, 3}, {"ent_none", 1}}), CodeNotFound, "ent_none")
	refused(t, s.OrderEntries(ctx, "blog", []EntryOrder{{first.ID, 10_000}}), CodeInvalid)
	e, err := s.GetEntry(ctx, "first", "")
	require.NoError(t, err)
	require.Equal(t, 1, e.SortOrder, "all or nothing")

	_, err = s.CreateCollection(ctx,
		CreateCollection{Name: "Events", Elements: rows(Slot{Key: "place", Type: TypeText})})
	require.NoError(t, err)
	_, err = s.UpsertEntry(ctx,
		UpsertEntry{Collection: "events", Title: "First", Content: map[string]any{"place": "Here"}})
	require.NoError(t, err, "a slug is unique in its collection")
	_, err = s.GetEntry(ctx, "first", "")
	refused(t, err, CodeInvalid, "several collections")
	moved, err := s.UpsertEntry(ctx, UpsertEntry{Collection: "events", Entry: "first", NewSlug: "premiere"})
	require.NoError(t, err)
	require.Equal(t, "first", moved.Before.Slug)
	_, err = s.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Entry: "first", NewSlug: "hello-world"})
	refused(t, err, CodeSlugExists, `"hello-world-2"`)
}

func TestAPageIsCopiedWithAllItsContents(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	_, err := s.SyncPage(ctx,
		SyncPage{Page: "home", Locale: "de", Contents: map[string]map[string]any{"hero": {"title": "Willkommen"}}})
	require.NoError(t, err)
	p, err := s.ClonePage(ctx, ClonePage{Source: "home", NewSlug: "start"})
	require.NoError(t, err)
	require.Equal(t, []string{"start", "Home (copy)"}, []string{p.Slug, p.Name})
	de, err := s.GetPage(ctx, "start", "de")
	require.NoError(t, err)
	require.Equal(t, "Willkommen", de.Sections[0].Content["title"])
	require.NotEqual(t, "sec_home_hero", de.Sections[0].ID)
	_, err = s.ClonePage(ctx, ClonePage{Source: "home", NewSlug: "start"})
	refused(t, err, CodeSlugExists, `"start-2"`)

	_, err = s.AddSection(ctx, AddSection{Page: "start", Section: "cta"})
	require.NoError(t, err)
	_, err = s.SyncPage(ctx,
		SyncPage{Page: "start", Contents: map[string]map[string]any{"cta": {"text": "Now"}, "hero": {"titel": "x"}}})
	refused(t, err, CodeInvalid)
	p, err = s.GetPage(ctx, "start", "")
	require.NoError(t, err)
	require.Empty(t, p.Sections[1].Content, "all sections are written or none")
}

func TestWatchersSeeTheWritesOfAllProcesses(t *testing.T) {
	s := newSite(t)
	other := openSite(t, s.Path())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []int64
	for n, err := range s.Watch(ctx) {
		require.NoError(t, err)
		seen = append(seen, n)
		switch len(seen) {
		case 1:
			_, err = s.CreatePage(ctx, CreatePage{Name: "Mine"})
		case 2:
			_, err = other.CreatePage(ctx, CreatePage{Name: "Other"}) // found by polling
		case 3:
			cancel()
		}
		require.NoError(t, err)
	}
	require.Equal(t, []int64{seen[0], seen[0] + 1, seen[0] + 2}, seen)
}
