package cmstools

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

const narrowHero = `{"definition":"hero","elements_structure":{"rows":[{"slots":[{"key":"title","type":"text","dataRules":{"required":true}}]}]}}`

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
			`change (added: 0, changed: 0, removed: 4); stored contents affected: 1, and their values are kept and hidden`},
		{SyncCollectionElements, `{"definition":"blog","elements_structure":{"rows":[{"slots":[{"key":"body","type":"richText"}]}]}}`,
			"stored contents affected: 1, and their values are kept and hidden"},
		{DeleteEntry, `{"entry":"hello-world"}`, `the entry “Hello, world” is deleted`},
		{DeleteSectionDef, `{"section":"cta"}`, `section definition “Call to action” is deleted`},
		{CreatePage, page, "it touches 10 sections at once"},
		{ClonePage, `{"source":"long","newSlug":"longer"}`, "it touches 10 sections at once"},
		{ClonePage, `{"source":"home","newSlug":"start"}`, ""},
		{CreateSectionDef, `{"name":"Quote","elements_structure":{"rows":[{"slots":[{"key":"a","type":"text"}]}]}}`, ""},
		{UpdateSectionDef, `{"section":"hero","name":"Banner"}`, ""},
	} {
		_, a := b.admit(CRUD, c.tool, c.input)
		require.Nil(t, a.Rejected, c.tool)
		require.Equal(t, c.reason != "", a.Verdict.Effect == tools.Ask, "%s %s", c.tool, c.input)
		require.Contains(t, a.Verdict.Reason, c.reason)
	}
	b.fails(tools.Denied, DeleteEntry, `{"entry":"helo-world"}`, `did you mean "hello-world"?`)
	b.fails(tools.Denied, SyncSectionElements, `{"definition":"heroo","elements_structure":{"rows":[{"slots":[{"key":"a","type":"text"}]}]}}`,
		`did you mean "hero"?`)
	b.fails(tools.Failed, DeleteSectionDef, `{"section":"hero"}`, "used by the pages home")
}

func TestAConflictSaysWhatWasExpectedWhatIsAndWhatToDo(t *testing.T) {
	b := newBench(t)
	for tool, input := range map[string]string{
		CreatePage: `{"name":"Home"}`, ClonePage: `{"source":"home","newSlug":"home"}`,
		UpsertEntry:         `{"collection":"blog","title":"Hello world","content":{"body":"x"}}`,
		CreateSectionDef:    `{"name":"Hero","elements_structure":{"rows":[{"slots":[{"key":"a","type":"text"}]}]}}`,
		CreateCollectionDef: `{"name":"Blog","elements_structure":{"rows":[{"slots":[{"key":"a","type":"text"}]}]}}`,
		UpdateSectionDef:    `{"section":"cta","key":"hero"}`, DeleteSectionDef: `{"section":"hero"}`,
	} {
		out := b.call(tool, input)
		require.Equal(t, tools.Failed, out.Status, tool)
		require.NotContains(t, said(&out), "{", "it is read by people, too")
		require.NotNil(t, out.Mismatch, "%s: %s", tool, said(&out))
		require.NotEmpty(t, out.Mismatch.Expected)
		require.NotEmpty(t, out.Mismatch.Actual)
		require.NotEmpty(t, out.Mismatch.Suggestion)
	}
}

// contents returns the definitions, the entries and the pages, without the times of their changes.
func (b *bench) contents() string {
	b.t.Helper()
	ctx := b.t.Context()
	sections, err := b.ListSections(ctx, site.Query{})
	require.NoError(b.t, err)
	collections, err := b.ListCollections(ctx, site.Query{})
	require.NoError(b.t, err)
	entry, err := b.GetEntry(ctx, "hello-world", "")
	require.NoError(b.t, err)
	pages, err := b.ListPages(ctx, site.Query{})
	require.NoError(b.t, err)
	text, err := json.MarshalIndent([]any{sections, collections, entry, pages}, "", " ")
	require.NoError(b.t, err)
	return regexp.MustCompile(`"updatedAt": "[^"]*"`).ReplaceAllString(string(text), "")
}

func TestUndoRevertsDefinitionsAndEntries(t *testing.T) {
	b := newBench(t)
	before := b.contents()
	undone := func(tool, input string) {
		t.Helper()
		out := b.call(tool, input)
		require.Equal(t, tools.OK, out.Status, said(&out))
		d, _ := b.reg.Lookup(tool)
		for range 2 { // the second time it is already undone
			require.NoError(t, d.Undo(t.Context(), json.RawMessage(input), json.RawMessage(said(&out))), tool)
		}
	}
	undone(CreateSectionDef, `{"name":"Quote","elements_structure":{"rows":[{"slots":[{"key":"words","type":"text"}]}]}}`)
	undone(CreateCollectionDef,
		`{"name":"Events","elements_structure":{"rows":[{"slots":[{"key":"place","type":"text"},{"key":"post","type":"collectionRef","dataRules":{"collectionId":"blog"}}]}]}}`)
	undone(UpdateSectionDef, `{"section":"cta","name":"Action","key":"action","status":"unpublished"}`)
	undone(SyncSectionElements, narrowHero)
	undone(SyncCollectionElements, `{"definition":"blog","elements_structure":{"rows":[{"slots":[{"key":"body","type":"richText"}]}]}}`)
	undone(DeleteEntry, `{"entry":"hello-world"}`)
	undone(DeleteSectionDef, `{"section":"cta"}`)
	undone(UpsertEntry, `{"collection":"blog","title":"New","content":{"body":"x"}}`)
	undone(UpsertEntry,
		`{"collection":"blog","entry":"hello-world","title":"Hi","content":{"body":"x","tags":["team"]}}`)
	undone(ClonePage, `{"source":"home","newSlug":"start"}`)
	require.Equal(t, before, b.contents())

	b.fails(tools.Invalid, SyncSectionElements, strings.Replace(narrowHero, "{", `{"prune":true,`, 1), "prune")
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
		{spoilt[site.CreateSectionDef](b, CreateSectionDef, func(d *site.SectionDef) error {
			return rename(d.ID)
		}),
			`{"name":"Quote","elements_structure":{"rows":[{"slots":[{"key":"a","type":"text"}]}]}}`, "name is other, not Quote"},
		{spoilt[updateSectionDef](b, UpdateSectionDef, func(d *site.SectionDef) error {
			return rename(d.ID)
		}),
			`{"section":"cta","name":"Action"}`, "name is other, not Action"},
		{spoilt[site.SyncElements](b, SyncSectionElements, func(r *site.SyncedElements) error {
			_, err := b.SyncSectionElements(ctx, site.SyncElements{Definition: r.ID, Elements: widen})
			return err
		}), narrowHero, "number of elements_structure.rows[0].slots is 2, not 1"},
		{spoilt[site.CreateCollection](b, CreateCollectionDef, func(c *site.Collection) error {
			_, err := b.SyncCollectionElements(ctx, site.SyncElements{Definition: c.ID, Elements: widen})
			return err
		}), `{"name":"Events","elements_structure":{"rows":[{"slots":[{"key":"a","type":"text"}]}]}}`,
			"number of elements_structure.rows[0].slots is 2, not 1"},
		{spoilt[oneEntry](b, DeleteEntry, func(r *site.Removed) error { return b.Restore(ctx, r) }),
			`{"entry":"hello-world"}`, "is still there"},
		{spoilt[oneSectionDef](b, DeleteSectionDef, func(r *site.Removed) error { return b.Restore(ctx, r) }),
			`{"section":"cta"}`, "is still there"},
		{spoilt[site.ClonePage](b, ClonePage, func(p *site.Page) error {
			_, err := b.RemoveSection(ctx, p.Sections[0].ID)
			return err
		}), `{"source":"home","newSlug":"start"}`, "number of sections is 0, not 1"},
	} {
		reg, err := tools.NewRegistry(c.d)
		require.NoError(t, err)
		out := run(ctx, reg, tools.Call{Name: c.d.Name(), Input: json.RawMessage(c.input)})
		require.Equal(t, tools.Unverified, out.Status, "%s: %s", c.d.Name(), said(&out))
		require.Contains(t, said(&out), c.says)
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
	require.Contains(t, said(&out), "example.com")
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
