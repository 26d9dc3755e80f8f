package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// reload loads the page again.
func (c *chat) reload() {
	c.t.Helper()
	c.run(chromedp.Reload())
	c.wait("window.chat")
}

func TestAReloadInTheMiddleOfATextGoesOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		g := newGate()
		s := newSite(t, level, agent.Config{Provider: g.model()})
		c := s.visit(version, "s-1")
		c.say("Work.")
		<-g.called
		c.wait(`document.body.textContent.includes("Working")`)
		for range 2 {
			c.reload()
			c.wait(`chat.status === "streaming" && document.body.textContent.includes("Working")`)
			c.sane()
		}
		g.open <- struct{}{}
		c.ready(2, "Working done.")
		require.EqualValues(t, 1, s.posts.Load())
		c.asOthersSee()
	})
}

func TestAReloadInTheMiddleOfAnApprovalGoesOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(
			providertest.Reply(providertest.Say("I delete."), providertest.Calls(deletes("a"), deletes("b"))),
			providertest.Call("delete", object{"page": "c"}), providertest.Say("All gone.")))
		c := s.visit(version, "s-1")
		c.say("Delete.")
		c.click("#approve-a")
		c.wait(`!document.querySelector("#approve-a")`)
		c.reload() // the answer wasn't posted: the client waits for both
		c.click("#approve-a")
		c.click("#approve-b")
		c.wait(`document.querySelector("#approve-c")`)
		c.reload()
		c.click("#approve-c")
		c.ready(2, "All gone.")
		require.ElementsMatch(t, []string{"a", "b", "c"}, s.did())
		require.EqualValues(t, 3, s.posts.Load())
		c.asOthersSee()
	})
}

func TestAnApprovalThatHasExpiredIsDenied(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		cfg := scripted(providertest.Call("delete", object{"page": "a"}), providertest.Say("Too late."))
		cfg.PauseExpires = 300 * time.Millisecond
		s := newSite(t, level, cfg)
		c := s.visit(version, "s-1")
		c.say("Delete.")
		c.wait(`document.querySelector("#approve-a")`)
		completed(t, s.hub.Agent().Session("s-1")) // the host goes on without an answer
		c.click("#approve-a")
		c.ready(2, "Too late.")
		require.Empty(t, s.did())
		require.Equal(t, "output-denied", c.call("a").State)
		require.EqualValues(t, 2, s.posts.Load(), "no endless resend")
		c.asOthersSee()
	})
}

func TestOfTwoTabsOneDecides(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(providertest.Calls(deletes("a"), deletes("b")), providertest.Say("Decided.")))
		one := s.visit(version, "s-1")
		one.say("Delete.")
		one.wait(`document.querySelector("#approve-a")`)
		two := s.visit(version, "s-1")
		two.wait(`document.querySelector("#approve-a")`)
		one.click("#approve-a")
		one.click("#deny-b")
		one.ready(2, "Decided.")
		two.click("#deny-a") // it is too late for that
		two.click("#approve-b")
		two.wait(`chat.status !== "submitted" && chat.status !== "streaming" && !document.querySelector("#approve-b")`)
		require.Equal(t, []string{"a"}, s.did())
		require.LessOrEqual(t, s.posts.Load(), int32(3), "no endless resend")
		two.ready(2, "Decided.")
		require.Equal(t, "output-available", two.call("a").State)
		require.Equal(t, "output-denied", two.call("b").State)
		two.asOthersSee()
	})
}

func TestStopEndsTheAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		g := newGate()
		s := newSite(t, level, agent.Config{Provider: g.model()})
		c := s.visit(version, "s-1")
		c.say("Work.")
		<-g.called
		c.wait(`document.body.textContent.includes("Working")`)
		c.click("#stop")
		c.ready(2, "The answer was stopped.")
		c.say("Again.")
		<-g.called
		g.open <- struct{}{}
		c.ready(4, "Working done.")
		c.asOthersSee()
	})
}

func TestALongConversationGoesOn(t *testing.T) {
	t.Parallel()
	var steps []providertest.Step
	for i := range 251 {
		steps = append(steps, providertest.Say(fmt.Sprintf("Answer %d.", i)))
	}
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(steps...))
		for i := range 250 {
			res, err := s.hub.Agent().Run(t.Context(), agent.Input{Session: "s-1",
				Prompt: fmt.Sprintf("Question %d?", i), Owner: "ann", User: "ann", Interactive: true})
			require.NoError(t, err)
			require.Equal(t, agent.Completed, res.Status)
		}
		c := s.visit(version, "s-1")
		c.wait("chat.messages.length === 500")
		c.say("One more?")
		c.ready(502, "Answer 250.")
		c.asOthersSee()
	})
}

func TestASlowNetworkLosesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		text := strings.Repeat("Slowly. ", 800) + "End."
		s := newSite(t, level,
			scripted(providertest.Reply(providertest.Say(text), providertest.Call("delete", object{"page": "a"})),
				providertest.Say("Gone.")))
		s.slow.Store(true)
		c := s.visit(version, "s-1")
		c.say("Delete.")
		c.click("#approve-a")
		c.ready(2, "Gone.")
		require.Equal(t, text, c.messages()[1].Parts[1].Text)
		c.asOthersSee()
	})
}
