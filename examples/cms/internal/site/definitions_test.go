package site

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASyncKeepsOrphanedValuesUnlessItPrunes(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	narrow := rows(Slot{Key: "title", Type: TypeText, Rules: Rules{Required: true}}, Slot{Key: "image", Type: TypeText},
		Slot{Key: "badge", Type: TypeText})
	try, err := s.TrySync(ctx, KindSection, SyncElements{Definition: "hero", Elements: narrow})
	require.NoError(t, err)
	done, err := s.SyncSectionElements(ctx, SyncElements{Definition: "hero", Elements: narrow})
	require.NoError(t, err)
	require.Equal(t, try, done, "the attempt says what the sync does")
	require.Equal(t, []string{"badge"}, done.Added)
	require.Equal(t, []string{"ctaLink", "ctaText", "subtitle"}, done.Removed)
	require.Equal(t, []string{"image"}, done.Changed)
	require.Equal(t, 1, done.Contents)

	home, err := s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.NotContains(t, home.Sections[0].Content, "subtitle")
	_, err = s.SyncSectionElements(ctx, SyncElements{Definition: "hero", Elements: done.Before})
	require.NoError(t, err)
	home, err = s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t, "A small site to start from", home.Sections[0].Content["subtitle"], "the value was kept")

	done, err = s.SyncSectionElements(ctx, SyncElements{Definition: "hero", Elements: narrow, Prune: true})
	require.NoError(t, err)
	require.Equal(t, 3, done.Pruned)
	_, err = s.SyncSectionElements(ctx, SyncElements{Definition: "hero", Elements: done.Before})
	require.NoError(t, err)
	home, err = s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Nil(t, home.Sections[0].Content["subtitle"])

	_, err = s.SyncCollectionElements(ctx, SyncElements{Definition: "blog"})
	refused(t, err, CodeInvalid, "0 slots")
	_, err = s.SyncCollectionElements(ctx, SyncElements{Definition: "blgo", Elements: narrow})
	refused(t, err, CodeNotFound, `did you mean "blog"?`)
}

func TestADefinitionInUseCantBeDeleted(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	_, err := s.DeleteSectionDef(ctx, "hero")
	refused(t, err, CodeConflict, "used by the pages home")
	_, err = s.DeleteCollection(ctx, "blog")
	refused(t, err, CodeConflict, "has 1 entries")
	_, err = s.CreateSectionDef(ctx, CreateSectionDef{Name: "Posts",
		Elements: rows(Slot{Key: "from", Type: TypeCollectionRef, Rules: Rules{CollectionID: "blog"}})})
	require.NoError(t, err)
	entry, err := s.DeleteEntry(ctx, "hello-world")
	require.NoError(t, err)
	require.Equal(t, []string{"home"}, entry.LinkedFrom)
	_, err = s.DeleteCollection(ctx, "blog")
	refused(t, err, CodeConflict, "slots of posts")
}

func TestWhatWasRemovedIsRestoredAsItWas(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	before, err := s.Export(ctx)
	require.NoError(t, err)
	entry, err := s.DeleteEntry(ctx, "hello-world")
	require.NoError(t, err)
	def, err := s.DeleteSectionDef(ctx, "cta")
	require.NoError(t, err)
	collection, err := s.DeleteCollection(ctx, "blog")
	require.NoError(t, err)

	refused(t, s.Restore(ctx, entry), CodeConflict) // its collection is gone
	for _, r := range []*Removed{collection, entry, def} {
		require.NoError(t, s.Restore(ctx, r))
		refused(t, s.Restore(ctx, r), CodeConflict, "exists already")
	}
	after, err := s.Export(ctx)
	require.NoError(t, err)
	require.Equal(t, before, after)

	refused(t, s.Restore(ctx, nil), CodeInvalid)
	refused(t, s.Restore(ctx, &Removed{Rows: []RemovedRow{{Table: "sqlite_master"}}}), CodeInvalid)
	refused(t, s.Restore(ctx,
		&Removed{Rows: []RemovedRow{{Table: "entry_contents", Values: map[string]any{"id) --": 1}}}}), CodeInvalid)
}

func TestDefinitionsAreChanged(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	in := UpdateSectionDef{Section: "cta", DefinitionFields: DefinitionFields{Name: new("Action"), Key: new("action"),
		Status: new(Unpublished)}, DefaultVariant: new("wide")}
	def, err := s.UpdateSectionDef(ctx, in)
	require.NoError(t, err)
	require.Equal(t, []string{"action", "Action", Unpublished, "wide", "cta"},
		[]string{def.Key, def.Name, def.Status, def.DefaultVariant, def.TemplateKey})
	require.Equal(t, "cta", *def.Before.Key)
	c, err := s.UpdateCollection(ctx, UpdateCollection{Collection: "blog", Slug: new("news")})
	require.NoError(t, err)
	require.Equal(t, "news", c.Slug)

	for says, change := range map[string]DefinitionFields{
		`"hero-2"`: {Key: new("hero")}, "nothing to change": {}, `did you mean "published"`: {Status: new("publish")},
		"isn't allowed": {Key: new("A B")}, "is empty": {Name: new("")},
	} {
		_, err := s.UpdateSectionDef(ctx, UpdateSectionDef{Section: "text", DefinitionFields: change})
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Error(), says)
	}
	_, err = s.UpdateSectionDef(ctx, UpdateSectionDef{Section: "text", TemplateKey: new("../x")})
	refused(t, err, CodeInvalid, "template key")
}

func TestAllWrongValuesAreNamed(t *testing.T) {
	s := newSite(t)
	_, err := s.SyncContents(t.Context(),
		SyncContents{Page: "home", Content: map[string]any{"titel": "T", "image": 7, "subtitle": "fine"}})
	refused(t, err, CodeInvalid, `no slot "titel"`, `slot "image"`)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Fields, 2)
	require.Contains(t, e.Fields["titel"], `did you mean "title"?`)
}
