package circuit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
)

const most = 10_000 // breakers in a set

func names(s *circuit.Set) []string {
	var all []string
	for _, shot := range s.Snapshot() {
		all = append(all, shot.Name)
	}
	return all
}

func TestASetHasABreakerForEachKey(t *testing.T) {
	s := circuit.NewSet(circuit.Config{Consecutive: 1})
	require.Same(t, s.Get("b"), s.Get("b"))
	require.NotSame(t, s.Get("b"), s.Get("a"))
	results(t, s.Get("b"), "f")
	refused(t, s.Get("b"))
	results(t, s.Get("a"), ".")
	all := s.Snapshot()
	require.Len(t, all, 2)
	require.Equal(t, circuit.Snapshot{Name: "a", Results: 1}, all[0])
	require.Equal(t, circuit.Open, all[1].State)
}

func TestTheZeroSetAndANilSet(t *testing.T) {
	var none *circuit.Set
	results(t, none.Get("a"), "ffff")
	require.Empty(t, none.Snapshot())

	var zero circuit.Set
	require.Empty(t, zero.Snapshot())
	results(t, zero.Get("a"), "fff")
	refused(t, zero.Get("a"))
}

func TestConcurrentGetsReturnTheSameBreaker(t *testing.T) {
	s := circuit.NewSet(circuit.Network())
	var all sync.WaitGroup
	got := make([]*circuit.Breaker, 50)
	for i := range got {
		all.Go(func() { got[i] = s.Get("k") })
	}
	all.Wait()
	for _, b := range got {
		require.Same(t, got[0], b)
	}
}

func TestASetDropsClosedIdleBreakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := circuit.NewSet(circuit.Config{Consecutive: 2, Cooldown: time.Second})
		s.Get("idle")
		results(t, s.Get("failed once"), "f")
		results(t, s.Get("open"), "ff")
		kept := s.Get("held")
		for range 9 {
			<-time.After(time.Minute)
			s.Get("asked for")
			results(t, kept, ".") // without the set
		}
		require.Equal(t, []string{"asked for", "failed once", "held", "idle", "open"}, names(s))
		<-time.After(2 * time.Minute)
		require.Equal(t, []string{"asked for", "held", "open"}, names(s))
		require.Same(t, kept, s.Get("held"))
		require.Zero(t, s.Get("failed once").Snapshot().Failures, "a new one")

		<-time.After(time.Hour)
		s.Get("new")
		<-time.After(time.Hour)
		require.Equal(t, []string{"open"}, names(s))
	})
}

func TestGetIsAUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := circuit.NewSet(circuit.Network())
		b := s.Get("asked for")
		for range 15 {
			<-time.After(70 * time.Second)
			s.Snapshot() // looks
			<-time.After(30 * time.Second)
			require.Same(t, b, s.Get("asked for")) // doesn't
		}
	})
}

func TestALateSweepDropsNoBreakerThatWasUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := circuit.NewSet(circuit.Network())
		a, b := s.Get("a"), s.Get("b")
		<-time.After(time.Hour)
		results(t, a, ".")
		require.Equal(t, []string{"a"}, names(s))
		require.Same(t, a, s.Get("a"))
		require.NotSame(t, b, s.Get("b"))
	})
}

func TestADroppedBreakerForwardsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		s := circuit.NewSet(circuit.Config{
			Consecutive: 2, Cooldown: time.Second, ClosesAfter: 1, OnChange: func(circuit.Change) { changes++ },
		})
		old := s.Get("k")
		late := allow(t, old)
		<-time.After(time.Minute)
		require.Len(t, s.Snapshot(), 1)
		<-time.After(10 * time.Minute)
		require.Empty(t, s.Snapshot())

		results(t, old, "f")
		now := s.Get("k")
		require.NotSame(t, old, now)
		require.Equal(t, 1, now.Snapshot().InARow)
		late.Done(nil)
		late.Done(errDown)
		late.Done(errDown)
		require.Equal(t, now.Snapshot(), old.Snapshot(), "what was on its way is nobody's")
		require.Zero(t, changes)
		results(t, now, "f")
		refused(t, old)
		require.Equal(t, circuit.Open, old.State())
		<-time.After(time.Second)
		require.NoError(t, old.Ready())
		probe := allow(t, old)
		refused(t, now)
		probe.Done(harmless[0])
		require.Zero(t, now.Snapshot().Probes)
		old.Reset()
		require.Equal(t, circuit.Closed, now.State())
	})
}

func TestASetIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := circuit.NewSet(circuit.Config{Consecutive: 1, Cooldown: time.Hour})
		for i := range 100 {
			results(t, s.Get(fmt.Sprint("open ", i)), "f")
		}
		for i := range 2 * most {
			results(t, s.Get(fmt.Sprint("closed ", i)), ".")
		}
		all := s.Snapshot()
		require.Len(t, all, most)
		open := 0
		for _, shot := range all {
			if shot.State == circuit.Open {
				open++
			}
		}
		require.Equal(t, 100, open, "a closed one makes room before an open one")

		mixed := circuit.NewSet(circuit.Config{Consecutive: 1, Cooldown: time.Hour})
		for i := range most {
			results(t, mixed.Get(fmt.Sprint(i)), "f."[i%2:i%2+1])
		}
		for i := range 20 {
			mixed.Get(fmt.Sprint("more ", i))
		}
		open = 0
		for _, shot := range mixed.Snapshot() {
			if shot.State == circuit.Open {
				open++
			}
		}
		require.Equal(t, most/2, open, "a closed one that is used before an open one, too")

		full := circuit.NewSet(circuit.Config{Consecutive: 1, Cooldown: time.Hour})
		for i := range most + 100 {
			results(t, full.Get(fmt.Sprint(i)), "f")
		}
		require.Len(t, full.Snapshot(), most, "even if all are open")
	})
}

func TestAFullSetKeepsUsedBreakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := circuit.NewSet(circuit.Network())
		used := s.Get("used")
		for i := range most - 1 {
			s.Get(fmt.Sprint("other ", i))
		}
		for i := range 3 * most {
			results(t, used, ".")
			s.Get(fmt.Sprint("more ", i))
		}
		require.Same(t, used, s.Get("used"))
	})
}

func TestAProbeOfADroppedBreakerIsNotThatOfItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := circuit.NewSet(circuit.Config{Consecutive: 1, Cooldown: time.Second, ClosesAfter: 1})
		old := s.Get("k")
		results(t, old, "f")
		<-time.After(time.Second)
		early := allow(t, old)
		for i := 0; i < most || slices.Contains(names(s), "k"); i++ { // all are open, so that one of them is dropped
			for range most / 10 {
				i++
				results(t, s.Get(fmt.Sprint(i)), "f")
			}
		}
		early.Done(harmless[0])
		require.False(t, slices.Contains(names(s), "k"), "what ends late doesn't bring the name back")
		require.NotSame(t, old, s.Get("k"))
		results(t, old, "f")
		<-time.After(time.Second)
		allow(t, old)
		early.Done(harmless[0])
		early.Done(nil)
		refused(t, s.Get("k"))
		require.Equal(t, 1, s.Get("k").Snapshot().Probes)
	})
}

// TestASetStandsAnything makes all kinds of concurrent calls, some of them on breakers that are
// being dropped.
func TestASetStandsAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := circuit.NewSet(circuit.Config{Consecutive: 2, Cooldown: 20 * time.Minute, ClosesAfter: 1})
		var all sync.WaitGroup
		for i := range 8 {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			all.Go(func() {
				var kept []*circuit.Breaker
				for range 500 {
					b := s.Get(fmt.Sprint(r.IntN(30)))
					kept = append(kept, b)
					if r.IntN(2) == 0 {
						b = kept[r.IntN(len(kept))]
					}
					p, err := b.Allow()
					switch {
					case err != nil:
					case r.IntN(2) == 0:
						p.Done(errDown)
					default:
						p.Done(nil)
					}
					switch r.IntN(50) {
					case 0:
						s.Snapshot()
					case 1:
						b.Reset()
					case 2:
						<-time.After(time.Duration(r.IntN(20)) * time.Minute)
					}
				}
			})
		}
		all.Wait()
		require.LessOrEqual(t, len(s.Snapshot()), 30)
	})
}
