package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scenario is something that somebody tries first with the assistant.
type scenario struct {
	name     string
	flags    []string // of the server
	play     func(p *cmsPage)
	expected []string // errors in the console
}

const oldHomepage = "Create a page called Old homepage"

// scenarios are those of the README's table, and what somebody tries next.
var scenarios = []scenario{
	{name: "1 what pages exist", play: func(p *cmsPage) {
		p.mode("Ask")
		p.say("What pages exist?")
		p.answer("Home")
		p.say("Delete the home page") // no tool that changes something is offered
		p.done()
		require.Contains(p.t, strings.Join(p.server.contents(), " "), "home ")
	}},
	{name: "2 a page is created twice", play: func(p *cmsPage) {
		for _, path := range []string{"/pages/about", "/pages/about-2"} {
			p.say("Create an About page with a hero titled Hello")
			p.previews(path)
			p.done()
		}
		p.wait(`document.querySelector(".call .said")?.textContent === 'A page with the address "about" exists: About'`)
		p.logged("calls", "exists: About")
		require.Subset(p.t, p.server.contents(), []string{"about 1", "about-2 1"})
	}},
	{name: "3 a page by another name", play: func(p *cmsPage) {
		p.say(
			"Create a page called Members with a hero titled Us, then describe the Members page as team, people, staff")
		p.previews("/pages/members")
		p.done()
		p.say("Update the title on my team page to Meet Our Team")
		p.answer("Do you mean Members?")
		p.say("Yes")
		p.answer("is “Meet Our Team” now")
	}},
	{name: "4 a deletion that is approved", play: func(p *cmsPage) {
		p.say(oldHomepage)
		p.previews("/pages/old-homepage")
		p.done()
		p.say("Delete page old-homepage")
		p.asked("min")
		require.Equal(p.t, "Before", p.text(`document.querySelector(".page-bar .modes [aria-pressed=true]").textContent`))
		p.press(".page-bar", "After")
		p.wait(`document.querySelector(".preview iframe").src.includes("call=")`)
		p.press(".card", "Approve")
		p.decided()
		p.listed("Old homepage", false)
		p.previews("/pages/home") // there is nothing to see of what is gone
		p.wait(`document.activeElement.matches(".composer textarea")`)
		require.NotContains(p.t, strings.Join(p.server.contents(), " "), "old-homepage")
	}, expected: []string{"404"}},
	{name: "4 something else instead of a deletion", play: func(p *cmsPage) {
		p.say("Delete the home page")
		p.asked("min")
		p.press(".card", "Ask for an alternative")
		p.wait(`document.activeElement.matches(".card textarea")`)
		p.keys("take Home offline")
		p.press(".card", "Send suggestion")
		p.asked("goes offline") // visitors lose something by that, too
		p.press(".card", "Approve")
		p.decided()
		p.logged("decisions", "Something else suggested")
		require.Contains(p.t, strings.Join(p.server.contents(), " "), "home ")
	}},
	{name: "4 a deletion that nobody decides", flags: []string{"-expires", "5s"}, play: func(p *cmsPage) {
		p.say("Delete the home page")
		p.asked("sec left")
		p.decided()
		p.wait(`[...document.querySelectorAll(".record .what")].some(e => e.textContent.includes("Nobody decided in time"))`)
		require.Contains(p.t, strings.Join(p.server.contents(), " "), "home ")
	}},
	{name: "5 an address is changed", play: func(p *cmsPage) {
		p.say("Create a page called Members, then change the slug of Members to our-team")
		p.asked("link")
		p.wait(`document.querySelector(".preview iframe").src.includes("call=")`)
		p.press(".card", "Approve")
		p.decided()
		p.previews("/pages/our-team")
	}, expected: []string{"404"}}, // the preview of the old address, if it is loaded before the new one
	{name: "5 a definition in use is changed", play: func(p *cmsPage) {
		p.say(`Run the scenario "definition in use"`)
		p.asked("hero")
		p.wait(`/\b\d+\b/.test(document.querySelector(".card .notes").textContent)`) // how many contents it affects
		p.press(".card", "Approve")
		p.answer("are kept, and hidden")
	}},
	{name: "6 a plan that somebody carries out", play: func(p *cmsPage) {
		before := p.server.contents()
		p.mode("Plan")
		p.say("Add a hero-new section to home")
		p.done()
		require.Equal(p.t, before, p.server.contents())
		p.say("Create a page called Contact, then add a hero section to Contact titled Twice")
		p.asked("Carry out the plan")
		require.Equal(p.t, before, p.server.contents(), "nothing is changed before somebody agrees")
		p.press(".card", "Approve")
		p.decided()
		require.Contains(p.t, p.server.contents(), "contact 1")
	}, expected: []string{"404"}}, // the page before there is one
	{name: "7 one of three plans", play: func(p *cmsPage) {
		p.say("Create a contact page with a form")
		p.wait(`document.querySelectorAll(".alternative").length === 3`)
		require.Contains(p.t, p.text(`document.querySelector(".alternative.best").textContent`), "Create page Contact with a form")
		require.NotContains(p.t, p.text(`document.querySelector(".card").textContent`), "Clone", "the start page has no form")
		p.press(".card", "None of them")
		p.decided()
		require.NotContains(p.t, strings.Join(p.server.contents(), " "), "contact")
		p.say("Create a contact page with a form")
		p.clickOn(`document.querySelector(".alternative.best > button")`)
		p.decided()
		p.wait(`document.querySelector(".plan .outcome")?.textContent.startsWith("Done")`)
		require.Contains(p.t, strings.Join(p.server.contents(), " "), "contact ")
		p.previews("/pages/contact")
		p.say("Create a page called Visit with a form")
		p.clickOn(`document.querySelectorAll(".alternative > button")[1]`) // with a kind of its own
		p.decided()
		require.Contains(p.t, p.server.get(p.server.preview, "/pages/visit"), "<form")
	}},
	{name: "8 an answer is undone", play: func(p *cmsPage) {
		p.say("Create an About page with a hero titled Hello")
		p.listed("About", true)
		p.done()
		p.say("What pages exist?")
		p.done()
		p.press(".after", "Undo") // of the answer before
		p.press(".undo-dialog", "Undo 1 change")
		p.listed("About", false)
		p.wait(`!document.querySelector(".after .undo")`)
		require.NotContains(p.t, strings.Join(p.server.contents(), " "), "about")
	}, expected: []string{"404"}},
	{name: "9 a message is edited", play: func(p *cmsPage) {
		p.say(oldHomepage)
		p.listed("Old homepage", true)
		p.done()
		p.press(".user", "Edit message")
		p.wait(`document.activeElement.matches(".edit textarea")`)
		p.keys(" two\r")
		p.press(".undo-dialog", "Undo 1 change and send")
		p.listed("Old homepage two", true)
		p.listed("Old homepage", false)
		p.done()
	}, expected: []string{"404"}},
	{name: "10 a section is clicked", play: func(p *cmsPage) {
		p.listed("Home", true)
		p.wait(`document.querySelector(".page-bar .chip:not([hidden])")`) // the page in the frame has said what it is
		p.clickOn(`document.querySelector(".preview iframe")`)
		p.wait(`/ on Home $/.test(document.querySelector(".composer textarea").value)`)
		p.press(".site", "New page")
		p.keys("Jobs\r")
		p.previews("/pages/jobs")
		p.wait(`document.querySelector(".page-bar .chip").textContent === "Draft"`)
		p.press(".page-bar", "Publish")
		p.wait(`document.querySelector(".page-bar .chip").textContent === "Published"`)
		p.press(".site", "New entry in Blog")
		p.keys("Summer hours\r")
		p.previews("/blog/summer-hours")
		p.click(".site .search input")
		p.keys("job")
		p.wait(`document.querySelectorAll(".site .row").length === 1`)
		p.screen(390, 900, "light") // what somebody opened is shown
		p.press(".views", "Chat")
		p.wait(`document.querySelector(".composer textarea").clientHeight > 20`)
	}},
	{name: "9 a conversation outgrows the window", play: func(p *cmsPage) {
		p.say(`Run the scenario "hundred calls"`)
		p.answer("I made a hundred calls")
		p.wait(`document.querySelector(".column").textContent.includes("summarized")`)
	}},
	{name: "10 a tool is broken", play: func(p *cmsPage) {
		p.say(`Run the scenario "broken tool"`)
		p.answer("connection refused")
		p.say("Fetch http://127.0.0.1:9/4")
		p.answer("temporarily unavailable")
		p.logged("calls", "temporarily unavailable")
	}},
	{name: "11 two tabs", play: func(p *cmsPage) {
		p.say("Delete the home page")
		p.asked("min")
		other := openCMS(p.t, p.server, p.session())
		other.asked("min")
		other.press(".card", "Approve")
		for _, tab := range []*cmsPage{p, other} {
			tab.decided()
			tab.listed("Home", false)
		}
		require.Equal(p.t, p.shown(), other.shown())
		require.NotContains(p.t, strings.Join(p.server.contents(), " "), "home ")
		other.calm("404")
	}, expected: []string{"404"}},
	{name: "12 a picture for a page", play: func(p *cmsPage) {
		for _, file := range []struct{ name, begins, says string }{
			{"large.png", "new Uint8Array(17 << 20)", "too large"},
			{"setup.png", "'MZ'", "wasn’t uploaded"}, // a program
		} {
			p.drop(file.name, file.begins, `.composer`)
			p.wait(`document.querySelector(".composer .trouble:not([hidden])")?.textContent.includes(` + quote(file.says) + `)`)
		}
		p.drop("oven-new.png", picturePNG, `.chat .scroller`)
		p.wait(`document.querySelector(".composer .file")?.textContent.includes("oven-new.png")`)
		p.listed("oven-new.png", true)
		p.say("put it on Home as the hero picture")
		p.done()
		p.wait(`document.querySelector(".user .bubble").textContent.includes("Uploaded file: oven-new.png")`)
		require.Contains(p.t, p.server.get(p.server.preview, "/pages/home"), p.text(`new URL([...document.querySelectorAll(".thumb-button")].find(b => b.textContent === "oven-new.png").querySelector("img").src).pathname`))
	}, expected: []string{"415", "413"}},
}

// picturePNG is an expression for the bytes of a small picture.
const picturePNG = `Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), c => c.charCodeAt(0))`

// drop drops a file, whose content an expression returns, on what a selector selects.
func (p *cmsPage) drop(name, content, on string) {
	p.t.Helper()
	p.wait(`document.querySelector(` + quote(on) + `)`)
	p.text(fmt.Sprintf(`(at => {
		const files = new DataTransfer();
		files.items.add(new File([%s], %s, { type: "image/png" }));
		at.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
		return "";
	})(document.querySelector(%s))`, content, quote(name), quote(on)))
}

func TestTheScenariosOfTheCMS(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := openCMS(t, startCMS(t, s.flags...), "")
			s.play(p)
			for _, at := range sizes() {
				if at.width > 1000 && !*screens {
					continue
				}
				p.screen(at.width, 900, at.theme)
				p.drawn(fmt.Sprintf("cms-scenario-%s-%d-%s.png", strings.ReplaceAll(s.name, " ", "-"), at.width,
					at.theme))
				require.Equal(t, "[]", p.text(overflow), "at a width of %d", at.width)
			}
			p.calm(s.expected...)
		})
	}
}
