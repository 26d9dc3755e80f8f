package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// remote asks a service that answers within 100 ms.
func remote(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return errors.New("the service didn't answer")
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}

// TestNothingThatIsCutOffAtTheEndOfALegFails: hooks, policies and the system text come from a
// service, and the leg ends while it is asked.
func TestNothingThatIsCutOffAtTheEndOfALegFails(t *testing.T) {
	hooks := agent.Hooks{
		BeforeStep:   func(ctx context.Context, _ *agent.Step) error { return remote(ctx) },
		AfterStep:    func(ctx context.Context, _ *agent.Step, _ *provider.Response) error { return remote(ctx) },
		BeforeTool:   func(ctx context.Context, _ *agent.ToolCall) error { return remote(ctx) },
		AfterTool:    func(ctx context.Context, _ *agent.ToolCall, _ *agent.ToolResult) error { return remote(ctx) },
		BeforeFinish: func(ctx context.Context, _ *agent.Result) error { return remote(ctx) },
	}
	policy := func(ctx context.Context, _ *tools.Definition, _ *tools.Call) tools.Verdict {
		if err := remote(ctx); err != nil {
			return tools.Verdict{Effect: tools.Deny, Reason: err.Error()}
		}
		return tools.Verdict{}
	}
	compose := func(ctx context.Context, _ agent.ComposeInput) (string, error) { return "Work.", remote(ctx) }
	whole := time.Hour
	for at := 50 * time.Millisecond; at < whole; at += 100 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			var done effects
			store := &journal.MapStore{}
			a := newAgent(t, agent.Config{Journal: store,
				Provider: inTurn(calls("work", 1, 2), call("work", 3), say("Done.")),
				Hooks:    []agent.Hooks{hooks}, Policies: []tools.Policy{policy},
				Compose: compose,
				Tools:   []tools.Tool{done.tool(tools.Spec{Name: "work", Idempotent: true})}})
			ctx, cancel := context.WithTimeout(t.Context(), at)
			defer cancel()
			p, err := a.Advance(ctx, first, agent.Leg{Grace: time.Millisecond})
			require.NoError(t, err)
			if p.Next == agent.NextEnded {
				whole = at
			}
			last, _ := advanced(t, a, agent.Leg{})
			require.NoError(t, last.Result.Err(), "%v", at)
			require.Equal(t, "Done.", last.Result.Text())
			requireNeverStopped(t, store)
			for _, m := range last.Result.Messages {
				for _, part := range m.Parts {
					require.False(t, part.Result != nil && part.Result.Error, "%v", at)
				}
			}
		})
	}
	require.Greater(t, whole, time.Second)
}
