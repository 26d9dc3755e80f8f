package guard_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A world is two faulty providers behind guards with everything, as a chain, and sessions that use
// it all at once.
type world struct {
	t      *testing.T
	path   provider.Provider
	gates  []*ratelimit.Gate
	budget *budget.Budget
	ledger *budget.Ledger
	limit  int64
}

func newWorld(t *testing.T, r *rand.Rand) *world {
	w := &world{t: t, limit: int64(r.IntN(100_000)), ledger: budget.NewLedger(budget.LedgerConfig{})}
	w.budget = budget.New(budget.Config{Global: budget.Limit{Tokens: w.limit}, Session: budget.Limit{Tokens: 20_000}})
	guarded := func(name string) provider.Provider {
		gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1 + r.IntN(3), RequestsPerMinute: int64(r.IntN(3) * 50),
			Queue: 1 + r.IntN(5)})
		w.gates = append(w.gates, gate)
		seed := r.Uint64()
		var n uint64
		var mu sync.Mutex
		faulty := provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
			mu.Lock()
			n++
			own := &faulty{r: rand.New(rand.NewPCG(seed, n))}
			mu.Unlock()
			return own.Stream(ctx, req)
		})
		return newGuard(t, faulty, guard.Config{Name: name, Gate: gate, Budget: w.budget, Ledger: w.ledger,
			Breaker: circuit.New(name, circuit.LLM()), Recovery: r.IntN(4) == 0})
	}
	w.path = newChain(t, guard.ChainConfig{}, guarded("a"), guarded("b"))
	if r.IntN(2) == 0 { // as an agent does
		w.path = newGuard(t, w.path, guard.Config{Name: "agent"})
	}
	return w
}

// session makes some calls, and leaves some of them in one of the ways in which callers do.
func (w *world) session(name string, r *rand.Rand) {
	for range 3 {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(r.IntN(3600))*s)
		req := &provider.Request{Messages: ask.Messages, Labels: provider.Labels{Session: name},
			Interactive: r.IntN(3) == 0, NoRestart: r.IntN(3) == 0, MaxOutput: r.IntN(3) * 1000}
		seq := w.path.Stream(ctx, req)
		if r.IntN(4) == 0 {
			leaveAt(seq, r.IntN(8), []string{"break", "panic", "goexit"}[r.IntN(3)])
			cancel()
			continue
		}
		var c provider.Collector
		failed := false
		for chunk, err := range seq {
			require.False(w.t, failed, "nothing follows an error")
			if failed = err != nil; !failed {
				require.NoError(w.t, c.Add(chunk))
			}
			if r.IntN(8) == 0 {
				<-time.After(time.Duration(r.IntN(20)) * s)
			}
		}
		cancel()
		require.Equal(w.t, !failed, c.Complete())
		text := c.Response().Text()
		require.True(w.t, strings.HasPrefix("one", text) || strings.HasPrefix("ne", text), text) // of one attempt
	}
}

// FuzzWhateverHappensEverythingIsGivenBack: many sessions at once, through all that there is, with
// providers that fail in every way and callers that leave in every way. In the end nothing is held,
// and what is spent is what was booked.
func FuzzWhateverHappensEverythingIsGivenBack(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t, r)
			var all sync.WaitGroup
			for i := range 2 + r.IntN(6) {
				own := rand.New(rand.NewPCG(seed, uint64(2+i)))
				all.Go(func() { w.session(fmt.Sprint("s", i), own) })
			}
			all.Wait()
			synctest.Wait()
			for _, gate := range w.gates {
				snap := gate.Snapshot()
				require.Zero(t, snap.Running)
				require.Zero(t, snap.Queued)
			}
			settled(t, w.budget, w.ledger)
		})
	})
}
