package agent_test

import (
	"runtime"
	"testing"
	gcweak "weak"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestNothingHoldsOnToARunThatHasEnded: a timer that was left running would, for a minute or two.
func TestNothingHoldsOnToARunThatHasEnded(t *testing.T) {
	const runs = 40
	var e effects
	add := e.tool(tools.Spec{Name: "add"})
	var steps []providertest.Step
	for n := range 10 { // the last ones run on the run's own goroutine
		steps = append(steps, providertest.Call("add", Number{n}))
	}
	steps = append(steps, say("done"))
	held := make([]gcweak.Pointer[[1 << 10]byte], runs)
	for i := range runs {
		a, err := agent.New(agent.Config{Tools: []tools.Tool{add}, Provider: providertest.Script(steps...)})
		require.NoError(t, err)
		consumer := new([1 << 10]byte)
		held[i] = gcweak.Make(consumer)
		a.Stream(t.Context(), agent.Input{Prompt: "go"})(func(_ agent.Event, err error) bool {
			consumer[0]++
			require.NoError(t, err)
			return true
		})
	}
	runtime.GC()
	runtime.GC()
	left := 0
	for _, p := range held {
		if p.Value() != nil {
			left++
		}
	}
	require.Less(t, left, runs/2, "a stopped timer may be forgotten a little later, one that runs isn't")
}
