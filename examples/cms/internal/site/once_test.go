package site

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestsWithTheSameKeyTakeEffectOnce(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	add := AddSection{Page: "home", Section: "text", Content: map[string]any{"body": "One"}, Key: "k-1"}
	first, err := s.AddSection(ctx, add)
	require.NoError(t, err)
	again, err := s.AddSection(ctx, add)
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
	p, err := s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Len(t, p.Sections, 2)

	_, err = s.SyncContents(ctx, SyncContents{SectionID: first.ID, Content: map[string]any{"body": "Two"}, Key: "k-2"})
	require.NoError(t, err)
	_, err = s.SyncContents(ctx,
		SyncContents{SectionID: first.ID, Content: map[string]any{"body": "Three"}, Key: "k-3"})
	require.NoError(t, err)
	_, err = s.SyncContents(ctx, SyncContents{SectionID: first.ID, Content: map[string]any{"body": "Two"}, Key: "k-2"})
	require.NoError(t, err)
	p, err = s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t, "Three", p.Sections[1].Content["body"], "a repeat doesn't undo what came after it")

	write := UpsertEntry{Collection: "blog", Title: "Post", Content: map[string]any{"body": "x"}, Key: "k-4"}
	entry, err := s.UpsertEntry(ctx, write)
	require.NoError(t, err)
	require.True(t, entry.Created)
	repeat, err := s.UpsertEntry(ctx, write)
	require.NoError(t, err)
	require.Equal(t, entry, repeat)

	_, err = s.UpsertEntry(ctx,
		UpsertEntry{Collection: "blog", Title: "Other", Content: map[string]any{"body": "x"}, Key: "k-1"})
	require.ErrorContains(t, err, "the key was used for adding a section")
	_, err = s.AddSection(ctx, AddSection{Page: "nowhere", Section: "text", Key: "k-5"})
	require.Error(t, err)
	add.Key = "k-5"
	_, err = s.AddSection(ctx, add)
	require.NoError(t, err, "what failed doesn't use the key up")
}

func TestAWriteWhoseContextHasAKeyTakesEffectOnce(t *testing.T) {
	s := newSite(t)
	ctx := WithKey(t.Context(), "k-1")
	first, err := s.DeletePage(ctx, "home")
	require.NoError(t, err)
	again, err := s.DeletePage(ctx, "home")
	require.NoError(t, err, "it was deleted by the same request")
	require.Equal(t, first.Sections, again.Sections)
	name := "X"
	_, err = s.UpdatePage(ctx, UpdatePage{Page: "home", Name: &name})
	require.ErrorContains(t, err, "the key was used for deleting a page")
}
