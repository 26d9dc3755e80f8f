package live_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// answers is a run of 5 model calls with 500 chunks each, a chunk each millisecond.
func answers() []providertest.Step {
	var steps []providertest.Step
	for n := range 4 {
		steps = append(steps, providertest.Slow(time.Millisecond, providertest.Reply(providertest.SayChunks(repeat("x", 500)...), providertest.Call("work", Number{n}))))
	}
	return append(steps, providertest.Slow(time.Millisecond, providertest.SayChunks(repeat("y", 500)...)))
}

// runWith runs the answers with that many readers, of which the first doesn't read until the run has ended. It returns how long the run
// took.
func runWith(t *testing.T, readers int) (took time.Duration) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "runs.db"))
	require.NoError(t, err)
	defer store.Close()
	var ended atomic.Int64
	over := make(chan struct{})
	a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{work()}, Hooks: []agent.Hooks{{AfterRun: func(context.Context, *agent.Result) error {
		ended.Store(time.Now().UnixNano())
		close(over)
		return nil
	}}}}, answers()...)
	h := newHub(t, live.Config{Agent: a})
	began := time.Now()
	run := start(t, h)
	pages := make([]*page, readers)
	var wg sync.WaitGroup
	for i := range pages {
		wg.Go(func() {
			pages[i] = watch(t, h, run.After, func(p *page) bool {
				if i == 0 {
					<-over // the slow one
				}
				return false
			})
		})
	}
	<-over
	wg.Wait()
	facts := allFacts(t, a)
	for i, p := range pages {
		require.Equal(t, facts, p.facts, "reader %d", i)
		require.True(t, i > 0 || p.lost > 0, "the slow one loses notes")
	}
	require.NoError(t, h.Close())
	return time.Duration(ended.Load() - began.UnixNano())
}

// TestAHundredReadersDoNotSlowTheRun prints how long a run takes with no readers and with a hundred, of which one doesn't read. What it
// asserts is that none of them misses a fact.
func TestAHundredReadersDoNotSlowTheRun(t *testing.T) {
	without, with := runWith(t, 0), runWith(t, 100)
	t.Logf("a run of 2,500 chunks: %v without readers, %v with 100 (%+.1f %%)", without, with, 100*(with.Seconds()/without.Seconds()-1))
}
