package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

func TestAHookMayEmitFromAGoroutineOfItsOwn(t *testing.T) {
	var all sync.WaitGroup
	a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{{BeforeStep: func(ctx context.Context, _ *agent.Step) error {
		all.Go(func() {
			for range 200 {
				_ = agent.Emit(ctx, "n", 1)
			}
		})
		return nil
	}}}}, say(strings.Repeat("word ", 2000)))
	for _, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
	}
	all.Wait()
}
