package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A cmsPage is the page of the assistant of the CMS.
type cmsPage struct {
	*builtIn
	server *cmsServer
}

// openCMS opens the page in a tab of its own.
func openCMS(t *testing.T, server *cmsServer, session string) *cmsPage {
	t.Helper()
	p := &cmsPage{&builtIn{open(t, "about:blank")}, server}
	p.screen(1440, 900, "light")
	p.reach(session)
	if session == "" { // what other tests have chosen is forgotten
		p.text(`localStorage.clear(), ""`)
		p.reach("")
	}
	return p
}

func (p *cmsPage) reach(session string) {
	p.t.Helper()
	address := "http://" + p.server.page + "/assistant/"
	if session != "" {
		address += "?session=" + session
	}
	p.run(chromedp.Navigate(address))
	p.wait(`document.querySelector(".strip")`)
}

// logged waits until the message history shows an entry of a kind with a text.
func (p *cmsPage) logged(kind, text string) {
	p.t.Helper()
	p.wait(
		fmt.Sprintf(
			`[...document.querySelectorAll(".entry.k-%s:not([hidden]) .title")].some(e => e.textContent.includes(%s))`,
			kind, quote(text)))
}

// done waits until the run has ended.
func (p *cmsPage) done() {
	p.t.Helper()
	p.status("Done")
	p.wait(`!document.querySelector(".activity").firstChild`)
}

func TestTheAssistantChangesTheSiteBesideItsPreview(t *testing.T) {
	t.Parallel()
	p := openCMS(t, startCMS(t), "")
	p.say("Create an About page with a hero titled Hello")
	p.done()
	p.logged("user", "Create an About page")
	p.logged("call", "cms.createPage")
	p.logged("result", "cms.createPage")
	p.wait(`document.querySelector(".preview iframe").src.includes("/pages/about")`)
	p.say("hide the hero section on About")
	p.answer("unpublished")
	// and not by its id
	const named = `[...document.querySelectorAll(".call .object")].at(-1)?.textContent === "Hero · unpublished"`
	p.wait(named)
	p.logged("call", "cms.updateSection Hero · unpublished")
	p.reload()
	p.wait(named)
	p.say("delete the About page")
	p.wait(`document.querySelector("dialog.approvals").open`)
	p.keys("\x1b")
	p.wait(`document.querySelector("dialog.approvals").open`)
	p.drawn("cms-approval.png")
	p.reload()
	p.wait(`document.querySelector("dialog.approvals")?.open`)
	p.press("dialog.approvals", "Approve")
	p.done()
	p.wait(`!document.querySelector("dialog.approvals").open`)
	p.logged("approval", "Approved")
	p.calm("404")
}

// TestTheAssistantInTwoTabsTakesOneDecision has one session open twice.
func TestTheAssistantInTwoTabsTakesOneDecision(t *testing.T) {
	t.Parallel()
	p := openCMS(t, startCMS(t), "")
	p.say("delete the home page")
	p.wait(`document.querySelector("dialog.approvals").open`)
	other := openCMS(t, p.server, p.session())
	other.wait(`document.querySelector("dialog.approvals").open`)
	other.press("dialog.approvals", "Reject")
	for _, tab := range []*cmsPage{p, other} {
		tab.wait(`!document.querySelector("dialog.approvals").open`)
		tab.done()
		tab.logged("approval", "Rejected")
	}
	p.click(".log-tools input")
	p.keys("rejected")
	p.wait(`[...document.querySelectorAll(".entry:not([hidden])")].length < 5`)
	p.calm()
	other.calm()
}

// somePlans is a script that tells the page's plan what events about several plans say.
const somePlans = `import("./cms/plans.js").then(({ Plans }) => {
	const view = new Plans(() => {});
	document.querySelector(".plans").replaceWith(view.element);
	const step = (tool, args, rationale) => ({ tool, args, rationale });
	const plans = [
		{ name: "Reuse what exists", feasibilityScore: 0.95, steps: [step("cms.findResource", { query: "form" }, "A form that exists is the fastest way"), step("cms.createPage", { name: "Contact" })] },
		{ name: "Create new", feasibilityScore: 0.85, risks: ["One more definition to look after"], steps: [step("cms.createSectionDef", { name: "Form" }), step("cms.createPage", { name: "Contact", slug: "contact" }), step("cms.addSectionToPage", { page: "contact", section: "form" })] },
		{ name: "Clone a template", feasibilityScore: 0.7, steps: [step("cms.clonePage", { source: "home", slug: "contact" })] },
	];
	view.event({ type: "user-message", text: "Create a contact page with a form", mode: "cms-crud" });
	view.event({ type: "plans-generated", count: 3, selected: "Reuse what exists", alternatives: plans });
	view.event({ type: "plan-selected", plan: { name: "Reuse what exists" } });
	view.event({ type: "plan", title: "Reuse what exists", steps: [{ status: "failed" }, { status: "skipped" }] });
	view.event({ type: "plan-failed", plan: "Reuse what exists", error: "there is no form section", tryingNext: "Create new" });
	view.event({ type: "plan-selected", plan: { name: "Create new", isBackup: true } });
	view.event({ type: "plan", title: "Create new", steps: [{ status: "done" }, { status: "running" }, { status: "pending" }] });
}); ""`

func TestTheCMSPageLooksRightAndIsAccessible(t *testing.T) {
	t.Parallel()
	server := startCMS(t)
	looks := []struct {
		name  string
		over  bool // something is over the areas, so that they can't be chosen
		reach func(p *cmsPage)
	}{
		{"empty", false, func(*cmsPage) {}},
		{"work", false, func(p *cmsPage) {
			p.say("Create an About page with a hero titled Hello")
			p.done()
			p.say("Create an About page")
			p.logged("answer", "about-2")
			p.done()
		}},
		{"approval", true, func(p *cmsPage) {
			p.say("delete the home page")
			p.wait(`document.querySelector("dialog.approvals").open`)
		}},
		{"entry", false, func(p *cmsPage) {
			p.say("help")
			p.answer("I understand requests")
			p.logged("answer", "I understand requests")
			p.text(`[...document.querySelectorAll(".entry.k-answer")].at(-1).open = true, ""`)
			p.clickOn(`document.querySelector(".log-tools summary")`)
		}},
		{"chats", true, func(p *cmsPage) {
			p.say("What pages exist?")
			p.done()
			p.press(".chat .top", "Show chats")
			p.wait(`document.querySelector(".app.open")`)
		}},
		{"escalation", true, func(p *cmsPage) {
			p.text(
				`import("./cms/dialogs.js").then(({ escalate }) => escalate({ tool: "cms.createPage", error: "slug \"about\" exists already", reason: "It failed 3 times, and the corrections haven't helped.", remedies: ["Name another slug"] }, {})), ""`)
			p.wait(`document.querySelector("dialog.escalation")?.open`)
		}},
		{"plan", false, func(p *cmsPage) {
			p.press(".strip", "Plan")
			p.say("Create a Team page with a hero titled Hi, then add a hero-new section to home")
			p.done()
			p.wait(`document.querySelector(".plans[open] .issues")`)
		}},
		{"plans", false, func(p *cmsPage) {
			p.press(".strip", "Plan")
			p.say("What pages exist?")
			p.done()
			p.text(somePlans)
			p.wait(`document.querySelector(".plan-tabs [aria-pressed=true]")?.textContent === "Create new85 %"`)
			require.Equal(p.t, "backup, 1 of 3 done", p.text(`document.querySelector(".plans .state").textContent`))
		}},
	}
	for n, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			p := openCMS(t, server, "")
			if l.name == "chats" { // as on a phone, where the list covers everything
				p.screen(390, 900, "light")
				p.clickOn(`document.querySelector(".views [aria-controls=area-chat]")`)
			}
			l.reach(p)
			for _, at := range sizes() {
				width, theme := at.width, at.theme
				p.screen(width, 900, theme)
				for _, area := range []string{"log", "chat", "preview"} {
					if width == 1440 && area != "chat" || width == 820 && area == "chat" || l.over &&
						area != "chat" && width != 820 {
						continue
					}
					if width < 1200 && !l.over {
						p.clickOn(`document.querySelector(".views [aria-controls=area-` + area + `]")`)
					}
					p.drawn(fmt.Sprintf("cms-%s-%d-%s-%s.png", l.name, width, area, theme))
					require.Equal(t, "[]", p.text(overflow), "at a width of %d", width)
					if at.checked(n) {
						require.Empty(t, p.axe(), "at a width of %d, in %s", width, theme)
					}
				}
			}
			p.calm("404")
		})
	}
}
