package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// askTool runs a call of AskTool until it pauses.
func askTool(t *testing.T, input map[string]any) (*agent.Agent, *agent.Result, *providertest.Model) {
	t.Helper()
	model := providertest.Script(providertest.Call("ask", input), providertest.Say("good"))
	a, err := agent.New(agent.Config{Provider: model, Journal: &journal.MapStore{},
		Tools: []tools.Tool{agent.AskTool()}})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "paint it"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Len(t, res.Pending, 1)
	require.Equal(t, agent.PauseKind("question"), res.Pending[0].Kind)
	return a, res, model
}

func TestTheAnswerToAskedQuestionsIsTheirResult(t *testing.T) {
	colors := []string{"red", "blue <i>"}
	for name, c := range map[string]struct {
		options []string
		schema  string
		decide  func(id string) agent.Decision
		result  string
	}{
		"an option": {colors, `{"type":"string","minLength":1,"enum":["red","blue <i>"]}`,
			func(id string) agent.Decision { return agent.Answer(id, "blue <i>") }, "blue <i>"},
		"own words": {nil, `{"type":"string","minLength":1}`,
			func(id string) agent.Decision { return agent.Answer(id, "like the sky") }, "like the sky"},
		"none of them": {colors, `{"type":"string","minLength":1,"enum":["red","blue <i>"]}`,
			func(id string) agent.Decision { return agent.Reject(id, "rather green") }, "rather green"},
	} {
		t.Run(name, func(t *testing.T) {
			input := map[string]any{"question": "Which color?"}
			if c.options != nil {
				input["options"] = c.options
			}
			a, res, model := askTool(t, input)
			p := res.Pending[0]
			require.Equal(t, "Which color?", p.Reason)
			require.JSONEq(t, c.schema, string(p.Schema))
			res, err := a.Run(t.Context(), agent.Resume("s-1", c.decide(p.ID).By("ann")))
			require.NoError(t, err)
			require.Equal(t, "good", res.Text())
			require.Contains(t, res.Messages[2].Parts[0].Result.Text(), c.result)
			require.Len(t, model.Requests(), 2)
		})
	}
}

func TestAnAskedQuestionTakesOneOfItsOptionsOnly(t *testing.T) {
	a, res, _ := askTool(t, map[string]any{"question": "Which color?", "options": []string{"red", "blue"}})
	for _, value := range []any{"green", "", 1, nil, map[string]string{"answer": "red"}} {
		_, err := a.Run(t.Context(), agent.Resume("s-1", agent.Answer(res.Pending[0].ID, value)))
		var refused *agent.DecisionError
		require.ErrorAs(t, err, &refused, "%v", value)
		require.Equal(t, machine.DecisionBad, refused.Code)
	}
	d, err := agent.AskTool().Define()
	require.NoError(t, err)
	for _, input := range []string{`{}`, `{"question":" "}`, `{"question":"?","options":["a"," "]}`,
		`{"question":"?","x":1}`} {
		_, err := d.Accept([]byte(input))
		require.Error(t, err, input)
	}
}

// titled returns a tool that needs approval and gives its calls a title.
func titled(title func(context.Context, Note) string) tools.Tool {
	return tools.Func[Note, string]{
		Spec:  tools.Spec{Name: "notes.sendNote", Approval: tools.AskAlways},
		Title: title,
		Run:   func(context.Context, Note) (string, error) { return "sent", nil },
	}
}

// TestAPauseHasTheTitleThatTheToolGave: in the result, in the fact, and in another process.
func TestAPauseHasTheTitleThatTheToolGave(t *testing.T) {
	for name, c := range map[string]struct {
		title func(context.Context, Note) string
		want  string
	}{
		"its own": {func(_ context.Context, in Note) string {
			return "Send “" + in.Text + "” to all"
		}, "Send “hi” to all"},
		"one for the user": {func(ctx context.Context, _ Note) string {
			c, _ := tools.CallOf(ctx)
			return "Send as " + c.User
		}, "Send as ann"},
		"none":          {nil, "Send note “hi”"},
		"a panic":       {func(context.Context, Note) string { panic("no") }, "Send note “hi”"},
		"several lines": {func(context.Context, Note) string { return "a\n\x1bb" }, "a b"},
		"too long": {func(context.Context, Note) string {
			return strings.Repeat("x", 9000)
		}, strings.Repeat("x", 197) + "…"},
		"a secret": {func(context.Context, Note) string { return "Send " + secret }, "Send [key]"},
		"a secret where the title is cut": {func(context.Context, Note) string {
			return strings.Repeat("x", 194) + secret
		}, strings.Repeat("x", 194) + "[key]"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			cfg := agent.Config{Journal: store, Redact: redact, Tools: []tools.Tool{titled(c.title)}}
			a, _ := scripted(t, cfg, providertest.Call("notes.sendNote", Note{"hi"}))
			res := runInput(t, a, agent.Input{Session: "s", User: "ann", Prompt: "go"})
			require.Equal(t, c.want, res.Pending[0].Title)
			head, err := store.Head(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, c.want, head.Open[0].What)

			cfg.Tools = []tools.Tool{titled(func(context.Context, Note) string { return "something else" })}
			other, model := scripted(t, cfg, say("Done."))
			pending, err := other.Session("s").Pending(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, pending[0].Title)
			res = runInput(t, other, agent.Resume("s", agent.Approve(pending[0].ID)))
			require.Equal(t, "Done.", res.Text())
			model.AssertDone(t)
		})
	}
}

func TestAQuestionHasATitle(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "askUser"}, func(context.Context, Note) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Which color?"}
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{ask}}, providertest.Call("askUser", Note{"color"}))
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
	require.Equal(t, "Ask user “color”", res.Pending[0].Title)
	require.Equal(t, "Which color?", res.Pending[0].Reason)
}
