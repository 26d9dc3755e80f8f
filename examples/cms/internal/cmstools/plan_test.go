package cmstools

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

func TestAPlanThatWouldWorkIsValidAndChangesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := newBench(t)
	before := everything(t, b.Site)
	var r Report
	b.ok(ValidatePlan, `{"operations":[
		{"tool":"cms.createSectionDef","input":{"name":"Quote","elements_structure":{"rows":[{"slots":[{"key":"words","type":"text","dataRules":{"required":true}}]}]}}},
		{"tool":"cms.createPage","input":{"name":"About"}},
		{"tool":"cms.addSectionToPage","input":{"page":"about","section":"quote","content":{"words":"x"}}},
		{"tool":"cms.deletePage","input":{"page":"home"}}]}`, &r)
	require.Equal(t, Report{Valid: true, Issues: []string{}, Suggestions: []string{
		`operation 4 (cms.deletePage) needs approval: the page “Home” at / is deleted, with all its sections and their contents`}}, r)
	require.Equal(t, before, everything(t, b.Site))
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left, "the copy is gone")
}

func TestAPlanThatWouldFailSaysWhereAndWhatToDo(t *testing.T) {
	b := newBench(t)
	var r Report
	b.ok(ValidatePlan, `{"operations":[
		{"tool":"cms.createPage","input":{"name":"Home"}},
		{"tool":"cms.createPage","input":{"name":"Team"}},
		{"tool":"cms.createPage","input":{"name":"Team"}},
		{"tool":"cms.addSectionToPage","input":{"page":"team","section":"heroo"}},
		{"tool":"cms.syncPageContents","args":{"page":"home","contents":{"hero":{"title":7}}}},
		{"tool":"cms.createPag","input":{}},
		{"tool":"cms.getPage","input":{"page":"home"}},
		{"tool":"cms.createPage","input":{"title":"x"}},
		{"tool":"cms.deletePage","input":{"page":"nowhere"}}]}`, &r)
	require.False(t, r.Valid)
	require.Len(t, r.Issues, 8)
	require.Contains(t, r.Issues[0], `operation 1 (cms.createPage): a page with the address "home" exists`)
	require.Contains(t, r.Issues[1], `operation 3 (cms.createPage): a page with the address "team" exists`)
	require.Contains(t, r.Issues[2], `"heroo"`)
	require.Contains(t, r.Issues[3], "operation 5")
	require.Contains(t, r.Issues[4], `there is no tool "cms.createPag"`)
	require.Contains(t, r.Issues[5], "it only reads")
	require.Contains(t, r.Issues[6], "name")
	require.Contains(t, r.Issues[7], `there is no page "nowhere"`)
	require.Contains(t, r.Suggestions, `operation 1 (cms.createPage): use another slug such as "home-2", or update that page`)
	require.Contains(t, r.Suggestions, `operation 6 (cms.createPag): did you mean "cms.createPage"?; the tools are `+toolNames(b.reg))
}

// A plan that doesn't give a page what the goal names misses it.
func TestAPlanMissesWhatItsGoalNames(t *testing.T) {
	b := newBench(t)
	weights := Weights(Config{Site: b.Site})
	p := func(tool string, input map[string]any) *plan.Plan {
		return &plan.Plan{Title: "x", Nodes: []plan.Node{{ID: "a", Tool: tool, Input: input}}}
	}
	hero := map[string]any{"section": "hero", "content": map[string]any{"title": "x"}}
	for _, c := range []struct {
		goal string
		plan *plan.Plan
		want []string
	}{
		{"a page Contact with a form", p(ClonePage, map[string]any{"source": "home", "newSlug": "contact"}),
			[]string{"there is no form"}},
		{"a page Contact with a hero", p(ClonePage, map[string]any{"source": "home", "newSlug": "contact"}), nil},
		{"a page Contact", p(CreatePage, map[string]any{"name": "Contact"}), nil},
		{"Contact, with a hero and a quote", p(CreatePage, map[string]any{"name": "Contact", "sections": []any{hero}}),
			[]string{"there is no quote"}},
		{"a form for home", p(AddSection, map[string]any{"page": "home", "section": "hero"}),
			[]string{"there is no form"}},
		{"a page with a form", p(CreatePage, map[string]any{"name": "Home"}), nil}, // it can't work
		{"delete the page with a form", p(DeletePage, map[string]any{"page": "home"}), nil},
	} {
		misses, err := weights.MissesOf(t.Context(), c.goal, c.plan)
		require.NoError(t, err)
		require.Equal(t, c.want, misses, c.goal)
	}
}

// toolNames are the tools that a plan may use.
func toolNames(reg *tools.Registry) string {
	names := ""
	for _, name := range reg.Names() {
		if name == ValidatePlan {
			continue
		}
		if names != "" {
			names += ", "
		}
		names += name
	}
	return names
}

func everything(t *testing.T, s *site.Site) []any {
	t.Helper()
	pages, err := s.ListPages(t.Context(), site.Query{})
	require.NoError(t, err)
	defs, err := s.ListSections(t.Context(), site.Query{})
	require.NoError(t, err)
	home, err := s.GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	return []any{pages, defs, home}
}
