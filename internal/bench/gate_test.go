package bench

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/pawlkit/pawl/ratelimit"
)

const (
	gateWaiters = 1000 // goroutines that want a slot at the same time
	gateSlots   = 8
)

// acquirers are ways to limit calls to 8 at a time and a rate: acquire waits for a slot and returns
// what releases it.
var acquirers = map[string]func() func(context.Context) (release func(), err error){
	"pawl": func() func(context.Context) (func(), error) {
		gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: gateSlots, ReservedShare: -1, RequestsPerMinute: 1e10})
		return func(ctx context.Context) (func(), error) {
			l, err := gate.Acquire(ctx, ratelimit.AcquireRequest{Session: "s"})
			return func() { l.Release(ratelimit.Outcome{}) }, err
		}
	},
	"rate": func() func(context.Context) (func(), error) {
		limiter, slots := rate.NewLimiter(1e10/60, 1e9), semaphore.NewWeighted(gateSlots)
		return func(ctx context.Context) (func(), error) {
			ctx, cancel := context.WithCancel(ctx) // a gate's lease has a context of its own, too
			if err := slots.Acquire(ctx, 1); err != nil {
				cancel()
				return nil, err
			}
			return func() { slots.Release(1); cancel() }, limiter.Wait(ctx)
		}
	},
}

// BenchmarkGate has 1,000 goroutines take turns, so that nearly every acquisition waits.
func BenchmarkGate(b *testing.B) {
	for _, name := range []string{"pawl", "rate"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			crowd(b, name, b.N)
		})
	}
}

// crowd makes n acquisitions from 1,000 goroutines.
func crowd(tb testing.TB, name string, n int) {
	acquire := acquirers[name]()
	turns := make(chan struct{}, gateWaiters)
	var workers sync.WaitGroup
	for range gateWaiters {
		workers.Go(func() {
			for range turns {
				release, err := acquire(context.Background())
				if err != nil {
					tb.Error(err)
					return
				}
				release()
			}
		})
	}
	if b, ok := tb.(*testing.B); ok {
		b.ResetTimer()
	}
	for range n {
		turns <- struct{}{}
	}
	close(turns)
	workers.Wait()
}

// TestAWaitingAcquisitionAllocatesLessThanThePeers counts bytes, which is what a crowd of waiters
// costs the collector.
func TestAWaitingAcquisitionAllocatesLessThanThePeers(t *testing.T) {
	needCounts(t)
	bytes := func(name string) uint64 {
		const n = 100_000 // starting the goroutines adds some 10 bytes to each
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		crowd(t, name, n)
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / n
	}
	pawl, peer := bytes("pawl"), bytes("rate")
	t.Logf("%d bytes an acquisition, %d by x/time/rate with a semaphore", pawl, peer)
	require.LessOrEqual(t, pawl, peer)
}
