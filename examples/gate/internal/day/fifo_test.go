package day

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

func TestALimiterServesFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2, 1000)
		var mu sync.Mutex
		var order []int
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				require.NoError(t, l.acquire(t.Context()))
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				<-time.After(time.Second + time.Duration(i)) // no two end at the same moment
				l.release()
			})
			synctest.Wait()
		}
		began := time.Now()
		calls.Wait()
		require.IsIncreasing(t, order)
		require.WithinDuration(t, began.Add(10*time.Second), time.Now(), time.Millisecond, "two at a time")
	})
}

func TestALimiterKeepsToItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(100, 30)
		began := time.Now()
		for range 40 {
			require.NoError(t, l.acquire(t.Context()))
		}
		require.WithinDuration(t, began.Add(20*time.Second), time.Now(), time.Millisecond,
			"a minute's worth, then one each 2 s")
	})
}

func TestALimiterForgetsWhoHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, 1)
		require.NoError(t, l.acquire(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.acquire(ctx), context.DeadlineExceeded, "while it waits for a slot")
		l.release()
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.acquire(ctx), context.DeadlineExceeded, "while it waits for the rate")
		require.Empty(t, l.slots)
	})
}

func TestANaiveCallerTriesAgainAsOftenAsAGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 1})
		p.Outage = Span{0, time.Hour}
		f := newFIFO(p)
		began := time.Now()
		err := f.primary.call(t.Context(), &p.Calls[0], func(provider.Chunk) {})
		require.Equal(t, fault.Degraded, fault.Of(err))
		require.Equal(t, degradedAttempts, f.primary.model.Counts().Down)
		require.WithinDuration(t, began.Add(15*time.Second), time.Now(), 1100*time.Millisecond,
			"5 s and 10 s, and three failures of 300 ms")
		require.NoError(t, f.call(t.Context(), &p.Calls[0], func(provider.Chunk) {}), "the backup answers")
		require.Equal(t, 1, f.backup.model.Counts().Requests)
	})
}

func TestANaiveCallerWaitsAsTheProviderAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlan(Config{Sessions: 1, Hours: 1})
		f := newFIFO(p)
		f.primary.model.level = 0
		began := time.Now()
		var first time.Time
		require.NoError(t, f.call(t.Context(), &p.Calls[0], func(c provider.Chunk) {
			if c.Kind == provider.KindStart {
				first = time.Now()
			}
		}))
		require.WithinDuration(t, began.Add(3*time.Second), first, 1500*time.Millisecond, "a twentieth of 80 a minute")
		require.Equal(t, 1, f.primary.model.Counts().Refused)
	})
}
