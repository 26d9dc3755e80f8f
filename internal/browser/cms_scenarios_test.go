package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A scenario is something that somebody tries first with the assistant.
type scenario struct {
	name     string
	flags    []string // of the server
	play     func(p *cmsPage)
	expected []string // errors in the console
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
	p.press(".modes", label)
}

// asked waits for the dialog of approvals, whose card has a text.
func (p *cmsPage) asked(text string) {
	p.t.Helper()
	p.wait(
		`document.querySelector("dialog.approvals").open && document.querySelector("dialog.approvals .card").textContent.includes(` + quote(text) + `)`)
}

// previews waits until the preview shows a page.
func (p *cmsPage) previews(path string) {
	p.t.Helper()
	p.wait(`document.querySelector(".preview .address").value.split("?")[0] === ` + quote(path) +
		` && document.querySelector(".preview iframe").src.includes(` + quote(path) + `)`)
}

// offered returns the tools that the newest model call in the message history was offered.
func (p *cmsPage) offered() string {
	p.t.Helper()
	return p.text(
		`(e => { e.open = true; e.dispatchEvent(new Event("toggle")); return e.querySelector(".data").textContent })([...document.querySelectorAll(".entry.k-system")].at(-1))`)
}

// toast waits for a message that passes.
func (p *cmsPage) toast(text string) {
	p.t.Helper()
	p.wait(`[...document.querySelectorAll(".toast")].some(e => e.textContent.includes(` + quote(text) + `))`)
}

const oldHomepage = "Create a page called Old homepage"

// scenarios are those of the specification that the built-in model carries.
var scenarios = []scenario{
	{name: "1 what pages exist", play: func(p *cmsPage) {
		for _, mode := range []string{"Plan", "Ask"} {
			p.reach("")
			p.mode(mode)
			p.say("What pages exist?")
			p.answer("There is 1 page")
			p.logged("call", "cms.listPages")
			require.NotContains(p.t, p.offered(), "cms.createPage", mode)
			require.Equal(p.t, "1", p.text(`String(document.querySelectorAll(".call").length)`))
		}
	}},
	{name: "2 a page is created twice", play: func(p *cmsPage) {
		for _, want := range []string{"is at /about, with a hero", "about-2"} {
			p.say("Create an About page with a hero titled Hello")
			p.answer(want)
		}
		p.logged("validation", "exists already")
		p.logged("result", "cms.createPage Failed")
		p.previews("/pages/about-2")
		require.Equal(p.t, []string{"about 1", "about-2 1", "hello-world", "home 1"}, p.server.contents())
	}},
	{name: "3 a page by another name", play: func(p *cmsPage) {
		p.say(
			"Create a page called Members with a hero titled Us, then describe the Members page as team, people, staff")
		p.answer("is described as")
		p.say("Update the title on my team page to Meet Our Team")
		p.answer("Meet Our Team")
		p.logged("call", "cms.findResource")
		p.previews("/pages/members")
		p.say("Update the title on my taem page to Our Team")
		p.answer("Do you mean it?")
		p.say("Yes")
		p.answer("\"Our Team\" now")
	}},
	{name: "4 a deletion that is approved", play: func(p *cmsPage) {
		p.say(oldHomepage)
		p.answer("/old-homepage")
		p.say("Delete page old-homepage")
		p.asked("Delete page “old-homepage”?")
		p.press("dialog.approvals", "Approve")
		p.answer("I deleted the page")
		require.Equal(p.t, []string{"hello-world", "home 1"}, p.server.contents())
	}, expected: []string{"404"}}, // in the preview
	{name: "4 a deletion that is rejected", play: func(p *cmsPage) {
		p.say(oldHomepage)
		p.answer("/old-homepage")
		p.say("Delete page old-homepage")
		p.asked("is deleted, with all its contents")
		p.press("dialog.approvals", "Reject with a reason")
		p.keys("It is linked.")
		p.press("dialog.approvals form", "Reject")
		p.answer("I didn't delete")
		p.logged("approval", "Rejected")
		require.Contains(p.t, p.server.contents(), "old-homepage 0")
	}},
	{name: "4 a deletion with an alternative", play: func(p *cmsPage) {
		p.say("Delete the home page")
		p.asked("Delete page “home”?")
		p.press("dialog.approvals", "Ask for an alternative")
		p.keys("hide the hero section on Home")
		p.press("dialog.approvals form", "Send suggestion")
		p.answer("is unpublished now")
		p.logged("approval", "Something else suggested")
		require.Contains(p.t, p.server.contents(), "home 1")
	}},
	{name: "4 a deletion that nobody decides", flags: []string{"-expires", "5s"}, play: func(p *cmsPage) {
		p.say("Delete the home page")
		p.asked("sec left")
		p.toast("Nobody decided in time")
		p.answer("nobody approved it in time")
		p.wait(`!document.querySelector("dialog.approvals").open`)
		require.Contains(p.t, p.server.contents(), "home 1")
	}},
	{name: "5 an address is changed", play: func(p *cmsPage) {
		p.say("Create a page called Members, then change the slug of Members to our-team")
		p.asked("links to the old one break")
		p.press("dialog.approvals", "Approve")
		p.answer("our-team")
		p.previews("/pages/our-team")
	}, expected: []string{"404"}}, // the preview of the old address, if it is loaded before the new one
	{name: "6 a plan that lacks a definition", play: func(p *cmsPage) {
		p.mode("Plan")
		p.say("Add a hero-new section to home")
		p.answer("it doesn't work")
		p.wait(
			`document.querySelector(".plans .issues")?.textContent.includes("hero-new") && document.querySelector(".plans .suggestions").textContent.includes("did you mean")`)
		p.say("Add a hero section to home titled Twice")
		p.answer("it works")
		p.wait(`!document.querySelector(".plans .issues")`)
		p.press(".plans", "Carry it out")
		p.answer("has a hero section")
		p.wait(`document.querySelector(".plans .state").textContent === "1 of 1 done"`)
		p.wait(`document.querySelector(".jump").hidden`) // the plan takes room, but the end stays in view
		require.Contains(p.t, p.server.contents(), "home 2")
	}},
	{name: "7 a plan that fails", play: func(p *cmsPage) {
		p.say("Create a contact page with a form")
		p.wait(`document.querySelectorAll(".plan-tabs button").length === 3`)
		p.press(".column .card", "Reuse what exists")
		p.answer("\"Create new\", a backup")
		p.wait(`document.querySelector(".plans .state").textContent.startsWith("backup")`)
		p.previews("/pages/contact")
		require.Contains(p.t, p.server.contents(), "contact 1")
	}},
	{name: "11 two tabs", play: func(p *cmsPage) {
		p.say("Delete the home page")
		p.asked("Delete page “home”?")
		other := openCMS(p.t, p.server, p.session())
		other.asked("Delete page “home”?")
		p.press("dialog.approvals", "Approve")
		for _, tab := range []*cmsPage{p, other} {
			tab.answer("I deleted the page")
			tab.logged("approval", "Approved")
		}
		require.Equal(p.t, p.shown(), other.shown())
		require.Equal(p.t, []string{"hello-world"}, p.server.contents())
		other.calm("404")
	}, expected: []string{"404"}},
	{name: "12 files that are refused", play: func(p *cmsPage) {
		require.Equal(p.t, "413 VALIDATION_ERROR", p.upload("large.png", "\x89PNG\r\n\x1a\n", 17<<20))
		require.Equal(p.t, "415 VALIDATION_ERROR", p.upload("setup.png", "MZ", 1000))
		p.text(fmt.Sprintf(`(field => {
			const files = new DataTransfer();
			files.items.add(new File([new Uint8Array(%d)], "large.png", { type: "image/png" }));
			field.files = files.files;
			field.dispatchEvent(new Event("change"));
			return "";
		})(document.querySelector(".composer input[type=file]"))`, 17<<20))
		p.wait(`document.querySelector(".composer .trouble:not([hidden])")?.textContent.includes("too large")`)
	}},
}

// upload sends a file to the API as a page of the assistant would, and returns the status and the
// code of the answer.
func (p *cmsPage) upload(name, begins string, size int) string {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", name)
	require.NoError(p.t, err)
	_, err = file.Write(append([]byte(begins), make([]byte, size)...))
	require.NoError(p.t, err)
	require.NoError(p.t, form.Close())
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost,
		"http://"+p.server.api+"/v1/teams/dev-team/sites/local-site/environments/main/media", &body)
	require.NoError(p.t, err)
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Origin", "http://"+p.server.page)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	var answer struct{ Error struct{ Code string } }
	require.NoError(p.t, json.NewDecoder(resp.Body).Decode(&answer))
	return fmt.Sprint(resp.StatusCode, " ", answer.Error.Code)
}

func TestTheScenariosOfTheCMS(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := openCMS(t, startCMS(t, s.flags...), "")
			s.play(p)
			for _, at := range sizes() {
				width, theme := at.width, at.theme
				p.screen(width, 900, theme)
				<-time.After(20 * time.Millisecond)
				p.drawn(fmt.Sprintf("cms-scenario-%s-%d-%s.png", strings.ReplaceAll(s.name, " ", "-"), width,
					theme))
				require.Equal(t, "[]", p.text(overflow), "at a width of %d", width)
			}
			p.calm(s.expected...)
		})
	}
}
