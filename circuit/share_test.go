package circuit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

var shared = circuit.Config{Consecutive: 2, Cooldown: 10 * time.Second, ClosesAfter: 1, ProbeTimeout: 5 * time.Second}

// exchange makes each set learn the states of the others.
func exchange(t *testing.T, store circuit.Store, sets ...*circuit.Set) {
	t.Helper()
	for range 2 {
		for _, s := range sets {
			require.NoError(t, s.Sync(t.Context(), store))
		}
	}
}

func TestWhatIsOpenInOneProcessIsOpenInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(table)
		var told []circuit.Change
		heard := shared
		heard.OnChange = func(c circuit.Change) { told = append(told, c) }
		a, b := circuit.NewSet(shared), circuit.NewSet(heard)
		results(t, a.Get("k"), "ff")
		results(t, b.Get("k"), ".")
		opened := time.Now()
		<-time.After(4 * time.Second)
		exchange(t, store, a, b)
		open := refused(t, b.Get("k"))
		require.Equal(t, 6*time.Second, open.RetryAfter, "until the same time")
		require.ErrorContains(t, open.Cause, "another process")
		require.Equal(t, []circuit.Change{{
			Name: "k", To: circuit.Open, Reason: circuit.Elsewhere, At: time.Now(), Until: opened.Add(10 * time.Second), Cause: open.Cause,
		}}, told)
		require.Equal(t, circuit.Closed, b.Get("other").State())

		late := circuit.NewSet(shared)
		exchange(t, store, late)
		require.Equal(t, open.RetryAfter, refused(t, late.Get("k")).RetryAfter, "a process that starts later knows, too")
	})
}

// tripped returns two sets that share a store and know that "k" has just opened in the first.
func tripped(t *testing.T) (store *table, a, b *circuit.Set) {
	t.Helper()
	store, a, b = new(table), circuit.NewSet(shared), circuit.NewSet(shared)
	results(t, a.Get("k"), "ff")
	exchange(t, store, a, b)
	return store, a, b
}

func TestProcessesThatShareRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, a, b := tripped(t)
		<-time.After(10 * time.Second)
		exchange(t, store, a, b)

		results(t, b.Get("k"), "f") // its probe
		exchange(t, store, b, a)
		require.Equal(t, 10*time.Second, refused(t, a.Get("k")).RetryAfter, "one process's probe tells them all")
		<-time.After(10 * time.Second)
		results(t, a.Get("k"), ".")
		require.Equal(t, circuit.Closed, a.Get("k").State())
		exchange(t, store, a, b)
		require.Equal(t, circuit.Closed, a.Get("k").State())
		require.Equal(t, circuit.HalfOpen, b.Get("k").State(), "a process closes by its own probes")
		results(t, b.Get("k"), ".")
		exchange(t, store, a, b)
		for _, s := range []*circuit.Set{a, b} {
			require.Equal(t, circuit.Closed, s.Get("k").State())
		}
	})
}

func TestAResetElsewhereLetsProbesPassAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, a, b := tripped(t)
		a.Get("k").Reset()
		exchange(t, store, a, b)
		require.Equal(t, circuit.HalfOpen, b.Get("k").State())
		results(t, b.Get("k"), ".")
		require.Equal(t, circuit.Closed, b.Get("k").State())

		results(t, b.Get("k"), "ff")
		late := circuit.NewSet(shared)
		results(t, late.Get("k"), "ff")
		_ = store.Publish(t.Context(), []circuit.Record{{Key: "k", Origin: "before"}})
		require.NoError(t, late.Sync(t.Context(), store))
		require.Equal(t, circuit.Open, late.Get("k").State(), "what it has just seen itself is newer")
	})
}

// A hooked store calls a function after it has stored records.
type hooked struct {
	circuit.Store
	kept func()
}

func (h hooked) Publish(ctx context.Context, records []circuit.Record) error {
	err := h.Store.Publish(ctx, records)
	h.kept()
	return err
}

func TestAChangeDuringASyncIsPublishedByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, a, b := tripped(t)
		a.Get("k").Reset()
		require.NoError(t, a.Sync(t.Context(), hooked{store, func() { results(t, a.Get("k"), "ff") }}))
		exchange(t, store, a)
		require.Equal(t, circuit.Open, a.Get("k").State(), "what it closed before is no news to it")
		exchange(t, store, b)
		require.Equal(t, 10*time.Second, refused(t, b.Get("k")).RetryAfter)
	})
}

func TestASetIgnoresItsOwnRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(table)
		a := circuit.NewSet(shared)
		results(t, a.Get("k"), "ff")
		require.NoError(t, a.Sync(t.Context(), store))
		a.Get("k").Reset()
		require.NoError(t, a.Sync(t.Context(), store))
		require.Equal(t, circuit.Closed, a.Get("k").State())
	})
}

func TestAClosingElsewhereIsIgnoredByABreakerThatHasJustOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, a, b := tripped(t)
		b.Get("k").Reset()
		require.NoError(t, b.Sync(t.Context(), store))
		<-time.After(10 * time.Second)
		results(t, a.Get("k"), "f")
		exchange(t, store, a, b)
		refused(t, a.Get("k"))
		refused(t, b.Get("k"))

		over := circuit.Record{Key: "k", Origin: "x", Until: time.Now().Add(-time.Second)}
		require.NoError(t, store.Publish(t.Context(), []circuit.Record{over}))
		exchange(t, store, a)
		refused(t, a.Get("k"))
	})
}

func TestTheLaterTimeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(table)
		a, b := circuit.NewSet(shared), circuit.NewSet(shared)
		results(t, a.Get("k"), "ff")
		results(t, b.Get("n"), "ff")
		<-time.After(3 * time.Second)
		results(t, a.Get("n"), "ff")
		results(t, b.Get("k"), "ff")
		results(t, a.Get("l"), "ff")
		results(t, b.Get("m"), "ff")
		exchange(t, store, b, a)
		for _, s := range []*circuit.Set{a, b} {
			for _, key := range []string{"k", "l", "m", "n"} {
				require.Equal(t, 10*time.Second, refused(t, s.Get(key)).RetryAfter, key)
			}
		}
		require.EqualValues(t, 5, store.last, "one each for k, l and m, two for n: who learns what it knows doesn't repeat it")

		<-time.After(time.Second)
		require.NoError(t, store.Publish(t.Context(), []circuit.Record{{Key: "k", Origin: "x", Until: time.Now().Add(time.Second)}}))
		exchange(t, store, a)
		require.Equal(t, 9*time.Second, refused(t, a.Get("k")).RetryAfter, "nor is it shortened")
	})
}

func TestNoRecordKeepsABreakerOpenLongerThanItsCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(table)
		s := circuit.NewSet(shared)
		forever := circuit.Record{Key: "k", Origin: "x", Until: time.Now().Add(1000 * time.Hour)}
		over := circuit.Record{Key: "over", Origin: "x", Until: time.Now().Add(-time.Second)}
		require.NoError(t, store.Publish(t.Context(), []circuit.Record{forever, over}))
		exchange(t, store, s)
		require.Equal(t, []string{"k"}, names(s))
		require.Equal(t, 10*time.Second, refused(t, s.Get("k")).RetryAfter)
		<-time.After(9 * time.Second)
		exchange(t, store, s)
		require.Equal(t, time.Second, refused(t, s.Get("k")).RetryAfter, "it is heard once")
		<-time.After(time.Second)
		exchange(t, store, s)
		results(t, s.Get("k"), ".")
		require.Equal(t, circuit.Closed, s.Get("k").State())
	})
}

// TestNobodyAnswersAnEcho counts what two processes with different configurations publish after one breaker has opened.
func TestReceivedStatesAreNotPublishedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(table)
		short := shared
		short.Cooldown = time.Second
		a, b := circuit.NewSet(shared), circuit.NewSet(short)
		results(t, a.Get("k"), "ff")
		for range 5 {
			exchange(t, store, a, b)
			<-time.After(100 * time.Millisecond)
		}
		require.EqualValues(t, 1, store.last)
		<-time.After(10 * time.Second)
		for _, s := range []*circuit.Set{a, b} {
			require.Equal(t, circuit.HalfOpen, s.Get("k").State())
		}
		exchange(t, store, a, b)
		require.EqualValues(t, 1, store.last, "half-open is no news: that the time is over everybody knows")
		results(t, a.Get("k"), ".")
		results(t, b.Get("k"), ".")
		for range 5 {
			exchange(t, store, a, b)
		}
		require.EqualValues(t, 3, store.last, "each says that it has closed")
	})
}

// A faulty store fails, panics or hangs on demand.
type faulty struct {
	table
	fails   atomic.Bool
	panics  bool
	hang    chan struct{}
	reached atomic.Int64
}

var errNoStore = fault.New(fault.Degraded, "no database")

func (f *faulty) Publish(ctx context.Context, records []circuit.Record) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.table.Publish(ctx, records)
}

func (f *faulty) Changes(ctx context.Context, after uint64) ([]circuit.Record, uint64, error) {
	if err := f.fail(); err != nil {
		return nil, 0, err
	}
	return f.table.Changes(ctx, after)
}

func (f *faulty) fail() error {
	f.reached.Add(1)
	if f.panics {
		panic("mine")
	}
	if f.hang != nil {
		<-f.hang // ignores its context
	}
	if f.fails.Load() {
		return errNoStore
	}
	return nil
}

func TestAStoreThatFailsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(faulty)
		store.fails.Store(true)
		a, b := circuit.NewSet(shared), circuit.NewSet(shared)
		results(t, a.Get("k"), "ff")
		require.ErrorIs(t, a.Sync(t.Context(), store), errNoStore)
		require.ErrorIs(t, b.Sync(t.Context(), store), errNoStore)
		store.panics = true
		require.ErrorContains(t, a.Sync(t.Context(), store), "mine")
		refused(t, a.Get("k"))
		results(t, b.Get("k"), ".")

		store.panics = false
		store.fails.Store(false)
		exchange(t, store, a, b)
		refused(t, b.Get("k"))
	})
}

func TestAStoreThatLostItsDataIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(table)
		a, b := circuit.NewSet(shared), circuit.NewSet(shared)
		for i := range 5 {
			results(t, a.Get(fmt.Sprint(i)), "ff")
		}
		exchange(t, store, a, b)
		store = new(table)
		results(t, a.Get("k"), "ff")
		exchange(t, store, a, b)
		refused(t, b.Get("k"))
	})
}

func TestAHangingStoreDelaysNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{hang: make(chan struct{})}
		s := circuit.NewSet(shared)
		ended := make(chan error)
		go func() { ended <- s.Sync(t.Context(), store) }()
		synctest.Wait()
		require.EqualValues(t, 1, store.reached.Load())

		results(t, s.Get("k"), "ff")
		refused(t, s.Get("k"))
		require.Len(t, s.Snapshot(), 1)
		require.ErrorContains(t, s.Sync(t.Context(), store), "another Sync")
		s.Get("k").Reset()
		close(store.hang)
		require.NoError(t, <-ended)
	})
}

func TestShareSyncsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(faulty)
		a, b := circuit.NewSet(shared), circuit.NewSet(shared)
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		ended := make(chan error)
		var failed []error
		go func() { ended <- a.Share(ctx, store, 0, func(err error) { failed = append(failed, err) }) }()
		go func() { ended <- b.Share(ctx, store, 0, nil) }()
		synctest.Wait()
		require.ErrorContains(t, a.Share(ctx, store, 0, nil), "already")

		<-time.After(500 * time.Millisecond)
		results(t, a.Get("k"), "ff")
		synctest.Wait()
		require.Contains(t, store.rows, "k", "told at once")
		require.Equal(t, circuit.Closed, b.Get("k").State())
		<-time.After(500 * time.Millisecond)
		synctest.Wait()
		refused(t, b.Get("k"))

		store.fails.Store(true)
		<-time.After(3 * time.Second)
		synctest.Wait()
		require.NotEmpty(t, failed)
		require.ErrorIs(t, failed[0], errNoStore)
		store.fails.Store(false)

		cancel(enough)
		require.Same(t, enough, <-ended)
		require.Same(t, enough, <-ended)
		before := store.reached.Load()
		a.Get("k").Reset()
		synctest.Wait()
		require.Equal(t, before, store.reached.Load())
		require.Same(t, enough, a.Share(ctx, store, 0, nil), "it may be shared again")
	})
}

func TestShareAndSyncRejectNilArguments(t *testing.T) {
	var none *circuit.Set
	var nobody context.Context
	for _, err := range []error{
		none.Sync(t.Context(), new(table)),
		circuit.NewSet(shared).Sync(nobody, new(table)),
		circuit.NewSet(shared).Sync(t.Context(), nil),
		none.Share(t.Context(), new(table), 0, nil),
		circuit.NewSet(shared).Share(nobody, new(table), 0, nil),
		circuit.NewSet(shared).Share(t.Context(), nil, 0, nil),
	} {
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
}

func TestAFullSetIgnoresForeignKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(table)
		s := circuit.NewSet(shared)
		for i := range most {
			s.Get(fmt.Sprint(i))
		}
		soon := time.Now().Add(time.Second)
		require.NoError(t, store.Publish(t.Context(), []circuit.Record{{Key: "foreign", Until: soon}, {Key: "7", Until: soon}}))
		exchange(t, store, s)
		require.Len(t, s.Snapshot(), most)
		require.NotContains(t, names(s), "foreign")
		refused(t, s.Get("7"))
	})
}

// TestSetsThatShareAgreeInTheEnd makes processes open, recover and reset breakers at random, with a store that sometimes fails. When
// the resource works again, all sets must agree on it.
func TestSetsThatShareAgreeInTheEnd(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range 30 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		synctest.Test(t, func(t *testing.T) {
			store := new(faulty)
			sets := []*circuit.Set{circuit.NewSet(shared), circuit.NewSet(shared), circuit.NewSet(shared)}
			for range 200 {
				s := sets[r.IntN(len(sets))]
				b := s.Get(fmt.Sprint(r.IntN(3)))
				switch r.IntN(6) {
				case 0:
					store.fails.Store(r.IntN(3) == 0)
					if err := s.Sync(t.Context(), store); err != nil {
						require.ErrorIs(t, err, errNoStore)
					}
				case 1:
					<-time.After(time.Duration(r.IntN(3000)) * time.Millisecond)
				case 2:
					if r.IntN(10) == 0 {
						b.Reset()
					}
				default:
					p, err := b.Allow()
					if err == nil {
						p.Done([]error{nil, errDown, errDown, context.Canceled}[r.IntN(4)])
					}
				}
			}
			store.fails.Store(false)
			for range 3 {
				exchange(t, store, sets...)
				<-time.After(shared.Cooldown)
				for _, s := range sets {
					for _, shot := range s.Snapshot() {
						require.NotEqual(t, circuit.Open, shot.State, "no longer than its cooldown")
						results(t, s.Get(shot.Name), ".")
					}
				}
			}
			said := store.last
			exchange(t, store, sets...)
			exchange(t, store, sets...)
			require.LessOrEqual(t, store.last-said, uint64(9), "at most one closing for each")
			for _, s := range sets {
				for _, shot := range s.Snapshot() {
					require.Equal(t, circuit.Closed, shot.State)
				}
			}
		})
	}
}
