package agent

import (
	"context"
	"iter"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// answering returns an agent that answers at once. What is in hand of each of its runs is given to look.
func answering(t *testing.T, cfg Config, look func(*exec)) *Agent {
	t.Helper()
	cfg.Provider = provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Start("m"), nil) && yield(provider.Text("Done."), nil) && yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		}
	})
	cfg.Hooks = []Hooks{{Name: "look", BeforeStep: func(ctx context.Context, _ *Step) error {
		look(execOf(ctx))
		return SetPhase(ctx, "looked at")
	}}}
	a, err := New(cfg)
	require.NoError(t, err)
	return a
}

// TestWhatIsRecordedAfterARunIsShownInNoOther: a revocation that came too late for a run is recorded when it is over.
func TestWhatIsRecordedAfterARunIsShownInNoOther(t *testing.T) {
	var over *exec
	a := answering(t, Config{}, func(x *exec) { over = x })
	for range 20 { // now and then nothing is kept
		_, err := a.Run(t.Context(), Input{Prompt: "Go."})
		require.NoError(t, err)
		before := over
		for ev, err := range a.Stream(t.Context(), Input{Prompt: "Go."}) {
			require.NoError(t, err)
			require.NotEqual(t, "late", ev.Envelope().Run, "%T", ev)
			if _, ok := ev.(StepStarted); !ok {
				continue
			}
			over.lock() // as a tool would
			over.queue = append(over.queue, PhaseChanged{Meta: Meta{Origin: over.origin}})
			over.mu.Unlock()
			for range 2 {
				before.queue = append(before.queue, PhaseChanged{Meta: Meta{Origin: &Origin{Run: "late"}}})
				before.queue, before.shown = before.shown, before.queue
			}
		}
	}
}

func TestWhatIsKeptForTheNextRunHoldsNothingOfTheLast(t *testing.T) {
	type key struct{}
	var last weak.Pointer[exec]
	// no time limits: the runtime holds on to timers that were stopped, for a while
	a := answering(t, Config{NoGuard: true, Limits: Limits{Duration: -1}}, func(x *exec) { last = weak.Make(x) })
	for range 10 {
		big := new([1 << 20]byte)
		of := weak.Make(big)
		_, err := a.Run(context.WithValue(t.Context(), key{}, big), Input{Prompt: "Go."})
		require.NoError(t, err)
		big = nil
		runtime.GC() // what is in a sync.Pool outlives one collection
		require.True(t, of.Value() == nil, "what the run was given")
		require.True(t, last.Value() == nil, "the run")
	}
}
