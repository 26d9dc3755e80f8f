package cmstools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/tools"
)

func TestEachToolHasADescriptionAndASchema(t *testing.T) {
	b := newBench(t)
	require.Equal(t, 31, b.reg.Len(), "the 23 of the document, and those for entries, sections, pictures and menus")
	for _, d := range b.reg.All() {
		require.NotEmpty(t, d.Spec().Description, d.Name())
		var schema struct {
			Properties map[string]struct {
				Type        string
				Description string
			}
			AdditionalProperties *bool
		}
		require.NoError(t, json.Unmarshal(d.Tool().Schema, &schema), d.Name())
		require.NotNil(t, schema.AdditionalProperties, d.Name())
		require.False(t, *schema.AdditionalProperties, d.Name())
		for name, p := range schema.Properties { // a merged schema of an unknown property would add it without a type
			require.NotEmpty(t, p.Type, "%s: %s", d.Name(), name)
			require.NotEmpty(t, p.Description, "%s: %s", d.Name(), name)
		}
	}
}

func TestModesRestrictTheTools(t *testing.T) {
	b := newBench(t)
	crudOnly := map[string]bool{SyncSectionElements: true, SyncCollectionElements: true, ClonePage: true}
	for _, mode := range []string{CRUD, Architect, Debug, Ask} {
		for _, d := range b.reg.All() {
			want := d.Spec().ReadOnly && d.Name() != ValidatePlan ||
				d.Name() == ValidatePlan && mode == Architect ||
				!d.Spec().ReadOnly && (mode == CRUD || mode == Debug && !crudOnly[d.Name()])
			require.Equal(t, want, d.Spec().InMode(mode), "%s in %s", d.Name(), mode)
		}
	}
	_, a := b.admit(Ask, CreatePage, `{"name":"X"}`)
	require.Equal(t, tools.Denied, a.Rejected.Status)
}

func TestAPageIsCreatedReadChangedAndDeleted(t *testing.T) {
	b := newBench(t)
	var p site.Page
	b.ok(CreatePage, `{"name":"About","sections":[{"section":"hero","content":{"title":"Hello"}}]}`, &p)
	require.Equal(t, "about", p.Slug)
	require.Equal(t, "Hello", p.Sections[0].Content["title"])

	b.ok(UpdatePage, `{"page":"about","name":"About us","meta":{"a":1}}`, &p)
	require.Equal(t, "About us", p.Name)
	b.ok(GetPage, `{"page":"about"}`, &p)
	require.Equal(t, "About us", p.Name)
	require.Equal(t, "about", p.Slug)

	var list site.List[site.PageSummary]
	b.ok(ListPages, `{"q":"about"}`, &list)
	require.Equal(t, 1, list.Total)

	b.ok(DeletePage, `{"page":"about"}`, nil)
	b.fails(tools.Failed, GetPage, `{"page":"about"}`, `there is no page "about"`)
	b.fails(tools.Denied, DeletePage, `{"page":"about"}`, "The call wasn't run", `there is no page "about"`)
}

func TestUndoRestoresADeletedPage(t *testing.T) {
	b := newBench(t)
	const input = `{"page":"home"}`
	out := b.call(DeletePage, input)
	require.Equal(t, tools.OK, out.Status)
	d, _ := b.reg.Lookup(DeletePage)
	require.True(t, d.CanUndo())
	require.NoError(t, d.Undo(t.Context(), json.RawMessage(input), json.RawMessage(said(&out))))
	p, err := b.GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	require.Equal(t, "pg_home", p.ID)
	require.Len(t, p.Sections, 1)
}

func TestTheErrorForATakenSlugNamesAFreeOne(t *testing.T) {
	b := newBench(t)
	b.fails(tools.Failed, CreatePage, `{"name":"Home"}`, `a page with the address "home" exists`, `such as "home-2"`)
	b.fails(tools.Failed, UpsertEntry, `{"collection":"blog","title":"Hello, world","content":{"body":"x"}}`,
		`such as "hello-world-2"`)
}

func TestSectionsAreAddedWrittenHiddenAndRemoved(t *testing.T) {
	b := newBench(t)
	var sec site.Section
	b.ok(AddSection, `{"page":"home","section":"text","content":{"heading":"H","body":"B"}}`, &sec)
	require.Equal(t, 1, sec.SortOrder)
	var page site.SyncedPage
	b.ok(SyncContents, `{"page":"home","contents":{"text":{"heading":"New"}}}`, &page)
	require.Equal(t, map[string]any{"heading": "New", "body": "B"}, page.Sections[0].Content)
	b.fails(tools.Failed, SyncContents, `{"page":"home","contents":{"text":{"colour":"red"}}}`, `has no slot "colour"`)
	b.fails(tools.Failed, SyncContents, `{"page":"home","contents":{"text":{"heading":"x"}},"locale":"fr"}`,
		`no locale "fr"`)
	b.ok(UpdateSection, fmt.Sprintf(`{"sectionId":%q,"status":"unpublished"}`, sec.ID), &sec)
	require.Equal(t, site.Unpublished, sec.Status)
	b.ok(RemoveSection, fmt.Sprintf(`{"sectionId":%q}`, sec.ID), nil)
	p, err := b.GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	require.Len(t, p.Sections, 1)
}

func TestASectionDefinitionIsMadeOfSlots(t *testing.T) {
	b := newBench(t)
	var def site.SectionDef
	b.ok(CreateSectionDef,
		`{"name":"Price list","elements_structure":{"rows":[{"slots":[{"key":"title","type":"text","dataRules":{"required":true}},{"key":"kind","type":"option","dataRules":{"optionValues":["a","b"]}}]}]}}`, &def)
	require.Equal(t, "price-list", def.Key)
	require.Equal(t, []string{"a", "b"}, def.Elements.Slots()[1].Rules.OptionValues)
	b.fails(tools.Invalid, CreateSectionDef, `{"name":"X","elements_structure":{"rows":[{"slots":[{"key":"a","type":"number"}]}]}}`, "slots[0].type")
	b.fails(tools.Failed, CreateSectionDef, `{"name":"Price list","elements_structure":{"rows":[{"slots":[{"key":"a","type":"text"}]}]}}`, "price-list")
	var list site.List[*site.SectionDef]
	b.ok(ListSections, `{}`, &list)
	require.Equal(t, 5, list.Total)
}

func TestEntriesAreListedWrittenAndRead(t *testing.T) {
	b := newBench(t)
	var e site.Upserted
	b.ok(UpsertEntry, `{"collection":"blog","title":"Second","content":{"body":"Text","tags":["news"]}}`, &e)
	require.True(t, e.Created)
	b.ok(UpsertEntry, `{"collection":"blog","entry":"second","content":{"body":"Better"}}`, &e)
	require.False(t, e.Created)
	b.ok(GetEntry, `{"entry":"second"}`, &e)
	require.Equal(t, "Better", e.Content["body"])
	require.Equal(t, "blog", e.Collection)
	var list site.List[*site.Entry]
	b.ok(ListEntries, `{"collection":"blog"}`, &list)
	require.Equal(t, 2, list.Total)
	var collections site.List[*site.Collection]
	b.ok(ListCollections, `{}`, &collections)
	require.Equal(t, 2, collections.Items[0].Entries)
}

func TestAPageIsFoundByAWordOfItsDescription(t *testing.T) {
	b := newBench(t)
	b.ok(CreatePage, `{"name":"About"}`, nil)
	b.ok(CreatePage, `{"name":"Members","description":"team, people, staff"}`, nil)
	find := func(input string) []index.Line {
		t.Helper()
		out := b.call(FindResource, input)
		require.Equal(t, tools.OK, out.Status, said(&out))
		return index.Lines(said(&out))
	}
	found := find(`{"query":"the abuot page","kind":"page"}`)
	require.Equal(t, []string{"about"}, found[0].Aliases)
	require.NotEqual(t, index.MatchExact, found[0].Match)
	found = find(`{"query":"the team page"}`)
	require.Equal(t, "Members", found[0].Name)
	b.ok(UpdatePage, `{"page":"`+found[0].ID+`","description":"associates"}`, nil)
	require.Empty(t, find(`{"query":"team"}`))
	require.Equal(t, "Members", find(`{"query":"associate"}`)[0].Name)
	require.Empty(t, find(`{"query":"xyzzy"}`))
}

func TestAPreviewIsTextForTheModelAndATreeForTheHost(t *testing.T) {
	b := newBench(t)
	out := b.call(PreviewPage, `{"page":"home","locale":"de"}`)
	require.Equal(t, tools.OK, out.Status)
	require.Contains(t, said(&out), "Home (/, de)")
	require.Contains(t, said(&out), "Note: Visitors don't see Deutsch (de)")
	require.Contains(t, said(&out), "Preview: http://localhost:4000/pages/home?locale=de")
}

func TestAnApprovalHasAReason(t *testing.T) {
	b := newBench(t)
	b.ok(CreatePage, `{"name":"Hidden"}`, nil)
	for _, c := range []struct{ tool, input, reason string }{
		{DeletePage, `{"page":"home"}`, `the page “Home” at / is deleted, with all its sections`},
		{DeletePage, `{"page":"nowhere"}`, "this tool is of high risk"},
		{UpdatePage, `{"page":"home","newSlug":"start"}`, "the address of the page “Home” at / changes to /start: links to the old one break"},
		{UpdatePage, `{"page":"home","newSlug":"home"}`, ""},
		{UpdatePage, `{"page":"home","name":"Start"}`,
			"visitors see the new name “Start” of the page “Home” at / at once"},
		{UpdatePage, `{"page":"home","name":"Home","description":"x"}`, ""},
		{UpdatePage, `{"page":"home","status":"draft"}`, "the page “Home” at / goes offline: visitors don't find it any more"},
		{UpdatePage, `{"page":"home","status":"draft","name":"Start"}`,
			"goes offline: visitors don't find it any more; visitors see the new name “Start”"},
		{UpdatePage, `{"page":"home","status":"published"}`, ""},
		{UpdatePage, `{"page":"hidden","status":"draft","name":"Other"}`, ""},
		{UpdateSection, `{"sectionId":"sec_home_hero","status":"unpublished"}`,
			"the hero “Welcome to local-site” of page “Home” at / goes offline"},
		{UpdateSection, `{"sectionId":"sec_home_hero","sortOrder":1}`, ""},
		{UpdateSection, `{"sectionId":"sec_home_hero","status":"published"}`, ""},
		{UpsertEntry, `{"collection":"blog","entry":"hello-world","status":"draft"}`,
			"the entry “Hello, world” goes offline: visitors don't find it any more"},
		{UpsertEntry, `{"collection":"blog","entry":"hello-world","newSlug":"hello"}`,
			"the address of the entry “Hello, world” changes"},
		{UpsertEntry, `{"collection":"blog","entry":"hello-world","title":"Hello"}`, ""},
		{UpsertEntry, `{"collection":"blog","title":"News","status":"draft"}`, ""},
		{RemoveSection, `{"sectionId":"sec_home_hero"}`, "the hero “Welcome to local-site” of page “Home” at / is removed"},
		{CreatePage, `{"name":"X"}`, ""},
		{SyncContents, `{"page":"home","contents":{"hero":{"title":"x"}}}`, ""},
	} {
		_, a := b.admit(CRUD, c.tool, c.input)
		require.Nil(t, a.Rejected)
		require.Equal(t, c.reason != "", a.Verdict.Effect == tools.Ask, "%s %s", c.tool, c.input)
		require.Contains(t, a.Verdict.Reason, c.reason)
	}
}

func TestDebugModeAllowsOneWrite(t *testing.T) {
	b := newBench(t)
	d, _ := b.reg.Lookup(SyncContents)
	get, _ := b.reg.Lookup(GetPage)
	after := func(done string) func(string) int {
		return func(tool string) int { return map[string]int{done: 1}[tool] }
	}
	require.Equal(t, tools.Allow, OneWrite(t.Context(), d, &tools.Call{Mode: Debug, Succeeded: after(GetPage)}).Effect)
	v := OneWrite(t.Context(), d, &tools.Call{Mode: Debug, Succeeded: after(UpdatePage)})
	require.Equal(t, tools.Deny, v.Effect)
	require.Contains(t, v.Reason, UpdatePage)
	require.Equal(t, tools.Allow,
		OneWrite(t.Context(), get, &tools.Call{Mode: Debug, Succeeded: after(UpdatePage)}).Effect)
	require.Equal(t, tools.Allow,
		OneWrite(t.Context(), d, &tools.Call{Mode: CRUD, Succeeded: after(UpdatePage)}).Effect)
}

func TestInputsAreValidatedAgainstTheirSchema(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ tool, input, about string }{
		{CreatePage, `{}`, "name"},
		{CreatePage, `{"name":""}`, "name"},
		{CreatePage, `{"name":"X","slug":"Not A Slug"}`, "slug"},
		{CreatePage, `{"name":"X","sections":[{"content":{}}]}`, "sections[0]"},
		{ListPages, `{"limit":0}`, "limit"},
		{ListPages, `{"limit":201}`, "limit"},
		{UpdateSection, `{"sectionId":"x","status":"hidden"}`, "status"},
		{FindResource, `{"query":"x","kind":"menu"}`, "kind"},
		{SyncContents, `{"page":"home","contents":{}}`, "contents"},
		{ValidatePlan, `{"operations":[]}`, "operations"},
	} {
		b.fails(tools.Invalid, c.tool, c.input, c.about)
	}
}

func TestVerificationComparesTheRequestWithTheStoredState(t *testing.T) {
	want := map[string]any{"content": map[string]any{"a": []any{"x"}, "gone": nil}, "page": "home"}
	have := map[string]any{"content": map[string]any{"a": []any{"x"}, "b": 1.0}, "page": "pg_home"}
	require.NoError(t, differences("", want, have))
	have["content"].(map[string]any)["a"] = []any{"y"}
	require.ErrorContains(t, differences("", want, have), "content.a[0] is y, not x")
	have["content"] = nil
	require.ErrorContains(t, differences("", want, have), "number of content.a is 0, not 1")
}

// spoilt is a tool whose effect is changed before it is verified.
func spoilt[In, Out any](b *bench, name string, spoil func(Out) error) *tools.Definition {
	b.t.Helper()
	all := All(Config{Site: b.Site})
	i := slices.IndexFunc(all, func(t tools.Tool) bool {
		f, ok := t.(tools.Func[In, Out])
		return ok && f.Spec.Name == name
	})
	require.GreaterOrEqual(b.t, i, 0, name)
	f := all[i].(tools.Func[In, Out])
	run := f.Run
	f.Run = func(ctx context.Context, in In) (Out, error) {
		out, err := run(ctx, in)
		if err == nil {
			err = spoil(out)
		}
		return out, err
	}
	d, err := f.Define()
	require.NoError(b.t, err)
	return d
}

func TestAWriteThatWasOverwrittenIsUnverified(t *testing.T) {
	b := newBench(t)
	ctx, other := t.Context(), "other"
	rename := func(p *site.Page) error {
		_, err := b.UpdatePage(ctx, site.UpdatePage{Page: p.ID, Name: &other})
		return err
	}
	retitle := func(page string) error {
		_, err := b.SyncContents(ctx,
			site.SyncContents{Page: page, SectionID: "hero", Content: map[string]any{"title": "other"}})
		return err
	}
	for _, c := range []struct {
		d           *tools.Definition
		input, says string
	}{
		{spoilt[site.CreatePage](b, CreatePage, rename), `{"name":"P"}`, "name is other, not P"},
		{spoilt[site.CreatePage](b, CreatePage, func(p *site.Page) error { return retitle(p.ID) }),
			`{"name":"Q","sections":[{"section":"hero","content":{"title":"mine"}}]}`,
			"sections[0].content.title is other, not mine"},
		{spoilt[site.CreatePage](b, CreatePage, func(p *site.Page) error {
			_, err := b.AddSection(ctx, site.AddSection{Page: p.ID, Section: "hero"})
			return err
		}), `{"name":"R"}`, "number of sections"},
		{spoilt[site.UpdatePage](b, UpdatePage, rename), `{"page":"home","name":"Mine"}`,
			"name is other, not Mine"},
		{spoilt[site.UpdatePage](b, UpdatePage, func(p *site.Page) error {
			_, err := b.UpdatePage(ctx, site.UpdatePage{Page: p.ID, NewSlug: &other})
			return err
		}), `{"page":"p-1","newSlug":"mine"}`, "slug is other, not mine"},
		{spoilt[site.SyncPage](b, SyncContents, func(*site.SyncedPage) error { return retitle("home") }),
			`{"page":"home","contents":{"hero":{"title":"mine"}}}`, "title is other, not mine"},
		{spoilt[site.AddSection](b, AddSection, func(s *site.Section) error {
			_, err := b.RemoveSection(ctx, s.ID)
			return err
		}), `{"page":"home","section":"text"}`, "no page section"},
		{spoilt[site.UpdateSection](b, UpdateSection, func(s *site.Section) error {
			status := site.Published
			_, err := b.UpdateSection(ctx, site.UpdateSection{SectionID: s.ID, Status: &status})
			return err
		}), `{"sectionId":"sec_home_hero","status":"unpublished"}`, "status is published, not unpublished"},
		{spoilt[site.UpsertEntry](b, UpsertEntry, func(e *site.Upserted) error {
			_, err := b.Site.UpsertEntry(ctx, site.UpsertEntry{Collection: "blog", Entry: e.ID, Title: "other"})
			return err
		}), `{"collection":"blog","title":"Mine","content":{"body":"x"}}`, "title is other, not Mine"},
		{spoilt[onePage](b, DeletePage, func(d *site.Deleted) error {
			_, err := b.RestorePage(ctx, d)
			return err
		}), `{"page":"home"}`, "is still there"},
	} {
		reg, err := tools.NewRegistry(c.d)
		require.NoError(t, err)
		out := run(ctx, reg, tools.Call{Name: c.d.Name(), Input: json.RawMessage(c.input)})
		require.Equal(t, tools.Unverified, out.Status, "%s: %s", c.d.Name(), said(&out))
		require.Contains(t, said(&out), c.says)
	}
}

func TestARepeatedCallCreatesOnePage(t *testing.T) {
	b := newBench(t)
	d, _ := b.reg.Lookup(CreatePage)
	require.True(t, d.Spec().Repeatable())
	for range 2 {
		c := tools.Call{Name: CreatePage, IdempotencyKey: "r-1.1.0",
			Input: json.RawMessage(`{"name":"A","sections":[{"section":"hero","content":{"title":"T"}}]}`)}
		out := run(t.Context(), b.reg, c)
		require.Equal(t, tools.OK, out.Status, said(&out))
	}
	list, err := b.ListPages(t.Context(), site.Query{})
	require.NoError(t, err)
	require.Equal(t, 2, list.Total)
}

func TestUndoRevertsCreationsAndChanges(t *testing.T) {
	b := newBench(t)
	undone := func(tool, input string) {
		t.Helper()
		out := b.call(tool, input)
		require.Equal(t, tools.OK, out.Status, said(&out))
		d, _ := b.reg.Lookup(tool)
		for range 2 { // the second time it is already undone
			require.NoError(t, d.Undo(t.Context(), json.RawMessage(input), json.RawMessage(said(&out))), tool)
		}
	}
	b.ok(UpdatePage, `{"page":"home","meta":{"a":1}}`, nil)
	before, err := b.GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	undone(CreatePage, `{"name":"About","sections":[{"section":"hero","content":{"title":"Hello"}}]}`)
	undone(AddSection, `{"page":"home","section":"text","sortOrder":0}`)
	undone(SyncContents, `{"page":"home","contents":{"hero":{"title":"Other","subtitle":"New"}}}`)
	undone(UpdatePage, `{"page":"home","name":"Start","description":"D","indexing":false,"meta":{"a":2,"b":3}}`)
	undone(UpdatePage, `{"page":"home","newSlug":"start"}`)
	after, err := b.GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	before.UpdatedAt, after.UpdatedAt = time.Time{}, time.Time{}
	require.Equal(t, before, after)
	var list site.List[site.PageSummary]
	b.ok(ListPages, `{}`, &list)
	require.Equal(t, 1, list.Total)
}
