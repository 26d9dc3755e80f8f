package circuit_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
)

// halfOpen returns a breaker whose cooldown, 10 s, is just over.
func halfOpen(t *testing.T, cfg circuit.Config) *circuit.Breaker {
	cfg.Consecutive, cfg.Cooldown = 1, 10*time.Second
	b := circuit.New("b", cfg)
	results(t, b, "f")
	<-time.After(cfg.Cooldown)
	return b
}

func TestAtRecoveryOnlyTheProbesOfAThousandCallersPass(t *testing.T) {
	for _, closesAfter := range []int{1, 3, 7} {
		synctest.Test(t, func(t *testing.T) {
			b := halfOpen(t, circuit.Config{ClosesAfter: closesAfter})
			var passed atomic.Int64
			var permits sync.Map
			var all sync.WaitGroup
			for range 1000 {
				all.Go(func() {
					if p, err := b.Allow(); err == nil {
						permits.Store(passed.Add(1), p)
					}
				})
			}
			all.Wait()
			require.EqualValues(t, closesAfter, passed.Load())
			require.Equal(t, closesAfter, b.Snapshot().Probes)
			permits.Range(func(_, p any) bool {
				require.Equal(t, circuit.HalfOpen, b.State())
				p.(circuit.Permit).Done(nil)
				return true
			})
			require.Equal(t, circuit.Closed, b.State())
		})
	}
}

// TestProbesNeverExceedTheirNumberWhileTheyEnd makes concurrent calls whose probes end as neither,
// so that the breaker stays half-open.
func TestProbesNeverExceedTheirNumberWhileTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 3
		b := halfOpen(t, circuit.Config{ClosesAfter: most})
		var passed atomic.Int64
		var mu sync.Mutex // guards what follows
		var under, highest int
		count := func(more int) {
			mu.Lock()
			defer mu.Unlock()
			under += more
			highest = max(highest, under)
		}
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				for range 3 {
					p, err := b.Allow()
					if err != nil {
						<-time.After(time.Millisecond)
						continue
					}
					passed.Add(1)
					count(1)
					<-time.After(time.Millisecond)
					count(-1)
					p.Done(harmless[0])
				}
			})
		}
		all.Wait()
		require.Equal(t, most, highest)
		require.Greater(t, passed.Load(), int64(most), "a probe that ends makes room")
		require.Equal(t, circuit.HalfOpen, b.State())
		require.Zero(t, b.Snapshot().Probes)
	})
}

func TestAProbeThatFailsOpensAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, circuit.Config{ClosesAfter: 3})
		results(t, b, "..f")
		require.Equal(t, 10*time.Second, refused(t, b).RetryAfter, "a cooldown of its own")
		<-time.After(10 * time.Second)
		results(t, b, "..")
		require.Equal(t, circuit.HalfOpen, b.State(), "probes from before count no more")
		results(t, b, ".")
		require.Equal(t, circuit.Closed, b.State())
	})
}

func TestAProbeThatTakesTooLongIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, circuit.Config{ClosesAfter: 2, ProbeTimeout: 5 * time.Second})
		lost := allow(t, b)
		<-time.After(3 * time.Second)
		second := allow(t, b)
		open := refused(t, b)
		require.Zero(t, open.RetryAfter, "nobody knows when the probes end")
		require.ErrorIs(t, open, errDown)

		<-time.After(2*time.Second - 1)
		require.Equal(t, circuit.HalfOpen, b.State())
		<-time.After(1)
		open = refused(t, b)
		require.Equal(t, 10*time.Second, open.RetryAfter)
		require.ErrorContains(t, open.Cause, `a probe of "b" took longer than 5s`)

		lost.Done(nil)
		second.Done(nil)
		require.Equal(t, circuit.Open, b.State())
		<-time.After(10 * time.Second)
		require.Equal(t, circuit.HalfOpen, b.State())
		require.Zero(t, b.Snapshot().Probes)
		results(t, b, "..")
		require.Equal(t, circuit.Closed, b.State())
	})
}

func TestAProbeThatEndsTooLateIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, circuit.Config{ClosesAfter: 1, ProbeTimeout: 5 * time.Second})
		probe := allow(t, b)
		<-time.After(6 * time.Second)
		probe.Done(nil)
		require.Equal(t, 9*time.Second, refused(t, b).RetryAfter, "open since the probe expired")
	})
}

func TestLongSilenceCountsForTheCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, circuit.Config{ClosesAfter: 1, ProbeTimeout: 5 * time.Second})
		allow(t, b) // and forgotten
		expired := time.Now().Add(5 * time.Second)
		<-time.After(time.Hour)
		require.Equal(t, circuit.HalfOpen, b.State(), "it expired, opened, and the cooldown is over, too")
		require.Equal(t, expired.Add(10*time.Second), b.Snapshot().Since)
		results(t, b, ".")
		require.Equal(t, circuit.Closed, b.State())
	})
}

func TestAProbeEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := halfOpen(t, circuit.Config{ClosesAfter: 2})
		first, second := allow(t, b), allow(t, b)
		first.Done(nil)
		first.Done(nil)
		first.Done(errDown)
		first.Done(harmless[0])
		require.Equal(t, circuit.HalfOpen, b.State())
		require.Equal(t, 1, b.Snapshot().Passed)
		third := allow(t, b)
		second.Done(harmless[0])
		second.Done(harmless[0])
		require.Equal(t, 1, b.Snapshot().Probes, "the third's place is its own")
		third.Done(nil)
		require.Equal(t, circuit.Closed, b.State())
	})
}

func TestAProbeEndsThoughCountsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		b := halfOpen(t, circuit.Config{Counts: func(err error) bool {
			if err == bad {
				panic("no")
			}
			return true
		}})
		probe := allow(t, b)
		require.PanicsWithValue(t, "no", func() { probe.Done(bad) })
		require.Zero(t, b.Snapshot().Probes)
		require.Equal(t, circuit.HalfOpen, b.State())
		allow(t, b).Done(nil)
	})
}
