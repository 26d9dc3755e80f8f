package browser

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A contentLook is a state of the pages. It is reached from the one before it.
type contentLook struct {
	name  string
	tab   string // what is seen where there is no room for both: page (the default), or chat
	rare  bool   // without -screens, it is looked at on the phone only
	reach func(p *contentPage)
}

// contentLooks are the states of the pages, in rows that have a server and a tab each.
var contentLooks = []struct {
	name, user string
	env        []string
	states     []contentLook
	expected   []string // errors in the console
}{
	{name: "writer", user: "ann", expected: []string{"404"}, states: []contentLook{
		{name: "login", reach: func(p *contentPage) {
			p.visit("/login?back=%2Fportfolio")
			p.wait(`document.querySelectorAll(".person").length === 3`)
		}},
		{name: "empty", reach: func(p *contentPage) { p.visit("/") }},
		{name: "topics", tab: "chat", reach: func(p *contentPage) {
			p.ask("Give me topic ideas for LinkedIn")
			p.wait(`document.querySelectorAll(".topics > li").length === 5`)
		}},
		{name: "dashboard", reach: func(p *contentPage) {
			p.draft("Hiring without haste")
			p.ask("Research this topic")
			p.is("research")
			p.visit("/")
			p.made("Remote teams that trust each other")
			p.visit("/")
			p.draft("What a good meeting costs")
			p.visit("/")
			p.wait(`document.querySelectorAll(".todo li").length >= 3`)
		}},
		{name: "portfolio", reach: func(p *contentPage) { p.visit("/portfolio") }},
		{name: "choice", rare: true, tab: "chat", reach: func(p *contentPage) {
			p.anew()
			p.ask("humanize this")
		}},
		{name: "gone", rare: true, reach: func(p *contentPage) {
			p.visit("/artifacts/00000000-0000-0000-0000-000000000000")
		}},
	}},
	{name: "article", user: "ann", expected: []string{"409"}, states: []contentLook{
		{name: "artifact", reach: func(p *contentPage) {
			p.made("Remote teams that trust each other")
			p.wait(`document.querySelector("[data-testid=artifact-content]")?.textContent.length > 500`)
		}},
		{name: "sources", rare: true, reach: func(p *contentPage) { p.tab("sources") }},
		{name: "versions", reach: func(p *contentPage) {
			p.tab("versions")
			p.press("[data-testid=versions]", "What changed")
			p.wait(`document.querySelector("[data-testid=compared] .difference")`)
		}},
		{name: "marked", rare: true, reach: func(p *contentPage) {
			p.tab("text")
			p.mark("Nobody did anything stupid there.")
			p.wait(`document.querySelector("[data-testid=selection]:popover-open")`)
		}},
		{name: "proposal", reach: func(p *contentPage) {
			p.ask("Make the second section shorter")
			p.wait(`document.querySelector("[data-testid=proposal] ins")`)
		}},
		{name: "approval", tab: "chat", reach: func(p *contentPage) {
			p.press("[data-testid=proposal]", "Reject")
			p.wait(`!document.querySelector("[data-testid=proposal]")`)
			p.ask("Archive this")
			p.wait(`document.querySelector(".chat .card")`)
		}},
		{name: "editor", reach: func(p *contentPage) {
			p.ask("ok, wait, don't do that") // is no, and is shown
			p.wait(`[...document.querySelectorAll(".chat .user .bubble")].at(-1).textContent.startsWith("ok, wait")`)
			p.is("ready")
			p.edit()
		}},
		{name: "preview", rare: true, reach: func(p *contentPage) {
			p.press(".editor-panel", "Preview")
			p.wait(`[...document.querySelectorAll("[data-testid=preview] img")].some(i => i.naturalWidth > 0)`)
		}},
		{name: "conflict", rare: true, reach: func(p *contentPage) {
			p.press(".editor-panel", "Preview")
			p.click("[data-testid=editor]")
			p.other("Another text by somebody in another tab.\n\nIt has two paragraphs.")
			p.keys("Mine begins here. ")
			p.wait(`document.querySelector("[data-testid=conflict]")`)
		}},
	}},
	{name: "slow", user: "ann", env: []string{"MOCK_ALL_AI_TOOLS=MOCK", "MOCK_DELAY_MIN_MS=9000",
		"MOCK_DELAY_MAX_MS=9000"}, states: []contentLook{
		{name: "progress", reach: func(p *contentPage) {
			p.draft("Remote teams")
			p.click("[data-testid=create-content-button]")
			p.wait(`document.querySelector("[data-testid=writing-progress] .current")`)
		}},
		{name: "writing", tab: "chat", reach: func(p *contentPage) {
			p.wait(`document.querySelector(".chat .step .spinner")`)
		}},
		{name: "stopped", tab: "chat", reach: func(p *contentPage) {
			p.press(".chat .composer", "Stop")
			p.answered()
		}},
		{name: "stopped-page", reach: func(p *contentPage) {
			p.wait(`document.querySelector("[data-testid=stopped]")`)
		}},
	}},
	{name: "administrator", user: "eva", env: []string{"FAIL_MODEL=provider"}, states: []contentLook{
		{name: "admin", reach: func(p *contentPage) {
			p.made("Remote teams that trust each other")
			p.ask("Give me topic ideas for LinkedIn")
			p.visit("/admin")
			p.wait(`document.querySelector("[data-trace]") && document.querySelector("[data-rule=\"provider errors\"]")`)
		}},
		{name: "trace", reach: func(p *contentPage) {
			p.clickOn(`[...document.querySelectorAll("[data-trace]")].at(-1)`)
			p.wait(`document.querySelectorAll(".spans li").length >= 5 && location.search.includes("traceId=")`)
		}},
	}},
}

// contentPictures are the pictures of the README of examples/content. They are drawn again with
// -pictures.
var contentPictures = map[string]string{
	"content-proposal-1440-light.png": "artifact.png", "content-dashboard-1440-dark.png": "dashboard.png",
	"content-progress-820-light.png": "progress.png", "content-artifact-390-dark.png": "phone.png",
	"content-trace-820-dark.png": "admin.png",
}

// contentClipped returns the elements whose text is cut: without an ellipsis, or with one that has
// no title, and parts of the page that scroll sideways.
const contentClipped = `JSON.stringify([...document.querySelectorAll("body *")].filter(e => {
	const s = getComputedStyle(e);
	if (!e.checkVisibility() || s.overflowX === "visible" || e.scrollWidth <= e.clientWidth + 1 || e.matches("input, textarea, select, progress, svg, svg *")) return false;
	if (e.closest(".scroll, .code, .table, .hidden-visually")) return false;
	return s.textOverflow !== "ellipsis" || !e.title && !e.closest("[title]") && !e.parentElement.title;
}).map(e => e.outerHTML.slice(0, 120)))`

func TestThePagesOfTheContentAgentLookRightAndAreAccessible(t *testing.T) {
	t.Parallel()
	for _, row := range contentLooks {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := openContent(t, startContent(t, row.env...), row.user)
			for n, l := range row.states {
				p.screen(1440, 900, "light")
				l.reach(p)
				p.wait(`!document.querySelector(".toast")`)
				all := sizes()
				if l.rare && !*screens && !*drawPictures {
					all = all[len(all)-1:]
				}
				for _, at := range all {
					p.looksRight(l, n, at)
				}
			}
			p.calm(row.expected...)
		})
	}
}

// looksRight looks at a state in one size.
func (p *contentPage) looksRight(l contentLook, n int, at size) {
	p.t.Helper()
	p.screen(at.width, 900, at.theme)
	if at.width < 1100 && l.name != "login" { // the page and the chat are tabs here
		p.text(`document.querySelector(".tabs [data-toggle=` + cmp.Or(l.tab, "page") + `]").click(), ""`)
	}
	name := fmt.Sprintf("content-%s-%d-%s.png", l.name, at.width, at.theme)
	p.drawn(name)
	if to, ok := contentPictures[name]; ok && *drawPictures {
		p.screenshot(name)
		data, err := os.ReadFile(filepath.Join(out, "screenshots", name))
		require.NoError(p.t, err)
		require.NoError(p.t, os.WriteFile(filepath.Join("../../examples/content/pictures", to), data, 0o644))
	}
	require.Equal(p.t, "[]", p.text(overflow), "%s at a width of %d", l.name, at.width)
	p.seesIcons(name)
	require.Equal(p.t, "[]", p.text(contentClipped), "%s at a width of %d", l.name, at.width)
	require.Equal(p.t, "1", p.text(`String(document.querySelectorAll("h1").length)`), "%s has one title", l.name)
	if at.width == 1440 { // the text has room beside the chat
		require.Equal(p.t, "true", p.text(`String([...document.querySelectorAll(".text .prose")].every(e => e.clientWidth >= 720))`),
			l.name)
	}
	if at.checked(n) {
		require.Empty(p.t, p.axe(), "%s at a width of %d, in %s", l.name, at.width, at.theme)
	}
}
