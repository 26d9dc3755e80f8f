package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type edit struct {
	Path string `json:"path"`
	New  string `json:"new"`
}

// Who decides about a plan sees what its calls would change, with the paths, and the words of
// commands, whether a model has submitted it or a host has started it.
func TestAQuestionAboutAPlanShowsWhatItsStepsChange(t *testing.T) {
	text := "old"
	change := tools.Func[edit, string]{Spec: tools.Spec{Name: "file.edit", Risk: tools.High},
		Preview: func(_ context.Context, in edit) (string, error) {
			return "--- " + in.Path + "\n+++ " + in.Path + "\n@@ -1 +1 @@\n-" + text + "\n+" + in.New, nil
		},
		Run: func(context.Context, edit) (string, error) { return "done", nil }}
	command := tools.New(tools.Spec{Name: "run"}, func(context.Context, struct {
		Args []string `json:"args"`
	}) (string, error) {
		return "ok", nil
	})
	store := &journal.MapStore{}
	desk, err := agent.New(agent.Config{Name: "desk", Provider: providertest.Script(), Journal: store,
		Tools: []tools.Tool{change, command}})
	require.NoError(t, err)
	r, err := New(Config{Agent: desk})
	require.NoError(t, err)
	const diff = "--- chain.go\n+++ chain.go\n@@ -1 +1 @@\n-old\n+// Chain gives\n"
	const words = "Edit “chain.go” (new: // Chain gives), Run “go vet ./...”"

	_, err = r.Start(t.Context(), "p-1", plan("A",
		Node{ID: "a", Tool: "file.edit", Input: map[string]any{"path": "chain.go", "new": "// Chain gives"}},
		Node{ID: "b", Tool: "run", Input: map[string]any{"args": []any{"go", "vet", "./..."}}}))
	require.NoError(t, err)
	require.Equal(t, diff, open(t, r).Preview)
	require.Contains(t, open(t, r).Reason, words)

	model := providertest.Script(providertest.Call(ToolSubmit, object{"title": "Words", "nodes": []object{
		{"id": "a", "tool": "file.edit", "input": `{"path":"chain.go","new":"// Chain gives"}`},
		{"id": "b", "tool": "run", "input": `{"args":["go","vet","./..."]}`}}}), providertest.Say("Done."))
	a, err := agent.New(agent.Config{Name: "planner", Provider: model, Journal: store, Tools: Tools(r)})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, diff, res.Pending[0].Preview)
	require.Contains(t, res.Pending[0].Reason, words)
	o, ok := Submitted(ToolSubmit, res.Pending[0].Call.Input)
	require.True(t, ok)
	require.Equal(t, []string{"a", "b"}, []string{o.Steps[0].ID, o.Steps[1].ID})

	text = "changed meanwhile" // then a person is asked again
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Contains(t, res.Pending[0].Preview, "-changed meanwhile")
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	require.Equal(t, "Done.", res.Text())
}
