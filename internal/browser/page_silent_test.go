package browser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// later moves the page's clock on: nobody waits.
func (p *builtIn) later() {
	p.t.Helper()
	p.text(`(() => { const now = Date.now; Date.now = () => now() + 20000; return ""; })()`)
}

// ticks waits until the page has looked at its clock.
func (p *builtIn) ticks() {
	p.t.Helper()
	p.text(`(import(new URL("page/conversation.js", document.baseURI)).then(({Conversation: {prototype: c}}) => {
		const tick = c.tick;
		c.tick = function (...args) { tick.apply(this, args); window.ticked = true; };
	}), "")`)
	p.wait(`window.ticked`)
}

const silent = "The model has not begun to answer for 20 s. “Stop” ends the request."

func TestThePageSaysThatTheModelHasNotBegun(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, agent.Config{Provider: providertest.Script(providertest.Hang())})
	p := s.page("")
	p.say("Hello.")
	p.has("Thinking")
	p.later()
	p.has(silent)
	p.press("body", "Stop")
	p.has("Stopped.")
}

// Without a connection the page doesn't know what the model does.
func TestThePageSaysNothingOfTheModelWithoutAConnection(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, agent.Config{Provider: providertest.Script(providertest.Hang())})
	p := s.page("")
	p.say("Hello.")
	p.has("Thinking")
	p.network(conditions{Offline: true})
	s.http.CloseClientConnections()
	p.wait(`document.querySelector(".bar:not([hidden])")`)
	p.later()
	p.ticks()
	p.wait(`!document.body.innerText.includes("has not begun")`)
	p.network(conditions{})
	p.wait(`document.querySelector(".bar[hidden]")`)
	p.has("Thinking")
	p.later()
	p.has(silent)
	p.press("body", "Stop")
	p.has("Stopped.")
	p.calm("network: Failed to load")
}

// That a message couldn't be sent is said until the network is back. The message stays.
func TestAComplaintAboutTheNetworkGoesWithIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, agent.Config{Provider: providertest.Script(providertest.Say("Hello."))})
	p := s.page("")
	p.say("Hello.")
	p.has("Hello.")
	p.network(conditions{Offline: true})
	s.http.CloseClientConnections()
	p.wait(`document.querySelector(".bar:not([hidden])")`)
	p.click(".composer textarea")
	p.keys("And now?\r")
	p.wait(`document.querySelector(".trouble:not([hidden])")?.textContent === "The server could not be reached."`)
	p.network(conditions{})
	p.wait(`document.querySelector(".bar[hidden]") && document.querySelector(".trouble[hidden]")`)
	require.Equal(t, "And now?", p.text(`document.querySelector(".composer textarea").value`))
	p.calm("network: Failed to load")
}
