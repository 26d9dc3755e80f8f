package browser

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// tells emits a notice of the host in a session, and waits until the page shows it.
func (p *builtIn) tells(s *site, text string) {
	p.t.Helper()
	require.NoError(p.t,
		s.hub.Agent().Session(p.session()).Emit(context.WithoutCancel(p.t.Context()), agent.NoticeKind, text))
	p.has(text)
}

// After a limit of one request, the button says what the words say, and does it. It stays when a
// notice comes, and after a reload.
func TestAfterALimitThePageOffersToGoOn(t *testing.T) {
	t.Parallel()
	cfg := scripted(providertest.Reply(providertest.Say("I look."), providertest.Call("look", object{"page": "home"})),
		providertest.Say("I have only looked."), providertest.Say("It is fine."))
	cfg.Limits = agent.Limits{Steps: 1}
	s := newSite(t, uimessage.V6, cfg)
	p := s.page("")
	p.say("How is it?")
	const words = "The work reached the limit of model calls for one request. " +
		"Write “go on” to continue, or have the limit raised."
	p.has(words)
	p.status("Stopped")
	p.tells(s, "The host was started again.")
	p.tells(s, "And again.")
	p.wait(named(".notice", "Go on"))
	p.reload()
	p.status("Stopped")
	p.press(".notice", "Go on")
	p.has("It is fine.")
	p.status("Done")
	p.wait("!(" + named(".notice", "Go on") + ")")
	p.shows("user: How is it?", "text: I look.", "call: Look home: Done", "text: I have only looked.",
		"notice: "+words, "notice: The host was started again.", "notice: And again.", "user: Go on",
		"text: It is fine.")
}

func TestWhatAnEndOffersStaysWhenANoticeComes(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Fail(fault.Permanent), providertest.Say("Better.")))
	p := s.page("")
	p.say("Hello?")
	p.status("Failed")
	p.tells(s, "The host was started again.")
	p.press(".notice", "Send it again")
	p.has("Better.")
	p.status("Done")
}
