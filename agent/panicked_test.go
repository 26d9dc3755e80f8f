package agent_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/stream"
)

func TestAnErrorThatWrapsAPanicOfOneProviderOfSeveralStaysWhole(t *testing.T) {
	slow := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, fault.New(fault.RateLimited, "slow down"))
		}
	})
	panics, err := guard.New(provider.Func(func(context.Context,
		*provider.Request) iter.Seq2[provider.Chunk, error] {
		panic("boom")
	}), guard.Config{})
	require.NoError(t, err)
	chain, err := guard.Failover(slow, panics)
	require.NoError(t, err)
	_, err = newAgent(t, agent.Config{Provider: chain}).Run(t.Context(), agent.Input{Prompt: "go"})
	var all *guard.FailoverError
	require.ErrorAs(t, err, &all)
	require.ErrorContains(t, err, "slow down")
	require.ErrorAs(t, err, new(*stream.PanicError))
}
