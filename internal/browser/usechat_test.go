package browser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

type object = map[string]any

func scripted(steps ...providertest.Step) agent.Config {
	return agent.Config{Provider: providertest.Script(steps...)}
}

func deletes(page string) providertest.CallSpec {
	return providertest.CallSpec{Tool: "delete", Input: object{"page": page}}
}

func TestTextReasoningAndToolsAreShown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(
			providertest.Reply(providertest.Think("I have to look."), providertest.Say("Let me look."),
				providertest.Call("look", object{"page": "home"})),
			providertest.Say("All <b>fine</b>.")))
		c := s.visit(version, "s-1")
		c.say("How is it?")
		c.ready(2, "All <b>fine</b>.")
		m := c.messages()[1]
		require.Equal(t, "I have to look.", m.Parts[1].Text)
		require.Equal(t, "reasoning", m.Parts[1].Type)
		require.Equal(t, "Let me look.", m.Parts[2].Text)
		require.Equal(t, "output-available", m.Parts[3].State)
		require.JSONEq(t, `{"page":"home"}`, string(m.Parts[3].Input))
		require.Equal(t, `"saw home"`, string(m.Parts[3].Output))
		require.EqualValues(t, 1, s.posts.Load())
		c.asOthersSee()
	})
}

func TestParallelApprovalsAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(
			providertest.Calls(deletes("a"), deletes("b"),
				providertest.CallSpec{Tool: "look", Input: object{"page": "c"}}),
			providertest.Say("One is gone.")))
		c := s.visit(version, "s-1")
		c.say("Delete both.")
		c.click("#approve-a")
		c.wait(`!document.querySelector("#approve-a")`)
		require.Empty(t, s.did(), "the client waits for the other answer")
		c.click("#deny-b")
		c.ready(2, "One is gone.")
		require.Equal(t, []string{"a"}, s.did())
		require.Equal(t, "output-available", c.call("a").State)
		require.Equal(t, "output-denied", c.call("b").State)
		require.EqualValues(t, 2, s.posts.Load(), "no endless resend")
		c.asOthersSee()
	})
}

func TestAnEditedCallRunsWithItsNewInput(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(providertest.Calls(deletes("a")), providertest.Say("It is gone.")))
		c := s.visit(version, "s-1")
		c.say("Delete it.")
		c.click("#edit-a")
		c.ready(2, "It is gone.")
		require.Equal(t, []string{"a2"}, s.did())
		require.EqualValues(t, 2, s.posts.Load(), "no endless resend")
		c.asOthersSee()
	})
}

func TestAToolOfThePageIsAnswered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(providertest.Call("choose", object{}), providertest.Say("Blue it is.")))
		c := s.visit(version, "s-1")
		c.say("Choose.")
		c.click("#choose-tool")
		c.ready(2, "Blue it is.")
		require.JSONEq(t, `{"color":"blue"}`, string(c.call("").Output))
		require.EqualValues(t, 2, s.posts.Load())
		c.asOthersSee()
	})
}

func TestAFailureIsShownAndTheChatGoesOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(providertest.Fail(fault.Permanent), providertest.Say("Better.")))
		c := s.visit(version, "s-1")
		c.say("Hello")
		c.wait(`document.querySelector("#error")`)
		require.Contains(t, c.state(), "doesn't accept the request")
		c.say("Again")
		c.wait(`chat.status === "ready" && document.body.textContent.includes("Better.")`)
	})
}

func TestTheCardOfASupersededApprovalCloses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, level uimessage.Level) {
		s := newSite(t, level, scripted(providertest.Calls(deletes("a")), providertest.Say("It stays.")))
		c := s.visit(version, "s-1")
		c.say("Delete it.")
		c.wait(`document.querySelector("#approve-a")`)
		c.say("No, keep it.")
		c.ready(4, "It stays.")
		c.wait(`!document.querySelector("#approve-a")`)
		require.Empty(t, s.did())
		c.asOthersSee()
	})
}
