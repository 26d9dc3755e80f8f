package site

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everySlot is a definition with a slot of each type.
func everySlot() Elements {
	return rows(
		Slot{Key: "text", Type: TypeText},
		Slot{Key: "rich", Type: TypeRichText},
		Slot{Key: "image", Type: TypeImage},
		Slot{Key: "gallery", Type: TypeMedia, Rules: Rules{Multiple: true, MimeGroups: []string{"image", "video"}}},
		Slot{Key: "link", Type: TypeLink},
		Slot{Key: "web", Type: TypeLink, Rules: Rules{LinkTargets: []string{"url"}}},
		Slot{Key: "size", Type: TypeOption, Rules: Rules{OptionValues: []string{"small", "large"}}},
		Slot{Key: "tags", Type: TypeOption, Rules: Rules{Multiple: true, OptionValues: []string{"news", "guide"}}},
		Slot{Key: "ref", Type: TypeCollectionRef},
		Slot{Key: "post", Type: TypeCollectionRef, Rules: Rules{CollectionID: "blog"}})
}

// rows puts each slot into a row of its own.
func rows(slots ...Slot) Elements {
	var e Elements
	for _, s := range slots {
		e.Rows = append(e.Rows, Row{Slots: []Slot{s}})
	}
	return e
}

func TestEachSlotTypeAcceptsItsShapeAndRejectsOthers(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	_, err := s.CreateSectionDef(ctx, CreateSectionDef{Name: "Everything", Elements: everySlot()})
	require.NoError(t, err)
	_, err = s.db.ExecContext(ctx,
		`INSERT INTO collection_definitions SELECT 'col_other', site_id, 'other', 'Other', '', status, elements_structure, 'other', created_at, updated_at FROM collection_definitions`)
	require.NoError(t, err)
	sec, err := s.AddSection(ctx, AddSection{Page: "home", Section: "everything"})
	require.NoError(t, err)
	write := func(key string, v any) error {
		_, err := s.SyncContents(ctx, SyncContents{SectionID: sec.ID, Content: map[string]any{key: v}})
		return err
	}
	type m = map[string]any

	for _, c := range []struct {
		key string
		v   any
	}{
		{"text", strings.Repeat("ü", 2000)},
		{"text", ""},
		{"rich", strings.Repeat("日", 50_000)},
		{"image", m{"url": "/a.png"}},
		{"image", m{"url": "https://example.com/a.png", "id": "med_hero", "alt": "An <i>A</i>"}},
		{"gallery", []m{{"url": "/a.png"}, {"url": "b.mp4"}}},
		{"gallery", []m{}},
		{"link", m{"type": "url", "href": "https://example.com/?q=%"}},
		{"link", m{"type": "url", "href": "mailto:a@example.com"}},
		{"link", m{"type": "url", "href": "#top"}},
		{"link", m{"type": "page", "targetId": "pg_home"}},
		{"link", m{"type": "entry", "targetId": "ent_hello"}},
		{"link", m{"type": "media", "targetId": "med_hero"}},
		{"size", "large"},
		{"tags", []string{"news", "guide"}},
		{"ref", m{"collectionId": "col_blog"}},
		{"post", m{"collectionId": "col_blog", "entryId": "ent_hello"}},
	} {
		require.NoError(t, write(c.key, c.v), "%s: %.60v", c.key, c.v)
	}

	for _, c := range []struct {
		key  string
		v    any
		says string
	}{
		{"text", strings.Repeat("ü", 2001), `slot "text" has 2001 characters, the limit is 2000`},
		{"text", 5, "got a number"},
		{"text", true, "got a boolean"},
		{"text", []string{"a"}, "got a list"},
		{"text", "a\x07", "U+0007"},
		{"text", math.NaN(), "can't be written as JSON"},
		{"rich", strings.Repeat("日", 50_001), "50001 characters, the limit is 50000"},
		{"rich", strings.Repeat("x", 2<<20), "the limit is 1048576"},
		{"image", "/a.png", `got a string; use an object such as {"url"`},
		{"image", m{"alt": "x"}, `lacks the field "url"`},
		{"image", m{"id": "med_none"}, "no media has the id"},
		{"link", m{"type": "media", "targetId": "med_none"}, "no media has the id"},
		{"image", m{"url": "javascript:alert(1)"}, "isn't allowed"},
		{"image", m{"url": "/a.png", "altt": "x"}, `did you mean "alt"?`},
		{"image", m{"url": 3}, `field "url" of slot "image" got a number`},
		{"gallery", m{"url": "/a.png"}, "takes a list of values"},
		{"gallery", make([]m, 51), "51 values, the limit is 50"},
		{"gallery", []any{nil}, "got null"},
		{"link", m{"href": "/a"}, `no link of type ""`},
		{"link", m{"type": "url"}, `lacks the field "href"`},
		{"link", m{"type": "url", "href": "JavaScript:alert(1)"}, "isn't allowed"},
		{"link", m{"type": "url", "href": "data:text/html,x"}, "isn't allowed"},
		{"link", m{"type": "url", "href": "http://"}, "isn't allowed"},
		{"link", m{"type": "url", "href": "%zz"}, "isn't allowed"},
		{"link", m{"type": "page", "targetId": "pg_gone"}, "no page has the id"},
		{"link", m{"type": "entry", "targetId": "ent_gone"}, "no entry has the id"},
		{"web", m{"type": "page", "targetId": "pg_home"}, `use one of "url"`},
		{"size", "Large", `did you mean "large"?`},
		{"size", []string{"large"}, "got a list"},
		{"tags", "news", `use a list, such as ["news"]`},
		{"tags", []string{"news", "guides"}, `did you mean "guide"?`},
		{"ref", m{"collectionId": "col_none"}, "no collection has the id"},
		{"ref", m{"collectionId": "col_other", "entryId": "ent_hello"}, `name its own collection "blog"`},
		{"ref", m{"collectionId": "col_blog", "entryId": "ent_none"}, "no entry has the id"},
		{"post", m{"collectionId": "col_other"}, `use "col_blog"`},
		{"texxt", "x", `did you mean "text"?`},
	} {
		err := write(c.key, c.v)
		var e *Error
		require.ErrorAs(t, err, &e, "%s: %.60v", c.key, c.v)
		refused(t, err, e.Code, c.says)
		require.Contains(t, []string{CodeInvalid, CodeNotFound}, e.Code)
	}
}

func TestARequiredSlotCantBeEmptied(t *testing.T) {
	s := newSite(t)
	for _, v := range []any{nil, "", "  "} {
		_, err := s.SyncContents(t.Context(), SyncContents{Page: "home", Content: map[string]any{"title": v}})
		refused(t, err, CodeInvalid, "needs a value for title")
	}
}

func TestADefinitionIsCheckedWhenItIsCreated(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	in := rows(Slot{Key: "a", Type: TypeText},
		Slot{Key: "post", Type: TypeCollectionRef, Rules: Rules{CollectionID: "blog"}})
	def, err := s.CreateSectionDef(ctx, CreateSectionDef{Name: "Feature List", Description: "Benefits", Elements: in})
	require.NoError(t, err)
	require.Equal(t, "feature-list", def.Key)
	require.Equal(t, "feature-list", def.TemplateKey)
	require.Equal(t, "default", def.DefaultVariant)
	require.Equal(t, "row-2", def.Elements.Rows[1].ID)
	require.Equal(t, "col_blog", def.Elements.Rows[1].Slots[0].Rules.CollectionID, "a slug becomes an id")
	require.Equal(t, "blog", in.Rows[1].Slots[0].Rules.CollectionID, "the caller's structure stays as it was")
	got, err := s.GetSection(ctx, "feature-list")
	require.NoError(t, err)
	require.Equal(t, def, got)
	_, err = s.GetSection(ctx, "feature-lsit")
	refused(t, err, CodeNotFound, `did you mean "feature-list"?`)
	defs, err := s.ListSections(ctx, Query{Text: "feature-list"})
	require.NoError(t, err)
	require.Equal(t, []*SectionDef{def}, defs.Items)

	_, err = s.CreateSectionDef(ctx, CreateSectionDef{Name: "Hero", Elements: in})
	refused(t, err, CodeKeyExists, `section key "hero" exists already`, `"hero-2"`)

	many := make([]Slot, 51)
	for name, c := range map[string]struct {
		in   CreateSectionDef
		says string
	}{
		"no name":      {CreateSectionDef{Elements: in}, "name is empty"},
		"bad key":      {CreateSectionDef{Name: "A", Key: "A B", Elements: in}, `use "a-b"`},
		"bad template": {CreateSectionDef{Name: "A", TemplateKey: "../x", Elements: in}, "template key"},
		"no slots":     {CreateSectionDef{Name: "A"}, "has 0 slots"},
		"many slots":   {CreateSectionDef{Name: "A", Elements: rows(many...)}, "has 51 slots"},
		"version":      {CreateSectionDef{Name: "A", Elements: Elements{Version: 2, Rows: in.Rows}}, "version 2"},
		"slot key": {CreateSectionDef{Name: "A", Elements: rows(Slot{Key: "1 a", Type: TypeText})},
			"isn't allowed"},
		"same key": {CreateSectionDef{Name: "A",
			Elements: rows(Slot{Key: "a", Type: TypeText}, Slot{Key: "a", Type: TypeText})}, "used twice"},
		"slot type": {CreateSectionDef{Name: "A", Elements: rows(Slot{Key: "a", Type: "richtext"})},
			`did you mean "richText"?`},
		"label": {CreateSectionDef{Name: "A",
			Elements: rows(Slot{Key: "a", Type: TypeText, Label: strings.Repeat("l", 201)})}, "the limit is 200"},
		"misplaced rule": {CreateSectionDef{Name: "A",
			Elements: rows(Slot{Key: "a", Type: TypeText, Rules: Rules{Multiple: true}})},
			"is for image, media, option only"},
		"no options": {CreateSectionDef{Name: "A", Elements: rows(Slot{Key: "a", Type: TypeOption})}, "optionValues"},
		"same option": {CreateSectionDef{Name: "A",
			Elements: rows(Slot{Key: "a", Type: TypeOption, Rules: Rules{OptionValues: []string{"x", "x"}}})}, "twice"},
		"empty option": {CreateSectionDef{Name: "A",
			Elements: rows(Slot{Key: "a", Type: TypeOption, Rules: Rules{OptionValues: []string{""}}})}, "is empty"},
		"media group": {CreateSectionDef{Name: "A",
			Elements: rows(Slot{Key: "a", Type: TypeMedia, Rules: Rules{MimeGroups: []string{"videos"}}})},
			`did you mean "video"?`},
		"link target": {CreateSectionDef{Name: "A",
			Elements: rows(Slot{Key: "a", Type: TypeLink, Rules: Rules{LinkTargets: []string{"pages"}}})},
			`did you mean "page"?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.CreateSectionDef(ctx, c.in)
			refused(t, err, CodeInvalid, c.says)
		})
	}
	_, err = s.CreateSectionDef(ctx, CreateSectionDef{Name: "A",
		Elements: rows(Slot{Key: "a", Type: TypeCollectionRef, Rules: Rules{CollectionID: "blgo"}})})
	refused(t, err, CodeNotFound, `did you mean "blog"?`)
}
