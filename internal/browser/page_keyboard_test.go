package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// tabTo presses the Tab key until the element with the focus has a name, and requires that its
// focus can be seen.
func (p *builtIn) tabTo(name string) {
	p.t.Helper()
	focused := `(e => (e.getAttribute("aria-label") ?? e.textContent).trim())(document.activeElement)`
	var passed []string
	for range 60 {
		p.keys(kb.Tab)
		at := p.text(focused)
		if at == name {
			require.Equal(p.t, "true", p.text(`String(document.activeElement.matches(":focus-visible") &&
				[document.activeElement, document.activeElement.closest(".composer") ?? document.body].some(e => getComputedStyle(e).outlineStyle !== "none" || getComputedStyle(e).boxShadow !== "none"))`), "the focus on %s can't be seen", name)
			return
		}
		passed = append(passed, at)
	}
	p.t.Fatalf("the Tab key doesn't lead to %q, only to %q", name, passed)
}

func TestEverythingIsDoneWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6,
		scripted(providertest.Calls(deletes("a"), deletes("b")), providertest.Say("Decided.")))
	p := s.page("")
	p.keys(kb.Tab)
	require.Equal(t, "Skip to the conversation", p.text(`document.activeElement.textContent`))
	p.keys(kb.Enter)
	p.wait(`document.activeElement.matches(".scroller")`)
	p.tabTo("Write a message")
	p.keys("Delete both." + kb.Enter)
	p.status("Waits for you")

	p.keys(kb.ArrowUp, chromedp.ModifierAlt)
	p.wait(`document.activeElement.matches(".card")`)
	require.Equal(t, "Delete “a”?",
		p.text(
			`document.querySelector("#" + CSS.escape(document.activeElement.getAttribute("aria-labelledby"))).textContent`))
	p.tabTo("Approve")
	p.keys(kb.Enter)
	// what waits next has the focus, and in the end the composer
	p.wait(`document.querySelectorAll(".card").length === 1 && document.activeElement.matches(".card")`)
	p.tabTo("Reject with a reason")
	p.keys(kb.Enter)
	p.wait(`document.activeElement.matches(".card textarea")`)
	p.keys(kb.Escape) // leaves the form, not the card
	p.wait(`document.activeElement.matches(".card button")`)
	p.tabTo("Reject with a reason")
	p.keys(kb.Enter)
	p.wait(`document.activeElement.matches(".card textarea")`)
	p.keys("Not this one.")
	p.tabTo("Reject")
	p.keys(kb.Enter)
	p.has("Decided.")
	require.Equal(t, []string{"a"}, s.did())

	p.wait(`document.activeElement.matches(".composer textarea")`)
	p.keys("/") // isn't a shortcut there
	require.Equal(t, "/", p.text(`document.querySelector(".composer textarea").value`))
	p.tabTo("Hide chats")
	p.keys("?")
	p.wait(`document.querySelector("dialog").open`)
	p.keys(kb.Escape)
	p.wait(`!document.querySelector("dialog").open`)
	p.keys("/")
	p.wait(`document.activeElement.matches("input[type=search]")`)
	p.keys("n", chromedp.ModifierAlt)
	p.wait(`location.search === "" && document.activeElement.matches(".composer textarea")`)
	p.calm()
}

func TestTheListOfChatsIsOpenedWithTheKeyboardOnAPhone(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Say("Hello.")))
	p := s.page("")
	p.screen(390, 800, "light")
	p.say("Hello")
	p.status("Done")
	p.wait(`document.querySelector(".session")`)
	p.text(`document.activeElement.blur(), ""`)
	p.tabTo("Show chats")
	p.keys(kb.Enter)
	p.wait(`document.activeElement.closest(".sidebar")`)
	for range 8 {
		p.keys(kb.Tab)
		require.NotEqual(t, "true", p.text(`String(Boolean(document.activeElement.closest(".main")))`),
			"what is covered can't have the focus")
	}
	p.keys(kb.Escape)
	p.wait(`document.activeElement.matches(".top .menu")`) // where it was
	require.Equal(t, "0", p.text(`String(document.documentElement.scrollWidth - innerWidth)`))
	p.keys(kb.Enter)
	p.tabTo("New chat")
	p.keys(kb.Enter)
	p.wait(`document.querySelector(".blank") && document.activeElement.matches(".composer textarea")`)
	p.calm()
}
