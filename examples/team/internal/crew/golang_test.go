package crew

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestFailingTestsDoNotTakeTheGoToolAway: an engineer whose tests fail ten times goes on with them.
func TestFailingTestsDoNotTakeTheGoToolAway(t *testing.T) {
	p, a, _ := place(t)
	tool := p.goTool("go", "go", func(context.Context) (string, error) { return a.tree(t.Context()) })
	var steps []providertest.Step
	for n := range 10 {
		steps = append(steps, providertest.Call("go", goInput{Args: []string{"vet", fmt.Sprint("./missing", n)}}))
	}
	steps = append(steps, providertest.Call("go", goInput{Args: []string{"version"}}), providertest.Say("Done."))
	one, err := agent.New(agent.Config{Tools: []tools.Tool{tool}, Provider: providertest.Script(steps...)})
	require.NoError(t, err)
	var exits []int
	for ev, err := range one.Stream(t.Context(), agent.Input{Session: "s-1", Prompt: "Mend it."}) {
		require.NoError(t, err)
		if f, ok := ev.(*agent.ToolFinished); ok {
			require.Equal(t, tools.OK, f.Result.Status, f.Result.Text())
			exits = append(exits, f.Result.Exit.Code)
		}
	}
	require.Equal(t, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}, exits)
}
