package circuit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

// allow requires that a call is admitted.
func allow(t testing.TB, b *circuit.Breaker) circuit.Permit {
	t.Helper()
	p, err := b.Allow()
	require.NoError(t, err)
	return p
}

// results makes calls one after the other; 'f' is a failure, anything else a success.
func results(t testing.TB, b *circuit.Breaker, of string) {
	t.Helper()
	for _, r := range of {
		p := allow(t, b)
		if r == 'f' {
			p.Done(errDown)
		} else {
			p.Done(nil)
		}
	}
}

// refused requires that a call is rejected, and returns the error.
func refused(t testing.TB, b *circuit.Breaker) *circuit.OpenError {
	t.Helper()
	_, err := b.Allow()
	var open *circuit.OpenError
	require.ErrorAs(t, err, &open)
	require.Error(t, b.Ready())
	return open
}

func TestFailuresInARowOpenABreaker(t *testing.T) {
	b := circuit.New("b", circuit.Config{Consecutive: 3, Rate: -1})
	results(t, b, "ff.ff.ff")
	require.Equal(t, circuit.Closed, b.State())
	results(t, b, "f")
	require.Equal(t, circuit.Open, b.State())
	refused(t, b)
}

func TestTheRateIsCheckedAtAFailureOverAFullWindow(t *testing.T) {
	cfg := circuit.Config{Consecutive: -1, Rate: .5, Window: 4}
	for _, c := range []struct {
		results string
		want    circuit.State
	}{
		{"fff", circuit.Closed}, // three of three, but not four
		{"fff.", circuit.Closed},
		{"fff.f", circuit.Open},
		{"...f", circuit.Closed},
		{"..ff", circuit.Open},
		{"ff....ff", circuit.Open},
		{"ff...f", circuit.Closed}, // the first two have left the window
		{"f...f...f...f", circuit.Closed},
	} {
		b := circuit.New("b", cfg)
		results(t, b, c.results)
		require.Equal(t, c.want, b.State(), c.results)
	}
}

func TestAnOpenBreakerRejectsUntilItsCooldownIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := circuit.New("llm:x", circuit.Config{Consecutive: 1, Cooldown: 30 * time.Second})
		results(t, b, "f")
		opened := time.Now()
		<-time.After(10 * time.Second)
		open := refused(t, b)
		require.Equal(t, &circuit.OpenError{
			Name: "llm:x", RetryAfter: 20 * time.Second, Until: opened.Add(30 * time.Second), Cause: errDown,
		}, open)
		<-time.After(open.RetryAfter - 1)
		require.Equal(t, time.Millisecond, refused(t, b).RetryAfter, "rounded up")
		<-time.After(1)
		require.NoError(t, b.Ready())
		require.Equal(t, circuit.HalfOpen, b.State())
		allow(t, b).Done(nil)
	})
}

func TestTheErrorOfARejectionDescribesIt(t *testing.T) {
	b := circuit.New("llm:x", circuit.Config{Consecutive: 1, Cooldown: 30 * time.Minute})
	cause := fault.WithRetryAfter(context.DeadlineExceeded, time.Hour)
	allow(t, b).Done(cause)
	err := error(refused(t, b))
	require.Equal(t, fault.Degraded, fault.Of(err), "whatever the cause is")
	wait, told := fault.RetryAfter(err)
	require.True(t, told)
	require.LessOrEqual(t, wait, 30*time.Minute, "not the cause's advice")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Regexp(t, `^circuit: "llm:x" is open, next try in [\dm.]+s$`, err.Error())
	require.Equal(t, err.Error(), errors.Unwrap(err).Error())

	require.NotPanics(t, func() {
		err := &circuit.OpenError{Name: "x"}
		_, told := fault.RetryAfter(err)
		require.False(t, told, "0 would mean at once")
		require.Equal(t, `circuit: "x" is half-open and waits for its probes`, err.Error())
	})
}

func TestNeutralResultsNeverChangeTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := circuit.New("b",
			circuit.Config{Consecutive: 2, Rate: .1, Window: 2, ClosesAfter: 1, Cooldown: time.Second})
		for _, err := range harmless {
			for range 5 {
				allow(t, b).Done(err)
			}
		}
		require.Equal(t, circuit.Snapshot{Name: "b"}, b.Snapshot())

		results(t, b, "f")
		for _, err := range harmless {
			allow(t, b).Done(err)
		}
		require.Equal(t, 1, b.Snapshot().InARow, "the row isn't broken")
		results(t, b, "f")
		require.Equal(t, circuit.Open, b.State())

		<-time.After(time.Second)
		for _, err := range harmless {
			p := allow(t, b)
			refused(t, b)
			p.Done(err) // makes room for another
			require.Equal(t, circuit.HalfOpen, b.State(), err)
		}
		require.Zero(t, b.Snapshot().Probes)
		results(t, b, ".")
		require.Equal(t, circuit.Closed, b.State())
	})
}

func TestAResultFromBeforeTheLastChangeIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := circuit.New("b", circuit.Config{Consecutive: 1, ClosesAfter: 2, Cooldown: time.Second})
		early := []circuit.Permit{allow(t, b), allow(t, b), allow(t, b), allow(t, b)}
		results(t, b, "f")

		early[0].Done(nil)
		early[1].Done(errDown)
		require.Equal(t, circuit.Open, b.State())

		<-time.After(time.Second)
		probe := allow(t, b)
		early[2].Done(errDown)
		require.Equal(t, circuit.HalfOpen, b.State(), "a late failure opens nothing")
		require.Equal(t, 1, b.Snapshot().Probes)
		early[3].Done(nil)
		require.Zero(t, b.Snapshot().Passed, "a late success is no probe")

		results(t, b, "..")
		require.Equal(t, circuit.Closed, b.State())
		probe.Done(errDown)
		require.Equal(t, circuit.Closed, b.State(), "a probe that ends after the breaker closed")
		require.Zero(t, b.Snapshot().Results)
	})
}

func TestABreakerThatClosesForgetsEarlierFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := circuit.New("b",
			circuit.Config{Consecutive: 10, Rate: .5, Window: 4, ClosesAfter: 1, Cooldown: time.Second})
		results(t, b, ".fff")
		require.Equal(t, circuit.Open, b.State())
		<-time.After(time.Second)
		results(t, b, ".")
		require.Equal(t, circuit.Closed, b.State())
		results(t, b, "fff")
		require.Equal(t, circuit.Closed, b.State())
		require.Equal(t, 3, b.Snapshot().Failures)
		results(t, b, "f")
		require.Equal(t, circuit.Open, b.State())
	})
}

func TestAResetClosesAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := circuit.New("b", circuit.Config{Consecutive: 2, Rate: -1, Cooldown: time.Second, ClosesAfter: 1})
		late := allow(t, b)
		results(t, b, "f")
		b.Reset()
		late.Done(errDown)
		results(t, b, "f")
		require.Equal(t, circuit.Closed, b.State(), "one failure since")
		results(t, b, "f")
		require.Equal(t, circuit.Open, b.State())
		b.Reset()
		require.Equal(t, circuit.Closed, b.State())
		results(t, b, ".ff")
		<-time.After(time.Second)
		probe := allow(t, b)
		b.Reset()
		probe.Done(errDown)
		require.Equal(t, circuit.Snapshot{Name: "b", Since: time.Now()}, b.Snapshot())
	})
}

func TestANilBreakerAdmitsEveryCall(t *testing.T) {
	var b *circuit.Breaker
	for range 10 {
		allow(t, b).Done(errDown)
	}
	require.NoError(t, b.Ready())
	require.Equal(t, circuit.Closed, b.State())
	require.Empty(t, b.Name())
	require.Zero(t, b.Snapshot())
	b.Reset()
	circuit.Permit{}.Done(nil)
	circuit.Permit{}.Done(errDown)
	circuit.Permit{}.Done(context.Canceled)

	n, err := circuit.Do(t.Context(), b, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, n)
}

func TestTheZeroBreakerHasTheDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, b := range []*circuit.Breaker{new(circuit.Breaker), circuit.New("", circuit.Config{})} {
			results(t, b, "ff.ff")
			require.Equal(t, circuit.Closed, b.State())
			results(t, b, "f")
			require.Equal(t, 30*time.Second, refused(t, b).RetryAfter)
		}
	})
}

func TestConcurrentCallsAreCountedCorrectly(t *testing.T) {
	const callers, each = 8, 500
	b := circuit.New("b", circuit.Config{Consecutive: 10_000, Rate: 1, Window: 10_000})
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for n := range each {
				p, err := b.Allow()
				if err != nil {
					t.Error(err)
					return
				}
				if (n+i)%4 == 0 {
					p.Done(errDown)
				} else {
					p.Done(nil)
				}
			}
		})
	}
	all.Wait()
	s := b.Snapshot()
	require.Equal(t, callers*each, s.Results)
	require.Equal(t, callers*each/4, s.Failures)
}
