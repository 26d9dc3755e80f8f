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

// TestTimesThatAreShownAreThoseOfTheClock: the quick time of a gate goes wrong when the clock is set, and on a machine that
// has slept. Here it is in a place of its own, so that what comes of it is known again.
func TestTimesThatAreShownAreThoseOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(GateConfig{Slots: 3, Keep: -1, TokensPerMinute: 600})
		quick := time.FixedZone("quick", 3600)
		g.born = g.born.In(quick)
		g.rates = newRates(0, 600, g.born)
		require.Same(t, quick, g.now().Location())

		var waits []Wait
		var gone sync.WaitGroup
		come := func(ctx context.Context, interactive bool, tokens int64) <-chan Lease {
			got := make(chan Lease, 1)
			gone.Go(func() {
				l, err := g.Acquire(ctx, Ticket{Interactive: interactive, Tokens: tokens, OnWait: func(w Wait) { waits = append(waits, w) }})
				if err == nil {
					got <- l
				}
			})
			synctest.Wait()
			return got
		}
		shown := func(what string, n int) {
			t.Helper()
			synctest.Wait()
			require.Len(t, waits, n, what)
			require.False(t, waits[n-1].Until.IsZero(), what)
			require.NotSame(t, quick, waits[n-1].Until.Location(), what)
		}
		first := <-come(t.Context(), false, 590)
		second := <-come(t.Context(), false, 5)
		ctx, cancel := context.WithCancel(t.Context())
		ahead := come(ctx, true, 100)
		shown("when it comes", 1)
		next := come(t.Context(), true, 200)
		cancel()
		synctest.Wait()
		require.Empty(t, ahead)
		shown("when the one before it leaves", 3)
		first.Release(Outcome{Sent: true, Tokens: 580})
		shown("when a call ends", 4)
		gone.Go(func() {
			if l, err := second.Again(t.Context(), Outcome{Sent: true}); err == nil {
				l.Release(Outcome{})
			}
		})
		shown("when a call comes again", 6)
		person := <-next

		waits = nil
		person.Release(Outcome{Err: fault.WithRetryAfter(fault.New(fault.RateLimited, "429"), 0)})
		<-time.After(time.Minute)
		ann := <-come(t.Context(), true, 100)
		job := come(t.Context(), false, 600)
		shown("when calls have to be granted again", 1)
		ann.Began()
		shown("when they are", 2)
		(<-job).Release(Outcome{})
		ann.Release(Outcome{})
		gone.Wait()
	})
}
