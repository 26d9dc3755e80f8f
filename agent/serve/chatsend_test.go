package serve_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

func TestAMessageDuringARunIsSentToIt(t *testing.T) {
	called, goOn := make(chan struct{}), make(chan struct{})
	script := providertest.Script(providertest.Call("slow", Page{"a"}), providertest.Say("Both done."))
	s := newSiteOf(t, agent.Config{Provider: script, Tools: []tools.Tool{tools.New(tools.Spec{Name: "slow"},
		func(context.Context, Page) (string, error) {
			close(called)
			<-goOn
			return "slept", nil
		})}}, serve.Config{})
	one, two := s.browser("ann", "c-1"), s.browser("ann", "c-1")
	first := make(chan struct{})
	go func() {
		defer close(first)
		one.say("u-1", "Sleep.")
	}()
	<-called
	two.messages = two.history()
	second := make(chan struct{})
	go func() {
		defer close(second)
		two.say("u-2", "And wash.")
	}()
	s.until(func() bool { return s.store.posted("c-1") })
	close(goOn)
	<-first
	<-second
	require.Contains(t, saidTo(script)[1], "And wash.", "it is in the next request")
	require.Equal(t, "Both done.", two.last().Text())
	require.Equal(t, []string{"Sleep.", "", "And wash.", "Both done."}, one.texts())
	require.Len(t, one.calls(), 1, "the message that was in progress ends where the other one was read")
	one.messages = append(one.messages, two.messages[1:]...)
	one.requireHistory()

	repeated := s.browser("ann", "c-1")
	repeated.messages = one.messages[:2:2]
	repeated.say("u-2", "And wash.")
	repeated.requireHistory()
	two.say("u-3", "More.")
	require.NotEmpty(t, two.failure, "the script is over")
}

func TestAMessageClosesWhatWaits(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"a"}), providertest.Say("Kept."))
	b := s.browser("ann", "c-1")
	b.say("u-1", "Delete it.")
	id := b.calls()[0].Approval.ID
	b.say("u-2", "No, keep it.")
	require.Equal(t, []string{id}, b.superseded)
	history := b.history()
	require.Equal(t, "output-denied", history[1].Parts[1].State, "the card is closed")
	require.False(t, *history[1].Parts[1].Approval.Approved)
	require.Equal(t, "Another message took its place.", history[1].Parts[1].Approval.Reason)
	require.Len(t, history[1].Parts, 3, "the step, the call and the pause")
}

func TestKeptApprovalsRefuseAMessage(t *testing.T) {
	s := newSite(t, serve.Config{KeepApprovals: true}, providertest.Call("delete", Page{"a"}),
		providertest.Say("Deleted."), providertest.Say("Bye."))
	b := s.browser("ann", "c-1")
	b.say("u-1", "Delete it.")
	messages := append(b.messages[:2:2], &uimessage.Message{ID: "u-2", Role: "user",
		Parts: []uimessage.Part{{Type: "text", Text: "No."}}})
	p := s.refused("ann", "POST", "chat", obj{"id": "c-1", "messages": messages})
	require.Equal(t, "Something waits for your decision. Decide first, then send the message again.", p.Detail)
	require.Equal(t, serve.CodePaused, p.Code)
	b.answer(0, true, "")
	b.post(nil)
	require.Equal(t, []string{"a"}, s.did())
	b.say("u-2", "Thanks.")
	b.requireHistory()
}

func TestAMessageThatARunPausesBeforeIsReadOnce(t *testing.T) {
	called, goOn := make(chan struct{}), make(chan struct{})
	script := providertest.Script(providertest.Calls(providertest.CallSpec{Tool: "slow", Input: Page{"a"}},
		providertest.CallSpec{Tool: "delete", Input: Page{"b"}}), providertest.Say("Kept."), providertest.Say("Bye."))
	s := newSiteOf(t, agent.Config{Provider: script, Tools: []tools.Tool{tools.New(tools.Spec{Name: "slow"},
		func(context.Context, Page) (string, error) {
			close(called)
			<-goOn
			return "slept", nil
		})}}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "c-1", "text": "Sleep, then delete."}, nil)
	<-called
	b := s.browser("ann", "c-1")
	b.messages = b.history()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.say("u-2", "No, keep it.")
	}()
	s.until(func() bool { return s.store.posted("c-1") })
	close(goOn)
	<-done
	require.Equal(t, "Kept.", b.last().Text())
	require.Empty(t, s.did())
	require.Equal(t, []string{"Sleep, then delete.", "", "No, keep it.", "Kept."}, b.texts())
	s.wait("c-1")
	said := saidTo(script)
	require.Len(t, said, 2)
	n := 0
	for _, text := range said[1] {
		if text == "No, keep it." {
			n++
		}
	}
	require.Equal(t, 1, n, "%q", said[1])
}
