package guard_test

import (
	"context"
	"iter"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/alarm"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// TestACallerThatIsKeptForOthersHoldsNothingOfItsCalls: an agent keeps it from run to run.
func TestACallerThatIsKeptForOthersHoldsNothingOfItsCalls(t *testing.T) {
	g, err := guard.New(provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Start("m"), nil) && yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		}
	}), guard.Config{})
	require.NoError(t, err)
	type key struct{}
	caller, clock, big := g.Caller(), alarm.New(), new([1 << 20]byte)
	of := weak.Make(big)
	caller.Share(clock)
	caller.Call(context.WithValue(t.Context(), key{}, big), &provider.Request{Model: "m"}, func(provider.Chunk, error) bool { return true })
	clock.Stop()
	caller.Share(nil)
	big = nil
	runtime.GC()
	require.True(t, of.Value() == nil)
	runtime.KeepAlive(caller)
}
