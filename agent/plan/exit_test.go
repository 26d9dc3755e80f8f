package plan

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

// TestAStepWhoseProgramHasFailedHasFailed: what comes after it isn't done, and what came before it
// is undone.
func TestAStepWhoseProgramHasFailedHasFailed(t *testing.T) {
	var done []string
	program := tools.Func[item, tools.Result]{Spec: tools.Spec{Name: "run"},
		Run: func(_ context.Context, in item) (tools.Result, error) {
			done = append(done, in.Name)
			exit := &tools.Exit{}
			if in.Name == "test" {
				exit.Code = 2
			}
			return tools.Result{Parts: tools.Text(exit.String() + strings.Repeat("\nok", 20) + "\nFAIL").Parts,
				Exit: exit}, nil
		},
		Undo: func(_ context.Context, in item, _ tools.Result) error {
			done = append(done, "undo "+in.Name)
			return nil
		}}
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Journal: &journal.MapStore{},
		Tools: []tools.Tool{program}})
	require.NoError(t, err)
	r, err := New(Config{Agent: a})
	require.NoError(t, err)
	step := func(id string, after ...string) Node {
		return Node{ID: id, Tool: "run", Input: map[string]any{"name": id}, After: after}
	}
	_, err = run(r, plan("A", step("build"), step("test", "build"), step("ship", "test")))
	require.Error(t, err)
	require.Contains(t, err.Error(), "exit code 2"+strings.Repeat(" ok", 9)+" FAIL")
	require.Equal(t, []string{"build", "test", "undo test", "undo build"}, done)
}
