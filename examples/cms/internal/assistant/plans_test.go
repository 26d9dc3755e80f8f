package assistant

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestSeveralPlansAreRankedAndTheFailedOneIsReplaced(t *testing.T) {
	f := serveSite(t, nil, nil)
	r := f.ask("s-1", "Create a contact page with a form")
	events := f.read(r, "paused")
	made := of(events, "plans-generated")
	require.Len(t, made, 1)
	require.EqualValues(t, 3, made[0].data["count"])
	require.Equal(t, "Create new", made[0].data["selected"], "there is no section form to reuse")
	all := made[0].data["alternatives"].([]any)
	first, last := all[0].(map[string]any), all[1].(map[string]any)
	require.Len(t, first["steps"], 2)
	require.EqualValues(t, 4000, first["estimatedTimeMs"])
	require.Greater(t, first["feasibilityScore"], last["feasibilityScore"])
	require.Equal(t, "Reuse what exists", last["name"])
	require.Contains(t, last["issues"].([]any)[0], "step s1 (Create page “Contact”): ")
	asked := of(events, "approval_required")
	require.Len(t, asked, 1)
	require.Contains(t, asked[0].data["description"], "It can't work now: ")
	require.Len(t, asked[0].data["schema"].(map[string]any)["enum"], 3)

	id := asked[0].data["approvalId"].(string)
	status, _ := f.post("/v1/agent/approve",
		`{"sessionId":"s-1","approvalId":"`+id+`","decision":"answer","message":"Do nothing"}`)
	require.Equal(t, http.StatusBadRequest, status, "there is no such plan")
	status, _ = f.post("/v1/agent/approve",
		`{"sessionId":"s-1","approvalId":"`+id+`","decision":"answer","message":"Reuse what exists"}`)
	require.Equal(t, http.StatusOK, status)
	events = f.read(r, "")
	failed := of(events, "plan-failed")
	require.Len(t, failed, 1)
	require.Equal(t, "Reuse what exists", failed[0].data["plan"])
	require.Contains(t, failed[0].data["error"], "form")
	require.Equal(t, "Create new", failed[0].data["tryingNext"])
	taken := of(events, "plan-selected")
	require.Len(t, taken, 2)
	require.Equal(t, map[string]any{"name": "Create new", "isBackup": true}, taken[1].data["plan"])
	require.True(t, f.exists("contact"))
}

// A step is a node of a plan, as a model writes it.
func step(id, tool string, input map[string]any, after ...string) map[string]any {
	text, _ := json.Marshal(input)
	return map[string]any{"id": id, "tool": tool, "input": string(text), "after": after}
}

func TestAPlanThatIsApprovedRunsAsItWasShown(t *testing.T) {
	plans := map[string]any{"title": "A page About", "nodes": []any{
		step("create", "cms.createPage", map[string]any{"name": "About"}),
		step("hero", "cms.addSectionToPage", map[string]any{"page": map[string]any{"$from": "create.slug"},
			"section": "hero", "content": map[string]any{"title": "Hello"}}),
		step("old", "cms.deletePage", map[string]any{"page": "home"}, "hero")}}
	m := providertest.Script(providertest.Call("plan.submit", plans), providertest.Say("Done."))
	f := serveSite(t, m, nil)
	r := f.ask("s-1", "Plan a page About", "architect")
	asked := of(f.read(r, "paused"), "approval_required")
	require.Len(t, asked, 1)
	require.False(t, f.exists("about"))
	status, _ := f.post("/v1/agent/approve",
		`{"sessionId":"s-1","approvalId":"`+asked[0].data["approvalId"].(string)+`","decision":"approve"}`)
	require.Equal(t, http.StatusOK, status)
	events := f.read(r, "")
	require.Equal(t, "completed", events[len(events)-1].data["status"])
	require.Empty(t, of(events, "approval_required"), "the deletion was approved with the plan")
	require.False(t, f.exists("home"))
	p, err := f.site.GetPage(t.Context(), "about", "")
	require.NoError(t, err)
	require.Equal(t, "Hello", p.Sections[0].Content["title"])

	_, err = f.hub.Agent().Session("s-1").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.False(t, f.exists("about"))
	require.True(t, f.exists("home"))
}

func TestNobodyIsAskedAboutAPlanThatDoesNotWork(t *testing.T) {
	plans := map[string]any{"title": "A section", "nodes": []any{
		step("add", "cms.addSectionToPage", map[string]any{"page": "nowhere", "section": "hero"})}}
	m := providertest.Script(providertest.Call("plan.submit", plans), providertest.Say("It doesn't work."))
	f := serveSite(t, m, nil)
	events := f.read(f.ask("s-1", "Plan it", "architect"), "")
	require.Empty(t, of(events, "approval_required"))
	require.Contains(t, of(events, "tool-result")[0].data["output"], `the plan doesn't work: step add`)
	require.Contains(t, of(events, "tool-result")[0].data["output"], `there is no page "nowhere"`)
}

func TestAStepThatFailsTakesBackWhatItsPlanHasDone(t *testing.T) {
	plans := map[string]any{"title": "Two pages", "nodes": []any{
		step("one", "cms.createPage", map[string]any{"name": "One"}),
		step("menu", "cms.addMenuItem", map[string]any{"page": "one"}, "one"),
		step("two", "cms.createPage", map[string]any{"name": "Two"}, "menu")}}
	m := providertest.Script(providertest.Call("plan.submit", plans), providertest.Say("It failed."))
	f := serveSite(t, m, nil)
	_, err := f.site.PutNavigation(t.Context(), site.Navigation{Name: "main"})
	require.NoError(t, err)
	r := f.ask("s-1", "Plan it", "architect")
	asked := of(f.read(r, "paused"), "approval_required")
	_, err = f.site.CreatePage(t.Context(), site.CreatePage{Name: "Two"}) // meanwhile
	require.NoError(t, err)
	f.post("/v1/agent/approve",
		`{"sessionId":"s-1","approvalId":"`+asked[0].data["approvalId"].(string)+`","decision":"approve"}`)
	events := f.read(r, "")
	require.Equal(t, false, of(events, "tool-result")[0].data["success"])
	require.False(t, f.exists("one"))
	menus, err := f.site.ListNavigations(t.Context())
	require.NoError(t, err)
	for _, n := range menus {
		require.Empty(t, n.Items)
	}
}
