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

// logged waits until the log, which it opens, has an entry of a kind with a text.
func (p *cmsPage) logged(kind, text string) {
	p.t.Helper()
	p.clickOn(`[...document.querySelectorAll(".preview .area-head .modes button")][1]`)
	p.wait(
		fmt.Sprintf(
			`[...document.querySelectorAll(".entry.k-%s:not([hidden]) summary")].some(e => e.textContent.includes(%s))`,
			kind, quote(text)))
}

// answer waits until the run has ended, with an answer that contains a text.
func (p *cmsPage) answer(text string) {
	p.t.Helper()
	p.wait(`[...document.querySelectorAll(".column .part:not(.reasoning)")].at(-1)?.textContent.includes(` +
		quote(text) + `)`)
	p.done()
}

// mode chooses a mode.
func (p *cmsPage) mode(label string) {
	p.t.Helper()
	p.press(".strip .modes", label)
}

// asked waits for a card that waits for a decision and has a text.
func (p *cmsPage) asked(text string) {
	p.t.Helper()
	p.wait(`[...document.querySelectorAll(".column .card")].some(e => e.textContent.includes(` + quote(text) + `))`)
	p.status("Waiting for your decision")
}

// decided waits until no card waits.
func (p *cmsPage) decided() {
	p.t.Helper()
	p.wait(`!document.querySelector(".column .card")`)
	p.done()
}

// previews waits until the preview shows a page.
func (p *cmsPage) previews(path string) {
	p.t.Helper()
	p.wait(`document.querySelector(".preview iframe").src.includes(` + quote(path) + `) &&
		document.querySelector(".site .row[aria-current]")?.dataset.path === ` + quote(path))
}

// listed waits until the list of the site has names in this order: pages, entries and media.
func (p *cmsPage) listed(name string, there bool) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`[...document.querySelectorAll(".row .name, .thumb-button span")].some(e => e.firstChild.textContent.trim() === %s) === %t`,
		quote(name), there))
}

// toast waits for a message that passes.
func (p *cmsPage) toast(text string) {
	p.t.Helper()
	p.wait(`[...document.querySelectorAll(".toast")].some(e => e.textContent.includes(` + quote(text) + `))`)
}

// done waits until the run has ended.
func (p *cmsPage) done() {
	p.t.Helper()
	p.status("Done")
	p.wait(`!document.querySelector(".activity").firstChild && !document.querySelector(".bubble.sending")`)
	p.status("Done")
}

// A cmsLook is a state of the page.
type cmsLook struct {
	name  string
	area  string // that is looked at on a phone
	rare  bool   // it is looked at only with -screens
	reach func(p *cmsPage)
}

var cmsLooks = []cmsLook{
	{"empty", "chat", false, func(p *cmsPage) { p.listed("Home", true) }},
	{"site", "site", false, func(p *cmsPage) {
		p.listed("Home", true)
		p.press(".site", "New page")
	}},
	{"work", "chat", false, func(p *cmsPage) {
		p.say("Create an About page with a hero titled Hello")
		p.done()
		p.say("Create a page called Members, then add a text section to Members saying Open")
		p.done()
		p.previews("/pages/members")
	}},
	{"approval", "chat", false, func(p *cmsPage) {
		p.say("delete the home page")
		p.asked("left")
	}},
	{"compare", "preview", false, func(p *cmsPage) {
		p.say("Create a page called Members, then change the slug of Members to our-team")
		p.asked("left")
		p.wait(`document.querySelector(".page-bar .path").textContent === "/our-team"`) // the address that the page would have
		p.wait(`[...document.querySelectorAll(".card button")].some(e => e.textContent === "Always allow “Update page” in this chat")`)
	}},
	{"plans", "chat", false, func(p *cmsPage) {
		p.say("Create a contact page with a form")
		p.wait(`document.querySelectorAll(".alternative").length === 3`)
	}},
	{"plan", "chat", false, func(p *cmsPage) {
		p.mode("Plan")
		p.say("Add a hero section to home titled News, then create a page called Contact")
		p.asked("Carry out the plan")
	}},
	{"help", "chat", true, func(p *cmsPage) {
		p.say("help")
		p.done()
		p.clickOn(`document.querySelector(".popover summary")`)
	}},
	{"log", "preview", true, func(p *cmsPage) {
		p.say("Create an About page with a hero titled Hello")
		p.done()
		p.logged("calls", "bout")
		p.text(`document.querySelector(".entry.k-calls").open = true, ""`)
	}},
	{"error", "site", false, func(p *cmsPage) {
		p.listed("Home", true)
		p.server.kill()
		p.press(".site", "Read the lists again")
		p.wait(`document.querySelector(".site-lists [role=alert]")`)
	}},
}

// TestTheCMSPageLooksRightAndIsAccessible looks at each state at three widths: nothing sticks out,
// no text is cut, and axe finds nothing.
func TestTheCMSPageLooksRightAndIsAccessible(t *testing.T) {
	t.Parallel()
	server := startCMS(t) // the last state ends it
	for n, l := range cmsLooks {
		t.Run(l.name, func(t *testing.T) {
			if l.rare && !*screens {
				t.Skip("it is looked at with -screens")
			}
			p := openCMS(t, server, "")
			l.reach(p)
			for _, at := range sizes() {
				p.screen(at.width, 900, at.theme)
				if at.width < 720 {
					p.clickOn(`document.querySelector(".views [aria-controls=area-` + l.area + `]")`)
				} else if at.width < 1200 && l.area == "site" {
					p.clickOn(`document.querySelector(".views [aria-controls=area-site]")`)
				}
				p.drawn(fmt.Sprintf("cms-%s-%d-%s.png", l.name, at.width, at.theme))
				require.Equal(t, "[]", p.text(overflow), "at a width of %d", at.width)
				require.Equal(t, "[]", p.text(clipped), "at a width of %d", at.width)
				p.seesIcons(fmt.Sprint(at.width, " ", at.theme))
				if at.checked(n) {
					require.Empty(t, p.axe(), "at a width of %d, in %s", at.width, at.theme)
				}
			}
			p.calm("404", "ERR_")
		})
	}
}

// clipped returns the elements whose text is cut without an ellipsis, and the areas that scroll
// sideways.
const clipped = `JSON.stringify([...document.querySelectorAll(".areas, .area *:not(svg, svg *)")].filter(e => {
	const style = getComputedStyle(e);
	if (!e.checkVisibility() || e.closest(".hidden-visually, .data, .code, .table, .sidebar, .splitter") || style.textOverflow === "ellipsis") return false;
	const hides = style.overflowX !== "visible" || style.overflowY === "hidden" && e.clientHeight < e.scrollHeight - 2;
	return hides && e.clientWidth > 0 && (e.scrollWidth > e.clientWidth + 1) || e.matches("button, .chip, .status") && e.scrollWidth > e.clientWidth + 1;
}).map(e => e.outerHTML.slice(0, 120)))`
