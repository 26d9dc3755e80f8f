package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// The tests in this file hand a run what its journal can't hold, and then read the journal.

// slowCheck returns a tool that may run beside others and whose check takes a while and doesn't
// look at its context.
func slowCheck(done *effects, takes time.Duration) tools.Tool {
	return tools.Func[Number, string]{
		Spec: tools.Spec{Name: "work", ParallelSafe: true},
		Run: func(_ context.Context, in Number) (string, error) {
			done.add(in.N)
			return "done", nil
		},
		Check: func(context.Context, Number) error {
			<-time.After(takes)
			return nil
		},
	}
}

// nested returns arrays in arrays.
func nested(levels int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", levels) + strings.Repeat("]", levels))
}

// chunked returns a provider that always answers with the same chunks.
func chunked(chunks ...provider.Chunk) provider.Provider {
	return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
		}
	})
}

// asking returns a tool that asks a person.
func asking(question tools.Suspend) tools.Tool {
	return tools.New(tools.Spec{Name: "ask"}, func(context.Context, Number) (string, error) { return "", question })
}

// giving returns a tool that gives a result.
func giving(res tools.Result) tools.Tool {
	return tools.New(tools.Spec{Name: "give"}, func(context.Context, Number) (tools.Result, error) { return res, nil })
}

func TestACallWhoseCheckOutlivesItsRunIsNeverStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{slowCheck(&done, 10*time.Second)},
			Journal: &journal.MapStore{}}, calls("work", 1, 2))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, _ := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.Equal(t, agent.Stopped, res.Status)
		<-time.After(time.Minute)
		require.Zero(t, done.all())
		log := facts(t, a, "s")
		require.IsType(t, &machine.RunEnded{}, log[len(log)-1])
		requireSound(t, "s", log)
	})
}

func TestAToolResultInTheAnswerOfAHookSpoilsNoLog(t *testing.T) {
	h := agent.Hooks{Name: "h", BeforeStep: func(_ context.Context, s *agent.Step) error {
		s.Answer(&provider.Response{Parts: []provider.Part{
			provider.TextPart("mine"), provider.ResultPart(provider.ToolResult{CallID: "1", Name: "n"})}})
		return nil
	}}
	a, model := scripted(t, agent.Config{Hooks: []agent.Hooks{h}, Journal: &journal.MapStore{}}, say("no"))
	require.Equal(t, "mine", run(t, a).Text())
	require.Empty(t, model.Requests())
	requireSound(t, "s", facts(t, a, "s"))
}

func TestARunIsSentBackThoughRedactingLeavesNothingToSay(t *testing.T) {
	h := agent.Hooks{Name: "h", BeforeFinish: func(context.Context, *agent.Result) error {
		return agent.SendBack("secret")
	}}
	a, model := scripted(t, agent.Config{Hooks: []agent.Hooks{h}, Journal: &journal.MapStore{},
		Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "") }}, say("a"), say("b"), say("c"))
	require.Equal(t, "c", run(t, a).Text())
	require.Len(t, model.Requests(), 3)
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAQuestionWithABrokenSchemaFailsItsCallAlone(t *testing.T) {
	ask := asking(tools.Suspend{Kind: "question", Prompt: "?", Schema: json.RawMessage("not json")})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{ask}, Journal: &journal.MapStore{}}, call("ask", 1), say("on"))
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, "on", res.Text())
	require.True(t, results(res)[0].Error)
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAResultTooLargeForTheJournalFailsItsCallAlone(t *testing.T) {
	give := giving(tools.Result{
		Parts: []provider.Part{provider.MediaPart(provider.Media{Type: "image/png", Data: make([]byte, 52<<20)})}})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{give}, Journal: &journal.MapStore{}}, call("give", 1),
		say("on"))
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	for _, p := range results(res)[0].Parts {
		require.Nil(t, p.Media)
		require.Contains(t, p.Text, "can be kept")
	}
	requireSound(t, "s", facts(t, a, "s"))
}

func TestDataOfAHookThatIsntJSONSpoilsNoLog(t *testing.T) {
	var done effects
	h := agent.Hooks{Name: "h", AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
		r.Data = json.RawMessage("oops")
		return nil
	}}
	a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{h}, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})},
		Journal: &journal.MapStore{}}, call("work", 1), say("on"))
	require.Equal(t, "on", run(t, a).Text())
	require.Equal(t, 1, done.all())
	require.Empty(t, finished(t, a, "s")[0].Data)
	require.Equal(t, "done 1", finished(t, a, "s")[0].Text())
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAnAnswerNestedTooDeepIsRefusedAndThePauseStays(t *testing.T) {
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{asking(tools.Suspend{Kind: "question", Prompt: "?"})},
		Journal: &journal.MapStore{}},
		call("ask", 1), say("on"))
	id := run(t, a).Pending[0].ID
	var d agent.Decision
	require.NoError(t, json.Unmarshal([]byte(`{"id":"`+id+`","kind":"answer","value":`+string(nested(9999))+`}`), &d))
	_, err := a.Run(t.Context(), agent.Resume("s", d))
	require.ErrorContains(t, err, "nested deeper")
	requireSound(t, "s", facts(t, a, "s"))
	require.NoError(t, json.Unmarshal([]byte(`{"id":"`+id+`","kind":"answer","value":[1]}`), &d))
	require.Equal(t, "on", runInput(t, a, agent.Resume("s", d)).Text())
}

func TestDataOfAToolNestedTooDeepSpoilsNoLog(t *testing.T) {
	give := giving(tools.Result{Parts: []provider.Part{provider.TextPart("x")}, Data: nested(9999)})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{give}, Journal: &journal.MapStore{}}, call("give", 1),
		say("on"))
	require.Equal(t, "on", run(t, a).Text())
	require.Empty(t, finished(t, a, "s")[0].Data)
	require.Equal(t, "x", finished(t, a, "s")[0].Text())
	requireSound(t, "s", facts(t, a, "s"))
}

func TestACallOfTheProviderNestedTooDeepSpoilsNoLog(t *testing.T) {
	a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Provider: chunked(provider.Start("m"),
		provider.ProviderCall(provider.ToolCall{ID: "1", Name: "search", Input: nested(9999)}), provider.Text("on"),
		provider.End(provider.StopDone, provider.Usage{}))})
	require.Equal(t, "on", run(t, a).Text())
	requireSound(t, "s", facts(t, a, "s"))
}

func TestCallsOfAHistoryWhoseIDsAreNoUTF8StayApart(t *testing.T) {
	asked := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "x"}}
	}
	given := func(id string) provider.Part { return provider.ResultPart(provider.ToolResult{CallID: id, Name: "x"}) }
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("on"))
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", History: []provider.Message{
		provider.User("a"),
		{Role: provider.RoleAssistant, Parts: []provider.Part{asked("\xff"), asked("\xfe")}},
		{Role: provider.RoleTool, Parts: []provider.Part{given("\xff"), given("\xfe")}},
	}})
	require.Equal(t, "on", res.Text())
	m, err := machine.Replay("s", facts(t, a, "s")...)
	require.NoError(t, err)
	past := m.State().Messages
	require.Len(t, past, 5)
	asks, answers := past[1].Calls(), past[2].Parts
	require.Len(t, asks, 2)
	require.Len(t, answers, 2)
	require.NotEqual(t, asks[0].ID, asks[1].ID)
	for i := range asks {
		require.Equal(t, asks[i].ID, answers[i].Result.CallID)
	}
	requireSound(t, "s", facts(t, a, "s"))
}

// cut copies the records of session "s" up to the first of a kind, as though the process had died
// before it was written.
func cut(t *testing.T, from, to journal.Store, kind string) {
	t.Helper()
	cutSession(t, from, to, "s", kind)
}

func cutSession(t *testing.T, from, to journal.Store, session, kind string) {
	t.Helper()
	var recs []journal.Record
	for r, err := range from.Read(t.Context(), session, 0) {
		require.NoError(t, err)
		if r.Kind == kind {
			break
		}
		recs = append(recs, r)
	}
	require.NoError(t, to.Append(t.Context(),
		journal.Append{Session: session, Records: recs, Head: &journal.HeadUpdate{Status: "running"}}))
}

func TestACallInDoubtIsNeverSaidNotToHaveRun(t *testing.T) {
	for name, next := range map[string]agent.Work{
		"superseded": agent.Input{Session: "s", Prompt: "x", Supersede: true},
		"expired":    agent.Continue("s"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var done effects
				store, left := &journal.MapStore{}, &journal.MapStore{}
				cfg := agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}, Journal: store,
					PauseExpires: time.Minute}
				run(t, reopen(t, cfg, call("work", 1), say("on")))
				cut(t, store, left, "tool_finished")
				cfg.Journal = left
				b := reopen(t, cfg, say("on"))
				require.Equal(t, agent.PauseInDoubt, runInput(t, b, agent.Continue("s")).Pending[0].Kind)
				if name == "expired" {
					<-time.After(time.Hour)
				}
				require.Equal(t, agent.Completed, runInput(t, b, next).Status)
				require.Equal(t, 1, done.all())
				res := finished(t, b, "s")[0]
				require.NotContains(t, res.Text(), "wasn't run")
				require.Contains(t, res.Text(), "it is not known whether it had its effect")
				requireSound(t, "s", facts(t, b, "s"))
			})
		})
	}
}
