package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keys returns the sections of a page as their definitions' keys, with an asterisk for unpublished
// ones.
func keys(t *testing.T, s *Site, page string) string {
	t.Helper()
	p, err := s.GetPage(t.Context(), page, "")
	require.NoError(t, err)
	var list []string
	for i, sec := range p.Sections {
		require.Equal(t, i, sec.SortOrder)
		key := sec.Section
		if sec.Status == Unpublished {
			key += "*"
		}
		list = append(list, key)
	}
	return strings.Join(list, " ")
}

func TestSectionsAreAddedMovedAndRemoved(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	text, err := s.AddSection(ctx, AddSection{Page: "home", Section: "text", Content: map[string]any{"body": "One"}})
	require.NoError(t, err)
	require.Regexp(t, `^sec_[0-9a-z]{10}$`, text.ID)
	require.Equal(t, "pg_home", text.PageID)
	require.Equal(t, 1, text.SortOrder)
	require.Equal(t, map[string]any{"body": "One"}, text.Content)
	require.Equal(t, "hero text", keys(t, s, "home"))

	moved, err := s.UpdateSection(ctx, UpdateSection{SectionID: text.ID, SortOrder: new(0), Status: new(Unpublished)})
	require.NoError(t, err)
	require.Equal(t, 0, moved.SortOrder)
	require.Equal(t, "text* hero", keys(t, s, "home"))
	_, err = s.UpdateSection(ctx, UpdateSection{SectionID: text.ID, SortOrder: new(99)})
	require.NoError(t, err)
	require.Equal(t, "hero text*", keys(t, s, "home"))

	removed, err := s.RemoveSection(ctx, "sec_home_hero")
	require.NoError(t, err)
	require.Equal(t, "Welcome to local-site", removed.Contents["en"]["title"])
	require.Equal(t, "text*", keys(t, s, "home"))
	_, err = s.RemoveSection(ctx, "sec_home_hero")
	refused(t, err, CodeNotFound, "get the page")
}

func TestAnInvalidSectionIsRejected(t *testing.T) {
	s := newSite(t)
	_, err := s.db.ExecContext(t.Context(),
		"INSERT INTO section_definitions SELECT 'def_x', 'draft', name, '', 'unpublished', elements_structure, "+
			"'draft', '', '', search, created_at, updated_at FROM section_definitions WHERE key = 'hero'")
	require.NoError(t, err)
	for _, c := range []struct {
		in         AddSection
		code, says string
	}{
		{AddSection{Page: "home", Section: "heroe"}, CodeNotFound, `did you mean "hero"?`},
		{AddSection{Page: "nowhere", Section: "hero"}, CodeNotFound, `there is no page "nowhere"`},
		{AddSection{Page: "home"}, CodeInvalid, "no section definition was named"},
		{AddSection{Page: "home", Section: "draft"}, CodeConflict, "is unpublished"},
		{AddSection{Page: "home", Section: "hero", SortOrder: new(-1)}, CodeInvalid, "is negative"},
		{AddSection{Page: "home", Section: "hero", Locale: "xx"}, CodeNotFound, `no locale "xx"`},
		{AddSection{Page: "home", Section: "hero", Content: map[string]any{"subtitle": "S"}}, CodeInvalid,
			"needs a value for title; add title of type text"},
	} {
		_, err := s.AddSection(t.Context(), c.in)
		refused(t, err, c.code, c.says)
	}
	for _, c := range []struct {
		in         UpdateSection
		code, says string
	}{
		{UpdateSection{SectionID: "sec_home_hero"}, CodeInvalid, "nothing to change"},
		{UpdateSection{SortOrder: new(1)}, CodeInvalid, "no section was named"},
		{UpdateSection{SectionID: "sec_none", SortOrder: new(1)}, CodeNotFound, "sec_none"},
		{UpdateSection{SectionID: "sec_home_hero", SortOrder: new(-1)}, CodeInvalid, "is negative"},
		{UpdateSection{SectionID: "sec_home_hero", Status: new("publishd")}, CodeInvalid, `did you mean "published"?`},
	} {
		_, err := s.UpdateSection(t.Context(), c.in)
		refused(t, err, c.code, c.says)
	}
	require.Equal(t, "hero", keys(t, s, "home"))
}

func TestAPageHasAtMostAHundredSections(t *testing.T) {
	s := newSite(t)
	p, err := s.CreatePage(t.Context(), CreatePage{Name: "Long", Sections: func() (list []NewSection) {
		for range maxSections {
			list = append(list, NewSection{Section: "text"})
		}
		return list
	}()})
	require.NoError(t, err)
	_, err = s.AddSection(t.Context(), AddSection{Page: p.ID, Section: "text"})
	refused(t, err, CodeConflict, "100 sections already")
}

func TestContentsAreMergedIntoTheStoredValuesOfTheirLocale(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	sec, err := s.SyncContents(ctx,
		SyncContents{Page: "home", Content: map[string]any{"title": "New", "subtitle": nil}})
	require.NoError(t, err)
	require.Equal(t, "New", sec.Content["title"])
	require.NotContains(t, sec.Content, "subtitle")
	require.Equal(t, "Read the blog", sec.Content["ctaText"], "what isn't named stays")

	german, err := s.SyncContents(ctx,
		SyncContents{SectionID: "sec_home_hero", Locale: "de", Content: map[string]any{"title": "Willkommen 👋"}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"title": "Willkommen 👋"}, german.Content)
	english, err := s.GetPage(ctx, "home", "en")
	require.NoError(t, err)
	require.Equal(t, "New", english.Sections[0].Content["title"])
}

func TestASectionIsFoundByItsIDByItsKeyOrAsTheOnlyOne(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	first, err := s.AddSection(ctx, AddSection{Page: "home", Section: "text"})
	require.NoError(t, err)
	body := map[string]any{"body": "B"}

	sec, err := s.SyncContents(ctx, SyncContents{Page: "home", SectionID: "text", Content: body})
	require.NoError(t, err)
	require.Equal(t, first.ID, sec.ID)
	_, err = s.SyncContents(ctx, SyncContents{Page: "home", Content: body})
	refused(t, err, CodeInvalid, "several sections", first.ID+" (text)", "sec_home_hero (hero)")
	_, err = s.SyncContents(ctx, SyncContents{Page: "home", SectionID: "footer", Content: body})
	refused(t, err, CodeNotFound, `no section "footer"`, first.ID)
	_, err = s.SyncContents(ctx, SyncContents{Content: body})
	refused(t, err, CodeInvalid, "no section was named")
	_, err = s.SyncContents(ctx, SyncContents{Page: "home", SectionID: first.ID})
	refused(t, err, CodeInvalid, "no content was given", `"heading", "body"`)

	_, err = s.CreatePage(ctx, CreatePage{Name: "Empty"})
	require.NoError(t, err)
	_, err = s.SyncContents(ctx, SyncContents{Page: "empty", Content: body})
	refused(t, err, CodeNotFound, "add a section first")
}

func TestValuesWithoutASlotAreKeptUntilPruned(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	stored := func() (text string) {
		require.NoError(t,
			s.db.QueryRowContext(ctx,
				"SELECT content FROM page_section_contents WHERE page_section_id = 'sec_home_hero'").Scan(&text))
		return text
	}
	_, err := s.db.ExecContext(ctx, `UPDATE page_section_contents SET content = json_set(content, '$.oldSlot', 'kept')`)
	require.NoError(t, err)

	sec, err := s.SyncContents(ctx, SyncContents{Page: "home", Content: map[string]any{"title": "A"}})
	require.NoError(t, err)
	require.NotContains(t, sec.Content, "oldSlot")
	require.Contains(t, stored(), "oldSlot")

	_, err = s.SyncContents(ctx, SyncContents{Page: "home", Prune: true})
	require.NoError(t, err)
	require.NotContains(t, stored(), "oldSlot")
	require.Contains(t, stored(), `"title":"A"`)
}
