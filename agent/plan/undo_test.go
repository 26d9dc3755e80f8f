package plan

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A node that was done twice for a review is undone twice, the newest first.
func TestAllRoundsOfANodeAreUndone(t *testing.T) {
	var log []string
	draw := tools.Func[item, string]{
		Spec: tools.Spec{Name: "draw"},
		Run: func(context.Context, item) (string, error) {
			log = append(log, fmt.Sprint("draft", len(log)+1))
			return log[len(log)-1], nil
		},
		Undo: func(_ context.Context, _ item, out string) error { log = append(log, "-"+out); return nil },
	}
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{draw,
		tools.New(tools.Spec{Name: "fail"}, func(context.Context, item) (string, error) {
			return "", errors.New("no")
		})}})
	require.NoError(t, err)
	r, err := NewRunner(Config{Agent: a,
		Checks: map[string]Check{"taste": func(_ context.Context, c Candidate) (Verdict, error) {
			return Verdict{Passed: c.Round == 2}, nil
		}}})
	require.NoError(t, err)
	in := map[string]any{"name": "x"}
	_, err = run(r, plan("A", Node{ID: "a", Tool: "draw", Input: in, Review: &Review{Checks: []string{"taste"}}},
		Node{ID: "b", Tool: "fail", Input: in, After: []string{"a"}}))
	require.ErrorAs(t, err, new(*FailedError))
	require.Equal(t, []string{"draft1", "draft2", "-draft2", "-draft1"}, log)
}

// A call of an idempotent tool that failed is made again with the same idempotency key.
func TestARetryHasTheSameIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		a, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "pay", Idempotent: true, NoRetries: true},
				func(ctx context.Context, _ item) (string, error) {
					if keys = append(keys, tools.IdempotencyKey(ctx)); len(keys) < 3 {
						return "", fault.New(fault.Transient, "timeout")
					}
					return "paid", nil
				})}})
		require.NoError(t, err)
		r, err := NewRunner(Config{Agent: a})
		require.NoError(t, err)
		_, err = run(r, plan("A", Node{ID: "a", Tool: "pay", Input: map[string]any{"name": "x"}}))
		require.NoError(t, err)
		require.Len(t, keys, 3)
		require.Equal(t, []string{keys[0], keys[0]}, keys[1:])
	})
}
