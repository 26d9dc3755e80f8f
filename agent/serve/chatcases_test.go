package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
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
			providertest.Say("All done.")), Journal: &journal.MapStore{},
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
		require.Equal(t, "output-available", p.State,
			"every call that was decided has an output, or the client posts forever")
	}
	require.Equal(t, "All done.", b.last().Text())
	b.requireHistory()
}

func TestAnApprovalThatCameTooLateHasAnOutput(t *testing.T) {
	s := newSiteOf(t, agent.Config{
		Provider: providertest.Script(providertest.Call("slow", Page{"a"}), providertest.Say("Too late.")),
		Journal:  &journal.MapStore{},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "slow", Risk: tools.High, Expires: time.Nanosecond},
			func(context.Context, Page) (string, error) { return "", nil })},
	}, serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "x")
	b.answer(0, true, "")
	b.post(nil)
	require.Equal(t, "output-denied", b.calls()[0].State)
	require.Equal(t, "Too late.", b.last().Text())
	b.requireHistory()
}

func TestAQuestionIsAnsweredLikeATool(t *testing.T) {
	s := newSiteOf(t, agent.Config{
		Provider: providertest.Script(providertest.Call("ask", Page{"a"}), providertest.Say("Blue.")),
		Journal:  &journal.MapStore{},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "ask"}, func(context.Context, Page) (string, error) {
			return "",
				tools.Suspend{Kind: "question", Prompt: "Which color?", Schema: json.RawMessage(`{"type":"string"}`)}
		})},
	}, serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "x")
	p := b.calls()[0]
	require.Equal(t, "input-available", p.State)
	require.Contains(t, strings.Join(plainParts(b.last()), " "), "Which color?")
	p.State, p.Output = "output-available", json.RawMessage(`"blue"`)
	b.post(nil)
	require.Equal(t, "Blue.", b.last().Text())
}

func TestASecretIsNotAnsweredInTheMessage(t *testing.T) {
	s := newSiteOf(t, agent.Config{
		Provider: providertest.Script(providertest.Call("login", Page{"a"})), Journal: &journal.MapStore{},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "login"}, func(context.Context, Page) (string, error) {
			return "", tools.Suspend{Prompt: "Your password?", Again: true, Secret: true}
		})},
	}, serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "x")
	p := b.calls()[0]
	p.State, p.Output = "output-available", json.RawMessage(`"correct horse"`)
	refused := s.refused("ann", http.MethodPost, "chat", obj{"id": "c-1", "messages": b.messages})
	require.Contains(t, refused.Detail, "secret")
	require.NotContains(t, refused.Detail, "correct horse")
	info, err := s.agent.Session("c-1").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, info.Pending, "it is still asked for")
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
	require.Equal(t, "output-available", history[1].Parts[1].State)
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

func TestAnErrorOfAToolOfTheFrontEndIsItsResult(t *testing.T) {
	script := providertest.Script(providertest.Call("pick", obj{}), providertest.Say("No color, then."))
	s := newSiteOf(t, agent.Config{Provider: script, Tools: []tools.Tool{tools.External(tools.Spec{Name: "pick"})}},
		serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "Pick.")
	p := b.calls()[0]
	p.State, p.ErrorText = "output-error", "no screen"
	b.post(nil)
	require.Equal(t, "No color, then.", b.last().Text())
	messages := script.Requests()[1].Messages
	result := messages[len(messages)-1].Parts[0].Result
	require.True(t, result.Error)
	require.Equal(t, "no screen", result.Text())
	history := b.history()
	require.Equal(t, "output-error", history[1].Parts[1].State)
	require.Equal(t, "no screen", history[1].Parts[1].ErrorText)
	b.requireHistory()
}

func TestAFailedRunIsVisibleAfterAReload(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Fail(fault.Permanent))
	b := s.browser("ann", "c-1")
	b.say("u-1", "x")
	require.NotEmpty(t, b.failure)
	parts := b.history()[1].Parts
	require.Contains(t, string(parts[len(parts)-1].Data), b.failure)
	b.requireHistory()
}

func TestAnEditedCallShowsItsNewInput(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"a"}), providertest.Say("Done."))
	b := s.browser("ann", "c-1")
	b.say("u-1", "Delete it.")
	b.post(obj{"decisions": []obj{{"id": b.calls()[0].Approval.ID, "decision": "edit", "input": Page{"z"}}}})
	require.JSONEq(t, `{"page":"z"}`, string(b.calls()[0].Input))
	require.Equal(t, []string{"z"}, s.did())
	b.requireHistory()
}

func TestReasoningEndsBeforeWhatFollowsIt(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Reply(providertest.Think("hm"), providertest.Say("Fine.")))
	res := s.request("ann", "POST", "chat", obj{"id": "c-1", "message": obj{"id": "u", "role": "user",
		"parts": []obj{{"type": "text", "text": "x"}}}})
	var types []string
	for _, ev := range events(t, res, nil) {
		var c struct{ Type string }
		if json.Unmarshal(ev.Data, &c) == nil && c.Type != "text-delta" && c.Type != "reasoning-delta" {
			types = append(types, c.Type)
		}
	}
	require.Equal(t, []string{"start", "start-step", "reasoning-start", "reasoning-end", "text-start", "text-end",
		"finish-step", "finish"}, types)
}

func TestTheCardOfASubagentClosesWithItsRun(t *testing.T) {
	wipe := tools.New(tools.Spec{Name: "wipe", Risk: tools.High},
		func(context.Context, Page) (string, error) { return "wiped", nil })
	child, err := agent.New(agent.Config{Name: "worker", Tools: []tools.Tool{wipe},
		Provider: providertest.Script(providertest.Call("wipe", Page{"a"}))})
	require.NoError(t, err)
	s := newSiteOf(t, agent.Config{Provider: providertest.Script(
		providertest.Call("worker", agent.Task{Task: "Wipe it."}), providertest.Say("Well.")),
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}}, serve.Config{})
	b := s.browser("ann", "c-1")
	b.say("u-1", "Wipe it.")
	card := b.calls()[1]
	require.Equal(t, "approval-requested", card.State)
	b.say("u-2", "No.")
	require.Equal(t, []string{card.Approval.ID}, b.superseded)
	for _, p := range b.history()[1].Parts {
		if p.ToolCallID != "" {
			require.Equal(t, "output-denied", p.State, p.ToolName)
		}
	}
}
