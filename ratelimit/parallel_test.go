package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
)

// TestFiftySessionsAtOnceLeaveNothingBehind has goroutines make random calls concurrently, with a
// provider that returns 429 now and then. Each call ends once: with a lease, or with an error.
func TestFiftySessionsAtOnceLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events sync.Map
		gate := ratelimit.NewGate(ratelimit.GateConfig{
			Slots: 5, RequestsPerMinute: 600, TokensPerMinute: 300_000, Queue: 20,
			OnEvent: func(e ratelimit.Event) {
				n, _ := events.LoadOrStore(e.Kind, new(atomic.Int64))
				n.(*atomic.Int64).Add(1)
			},
		})
		var gone sync.WaitGroup
		var running, most, done, refused, left atomic.Int64
		for session := range 50 {
			gone.Go(func() {
				r := rand.New(rand.NewPCG(uint64(session), 9))
				for range 40 {
					ticket := ratelimit.AcquireRequest{
						Interactive: session < 10, Session: fmt.Sprint(session), Priority: 20 * r.IntN(5),
						Tokens: r.Int64N(4000),
						OnWait: func(ratelimit.Delay) { gate.Snapshot() },
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.Int64N(int64(2*time.Minute))))
					_, err := ratelimit.Do(ctx, gate, ticket, func(ctx context.Context) (int, error) {
						n := running.Add(1)
						for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
						}
						defer running.Add(-1)
						select {
						case <-ctx.Done():
							return 0, context.Cause(ctx)
						case <-time.After(time.Duration(r.Int64N(int64(3 * time.Second)))):
						}
						if r.IntN(40) == 0 {
							return 0, errSlow
						}
						return 1, nil
					})
					cancel()
					var full *ratelimit.QueueFullError
					switch {
					case err == nil:
						done.Add(1)
					case errors.As(err, &full):
						refused.Add(1)
					case errors.Is(err, context.DeadlineExceeded):
						left.Add(1)
					default:
						t.Errorf("%v: %v", fault.Of(err), err)
					}
					if r.IntN(20) == 0 {
						gate.PauseBackground("memory")()
					}
				}
			})
		}
		gone.Wait()
		require.EqualValues(t, 50*40, done.Load()+refused.Load()+left.Load())
		snap := gate.Snapshot()
		require.Zero(t, snap.Running+snap.Queued+snap.Preempted+snap.Overtaken)
		require.LessOrEqual(t, most.Load(), int64(5), "what lets go at once is never overtaken")
		count := func(kind ratelimit.EventKind) int64 {
			n, ok := events.Load(kind)
			if !ok {
				return 0 // it depends on the order of the goroutines whether there is a preemption
			}
			return n.(*atomic.Int64).Load()
		}
		require.Equal(t, snap.Totals.Preempted, count(ratelimit.EventPreempted))
		require.Equal(t, snap.Totals.Rejected, count(ratelimit.EventRejected))
		require.Equal(t, snap.Totals.Pauses, count(ratelimit.EventPaused))
		<-time.After(10 * time.Minute)
		require.Equal(t, snap.Totals.Pauses, count(ratelimit.EventResumed))
		t.Log(done.Load(), refused.Load(), left.Load(), gate.Snapshot().Totals)
	})
}

// TestALeaseThatManyEndAtOnceEndsOnce: copies of a lease are used concurrently, while its slot is
// used again.
func TestALeaseThatManyEndAtOnceEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: 2, ReservedShare: -1, RequestsPerMinute: 1e6})
		var gone sync.WaitGroup
		var again, over atomic.Int64
		for round := range 200 {
			l, err := gate.Acquire(t.Context(), ratelimit.AcquireRequest{Interactive: round%3 == 0})
			require.NoError(t, err)
			for i := range 6 {
				gone.Go(func() {
					l.Began()
					l.Pin()
					l.Preempted()
					o := success
					if round%20 == 0 {
						o = limited(time.Millisecond)
					}
					if i%2 == 0 {
						l.Release(o)
						return
					}
					next, err := l.Requeue(t.Context(), o)
					if err == nil {
						again.Add(1)
						next.Began()
						next.Release(success)
					} else if errors.Is(err, ratelimit.ErrReleased) {
						over.Add(1)
					}
				})
			}
			if round%7 == 0 {
				gone.Wait()
			}
		}
		gone.Wait()
		snap := gate.Snapshot()
		require.Zero(t, snap.Running+snap.Queued+snap.Preempted+snap.Overtaken)
		require.Equal(t, 200+again.Load(), snap.Totals.Started)
		require.Equal(t, int64(200*3), again.Load()+over.Load())
		require.EqualValues(t, 10, snap.Totals.RateLimited)
	})
}
