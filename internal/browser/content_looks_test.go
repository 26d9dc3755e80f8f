package browser

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// contentLooks are the states of the pages.
var contentLooks = []struct {
	name     string
	user     string // empty: ann
	env      []string
	reach    func(p *contentPage)
	expected []string
}{
	{name: "login", reach: func(p *contentPage) {
		p.visit("/login")
		p.wait(`document.querySelectorAll(".person").length === 3`)
	}},
	{name: "empty", reach: func(*contentPage) {}},
	{name: "dashboard", reach: func(p *contentPage) {
		p.made("Remote teams that trust each other")
		p.visit("/")
		p.draft("Hiring without haste")
		p.visit("/")
		p.ask("Give me topic ideas for LinkedIn")
	}},
	{name: "portfolio", reach: func(p *contentPage) {
		p.made("Remote teams that trust each other")
		p.visit("/")
		p.draft("Hiring without haste")
		p.visit("/portfolio")
		p.press(".chat-head", "New conversation")
		p.ask("humanize this")
	}},
	{name: "artifact", reach: func(p *contentPage) {
		p.made("Remote teams that trust each other")
		p.ask("Humanize this content")
	}},
	{name: "editor", reach: func(p *contentPage) { p.made("Remote teams"); p.edit() }},
	{name: "preview", reach: func(p *contentPage) {
		p.made("Remote teams")
		p.edit()
		p.press(".editor-panel", "Preview")
		p.wait(`[...document.querySelectorAll("[data-testid=preview] img")].some(i => i.naturalWidth > 0)`)
	}},
	{name: "conflict", expected: []string{"409"}, reach: func(p *contentPage) {
		p.made("Remote teams")
		p.edit()
		p.other("Another text by somebody in another tab.\n\nIt has two paragraphs.")
		p.keys("Mine begins here. ")
		p.wait(`document.querySelector("[data-testid=conflict]")`)
	}},
	{name: "marked", reach: func(p *contentPage) {
		p.made("Remote teams")
		p.mark("Nobody did anything stupid there.")
		p.wait(`document.querySelector("[data-testid=selection]:popover-open")`)
	}},
	{name: "versions", reach: func(p *contentPage) {
		p.made("Remote teams")
		p.click("[data-tab=versions]")
		p.press("[data-testid=versions]", "What changed")
		p.wait(`document.querySelector("[data-testid=compared] .difference")`)
	}},
	{name: "sources", reach: func(p *contentPage) { p.made("Remote teams"); p.click("[data-tab=sources]") }},
	{name: "stopped", env: []string{"MOCK_ALL_AI_TOOLS=MOCK", "MOCK_DELAY_MIN_MS=3000", "MOCK_DELAY_MAX_MS=3000"},
		reach: func(p *contentPage) {
			p.draft("Remote teams")
			p.click("[data-testid=create-content-button]")
			p.is("research")
			p.press(".progress", "Stop")
			p.wait(`document.querySelector("[data-testid=stopped]")`)
		}},
	{name: "progress", env: []string{"MOCK_ALL_AI_TOOLS=MOCK", "MOCK_DELAY_MIN_MS=9000", "MOCK_DELAY_MAX_MS=9000"},
		reach: func(p *contentPage) {
			p.draft("Remote teams")
			p.click("[data-testid=create-content-button]")
			p.wait(`document.querySelector("[data-testid=writing-progress] .current")`)
		}},
	{name: "error", expected: []string{"400"}, reach: func(p *contentPage) {
		p.made("Remote teams")
		p.press(".head", "Publish")
		p.is("published")
		p.ask("Research this topic")
	}},
	{name: "admin", user: "eva", env: []string{"FAIL_MODEL=provider"}, expected: []string{"400"},
		reach: func(p *contentPage) {
			p.made("Remote teams that trust each other")
			p.ask("Research this topic") // it is ready
			p.visit("/")
			p.ask("Show my drafts")
			p.visit("/admin")
			p.wait(
				`document.querySelectorAll(".traces li").length === 3 && document.querySelector("[data-rule=\"provider errors\"]")`)
		}},
	{name: "proposal", reach: func(p *contentPage) {
		p.made("Remote teams that trust each other")
		p.ask("Make the second section shorter")
		p.wait(`document.querySelector("[data-testid=proposal] ins")`)
	}},
	{name: "trace", user: "eva", reach: func(p *contentPage) {
		p.made("Remote teams that trust each other")
		p.visit("/admin")
		p.click(".traces a")
		p.wait(`document.querySelectorAll(".spans li").length === 5 && location.search.startsWith("?traceId=ca-")`)
	}},
}

// contentPictures are the pictures of the README of examples/content. They are drawn again with
// -pictures.
var contentPictures = map[string]string{
	"content-artifact-1440-light.png": "artifact.png", "content-dashboard-1440-dark.png": "dashboard.png",
	"content-progress-820-light.png": "progress.png", "content-artifact-390-dark.png": "phone.png",
	"content-admin-820-dark.png": "admin.png",
}

func TestThePagesOfTheContentAgentLookRightAndAreAccessible(t *testing.T) {
	t.Parallel()
	for n, l := range contentLooks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := openContent(t, startContent(t, l.env...), cmp.Or(l.user, "ann"))
			l.reach(p)
			p.wait(`!document.querySelector(".toast")`)
			for _, at := range sizes() {
				width, theme := at.width, at.theme
				p.screen(width, 900, theme)
				if width < 1100 && l.name != "portfolio" { // the chat covers the page here
					p.text(`document.body.classList.remove("with-chat"), ""`)
				} else {
					p.text(`document.body.classList.add("with-chat"), ""`)
				}
				name := fmt.Sprintf("content-%s-%d-%s.png", l.name, width, theme)
				p.drawn(name)
				if to, ok := contentPictures[name]; ok && *drawPictures {
					p.screenshot(name)
					data, err := os.ReadFile(filepath.Join(out, "screenshots", name))
					require.NoError(t, err)
					require.NoError(t,
						os.WriteFile(filepath.Join("../../examples/content/pictures", to), data, 0o644))
				}
				require.Equal(t, "[]", p.text(overflow), "at a width of %d", width)
				if at.checked(n) {
					require.Empty(t, p.axe(), "at a width of %d, in %s", width, theme)
				}
			}
			p.calm(l.expected...)
		})
	}
}
