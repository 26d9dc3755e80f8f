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
			answer: `The page "About" is at /about`},
		{text: "Create an About page with a hero titled Hello", calls: []string{"cms.createPage", "cms.createPage"},
			failed: 1,
			answer: `The address /about was taken, so I created the page at /about-2.`},
	},
	"a page is found by a word of its description": {
		{
			text: "Create a page called Members with a hero titled Us, then describe the Members page as team, " +
				"people, staff",
			calls: []string{"cms.createPage", "cms.updatePage"}, answer: "team, people, staff"},
		{text: "Update the title on my team page to Meet Our Team",
			calls: []string{"cms.findResource", "cms.syncPageContents"}, answer: `"Meet Our Team" now`},
	},
	"a deletion is approved": {
		{text: "Create a page called Old homepage with the slug old-homepage", calls: []string{"cms.createPage"},
			answer: "/old-homepage"},
		{text: "Delete page old-homepage", calls: []string{"cms.findResource", "cms.deletePage"},
			asks: "cms.deletePage", decision: "approve", answer: "I deleted the page"},
		{text: "Show page old-homepage", calls: []string{"cms.findResource"}, answer: "I found no page"},
	},
	"a deletion is rejected": {
		{text: "Delete the home page", calls: []string{"cms.findResource", "cms.deletePage"}, asks: "cms.deletePage",
			decision: "reject", answer: "because you rejected it"},
		{text: "What pages exist?", calls: []string{"cms.listPages"}, answer: "Home (/)"},
	},
	"a section is removed, and its page stays": {
		{text: "remove the hero from home", calls: []string{"cms.findResource", "cms.removeSection"},
			asks: "cms.removeSection", decision: "approve",
			answer: "I removed the hero section"},
		{text: "What pages exist?", calls: []string{"cms.listPages"}, answer: "Home (/), 0 sections"},
	},
	"another slug needs approval": {
		{text: "Create a page called Members", calls: []string{"cms.createPage"}, answer: "/members"},
		{text: "Change the slug of Members to our-team", calls: []string{"cms.findResource", "cms.updatePage"},
			asks: "cms.updatePage", decision: "approve",
			answer: "has moved from /members to /our-team"},
	},
	"a question is answered with yes": {
		{
			text: "Create a page called Members with a hero titled Us, then describe the Members page as the people " +
				"who work here, a good team",
			calls: []string{"cms.createPage", "cms.updatePage"}, answer: "is described as"},
		{text: "Update the title on my taem page to Meet Our Team", calls: []string{"cms.findResource"},
			answer: `"Members" (members) fits best. Do you mean it?`},
		{text: "Yes", calls: []string{"cms.findResource", "cms.syncPageContents"}, answer: `"Meet Our Team" now`},
	},
	"a person asks for something else": {
		{text: "Delete the home page", calls: []string{"cms.findResource", "cms.deletePage"}, asks: "cms.deletePage",
			decision: "alternative", answer: "- `take home offline`"},
	},
	"an entry is deleted": {
		{text: "delete the entry hello-world", calls: []string{"cms.findResource", "cms.deleteEntry"},
			asks: "cms.deleteEntry", decision: "approve", answer: "I deleted the entry"},
	},
	"the definition of a section is changed": {
		{text: "replace the slots of the hero section by headline", calls: []string{"cms.syncSectionElements"},
			asks: "cms.syncSectionElements", decision: "approve", answer: "are kept, and hidden"},
	},
	"a plan that fails is replaced by another": {
		{text: "Create a contact page with a form", asks: "plan", decision: "answer",
			message: "Reuse what exists", calls: []string{"plan.choose"},
			answer: `I followed the plan "Create new", a backup: the plan "Reuse what exists" failed`},
	},
	"a person chooses a plan": {
		{text: "Create a contact page with a form", calls: []string{"plan.choose"}, asks: "plan", decision: "answer",
			message: "Clone a template",
			answer:  `I followed the plan "Clone a template". The page "Contact" is at /contact`},
	},
	"a person chooses none of the plans": {
		{text: "Create a contact page with a form", calls: []string{"plan.choose"}, asks: "plan", decision: "reject",
			answer: "You chose none of the plans"},
	},
	"a plan is only checked": {
		{mode: cmstools.Architect, text: "Create a contact page with a form", calls: []string{"cms.validatePlan"},
			answer: "1. create the page \"Contact\", with a form\nI tried it on a copy of the site, and it doesn't work"},
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
