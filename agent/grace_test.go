package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// TestACallThatReturnsJustWhenItIsLeftBehindHasOneResult, which hooks see once.
func TestACallThatReturnsJustWhenItIsLeftBehindHasOneResult(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			seen := make(chan *agent.ToolResult, 10)
			stubborn := tools.New(tools.Spec{Name: "stubborn", Timeout: time.Second, Idempotent: true, NoRetries: true},
				func(context.Context, Number) (string, error) {
					<-time.After(6 * time.Second) // the limit, and the time in which a call has to return
					return "at last", nil
				})
			a, _ := scripted(t, agent.Config{
				Tools: []tools.Tool{stubborn},
				Hooks: []agent.Hooks{{AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
					seen <- r
					return nil
				}}},
			}, call("stubborn", 1), say("Done."))
			res := run(t, a)
			require.Equal(t, agent.Completed, res.Status)
			synctest.Wait()
			require.Len(t, seen, 1)
			require.Len(t, finished(t, a, "s"), 1)
		})
	}
}
