package assistant

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
)

// A said is a message of a conversation, and what comes of it.
type said struct {
	mode, text string
	calls      []string // the tools that are called, in order
	asks       string   // the tool that needs approval; empty: none
	decision   string   // how a person decides
	message    string   // what a person says with it
	answer     string   // a part of the answer
	failed     int      // calls that didn't validate
}

// scenarios are conversations that a person tries first. All run with the stand-in model.
var scenarios = map[string][]said{
	"reading in the modes that change nothing": {
		{mode: cmstools.Architect, text: "What pages exist?", calls: []string{"cms.listPages"}, answer: "Home (/)"},
		{mode: cmstools.Ask, text: "What pages exist?", calls: []string{"cms.listPages"}, answer: "Home (/)"},
	},
	"a taken slug is corrected": {
		{text: "Create an About page with a hero titled Hello", calls: []string{"cms.createPage"},
			answer: "The page About is at /about, with"},
		{text: "Create an About page with a hero titled Hello", calls: []string{"cms.createPage", "cms.createPage"},
			failed: 1,
			answer: "The address /about was taken. The page About is at /about-2"},
	},
	"a page is found by a word of its description": {
		{
			text: "Create a page called Members with a hero titled Us, then describe the Members page as team, " +
				"people, staff",
			calls: []string{"cms.createPage", "cms.updatePage"}, answer: "team, people, staff"},
		{text: "Update the title on my team page to Meet Our Team", calls: []string{"cms.findResource"},
			answer: "I'm not sure which page is \"team\". Do you mean Members?\n- `Update the title on my \"members\" page"},
		{text: "Yes", calls: []string{"cms.findResource", "cms.syncPageContents"},
			answer: "The title of the page Members is “Meet Our Team” now."},
	},
	"a deletion is approved": {
		{text: "Create a page called Old homepage", calls: []string{"cms.createPage"},
			answer: "/old-homepage"},
		{text: "Delete page old-homepage", calls: []string{"cms.findResource", "cms.deletePage"},
			asks: "cms.deletePage", decision: "approve", answer: "I deleted the page"},
		{text: "Show page old-homepage", calls: []string{"cms.findResource", "cms.listPages"},
			answer: `There is no page "old-homepage".`},
	},
	"a deletion is rejected": {
		{text: "Delete the home page", calls: []string{"cms.findResource", "cms.deletePage"}, asks: "cms.deletePage",
			decision: "reject", answer: "A person rejected this call. Nothing was changed."},
		{text: "What pages exist?", calls: []string{"cms.listPages"}, answer: "Home (/)"},
	},
	"a section is removed, and its page stays": {
		{text: "remove the hero from home", calls: []string{"cms.findResource", "cms.removeSection"},
			asks: "cms.removeSection", decision: "approve",
			answer: "I removed the hero from the page Home."},
		{text: "What pages exist?", calls: []string{"cms.listPages"}, answer: "Home (/), sections: 0"},
	},
	"another slug needs approval": {
		{text: "Create a page called Members", calls: []string{"cms.createPage"}, answer: "/members"},
		{text: "Change the slug of Members to our-team", calls: []string{"cms.findResource", "cms.updatePage"},
			asks: "cms.updatePage", decision: "approve",
			answer: "The page Members is at /our-team now."},
	},
	"a question is answered with no": {
		{text: "Rename the front page to Start", calls: []string{"cms.findResource"}, answer: "Do you mean Home?"},
		{text: "No", answer: "All right, I leave it as it is."},
	},
	"a person asks for something else": {
		{text: "Delete the home page", calls: []string{"cms.findResource", "cms.deletePage"}, asks: "cms.deletePage",
			decision: "alternative", answer: "- `Take \"home\" offline`"},
	},
	"a person asks for something else that the script knows": {
		{text: "Delete the home page", calls: []string{"cms.findResource", "cms.deletePage",
			"cms.createPage"}, asks: "cms.deletePage", decision: "alternative", message: "create a page called Start",
			answer: "You rejected that, and suggested: create a page called Start\n\n"},
	},
	"what follows a rejection isn't done": {
		{text: "Delete Home, then create a page called Jobs", calls: []string{"cms.findResource", "cms.deletePage"},
			asks: "cms.deletePage", decision: "reject", answer: "Nothing was changed.\n\nI stopped there. Not done: 1 more"},
	},
	"the definition of a section is changed": {
		{text: `Run the scenario "definition in use"`, calls: []string{"cms.syncSectionElements"},
			asks: "cms.syncSectionElements", decision: "approve", answer: "are kept, and hidden"},
	},
	"a plan that fails is replaced by another": {
		{text: "Create a contact page with a form", asks: "plan", decision: "answer",
			message: "Reuse what exists", calls: []string{"plan.choose"},
			answer: `I followed the plan "Create new", a backup: the plan "Reuse what exists" failed`},
	},
	"a person chooses a plan": {
		{text: "Create a contact page with a form", calls: []string{"plan.choose"}, asks: "plan", decision: "answer",
			message: "Create new",
			answer:  `I followed the plan "Create new". The page Contact is at /contact`},
	},
	"a person chooses none of the plans": {
		{text: "Create a contact page with a form", calls: []string{"plan.choose"}, asks: "plan", decision: "reject",
			answer: "A person chose none of the plans. Nothing was changed."},
	},
	"a plan is only checked": {
		{mode: cmstools.Architect, text: "Create a contact page with a form", calls: []string{"cms.validatePlan"},
			answer: "1. create the page Contact\nI tried it on a copy of the site, and it doesn't work"},
	},
	"a plan with a missing definition": {
		{mode: cmstools.Architect, text: "Add a hero-new section to home",
			calls: []string{"cms.findResource", "cms.validatePlan"}, answer: "it doesn't work"},
		{mode: cmstools.Architect, text: "Add a hero section to home titled News",
			calls: []string{"cms.findResource", "cms.validatePlan", "plan.submit"}, asks: "plan.submit",
			decision: "reject"},
	},
}

func TestTheScenariosOverHTTP(t *testing.T) {
	for name, messages := range scenarios {
		t.Run(name, func(t *testing.T) {
			f := serveSite(t, nil, nil)
			for _, m := range messages {
				f.holds(m)
			}
		})
	}
}

// holds sends a message, decides as a person does, and compares what came of it.
func (f *fixture) holds(m said) {
	f.t.Helper()
	r := f.ask("s-1", m.text, m.mode)
	var events []shown
	if m.asks != "" {
		events = f.read(r, "paused")
		asked := of(events, "approval_required")
		require.Len(f.t, asked, 1, m.text)
		require.Equal(f.t, m.asks, asked[0].data["toolName"])
		status, _ := f.post("/v1/agent/approve",
			`{"sessionId":"s-1","approvalId":"`+asked[0].data["approvalId"].(string)+`","decision":"`+
				m.decision+`","message":"`+m.message+`"}`)
		require.Equal(f.t, http.StatusOK, status)
	}
	events = append(events, f.read(r, "")...)
	var calls []string
	for _, e := range of(events, "tool-input-available") {
		if name := e.data["toolName"].(string); name != "cms.listSections" && name != "cms.getPage" { // only read
			calls = append(calls, name)
		}
	}
	require.Equal(f.t, m.calls, calls, m.text)
	var answer strings.Builder
	for _, e := range of(events, "text-end") { // deltas are only for those who watch already
		answer.WriteString(e.data["text"].(string))
	}
	require.Contains(f.t, answer.String(), m.answer, m.text)
	require.Len(f.t, of(events, "validation_failed"), m.failed, m.text)
	if m.asks == "" {
		require.Empty(f.t, of(events, "approval_required"), m.text)
	}
}
