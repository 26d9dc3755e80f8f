package serve_test

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
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
	const words = 200
	begin := make(chan struct{})
	s := newSiteOf(b, agent.Config{Provider: writes(words, func() { <-begin; time.Sleep(10 * time.Millisecond) })},
		serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "s", "text": "x"}, nil)
	var open, wg sync.WaitGroup
	for range readers {
		open.Add(1)
		wg.Go(func() {
			res := s.request("ann", "GET", "events?session=s", nil)
			open.Done()
			got := events(b, res, ended)
			if len(got) == 0 || !ended(got[len(got)-1]) {
				b.Errorf("a reader got %d events, and no end", len(got))
			}
		})
	}
	open.Wait()
	time.Sleep(time.Second) // until they have read what there is
	began := time.Now()
	close(begin)
	info := s.wait("s")
	took := info.Updated.Sub(began)
	wg.Wait()
	return took
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
