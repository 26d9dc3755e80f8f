package agent_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
)

// behind returns a guard with all that a path has around a provider that does this with each call.
func behind(t *testing.T, name string, calls *atomic.Int64,
	do func(context.Context, func(provider.Chunk, error) bool)) (*guard.Guard, *circuit.Breaker) {
	breaker := circuit.New(name, circuit.LLM())
	g, err := guard.New(provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
		calls.Add(1)
		return func(yield func(provider.Chunk, error) bool) { do(ctx, yield) }
	}), guard.Config{Name: name, Gate: ratelimit.NewGate(ratelimit.GateConfig{Slots: 1}), Breaker: breaker})
	require.NoError(t, err)
	return g, breaker
}

// TestAnAgentsOwnGuardDoublesNothing: neither the clocks of the guard that its provider is, nor its
// attempts.
func TestAnAgentsOwnGuardDoublesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hung, answered, failed atomic.Int64
		hangs, breaker := behind(t, "hangs", &hung, func(ctx context.Context, yield func(provider.Chunk, error) bool) {
			<-ctx.Done()
			yield(provider.Chunk{}, ctx.Err())
		})
		answers, _ := behind(t, "answers", &answered, func(_ context.Context, yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Start("m"), nil) && yield(provider.Text("here"), nil) &&
				yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		})
		both, err := guard.Failover(hangs, answers)
		require.NoError(t, err)
		a, err := agent.New(agent.Config{Provider: both})
		require.NoError(t, err)
		var waits []provider.WaitReason
		for ev, err := range a.Stream(t.Context(), agent.Input{Prompt: "go"}) {
			require.NoError(t, err)
			if w, ok := ev.(*agent.Waiting); ok {
				waits = append(waits, w.Wait.Reason)
			}
		}
		require.EqualValues(t, 1, answered.Load(), "the second provider was asked")
		require.EqualValues(t, 5, hung.Load())
		require.Error(t, breaker.Ready(), "and the first one's breaker knows why")
		require.Len(t, waits, 4)

		fails, _ := behind(t, "fails", &failed, func(_ context.Context, yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, fault.New(fault.Degraded, "down"))
		})
		a, err = agent.New(agent.Config{Provider: fails})
		require.NoError(t, err)
		_, err = a.Run(t.Context(), agent.Input{Prompt: "go"})
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, err, &gaveUp)
		require.Equal(t, "fails", gaveUp.Name)
		require.EqualValues(t, 3, failed.Load())
	})
}
