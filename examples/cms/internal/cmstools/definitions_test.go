package cmstools

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

const narrowHero = `{"section":"hero","slots":[{"key":"title","type":"text","required":true}]}`

func TestWhatBreaksSomethingNeedsApproval(t *testing.T) {
	b := newBench(t)
	many := make([]string, 10)
	for i := range many {
		many[i] = `{"section":"text","content":{"body":"B"}}`
	}
	page := `{"name":"Long","sections":[` + strings.Join(many, ",") + `]}`
	b.ok(CreatePage, page, nil)
	for _, c := range []struct{ tool, input, reason string }{
		{SyncSectionElements, narrowHero,
			`change (removed: ctaLink, ctaText, image, subtitle); stored contents affected: 1, and their values are kept and hidden`},
		{SyncCollectionElements, `{"collection":"blog","prune":true,"slots":[{"key":"body","type":"richText"}]}`,
			"stored contents affected: 1, and their values are deleted for good"},
		{DeleteEntry, `{"entry":"hello-world"}`, `the entry "Hello, world" of the collection blog is deleted`},
		{DeleteSectionDef, `{"section":"cta"}`, `the section definition "Call to action" (cta) is deleted`},
		{CreatePage, page, "it touches 10 sections at once"},
		{ClonePage, `{"source":"long","newSlug":"longer"}`, "it touches 10 sections at once"},
		{ClonePage, `{"source":"home","newSlug":"start"}`, ""},
		{CreateSectionDef, `{"name":"Quote","slots":[{"key":"a","type":"text"}]}`, ""},
		{UpdateSectionDef, `{"section":"hero","name":"Banner"}`, ""},
	} {
		_, a := b.admit(CRUD, c.tool, c.input)
		require.Nil(t, a.Rejected, c.tool)
		require.Equal(t, c.reason != "", a.Verdict.Effect == tools.Ask, "%s %s", c.tool, c.input)
		require.Contains(t, a.Verdict.Reason, c.reason)
	}
	b.fails(tools.Denied, DeleteEntry, `{"entry":"helo-world"}`, `did you mean "hello-world"?`)
	b.fails(tools.Denied, SyncSectionElements, `{"section":"heroo","slots":[{"key":"a","type":"text"}]}`,
		`did you mean "hero"?`)
	b.fails(tools.Failed, DeleteSectionDef, `{"section":"hero"}`, "used by the pages home")
}

func TestAConflictSaysWhatWasExpectedWhatIsAndWhatToDo(t *testing.T) {
	b := newBench(t)
	for tool, input := range map[string]string{
		CreatePage: `{"name":"Home"}`, ClonePage: `{"source":"home","newSlug":"home"}`,
		UpsertEntry:         `{"collection":"blog","title":"Hello world","content":{"body":"x"}}`,
		CreateSectionDef:    `{"name":"Hero","slots":[{"key":"a","type":"text"}]}`,
		CreateCollectionDef: `{"name":"Blog","slots":[{"key":"a","type":"text"}]}`,
		UpdateSectionDef:    `{"section":"cta","key":"hero"}`, DeleteSectionDef: `{"section":"hero"}`,
	} {
		out := b.call(tool, input)
		require.Equal(t, tools.Failed, out.Status, tool)
		_, observation, _ := strings.Cut(text(&out), "\n")
		observation, _, _ = strings.Cut(observation, "\n")
		var o struct{ Error, Expected, Actual, Suggestion string }
		require.NoError(t, json.Unmarshal([]byte(observation), &o), "%s: %s", tool, text(&out))
		require.Equal(t, "CONFLICT", o.Error)
		require.NotEmpty(t, o.Expected)
		require.NotEmpty(t, o.Actual)
		require.NotEmpty(t, o.Suggestion)
	}
}

func TestUndoRevertsDefinitionsAndEntries(t *testing.T) {
	b := newBench(t)
	before, err := b.Export(t.Context())
	require.NoError(t, err)
	undone := func(tool, input string) {
		t.Helper()
		out := b.call(tool, input)
		require.Equal(t, tools.OK, out.Status, text(&out))
		d, _ := b.reg.Lookup(tool)
		for range 2 { // the second time it is already undone
			require.NoError(t, d.Undo(t.Context(), json.RawMessage(input), json.RawMessage(text(&out))), tool)
		}
	}
	undone(CreateSectionDef, `{"name":"Quote","slots":[{"key":"words","type":"text"}]}`)
	undone(CreateCollectionDef,
		`{"name":"Events","slots":[{"key":"place","type":"text"},{"key":"post","type":"collectionRef","collectionId":"blog"}]}`)
	undone(UpdateSectionDef, `{"section":"cta","name":"Action","key":"action","status":"unpublished"}`)
	undone(SyncSectionElements, narrowHero)
	undone(SyncCollectionElements, `{"collection":"blog","slots":[{"key":"body","type":"richText"}]}`)
	undone(DeleteEntry, `{"entry":"hello-world"}`)
	undone(DeleteSectionDef, `{"section":"cta"}`)
	undone(UpsertEntry, `{"collection":"blog","title":"New","content":{"body":"x"}}`)
	undone(UpsertEntry,
		`{"collection":"blog","entry":"hello-world","title":"Hi","content":{"body":"x","tags":["team"]}}`)
	undone(ClonePage, `{"source":"home","newSlug":"start"}`)
	after, err := b.Export(t.Context())
	require.NoError(t, err)
	for _, rows := range [][]map[string]any{before["section_definitions"], before["collection_definitions"],
		before["collection_entries"],
		after["section_definitions"], after["collection_definitions"], after["collection_entries"]} {
		for _, row := range rows {
			delete(row, "updated_at")
		}
	}
	require.Equal(t, before, after)

	out := b.call(SyncSectionElements, strings.Replace(narrowHero, "{", `{"prune":true,`, 1))
	d, _ := b.reg.Lookup(SyncSectionElements)
	require.ErrorContains(t, d.Undo(t.Context(), json.RawMessage(narrowHero), json.RawMessage(text(&out))),
		"deleted permanently")
}

func TestEachNewToolVerifiesItsEffect(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	rename := func(def string) error {
		_, err := b.UpdateSectionDef(ctx,
			site.UpdateSectionDef{Section: def, DefinitionFields: site.DefinitionFields{Name: new("other")}})
		return err
	}
	widen := site.Elements{
		Rows: []site.Row{{Slots: []site.Slot{{Key: "a", Type: site.TypeText}, {Key: "b", Type: site.TypeText}}}}}
	for _, c := range []struct {
		d           *tools.Definition
		input, says string
	}{
		{spoilt[createSectionDefInput](t, createSectionDef(b.Site), func(d *site.SectionDef) error {
			return rename(d.ID)
		}),
			`{"name":"Quote","slots":[{"key":"a","type":"text"}]}`, "the name is other, not Quote"},
		{spoilt[updateSectionDefInput](t, updateSectionDef(b.Site), func(d *site.SectionDef) error {
			return rename(d.ID)
		}),
			`{"section":"cta","name":"Action"}`, "the name is other, not Action"},
		{spoilt[syncSectionInput](t, syncSectionElements(b.Site), func(r *site.SyncedElements) error {
			_, err := b.SyncSectionElements(ctx, site.SyncElements{Definition: r.ID, Elements: widen})
			return err
		}), narrowHero, "the number of slots is 2, not 1"},
		{spoilt[createCollectionInput](t, createCollectionDef(b.Site), func(c *site.Collection) error {
			_, err := b.SyncCollectionElements(ctx, site.SyncElements{Definition: c.ID, Elements: widen})
			return err
		}), `{"name":"Events","slots":[{"key":"a","type":"text"}]}`,
			"the list of slots is [a text b text], not [a text]"},
		{spoilt[oneEntry](t, deleteEntry(b.Site), func(r *site.Removed) error { return b.Restore(ctx, r) }),
			`{"entry":"hello-world"}`, "is still there"},
		{spoilt[oneSectionDef](t, deleteSectionDef(b.Site), func(r *site.Removed) error { return b.Restore(ctx, r) }),
			`{"section":"cta"}`, "is still there"},
		{spoilt[cloneInput](t, clonePage(b.Site), func(p *site.Page) error {
			_, err := b.RemoveSection(ctx, p.Sections[0].ID)
			return err
		}), `{"source":"home","newSlug":"start"}`, "the number of sections is 0, not 1"},
	} {
		out := tools.Execute(ctx, c.d, &tools.Call{Name: c.d.Name(), Input: json.RawMessage(c.input)}, nil)
		require.Equal(t, tools.Unverified, out.Status, "%s: %s", c.d.Name(), text(&out))
		require.Contains(t, text(&out), c.says)
		require.NotNil(t, out.Mismatch, c.d.Name())
		require.NotEmpty(t, out.Mismatch.Expected)
	}
}

func TestMediaIsListedForTheModel(t *testing.T) {
	b := newBench(t)
	var list site.List[*site.Media]
	b.ok(ListMedia, `{"group":"image"}`, &list)
	require.Equal(t, "med_hero", list.Items[0].ID)
	b.ok(SyncContents, `{"page":"home","contents":{"hero":{"image":{"id":"med_hero"}}}}`, nil)
}

func TestOnlyListedHostsAreFetched(t *testing.T) {
	b := newBench(t)
	out := b.call(Fetch, `{"url":"http://127.0.0.1/"}`)
	require.Equal(t, tools.Failed, out.Status)
	require.Contains(t, text(&out), "example.com")
}

// TestTheToolsFitTheirBudget counts tokens as four characters each.
func TestTheToolsFitTheirBudget(t *testing.T) {
	b := newBench(t)
	size := 0
	for _, d := range b.reg.All() {
		tool := d.Tool()
		size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	tokens := int(math.Ceil(float64(size) / 4))
	t.Logf("%d tools, about %d tokens", b.reg.Len(), tokens)
	require.LessOrEqual(t, tokens, 8000)
}

func TestAPlainErrorIsNoConflict(t *testing.T) {
	require.Equal(t, "", bulk(9, "sections"))
	require.Equal(t, "it touches 10 sections at once", bulk(10, "sections"))
	_, err := observed(func(context.Context, struct{}) (int, error) { return 0, fmt.Errorf("plain") })(t.Context(),
		struct{}{})
	require.EqualError(t, err, "plain")
}
