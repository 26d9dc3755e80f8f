package ratelimit

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

// TestTimesThatAreShownAreThoseOfTheClock: Gate.now is wrong after the clock is set or the machine has slept. The test sets it to another
// time zone, so that times derived from it are recognizable.
func TestTimesThatAreShownAreThoseOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(GateConfig{Slots: 3, ReservedShare: -1, TokensPerMinute: 600, Burst: 1})
		quick := time.FixedZone("quick", 3600)
		g.born = g.born.In(quick)
		g.rates = newRates(&GateConfig{TokensPerMinute: 600, Burst: 1}, g.born)
		require.Same(t, quick, g.now().Location())

		var mu sync.Mutex
		var until []time.Time // reported since the last check
		told := func(w Delay) {
			mu.Lock()
			defer mu.Unlock()
			if !w.Until.IsZero() {
				until = append(until, w.Until)
			}
		}
		var gone sync.WaitGroup
		come := func(ctx context.Context, interactive bool, tokens int64) <-chan Lease {
			got := make(chan Lease, 1)
			gone.Go(func() {
				l, err := g.Acquire(ctx, AcquireRequest{Interactive: interactive, Tokens: tokens, OnWait: told})
				if err == nil {
					got <- l
				}
			})
			synctest.Wait()
			return got
		}
		shown := func(what string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			require.NotEmpty(t, until, what)
			for _, at := range until {
				require.NotSame(t, quick, at.Location(), what)
			}
			until = nil
		}
		first := <-come(t.Context(), false, 590)
		second := <-come(t.Context(), false, 5)
		ctx, cancel := context.WithCancel(t.Context())
		ahead := come(ctx, true, 100)
		shown("when it comes")
		next := come(t.Context(), true, 200)
		cancel()
		synctest.Wait()
		require.Empty(t, ahead)
		shown("when the one before it leaves")
		first.Release(Outcome{Sent: true, Tokens: 580})
		shown("when a call ends")
		gone.Go(func() {
			if l, err := second.Requeue(t.Context(), Outcome{Sent: true}); err == nil {
				l.Release(Outcome{})
			}
		})
		shown("when a call comes again")
		person := <-next

		person.Release(Outcome{Err: fault.WithRetryAfter(fault.New(fault.RateLimited, "429"), 0)})
		<-time.After(time.Minute)
		mu.Lock()
		until = nil
		mu.Unlock()
		ann := <-come(t.Context(), true, 100)
		job := come(t.Context(), false, 600)
		shown("when calls have to be granted again")
		ann.Began()
		shown("when they are")
		(<-job).Release(Outcome{})
		ann.Release(Outcome{})
		gone.Wait()
	})
}
