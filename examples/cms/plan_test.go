package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

type object = map[string]any

// descriptionOf returns what a request says about a tool.
func descriptionOf(t *testing.T, req *provider.Request, name string) string {
	for _, tool := range req.Tools {
		if tool.Name == name {
			return tool.Description
		}
	}
	require.Fail(t, "the request doesn't have "+name)
	return ""
}

// In the mode Plan the tools that write aren't offered, and yet a model knows how they are called.
func TestAModelSeesTheInputsOfWhatItPlans(t *testing.T) {
	t.Parallel()
	operations := []object{
		{"tool": "cms_createPage", "input": object{"name": "Contact", "status": "published",
			"sections": []object{{"section": "hero", "content": object{"title": "Write to us"}}}}},
		{"tool": "cms_addSectionToPage", "input": object{"page": "contact", "section": "form",
			"content": object{"title": "Your question"}, "sortOrder": 1}},
		{"tool": "cms_updateSection", "input": object{"sectionId": "sec_home_hero", "status": "unpublished"}}}
	w := newBench(t).withModel(providertest.Call(cmstools.ValidatePlan, object{"operations": operations}))
	req := w.say(agent.Input{Mode: cmstools.Architect, Prompt: "Plan a contact page"})
	about := descriptionOf(t, w.requests[0], cmstools.ValidatePlan)
	for _, line := range []string{
		"cms_createPage {name, description?, indexing?: boolean, locale?, meta?, sections?, slug?, status?: draft|published}",
		"cms_addSectionToPage {page, section, content?, locale?, sortOrder?: integer}",
		"cms_updateSection {sectionId, sortOrder?: integer, status?: published|unpublished, variant?}",
		"sections: in order, each with its contents by slot key; all are added or none, [{section, content?: {}}]"} {
		require.Contains(t, about, "\n"+line+"\n")
	}
	results := req.Messages[len(req.Messages)-1].Parts
	require.Contains(t, results[0].Result.Text(), `"valid":true,"issues":[]`)
}

// Whoever decides about a plan sees the tools of its steps by their names, which aren't those that
// models read.
func TestAPlanMayNameToolsAsModelsReadThem(t *testing.T) {
	t.Parallel()
	w := newBench(t).withModel(providertest.Call("plan.submit", object{"title": "A contact page", "nodes": []object{
		{"id": "page", "tool": "cms_createPage", "input": `{"name":"Contact"}`},
		{"id": "form", "tool": "cms_addSectionToPage", "input": `{"page":{"$from":"page.slug"},"section":"form"}`}}}))
	_, err := w.hub.Agent().Run(t.Context(), agent.Input{Session: "s", Mode: cmstools.Architect, Prompt: "Plan it"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	pending, err := w.hub.Agent().Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(pending[0].Call.Input), `"tool":"cms.createPage"`)
	require.NotContains(t, string(pending[0].Call.Input), "cms_")
	_, err = w.hub.Agent().Run(t.Context(), agent.Resume("s", agent.Approve(pending[0].ID)))
	require.NoError(t, err)
	p, err := w.site.GetPage(t.Context(), "contact", "")
	require.NoError(t, err)
	require.Len(t, p.Sections, 1)
}
