package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewPagesAndEntriesAreDraftsUntilTheyArePublished(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	p, err := s.CreatePage(ctx, CreatePage{Name: "About"})
	require.NoError(t, err)
	require.Equal(t, Draft, p.Status)
	p, err = s.UpdatePage(ctx, UpdatePage{Page: "about", Status: new(Published)})
	require.NoError(t, err)
	require.Equal(t, Published, p.Status)
	require.Equal(t, Draft, p.Before.Status)
	copied, err := s.ClonePage(ctx, ClonePage{Source: "about", NewSlug: "about-2"})
	require.NoError(t, err)
	require.Equal(t, Draft, copied.Status, "a copy isn't finished")
	_, err = s.UpdatePage(ctx, UpdatePage{Page: "about", Status: new("hidden")})
	refused(t, err, CodeInvalid, `status "hidden" is unknown`, `"draft"`)
	list, err := s.ListPages(ctx, Query{Text: "about"})
	require.NoError(t, err)
	require.Equal(t, []string{Published, Draft}, []string{list.Items[0].Status, list.Items[1].Status})

	deleted, err := s.DeletePage(ctx, "about-2")
	require.NoError(t, err)
	back, err := s.RestorePage(ctx, deleted)
	require.NoError(t, err)
	require.Equal(t, Draft, back.Status)

	content := map[string]any{"body": "B"}
	e, err := s.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Title: "News", Content: content})
	require.NoError(t, err)
	require.Equal(t, Draft, e.Status)
	e, err = s.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Entry: "news", Status: Published})
	require.NoError(t, err)
	require.Equal(t, Published, e.Status)
	require.Equal(t, Draft, e.Before.Status)
	e, err = s.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Entry: "news", Title: "Old news"})
	require.NoError(t, err)
	require.Equal(t, Published, e.Status, "other changes keep it")
}

func TestAChangeOfACopyDoesNotChangeTheSite(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	m, err := s.UploadMedia(ctx, UploadMedia{Name: "a.txt", Content: strings.NewReader("text")})
	require.NoError(t, err)
	before, err := s.Export(ctx)
	require.NoError(t, err)
	c, err := s.Copy(ctx)
	require.NoError(t, err)
	same, err := c.Export(ctx)
	require.NoError(t, err)
	require.Equal(t, before, same)
	_, err = c.DeletePage(ctx, "home")
	require.NoError(t, err)
	_, err = c.DeleteMedia(ctx, m.ID)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoFileExists(t, c.Path())

	after, err := s.Export(ctx)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.FileExists(t, s.file(m.Path))
}

func TestSlugsInContentsBecomeIDs(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	sec, err := s.SyncContents(ctx, SyncContents{Page: "home", Content: map[string]any{
		"ctaLink": map[string]any{"type": "page", "targetId": "home"}}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"type": "page", "targetId": "pg_home"}, sec.Content["ctaLink"])
	require.Equal(t, "home", sec.Page)
	same, err := s.GetPageSection(ctx, "home", "hero", "")
	require.NoError(t, err)
	require.Equal(t, sec.Content, same.Content)
}

func TestAMovedAndARemovedSectionCanBePutBack(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	quote, err := s.AddSection(ctx, AddSection{Page: "home", Section: "cta", Content: map[string]any{"text": "Hm"}})
	require.NoError(t, err)
	moved, err := s.UpdateSection(ctx, UpdateSection{SectionID: quote.ID, SortOrder: new(0), Status: new(Unpublished)})
	require.NoError(t, err)
	require.Equal(t, &SectionBefore{1, Published, ""}, moved.Was)
	_, err = s.UpdateSection(ctx, UpdateSection{SectionID: quote.ID, SortOrder: &moved.Was.SortOrder,
		Status: &moved.Was.Status, Variant: &moved.Was.Variant})
	require.NoError(t, err)
	before, err := s.GetPage(ctx, "home", "")
	require.NoError(t, err)

	removed, err := s.RemoveSection(ctx, "sec_home_hero")
	require.NoError(t, err)
	_, err = s.RestoreSection(ctx, "home", removed)
	require.NoError(t, err)
	after, err := s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t, before.Sections, after.Sections)
	_, err = s.RestoreSection(ctx, "home", removed)
	refused(t, err, CodeConflict, "exists already")
	_, err = s.RestoreSection(ctx, "home", nil)
	refused(t, err, CodeInvalid)
}
