package serve_test

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
)

// BenchmarkThousandReadersOfARun runs a model that writes 200 words in 2 s, without readers and
// with 1,000 of them over HTTP, which are in the same process, in turn. The metric "share" is the
// median time of the runs with readers, as a share of the median time of those without, and
// "cpu-ms" the CPU time of a run with readers, with that of the clients.
//
//	go test ./agent/serve -run '^$' -bench ReadersOfARun -benchtime 5x
func BenchmarkThousandReadersOfARun(b *testing.B) {
	var without, with []time.Duration
	var cpu time.Duration
	for b.Loop() {
		without = append(without, runRead(b, 0))
		before := cpuTime(b)
		with = append(with, runRead(b, 1000))
		cpu += cpuTime(b) - before
	}
	slices.Sort(without)
	slices.Sort(with)
	b.ReportMetric(float64(with[len(with)/2])/float64(without[len(without)/2]), "share")
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms")
}

// runRead returns how long a run with that many readers takes.
func runRead(b *testing.B, readers int) time.Duration {
	begin := make(chan struct{})
	model := providertest.Script(providertest.Slow(10*time.Millisecond,
		providertest.SayChunks(slices.Repeat([]string{"word "}, 200)...)))
	s := newSiteOf(b, agent.Config{Provider: model, Hooks: []agent.Hooks{{
		BeforeStep: func(context.Context, *agent.Step) error { <-begin; return nil }}}}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "s", "text": "x"}, nil)
	var open, wg sync.WaitGroup
	for range readers {
		open.Add(1)
		wg.Go(func() {
			joined := sync.OnceFunc(open.Done)
			got := events(b, s.request("ann", "GET", "events?session=s", nil), func(ev sse.Event) bool {
				joined()
				return ended(ev)
			})
			if len(got) == 0 || !ended(got[len(got)-1]) {
				b.Errorf("a reader got %d events, and no end", len(got))
			}
		})
	}
	open.Wait()
	began := time.Now()
	close(begin)
	info := s.wait("s")
	wg.Wait()
	return info.Updated.Sub(began)
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
