package browser

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// clicks is a function that clicks the button of a card as a mouse does.
const clicks = `const click = (card, name) => [...card.querySelectorAll("button")].find(b => b.textContent === name)
	.dispatchEvent(new MouseEvent("click", {detail: 1, bubbles: true, cancelable: true}));`

// A card that comes under the pointer takes no click that was meant for something else.
func TestACardThatHasJustAppearedOrMovedDecidesNothing(t *testing.T) {
	t.Parallel()
	model := providertest.Script(providertest.Calls(deletes("a"), deletes("b")), providertest.Say("Both are gone."))
	s := newSite(t, uimessage.V6, agent.Config{Provider: model})
	p := s.page("")
	p.screen(1440, 1400, "light") // both cards fit, so that nothing is scrolled when they move
	p.text(`(() => { ` + clicks + `
		new MutationObserver((_, o) => document.querySelectorAll(".card").forEach(c => { o.disconnect(); click(c, "Approve"); }))
			.observe(document.body, {childList: true, subtree: true});
		return ""; })()`)
	p.say("Delete both.")
	p.status("Waits for you")
	p.wait(`document.querySelector(".card [role=alert]").textContent.startsWith("This has just moved")`)
	p.wait(`document.querySelectorAll(".card[data-settling=false]").length === 2`)
	p.text(`(() => { ` + clicks + `
		const [first, second] = document.querySelectorAll(".card");
		first.before(Object.assign(document.createElement("p"), {textContent: "a line more"}));
		for (const name of ["Approve", "Reject"]) click(second, name);
		return ""; })()`)
	p.wait(`[...document.querySelectorAll(".card [role=alert]")].every(e => e.textContent.startsWith("This has just moved"))`)
	require.Equal(t, "2 0", p.text(`[".card", ".record"].map(s => document.querySelectorAll(s).length).join(" ")`))
	p.press(p.card("Delete “b”?"), "Approve")
	p.wait(`document.querySelectorAll(".record").length === 1`)
	p.press(".card", "Approve")
	p.has("Both are gone.")
	p.calm()
}

// Keys press only what has the focus, which is in no card that somebody hasn't gone to.
func TestKeysDecideNothingOutsideACard(t *testing.T) {
	t.Parallel()
	model := providertest.Script(providertest.Calls(deletes("a")), providertest.Say("It is gone."))
	s := newSite(t, uimessage.V6, agent.Config{Provider: model})
	p := s.page("")
	p.say("Delete it.")
	p.status("Waits for you")
	p.wait(`document.querySelector(".card") !== null`)
	require.Equal(t, "false", p.text(`String(document.querySelector(".card").contains(document.activeElement))`))
	p.text(`document.activeElement.blur(), ""`)
	p.keys("ayr A\r\r")
	require.Equal(t, "1 0", p.text(`[".card", ".record"].map(s => document.querySelectorAll(s).length).join(" ")`))
	p.text(`[...document.querySelectorAll(".card button")].find(b => b.textContent === "Approve").focus(), ""`)
	p.keys("\r")
	p.has("It is gone.")
	p.calm()
}

// What is being pressed isn't replaced before the click, which would be lost.
func TestAClickOutlivesWhatIsShownAgainMeanwhile(t *testing.T) {
	t.Parallel()
	p := newSite(t, uimessage.V6, agent.Config{Provider: providertest.Script(providertest.Say("Hello."))}).page("")
	p.text(`import("/agent/page/steady.js").then(({ whenReleased }) => {
		const box = document.createElement("div");
		box.style = "position: fixed; inset: 0 auto auto 0; z-index: 99";
		box.id = "box";
		Object.assign(window, { clicked: 0, made: -1 });
		const make = () => {
			made++;
			const button = document.createElement("button");
			button.onclick = () => clicked++;
			button.textContent = "Press me";
			box.replaceChildren(button);
		};
		document.body.append(box);
		window.again = () => whenReleased(box, make);
		again();
	}), ""`)
	p.wait(`window.again`)
	at := p.middle(`document.querySelector("#box button")`)
	mouse := func(what input.DispatchMouseEventType) {
		t.Helper()
		_, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: what, X: at.X,
			Y: at.Y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
		require.NoError(t, err)
	}
	mouse(input.DispatchMouseEventTypeMousePressed)
	require.Equal(t, "0", p.text(`again(), again(), String(made)`))
	mouse(input.DispatchMouseEventTypeMouseReleased)
	p.wait(`clicked === 1 && made === 1`)
	require.Equal(t, "2", p.text(`again(), String(made)`), "at once")
	p.calm()
}
