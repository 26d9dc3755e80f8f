package site

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestsWithTheSameKeyTakeEffectOnce(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	key := func(k string) context.Context { return WithKey(ctx, k) }
	add := AddSection{Page: "home", Section: "text", Content: map[string]any{"body": "One"}}
	first, err := s.AddSection(key("k-1"), add)
	require.NoError(t, err)
	again, err := s.AddSection(key("k-1"), add)
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
	p, err := s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Len(t, p.Sections, 2)

	_, err = s.SyncContents(key("k-2"), SyncContents{SectionID: first.ID, Content: map[string]any{"body": "Two"}})
	require.NoError(t, err)
	_, err = s.SyncContents(key("k-3"),
		SyncContents{SectionID: first.ID, Content: map[string]any{"body": "Three"}})
	require.NoError(t, err)
	_, err = s.SyncContents(key("k-2"), SyncContents{SectionID: first.ID, Content: map[string]any{"body": "Two"}})
	require.NoError(t, err)
	p, err = s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t, "Three", p.Sections[1].Content["body"], "a repeat doesn't undo what came after it")

	write := UpsertEntry{Collection: "blog", Title: "Post", Content: map[string]any{"body": "x"}}
	entry, err := s.UpsertEntry(key("k-4"), write)
	require.NoError(t, err)
	require.True(t, entry.Created)
	repeat, err := s.UpsertEntry(key("k-4"), write)
	require.NoError(t, err)
	require.Equal(t, entry, repeat)

	_, err = s.UpsertEntry(key("k-1"), UpsertEntry{Collection: "blog", Title: "Other",
		Content: map[string]any{"body": "x"}})
	require.ErrorContains(t, err, "the key was used for adding a section")
	_, err = s.AddSection(key("k-5"), AddSection{Page: "nowhere", Section: "text"})
	require.Error(t, err)
	_, err = s.AddSection(key("k-5"), add)
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
