package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

func TestTheApprovalOfASubagentIsAnsweredInTheMessage(t *testing.T) {
	var did []string
	child, err := agent.New(agent.Config{
		Name:     "worker",
		Provider: providertest.Script(providertest.Call("wipe", Page{"a"}), providertest.Say("Wiped.")),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "wipe", Risk: tools.High},
			func(_ context.Context, p Page) (string, error) {
				did = append(did, p.Page)
				return "wiped", nil
			})},
	})
	require.NoError(t, err)
	s := newSiteOf(t, agent.Config{
		Provider: providertest.Script(providertest.Call("worker", agent.Task{Task: "Wipe it."}),
			providertest.Say("All done.")), Journal: journal.NewMemory(),
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})},
	}, serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "Wipe it.")
	require.Len(t, b.calls(), 2)
	require.Equal(t, "wipe", b.calls()[1].ToolName)
	b.answer(1, true, "")
	b.post(nil)
	require.Equal(t, []string{"a"}, did)
	for _, p := range b.calls() {
		require.Equal(t, uimessage.StateOutputAvailable, p.State,
			"every call that was decided has an output, or the client posts forever")
	}
	require.Equal(t, "All done.", b.last().Text())
	b.requireHistory()
}

func TestAnApprovalThatCameTooLateHasAnOutput(t *testing.T) {
	s := newSiteOf(t, agent.Config{
		Provider: providertest.Script(providertest.Call("slow", Page{"a"}), providertest.Say("Too late.")),
		Journal:  journal.NewMemory(),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "slow", Risk: tools.High, Expires: time.Nanosecond},
			func(context.Context, Page) (string, error) { return "", nil })},
	}, serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "x")
	b.answer(0, true, "")
	b.post(nil)
	require.Equal(t, uimessage.StateOutputDenied, b.calls()[0].State)
	require.Equal(t, "Too late.", b.last().Text())
	b.requireHistory()
}

func TestAQuestionIsAnsweredLikeATool(t *testing.T) {
	s := newSiteOf(t, agent.Config{
		Provider: providertest.Script(providertest.Call("ask", Page{"a"}), providertest.Say("Blue.")),
		Journal:  journal.NewMemory(),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "ask"}, func(context.Context, Page) (string, error) {
			return "",
				tools.Suspend{Kind: "question", Prompt: "Which color?", Schema: json.RawMessage(`{"type":"string"}`)}
		})},
	}, serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "x")
	p := b.calls()[0]
	require.Equal(t, uimessage.StateInputAvailable, p.State)
	require.Contains(t, strings.Join(plainParts(b.last()), " "), "Which color?")
	p.State, p.Output = uimessage.StateOutputAvailable, json.RawMessage(`"blue"`)
	b.post(nil)
	require.Equal(t, "Blue.", b.last().Text())
}

func TestAPrunedSessionHasItsHistory(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("look", Page{"a"}), providertest.Say("One."),
		providertest.Say("Two."))
	b := s.browser("ann", "c-1")
	b.say("u-1", "first")
	s.wait("c-1")
	_, err := s.agent.Session("c-1").Prune(t.Context())
	require.NoError(t, err)
	b.say("u-2", "second")
	history := b.history()
	require.Len(t, history, 4)
	require.Equal(t, "first", history[0].Text())
	require.Equal(t, "One.", history[1].Text())
	require.Equal(t, uimessage.StateOutputAvailable, history[1].Parts[1].State)
	require.Equal(t, "Two.", history[3].Text())
}

func TestALongConversationIsLoadedAtOnce(t *testing.T) {
	var steps []providertest.Step
	for i := range 250 {
		steps = append(steps, providertest.Say(fmt.Sprint("answer ", i)))
	}
	s := newSite(t, serve.Config{}, steps...)
	for i := range 250 {
		_, err := s.agent.Run(t.Context(),
			agent.Input{Session: "c-1", Prompt: fmt.Sprint("question ", i), Owner: "ann"})
		require.NoError(t, err)
	}
	b := s.browser("ann", "c-1")
	history := b.history()
	require.Len(t, history, 500)
	require.Equal(t, "question 249", history[498].Text())
	require.Equal(t, "answer 249", history[499].Text())
}

func TestAReaderThatStallsHoldsNobody(t *testing.T) {
	s := newSiteOf(t, agent.Config{Provider: writes(20_000, func() {}), Limits: agent.Limits{}}, serve.Config{})
	_, err := s.agent.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "x", Owner: "ann"})
	require.NoError(t, err)
	stalled := s.request("ann", "GET", "events?session=s-1", nil) // nobody reads it
	defer stalled.Body.Close()
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "y"}, nil)
	ends := 0
	events(t, s.request("ann", "GET", "events?session=s-1", nil), func(ev sse.Event) bool {
		if ended(ev) {
			ends++
		}
		return ends == 2
	})
	require.Equal(t, 2, ends)
}
