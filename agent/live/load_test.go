package live_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
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

// answers is a run of 5 model calls with that many chunks each, and the pace between two chunks.
func answers(chunks int, pace time.Duration) []providertest.Step {
	var steps []providertest.Step
	for n := range 4 {
		steps = append(steps, providertest.Slow(pace,
			providertest.Reply(providertest.SayChunks(repeat("x", chunks)...), providertest.Call("work", Number{n}))))
	}
	return append(steps, providertest.Slow(pace, providertest.SayChunks(repeat("y", chunks)...)))
}

// runWith runs the answers with that many readers, of which the first doesn't read until the run
// has ended. None of them may miss a fact, and none may be told that it has missed notes unless it
// has. It returns how long the run took.
func runWith(t testing.TB, readers, chunks int, pace time.Duration) (took time.Duration) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
	require.NoError(t, err)
	defer store.Close()
	var ended atomic.Int64
	over := make(chan struct{})
	a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{work()},
		Hooks: []agent.Hooks{{AfterRun: func(context.Context, *agent.Result) error {
			ended.Store(time.Now().UnixNano())
			close(over)
			return nil
		}}}}, answers(chunks, pace)...)
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
		complete := strings.Repeat("x", chunks) + "|{\"n\":0}"
		require.True(t, p.lost > 0 || p.whole[0] == complete,
			"reader %d was shown %q, and wasn't told what it has missed", i, p.whole[0])
	}
	require.NoError(t, h.Close())
	if readers > 0 && 5*chunks > 2048 {
		require.Positive(t, pages[0].lost, "the slow one loses notes")
	}
	return time.Duration(ended.Load() - began.UnixNano())
}

func TestAHundredReadersMissNoFactThoughOneIsSlow(t *testing.T) {
	runWith(t, 100, 500, time.Millisecond)
}

// BenchmarkHundredReaders runs a model that writes 100 chunks in a second, without readers and with
// a hundred of them, of which one doesn't read, in turn. The metric "share" is the median time of
// the runs with readers, as a share of the median time of those without.
//
//	go test ./agent/live -run '^$' -bench Hundred -benchtime 11x
func BenchmarkHundredReaders(b *testing.B) {
	var without, with []time.Duration
	for b.Loop() {
		without = append(without, runWith(b, 0, 40, 10*time.Millisecond))
		with = append(with, runWith(b, 100, 40, 10*time.Millisecond))
	}
	slices.Sort(without)
	slices.Sort(with)
	b.ReportMetric(float64(with[len(with)/2])/float64(without[len(without)/2]), "share")
}
