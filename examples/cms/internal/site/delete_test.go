package site

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADeletedPageIsRestoredUnchanged(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	_, err := s.SyncContents(ctx,
		SyncContents{Page: "home", Locale: "de", Content: map[string]any{"title": "Willkommen"}})
	require.NoError(t, err)
	_, err = s.AddSection(ctx, AddSection{Page: "home", Section: "text", SortOrder: new(0)})
	require.NoError(t, err)
	_, err = s.UpdatePage(ctx, UpdatePage{Page: "home", Meta: map[string]any{"a": []int{1}}, Indexing: new(false)})
	require.NoError(t, err)
	_, err = s.CreatePage(ctx, CreatePage{Name: "About", Sections: []NewSection{{Section: "hero",
		Content: map[string]any{"title": "A", "ctaLink": map[string]any{"type": "page", "targetId": "pg_home"}}}}})
	require.NoError(t, err)
	_, err = s.db.ExecContext(ctx,
		`INSERT INTO navigations (id, site_id, environment_id, name) VALUES ('nav', 'site_local', 'env_main', 'Main');
		INSERT INTO navigation_items (id, navigation_id, value, target_type, target_uuid, sort_order) VALUES ('item', 'nav', 'Home', 'page', 'pg_home', 0)`)
	require.NoError(t, err)
	target := func() (text string) {
		require.NoError(t,
			s.db.QueryRowContext(ctx,
				"SELECT target_type || ' ' || coalesce(target_uuid, '') FROM navigation_items").Scan(&text))
		return text
	}
	before := map[string]*Page{}
	for _, locale := range []string{"en", "de"} {
		before[locale], err = s.GetPage(ctx, "home", locale)
		require.NoError(t, err)
	}

	deleted, err := s.DeletePage(ctx, "home")
	require.NoError(t, err)
	require.Equal(t, []string{"about"}, deleted.LinkedFrom)
	require.Equal(t, []string{"item"}, deleted.Navigation)
	require.Equal(t, "placeholder ", target())
	_, err = s.GetPage(ctx, "pg_home", "")
	refused(t, err, CodeNotFound)
	var left int
	require.NoError(t,
		s.db.QueryRowContext(ctx,
			"SELECT (SELECT count(*) FROM page_sections) + (SELECT count(*) FROM page_section_contents)").Scan(&left))
	require.Equal(t, 2, left, "only what is on the other page")

	raw, err := json.Marshal(deleted) // an undo may be made later, from a log
	require.NoError(t, err)
	var kept Deleted
	require.NoError(t, json.Unmarshal(raw, &kept))
	_, err = s.RestorePage(ctx, &kept)
	require.NoError(t, err)
	for locale, want := range before {
		got, err := s.GetPage(ctx, "home", locale)
		require.NoError(t, err)
		wantJSON, err := json.Marshal(want)
		require.NoError(t, err)
		gotJSON, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, string(wantJSON), string(gotJSON))
	}
	require.Equal(t, "page pg_home", target())
}

func TestAFailedRestoreWritesNothing(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	_, err := s.DeletePage(ctx, "nowhere")
	refused(t, err, CodeNotFound)
	_, err = s.RestorePage(ctx, nil)
	refused(t, err, CodeInvalid)
	_, err = s.RestorePage(ctx, &Deleted{})
	refused(t, err, CodeInvalid)

	deleted, err := s.DeletePage(ctx, "home")
	require.NoError(t, err)
	other, err := s.CreatePage(ctx, CreatePage{Name: "Home"})
	require.NoError(t, err)
	_, err = s.RestorePage(ctx, deleted)
	refused(t, err, CodeSlugExists, other.ID)
	_, err = s.DeletePage(ctx, other.ID)
	require.NoError(t, err)

	edit := func(change func(*Deleted)) *Deleted {
		raw, err := json.Marshal(deleted)
		require.NoError(t, err)
		var d Deleted
		require.NoError(t, json.Unmarshal(raw, &d))
		change(&d)
		return &d
	}
	for _, c := range []struct {
		d    *Deleted
		code string
	}{
		{edit(func(d *Deleted) { d.Sections[0].Section = "def_gone" }), CodeConflict},
		{edit(func(d *Deleted) { d.Sections[0].Status = "odd" }), CodeConflict},
		{edit(func(d *Deleted) { d.Sections = append(d.Sections, d.Sections[0]) }), CodeConflict},
		{edit(func(d *Deleted) { d.Sections[0].Contents["xx"] = map[string]any{} }), CodeConflict},
		{edit(func(d *Deleted) { d.Page.Slug = "No Slug" }), CodeInvalid},
		{edit(func(d *Deleted) { d.Page.Name = "" }), CodeInvalid},
	} {
		_, err := s.RestorePage(ctx, c.d)
		refused(t, err, c.code)
	}
	pages, err := s.ListPages(ctx, Query{})
	require.NoError(t, err)
	require.Zero(t, pages.Total)

	_, err = s.RestorePage(ctx, deleted)
	require.NoError(t, err)
	_, err = s.RestorePage(ctx, deleted)
	refused(t, err, CodeConflict, "exists already")
}
