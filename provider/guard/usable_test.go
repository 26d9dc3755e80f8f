package guard_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// A touchy error panics when it is unwrapped.
type touchy struct{}

func (touchy) Error() string { return "touchy" }
func (touchy) Unwrap() error { panic("unwrap") }

func TestAnErrorWhoseMethodsPanicIsReplaced(t *testing.T) {
	failing := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) { yield(provider.Chunk{}, touchy{}) }
	})
	one, err := guard.New(failing, guard.Config{})
	require.NoError(t, err)
	chain, err := guard.NewChain(guard.ChainConfig{}, failing, failing)
	require.NoError(t, err)
	for name, p := range map[string]provider.Provider{"guard": one, "chain": chain} {
		_, err := provider.Generate(t.Context(), p, &provider.Request{Messages: []provider.Message{provider.User("x")}})
		require.Error(t, err, name)
		require.Nil(t, fault.Panics(err), name)
		require.False(t, errors.Is(err, context.Canceled), name)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(touchy{})
	_, err = provider.Generate(ctx, one, &provider.Request{Messages: []provider.Message{provider.User("x")}})
	require.Error(t, err)
	require.Nil(t, fault.Panics(err))
}
