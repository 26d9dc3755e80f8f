package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

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
			store := journal.NewMemory()
			cfg := agent.Config{Journal: store, Redact: redact, Tools: []tools.Tool{titled(c.title)}}
			a, _ := scripted(t, cfg, providertest.Call("notes.sendNote", Note{"hi"}))
			res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
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
