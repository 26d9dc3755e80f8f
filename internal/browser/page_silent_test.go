package browser

import (
	"testing"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// The page's clock is moved on: nobody waits.
func TestThePageSaysThatTheModelHasNotBegun(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, agent.Config{Provider: providertest.Script(providertest.Hang())})
	p := s.page("")
	p.say("Hello.")
	p.has("Thinking")
	p.text(`(() => { const now = Date.now; Date.now = () => now() + 20000; return ""; })()`)
	p.has("The model has not begun to answer for 20 s. “Stop” ends the request.")
	p.press("body", "Stop")
	p.has("Stopped.")
}
