package acp_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// deleting is a model that deletes the pages home and about, one after the other.
func deleting() *providertest.Model {
	return providertest.Script(providertest.Call("site.deletePage", page{"home"}),
		providertest.Call("site.deletePage", page{"about"}), providertest.Say("Done."))
}

func TestAPermissionIsTheDecisionOnAPause(t *testing.T) {
	for choice, want := range map[string]struct{ asked, ran int }{
		"Allow once": {2, 2}, "Always allow": {1, 2}, "Reject": {2, 0},
	} {
		t.Run(choice, func(t *testing.T) {
			ran := 0
			e, hub := serve(t, agent.Config{Provider: deleting(), Tools: []tools.Tool{risky(&ran)}})
			e.choose = func(sdk.RequestPermissionRequest) string { return choice }
			id := e.begin("/srv/app")
			e.say(id, "Delete them.", sdk.StopReasonEndTurn)
			require.Equal(t, want.ran, ran)
			require.Len(t, e.asked, want.asked)
			r := <-e.asked
			require.Equal(t, "Delete page “home”", *r.ToolCall.Title)
			require.Equal(t, "this tool is of high risk", contents(r.ToolCall.Content))
			facts, err := hub.Agent().Session(string(id)).Facts(t.Context())
			require.NoError(t, err)
			asked, err := hub.Asked(t.Context(), string(id))
			require.NoError(t, err)
			for _, a := range asked {
				require.Equal(t, "ann", a.Decided.Decision.User)
			}
			require.NotEmpty(t, facts)
		})
	}
}

func TestADecisionElsewhereWithdrawsTheRequest(t *testing.T) {
	ran := 0
	e, hub := serve(t, agent.Config{Tools: []tools.Tool{risky(&ran)}, Provider: providertest.Script(
		providertest.Call("site.deletePage", page{"home"}), providertest.Say("Done."))})
	id := e.begin("/srv/app")
	done := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Delete it.")
		done <- r
	}()
	r := <-e.asked
	pending, err := hub.Agent().Session(string(id)).Pending(t.Context())
	require.NoError(t, err)
	_, err = hub.Decide(t.Context(), string(id), agent.Approve(pending[0].ID).By("bob")) // on a page, for example
	require.NoError(t, err)
	require.Equal(t, sdk.StopReasonEndTurn, <-done)
	require.Equal(t, string(r.ToolCall.ToolCallId), <-e.gone)
	require.Equal(t, 1, ran)
}

func TestAPauseOfASubagentIsAskedAndWithdrawn(t *testing.T) {
	ran := 0
	child, err := agent.New(agent.Config{Name: "helper", Tools: []tools.Tool{risky(&ran)}, Provider: deleting()})
	require.NoError(t, err)
	e, hub := serve(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})},
		Provider: providertest.Script(providertest.Call("helper", agent.Task{Task: "Delete them."}),
			providertest.Say("Done."))})
	id := e.begin("/srv/app")
	done := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Delete them.")
		done <- r
	}()
	for range 2 { // decided elsewhere
		<-e.asked
		pending, err := hub.Agent().Session(string(id)).Pending(t.Context())
		require.NoError(t, err)
		_, err = hub.Decide(t.Context(), string(id), agent.Approve(pending[0].ID))
		require.NoError(t, err)
		<-e.gone
	}
	require.Equal(t, sdk.StopReasonEndTurn, <-done)
	require.Equal(t, 2, ran)
}

func TestAQuestionWithOptionsIsAPermission(t *testing.T) {
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{agent.AskTool()}, Provider: providertest.Script(
		providertest.Call("ask", map[string]any{"question": "Which color?", "options": []string{"red", "blue"}}),
		providertest.Say("Blue it is."))})
	e.choose = func(sdk.RequestPermissionRequest) string { return "blue" }
	e.say(e.begin("/srv/app"), "Paint it.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "result completed blue\nagent: Blue it is.")
	r := <-e.asked
	require.Equal(t, "Which color?", contents(r.ToolCall.Content))
	require.Len(t, r.Options, 3)
}

func TestTheNextPromptAnswersAnOpenQuestion(t *testing.T) {
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{agent.AskTool()}, Provider: providertest.Script(
		providertest.Call("ask", map[string]any{"question": "Which name?"}), providertest.Say("Done."))})
	id := e.begin("/srv/app")
	e.say(id, "Name it.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "agent: Which name?")
	require.NoError(t, e.load(id, "/srv/app"))
	e.forget()
	e.say(id, "Pawl", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "result completed Pawl\nagent: Done.")
}

func TestAPauseOutlivesTheEditorAndTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	ran := 0
	process := func(steps ...providertest.Step) (*editor, func()) {
		journal := store(t, path)
		a, err := agent.New(agent.Config{Journal: journal, Tools: []tools.Tool{risky(&ran)},
			Provider: providertest.Script(steps...)})
		require.NoError(t, err)
		hub, err := live.New(live.Config{Agent: a})
		require.NoError(t, err)
		e := connect(t, with(hub))
		return e, func() {
			e.kill()
			require.NoError(t, hub.Close())
			require.NoError(t, journal.Close())
		}
	}
	e, end := process(providertest.Reply(providertest.Say("I delete it."),
		providertest.Call("site.deletePage", page{"home"})))
	id := e.begin("/srv/app")
	go e.prompt(id, "Delete it.")
	<-e.asked
	end()

	e, end = process()
	require.NoError(t, e.load(id, "/srv/app"))
	require.Equal(t, "user: Delete it.\nagent: I delete it.\ncall other Delete page “home” pending", e.screen())
	<-e.asked
	end()

	e, end = process(providertest.Say("It is gone."))
	e.choose = func(sdk.RequestPermissionRequest) string { return "Allow once" }
	over := make(chan bool)
	e.update = func(_ int, u sdk.SessionUpdate) {
		if m := u.AgentMessageChunk; m != nil && strings.Contains(m.Content.Text.Text, "gone.") {
			close(over)
		}
	}
	require.NoError(t, e.load(id, "/srv/app"))
	<-over
	require.Contains(t, e.screen(), "result completed deleted\nagent: It is gone.")
	require.Equal(t, 1, ran)
	end()
}

func TestAPromptSupersedesWhatIsAsked(t *testing.T) {
	ran := 0
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{risky(&ran)}, Provider: providertest.Script(
		providertest.Call("site.deletePage", page{"home"}), providertest.Say("As you like."))})
	id := e.begin("/srv/app")
	first := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Delete it.")
		first <- r
	}()
	<-e.asked
	e.say(id, "No, leave it.", sdk.StopReasonEndTurn)
	require.Equal(t, sdk.StopReasonCancelled, <-first)
	<-e.gone
	require.Zero(t, ran)
}

func TestAnEditorThatChoosesNothingCancels(t *testing.T) {
	ran := 0
	e, hub := serve(t, agent.Config{Tools: []tools.Tool{risky(&ran)}, Provider: deleting()})
	id := e.begin("/srv/app")
	e.choose = func(sdk.RequestPermissionRequest) string {
		go e.conn.Cancel(context.Background(), sdk.CancelNotification{SessionId: id}) // after the answer, or before
		return "none"
	}
	e.say(id, "Delete it.", sdk.StopReasonCancelled)
	info, err := hub.Agent().Session(string(id)).Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, agent.Stopped, info.Status)
}

func TestAPauseStaysOpenIfTheEditorCannotAsk(t *testing.T) {
	ran := 0
	e, hub := serve(t, agent.Config{Tools: []tools.Tool{risky(&ran)}, Provider: providertest.Script(
		providertest.Call("site.deletePage", page{"home"}), providertest.Say("Done."))})
	e.choose = func(sdk.RequestPermissionRequest) string { return "fail" }
	said := make(chan bool)
	e.update = func(_ int, u sdk.SessionUpdate) {
		if m := u.AgentMessageChunk; m != nil && strings.Contains(m.Content.Text.Text, "the decision wasn't taken") {
			close(said)
		}
	}
	id := e.begin("/srv/app")
	done := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Delete it.")
		done <- r
	}()
	<-said
	require.Zero(t, ran)
	pending, err := hub.Agent().Session(string(id)).Pending(t.Context())
	require.NoError(t, err)
	_, err = hub.Decide(t.Context(), string(id), agent.Approve(pending[0].ID))
	require.NoError(t, err)
	require.Equal(t, sdk.StopReasonEndTurn, <-done)
	require.Equal(t, 1, ran)
}

func TestTheNextPromptSaysWhatToDoInsteadOfACallThatDoesNotFit(t *testing.T) {
	ran := 0
	bad := providertest.Unfit(providertest.Call("site.deletePage", map[string]any{"pages": 1}))
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{risky(&ran)},
		Limits:   agent.Limits{Corrections: 1, AskAfterCorrections: true},
		Provider: providertest.Script(bad, bad, providertest.Say("I leave it."))})
	id := e.begin("/srv/app")
	e.say(id, "Delete it.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "agent: the model couldn't make a call that fits")
	e.say(id, "Leave it.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "agent: I leave it.")
}

func TestASubmittedPlanIsShownWithItsRequest(t *testing.T) {
	submit := tools.New(tools.Spec{Name: plan.ToolSubmit, Approval: tools.AskAlways},
		func(context.Context, map[string]any) (string, error) { return "done", nil })
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{submit}, Provider: providertest.Script(
		providertest.Call(plan.ToolSubmit, map[string]any{"title": "Move", "nodes": []map[string]any{
			{"id": "a", "tool": "copy", "input": "{}"}, {"id": "b", "tool": "remove", "after": []string{"a"}}}}),
		providertest.Say("Moved."))})
	e.choose = func(sdk.RequestPermissionRequest) string { return "Allow once" }
	e.say(e.begin("/srv/app"), "Move it.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "plan pending copy, pending remove\n")
}

func TestAPromptThatCannotBeginWithdrawsNothing(t *testing.T) {
	ran := 0
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{risky(&ran)}, Provider: providertest.Script(
		providertest.Call("site.deletePage", page{"home"}), providertest.Say("Done."))})
	refused := make(chan bool)
	e.choose = func(sdk.RequestPermissionRequest) string {
		<-refused
		return "Allow once"
	}
	id := e.begin("/srv/app")
	done := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Delete it.")
		done <- r
	}()
	<-e.asked
	_, err := e.prompt(id, " ")
	require.Contains(t, messageOf(t, err, -32603), "Prompt")
	close(refused)
	require.Equal(t, sdk.StopReasonEndTurn, <-done)
	require.Equal(t, 1, ran)
}

func TestWhatIsStillOpenIsAskedAgain(t *testing.T) {
	ran := 0
	e, hub := serve(t, agent.Config{Tools: []tools.Tool{risky(&ran)}, Provider: providertest.Script(
		providertest.Reply(providertest.Call("site.deletePage", page{"home"}),
			providertest.Call("site.deletePage", page{"about"})), providertest.Say("Done."))})
	id := e.begin("/srv/app")
	done := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Delete them.")
		done <- r
	}()
	<-e.asked
	<-e.asked
	pending, err := hub.Agent().Session(string(id)).Pending(t.Context())
	require.NoError(t, err)
	_, err = hub.Decide(t.Context(), string(id), agent.Approve(pending[0].ID)) // on a page, for example
	require.NoError(t, err)
	require.Equal(t, pending[1].Title, *(<-e.asked).ToolCall.Title)
	_, err = hub.Decide(t.Context(), string(id), agent.Approve(pending[1].ID))
	require.NoError(t, err)
	require.Equal(t, sdk.StopReasonEndTurn, <-done)
	require.Equal(t, 2, ran)
}

// TestAnEditorsUserWhoMayNotDecideIsTold, and somebody else decides: the call waits for them.
func TestAnEditorsUserWhoMayNotDecideIsTold(t *testing.T) {
	var mu sync.Mutex
	deleted, down := 0, false
	risky := tools.New(tools.Spec{Name: "site.deletePage", Approvers: []string{"manager"}},
		func(context.Context, page) (string, error) { deleted++; return "deleted", nil })
	e, hub := serve(t, agent.Config{Tools: []tools.Tool{risky}, Provider: providertest.Script(
		providertest.Call("site.deletePage", page{"home"}), providertest.Say("Done.")),
		Roles: func(_ context.Context, _, user string) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			if down {
				return nil, errors.New("the database doesn't answer")
			}
			if user == "bob" {
				return []string{"manager"}, nil
			}
			return nil, nil
		}})
	e.choose = func(sdk.RequestPermissionRequest) string { return "Allow once" }
	told := make(chan struct{}, 1)
	e.update = func(int, sdk.SessionUpdate) {
		if strings.Contains(e.screen(), "ann may not decide") {
			select {
			case told <- struct{}{}:
			default:
			}
		}
	}
	id := e.begin("/srv/app")
	done := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Delete it.")
		done <- r
	}()
	<-told
	s := hub.Agent().Session(string(id))
	pending, err := s.Pending(t.Context())
	require.NoError(t, err)
	require.Len(t, pending, 1)
	mu.Lock()
	down = true
	mu.Unlock()
	_, err = hub.Decide(t.Context(), string(id), agent.Approve(pending[0].ID).By("bob"))
	require.ErrorAs(t, err, new(*agent.RolesError))
	mu.Lock()
	down = false
	mu.Unlock()
	_, err = hub.Decide(t.Context(), string(id), agent.Approve(pending[0].ID).By("bob"))
	require.NoError(t, err)
	require.Equal(t, sdk.StopReasonEndTurn, <-done)
	require.Equal(t, 1, deleted)
}
