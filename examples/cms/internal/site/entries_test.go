package site

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEntryIsCreatedThenUpdated(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	got, err := s.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Title: "Second Post!",
		Content: map[string]any{"body": "B", "tags": []string{"news"}}})
	require.NoError(t, err)
	require.True(t, got.Created)
	require.Equal(t, "second-post", got.Slug)
	require.Regexp(t, `^ent_[0-9a-z]{10}$`, got.ID)
	require.Equal(t, "col_blog", got.CollectionID)

	again, err := s.UpsertEntry(ctx,
		UpsertEntry{Collection: "col_blog", Entry: "second-post", Content: map[string]any{"body": "C"}})
	require.NoError(t, err)
	require.False(t, again.Created)
	require.Equal(t, got.ID, again.ID)
	require.Equal(t, "Second Post!", again.Title)
	require.Equal(t, map[string]any{"body": "C", "tags": []any{"news"}}, again.Content)

	titled, err := s.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Entry: got.ID, Title: "Renamed"})
	require.NoError(t, err)
	require.Equal(t, "Renamed", titled.Title)
	require.Equal(t, "second-post", titled.Slug)

	german, err := s.GetEntry(ctx, "second-post", "de")
	require.NoError(t, err)
	require.Empty(t, german.Content)
	require.Equal(t, []string{"body"}, german.Missing)

	list, err := s.ListEntries(ctx, ListEntries{Collection: "blog"})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	require.Equal(t, "hello-world", list.Items[0].Slug)
	list, err = s.ListEntries(ctx, ListEntries{Collection: "blog", Query: Query{Text: "RENAMED"}})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	collections, err := s.ListCollections(ctx, Query{})
	require.NoError(t, err)
	require.Len(t, collections.Items, 1)
	require.Equal(t, 2, collections.Items[0].Entries)
}

func TestABadEntryIsRefused(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	_, err := s.db.ExecContext(ctx,
		`INSERT INTO collection_definitions SELECT 'col_other', site_id, 'other', 'Other', '', status, elements_structure, 'other', created_at, updated_at FROM collection_definitions`)
	require.NoError(t, err)
	body := map[string]any{"body": "B"}
	for _, c := range []struct {
		in         UpsertEntry
		code, says string
	}{
		{UpsertEntry{Collection: "blgo", Title: "A", Content: body}, CodeNotFound, `did you mean "blog"?`},
		{UpsertEntry{Collection: "blog", Content: body}, CodeInvalid, "no entry was named"},
		{UpsertEntry{Collection: "blog", Title: "A"}, CodeInvalid, "needs a value for body"},
		{UpsertEntry{Collection: "blog", Title: "A", Locale: "xx", Content: body}, CodeNotFound, `no locale "xx"`},
		{UpsertEntry{Collection: "blog", Entry: "new", Content: body}, CodeInvalid, "title is empty"},
		{UpsertEntry{Collection: "blog", Entry: "No Slug", Title: "A", Content: body}, CodeInvalid, `use "no-slug"`},
		{UpsertEntry{Collection: "blog", Entry: "ent_none", Title: "A", Content: body}, CodeNotFound,
			"no entry has the id"},
		{UpsertEntry{Collection: "blog", Entry: "hello-world"}, CodeInvalid, "nothing to change"},
		{UpsertEntry{Collection: "blog", Title: "Hello World", Content: body}, CodeSlugExists,
			`name the entry "hello-world" to change it`},
		{UpsertEntry{Collection: "other", Entry: "ent_hello", Title: "A", Content: body}, CodeInvalid,
			`name its own collection "blog"`},
		{UpsertEntry{Collection: "blog", Entry: "hello-world", Content: map[string]any{"tags": []string{"nwes"}}},
			CodeInvalid, `did you mean "news"?`},
	} {
		_, err := s.UpsertEntry(ctx, c.in)
		refused(t, err, c.code, c.says)
	}
	entry, err := s.GetEntry(ctx, "hello-world", "")
	require.NoError(t, err)
	require.Equal(t, "Hello, world", entry.Title)
	list, err := s.ListEntries(ctx, ListEntries{Collection: "blog"})
	require.NoError(t, err)
	require.Equal(t, 1, list.Total)

	_, err = s.GetEntry(ctx, "helo-world", "")
	refused(t, err, CodeNotFound, `did you mean "hello-world"?`)
	_, err = s.ListEntries(ctx, ListEntries{Collection: "nothing"})
	refused(t, err, CodeNotFound)
}
