package browser

import (
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// again returns another tab of the same user.
func (p *contentPage) again() *contentPage {
	p.t.Helper()
	other := &contentPage{&builtIn{open(p.t, "about:blank")}, p.server}
	other.screen(1440, 900, "light")
	other.visit("/portfolio")
	return other
}

// arrives waits until the page has gone to another one, where an expression is true.
func (p *contentPage) arrives(expression string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("String(Boolean("+expression+"))"))
		return err == nil && text == "true"
	}, patience, 20*time.Millisecond, expression)
}

// TestAConversationIsTheSameInEachTab also looks at what a reload leaves, at older conversations,
// and at logging out.
func TestAConversationIsTheSameInEachTab(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.ask("Give me topic ideas for LinkedIn")
	p.wait(`document.querySelectorAll(".topics > li").length === 5`)
	other := p.again()
	other.wait(`document.querySelectorAll(".topics > li").length === 5`)
	other.ask("Show my drafts")
	p.wait(`document.querySelectorAll(".chat .user").length === 2`)
	p.answered()
	require.Equal(t, other.text(lastTurn+`.innerText`), p.text(lastTurn+`.innerText`))

	// A draft survives a reload, and so does what was said.
	p.click("[data-testid=chat-input]")
	p.keys("not sent yet")
	p.visit("/portfolio")
	p.wait(`document.querySelector("[data-testid=chat-input]").value === "not sent yet" && document.querySelectorAll(".chat .user").length === 2`)

	// A new conversation is empty, and the old one is in the list.
	p.anew()
	require.Equal(t, "0", p.text(`String(document.querySelectorAll(".chat .user").length)`))
	p.ask("Show my drafts")
	p.press(".chat .top", "Show conversations")
	p.wait(`document.querySelectorAll(".chat .session").length === 2`)
	p.click(".chat .session:not(.current) a")
	p.wait(`document.querySelectorAll(".chat .user").length === 2 && document.querySelector(".topics")`)

	// Going to another page keeps it, and going back, too.
	p.click(".site nav [href=\"/\"]")
	p.wait(`document.querySelector("h1")?.textContent.startsWith("Hello")`)
	p.text(`history.back(), ""`)
	p.wait(`document.querySelector("h1")?.textContent === "Portfolio"`)
	require.Equal(t, "2", p.text(`String(document.querySelectorAll(".chat .user").length)`))

	// Logging out ends the other tab, too, and nothing that was typed stays.
	p.press(".site", "Log out")
	for _, one := range []*contentPage{p, other} {
		one.arrives(`location.pathname === "/login" && document.querySelectorAll(".person").length === 3`)
	}
	require.Equal(t, "0", p.text(`String(Object.keys(localStorage).filter(k => k.startsWith("pawl.draft")).length)`))
	p.calm()
}

// TestALoginThatHasEndedLeadsBackWithTheText ends it while somebody writes.
func TestALoginThatHasEndedLeadsBackWithTheText(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	path := p.draft("Hiring without haste")
	_, err := chromedp.Call(p.ctx, network.ClearBrowserCookies, cdp.Empty{})
	require.NoError(t, err)
	p.click("[data-testid=chat-input]")
	p.keys("Research this topic\r")
	p.arrives(`location.pathname === "/login" && document.querySelector(".notice")?.textContent.includes("Log in again")`)
	p.click("[data-user=ann]")
	p.wait(`location.pathname === ` + quote(path) + ` && document.querySelector("[data-testid=chat-input]")?.value === "Research this topic"`)
	p.calm("401")
}

// Somebody who was never logged in is welcomed, and no request fails. After the login they are
// where they wanted to be.
func TestAFirstVisitIsWelcomed(t *testing.T) {
	t.Parallel()
	s := startContent(t)
	for _, path := range []string{"/", "/portfolio?q=a"} {
		p := &contentPage{&builtIn{open(t, "about:blank")}, s}
		p.visit("/login") // the tests of a browser share its storage
		p.text(`localStorage.clear(), ""`)
		p.visit(path)
		p.wait(`location.pathname === "/login" && document.querySelector("[data-user=ann]") && !document.querySelector(".notice")`)
		p.calm()
		p.click("[data-user=ann]")
		p.wait(`location.pathname + location.search.replace(/&?session=[^&]*/, "") === ` + quote(path) + ` && document.querySelector(".head h1")`)
		p.calm()
	}
}

// Who asks for an article in the chat is led to it, and isn't told twice what the page says.
func TestWhatIsMadeInTheChatIsOpened(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.wait(`document.activeElement?.matches("[data-testid=chat-input]")`) // after the login
	p.ask("Create content for a blog post about small teams")
	p.wait(`location.pathname.startsWith("/artifacts/") && document.querySelector(".head .badge")?.dataset.status === "ready"`)
	p.said("is ready")
	p.wait(`[...document.querySelectorAll("[data-article]")].every(e => !e.checkVisibility())`)
	require.NotRegexp(t, `→|[Pp]atterns|Open`, p.text(lastTurn+`.innerText`))
	p.tab("versions")
	p.wait(`/\d:\d\d/.test(document.querySelector("[data-testid=versions] time")?.textContent)`)
	p.press("[data-testid=versions]", "What changed")
	p.wait(`document.querySelector("[data-testid=compared] .difference")`)
	require.NotContains(t, p.text(`document.querySelector("[data-testid=compared]").innerText`), "##")
	p.visit("/portfolio")
	p.wait(`[...document.querySelectorAll("[data-article]")].every(e => e.checkVisibility())`)
	p.text(`(history.back(), "")`)
	p.wait(`location.pathname.startsWith("/artifacts/") && document.querySelector("h1")`)
	p.calm()
}

// TestALimitCountsDown is over before its time is, because the answer is made up.
func TestALimitCountsDownAndIsGone(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.text(`(f => window.fetch = (to, ...more) => String(to).endsWith("/sessions/send") ? Promise.resolve(new Response(JSON.stringify({code: "allowance"}), {status: 429, headers: {"Retry-After": "2"}})) : f(to, ...more))(window.fetch), ""`)
	p.click("[data-testid=chat-input]")
	p.keys("Show my drafts\r")
	p.wait(`document.querySelector(".chat .trouble")?.textContent.includes("Try again in 2")`)
	p.wait(`document.querySelector(".chat .trouble")?.textContent.includes("Try again in 1")`)
	p.wait(`document.querySelector(".chat .trouble").hidden && document.querySelector("[data-testid=chat-input]").value === "Show my drafts"`)
	p.visit("/")
	p.wait(`document.querySelector("[data-testid=chat-input]").value === "Show my drafts"`)
	require.Equal(t, "true", p.text(`String(document.querySelector(".chat .trouble").hidden)`))
	p.calm("429")
}

// TestThePortfolioIsFilteredAndSorted says in the address what is shown.
func TestThePortfolioIsFilteredAndSorted(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	for _, title := range []string{"Hiring without haste", "Remote teams", "A meeting that is short"} {
		p.visit("/")
		p.draft(title)
	}
	p.press(".head", "Archive")
	p.is("archived")
	titles := `[...document.querySelectorAll("section .artifacts .title")].map(t => t.textContent).join()`
	p.visit("/portfolio")
	p.wait(titles + ` === "Remote teams,Hiring without haste" && document.querySelector("summary")?.textContent === "Archived (1)"`)
	p.text(`(s => (s.value = "title", s.dispatchEvent(new Event("change"))))(document.querySelector("[name=sort]")), ""`)
	p.wait(titles + ` === "Hiring without haste,Remote teams"`)
	p.keys("/")
	p.wait(`document.activeElement === document.querySelector("main [type=search]")`)
	p.keys("remote")
	p.wait(titles + ` === "Remote teams" && location.search.includes("sort=title") && location.search.includes("q=remote")`)
	p.run(chromedp.Reload())
	p.wait(titles + ` === "Remote teams"`)
	p.text(`(s => (s.value = "ready", s.dispatchEvent(new Event("change"))))(document.querySelector("[name=status]")), ""`)
	p.wait(titles + ` === ""`)
	p.press("main", "show all")
	p.wait(titles + ` === "Hiring without haste,Remote teams"`)
	p.calm()
}

// TestThePagesWorkWithTheKeyboardAlone makes a draft, widens the chat, and closes what is open.
func TestThePagesWorkWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	reach := func(what string) { // with the Tab key
		for range 40 {
			if p.text(`String(Boolean(`+what+`))`) == "true" {
				return
			}
			p.keys("\t")
		}
		require.Fail(t, "the Tab key doesn't reach it", what)
	}
	reach(`document.activeElement.textContent === "New draft"`)
	p.keys("\r")
	p.wait(`document.activeElement.name === "title"`)
	p.keys("Hiring without haste\r")
	p.wait(`document.querySelector("h1")?.textContent === "Hiring without haste"`)

	// The chat's width is changed with the arrows, and remembered. The text keeps its room.
	width := func() int {
		n, err := strconv.Atoi(p.text(`String(document.querySelector(".chat").offsetWidth)`))
		require.NoError(t, err)
		return n
	}
	before := width()
	reach(`document.activeElement.matches(".splitter")`)
	p.keys(kb.ArrowLeft)
	p.wait(`document.querySelector(".chat").offsetWidth === ` + strconv.Itoa(before+24))
	p.run(chromedp.Reload())
	p.wait(`document.querySelector(".chat")?.offsetWidth === ` + strconv.Itoa(before+24))
	reach(`document.activeElement.matches(".splitter")`)
	p.keys(kb.Home)
	p.wait(`document.querySelector(".chat").offsetWidth === ` + strconv.Itoa(before))

	// On a phone the chat is a sheet that Escape closes.
	p.screen(390, 800, "light")
	p.wait(`!document.body.classList.contains("with-chat")`)
	reach(`document.activeElement.matches(".tabs [data-toggle=chat]")`)
	p.keys("\r")
	p.wait(`document.activeElement.matches("[data-testid=chat-input]")`)
	p.keys(kb.Escape)
	p.wait(`!document.body.classList.contains("with-chat") && document.activeElement.matches(".tabs [data-toggle=chat]")`)
	p.keys("?")
	p.wait(`document.querySelector("dialog[open] kbd")?.checkVisibility()`)
	p.calm()
}
