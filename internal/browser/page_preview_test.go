package browser

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

// A draft is the input of a tool whose form has a list, and an object that is a field of JSON.
type draft struct {
	Page   string   `json:"page"`
	Tags   []string `json:"tags,omitempty"`
	Layout struct {
		Columns int `json:"columns" minimum:"1" maximum:"3"`
	} `json:"layout"`
}

// writes returns a tool that shows what it would change, and a policy with which "always" may reach
// further than the session.
func writes(do func(draft)) (tools.Tool, tools.Policy) {
	return tools.Func[draft, string]{
			Spec: tools.Spec{Name: "write_page", Description: "Write a page.", Approval: tools.AskAlways,
				AllowAlways: true},
			Run: func(_ context.Context, d draft) (string, error) {
				do(d)
				return "written", nil
			},
			Preview: func(_ context.Context, d draft) (string, error) {
				return "--- a/" + d.Page + "\n+++ b/" + d.Page + "\n@@ -1,3 +1,3 @@\n # Jobs\n-We have no open positions.\n" +
					"+We look for two engineers.\n Write to us.\n", nil
			},
		}, func(_ context.Context, d *tools.Definition, _ *tools.Call) (v tools.Verdict) {
			if d.Name() == "write_page" {
				v.Scopes = []tools.Scope{{Name: "site", Text: "on this site"}}
			}
			return v
		}
}

// shownDraft is what the site shows of what a pause asks about.
func shownDraft(_ string, p *agent.Pause) page.Preview {
	if p.Call.Name != "write_page" {
		return page.Preview{}
	}
	return page.Preview{Title: "How the page would look", Page: "/draft", Picture: "https://elsewhere.example/x.png"}
}

// serveDraft serves the page that shownDraft names. Its script must not run.
func serveDraft(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Jobs</title><body style="font-family: sans-serif">` +
		`<h1>Jobs</h1><p>We look for two engineers.</p><script>parent.document.title = "harmed"</script>`))
}

func write(name string) providertest.Step {
	d := draft{Page: name, Tags: []string{"work", "team"}}
	d.Layout.Columns = 1
	return providertest.Call("write_page", d)
}

func TestACardShowsWhatACallChangesAndHowFarAlwaysReaches(t *testing.T) {
	t.Parallel()
	var got draft
	var scope string
	tool, policy := writes(func(d draft) { got = d })
	cfg := scripted(write("jobs"), write("about"), write("news"), providertest.Say("Done."))
	cfg.Tools, cfg.Policies = []tools.Tool{tool}, []tools.Policy{policy}
	cfg.Hooks = []agent.Hooks{{Name: "grants",
		AfterDecision: func(_ context.Context, _ *agent.ToolCall, _ agent.Pause, d agent.Decision) error {
			scope += d.Scope
			return nil
		}}}
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("Write.")
	p.status("Waits for you")
	card := p.card("Write page “jobs”?")
	require.Equal(t, "-We have no open positions.", p.text(`document.querySelector(".diff .removed").textContent`))
	require.Equal(t, "+We look for two engineers.", p.text(`document.querySelector(".diff .added").textContent`))
	require.Equal(t, "1 /draft", p.text(`(all => all.length + " " + new URL(all[0].src).pathname)(document.querySelectorAll(".shown :is(img, iframe)"))`))

	p.press(card, "Edit") // simple fields, a list, and an object
	p.wait(`document.querySelectorAll(".card form label").length === 3`)
	p.clickOn(`document.querySelectorAll(".card textarea")[0]`)
	p.text(`document.querySelectorAll(".card textarea")[0].setSelectionRange(99, 99), ""`)
	p.keys("\rnew")
	p.clickOn(`document.querySelector(".card textarea.json")`)
	p.text(`document.querySelector(".card textarea.json").select(), ""`)
	p.keys(`{"columns": 7}`)
	p.has("At most 3.")
	p.text(`document.querySelector(".card textarea.json").select(), ""`)
	p.keys(`{"columns": 2}`)
	p.press(card, "Approve with changes")

	p.press(p.card("Write page “about”?"), "Reject") // at once
	p.press(p.card("Write page “news”?"), "Always allow on this site")
	p.has("Done.")
	// the view has followed what came after the choice
	p.wait(`(e => e.scrollHeight - e.scrollTop - e.clientHeight < 2)(document.querySelector(".scroller"))`)
	require.Equal(t, "site", scope)
	require.Equal(t, "news", got.Page)
	p.shows("user: Write.", "call: Write page jobs: Done", "record: Approved with changes by ann · Write page “jobs”",
		"call: Write page about: Rejected", "record: Rejected by ann · Write page “about”",
		"call: Write page news: Done", "record: Always allowed on this site by ann · Write page “news”", "text: Done.")
	p.has(`"columns": 2`)
}

func TestAnInputOfTheWrongTypesIsCorrectedInAForm(t *testing.T) {
	t.Parallel()
	var got draft
	tool, _ := writes(func(d draft) { got = d })
	wrong := providertest.Unfit(
		providertest.Call("write_page", object{"page": 7, "tags": "work", "layout": object{"columns": 1}}))
	cfg := scripted(wrong, wrong, wrong, providertest.Say("Done."))
	cfg.Tools, cfg.Limits.AskAfterCorrections = []tools.Tool{tool}, true
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("Write.")
	p.status("Waits for you")
	p.wait(`document.querySelectorAll(".card form label").length === 3`)
	p.clickOn(`document.querySelector(".card textarea.json")`)
	p.text(`document.querySelector(".card textarea.json").select(), ""`)
	p.keys(`["work"]`)
	p.press(".card", "Approve with changes")
	p.has("Done.")
	require.Equal(t, "7", got.Page)
	require.Equal(t, []string{"work"}, got.Tags)
}

func TestSeveralCallsOfAStepAreOneLineThatOpens(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(
		providertest.Reply(providertest.Call("look", target{"home"}),
			providertest.Unfit(providertest.Call("look", object{"page": 7}))),
		providertest.Say("See http://localhost:8080/pages/home?a=1, or https://example.org.")))
	p := s.page("")
	p.say("Look.")
	p.status("Done")
	p.wait(`document.querySelector(".calls > summary").textContent === "Look2 calls · 1 failed"`)
	require.Equal(t, "false", p.text(`String(document.querySelector(".call").checkVisibility())`))
	p.click(".calls > summary")
	p.wait(`document.querySelector(".call").checkVisibility()`)
	require.Equal(t, "http://localhost:8080/pages/home?a=1 https://example.org",
		p.text(`[...document.querySelectorAll(".prose a[target=_blank]")].map(a => a.getAttribute("href")).join(" ")`))
	p.calm()
}
