package circuit_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
)

func TestEveryChangeIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []circuit.Change
		b := circuit.New("b", circuit.Config{
			Consecutive: 1, ClosesAfter: 1, Cooldown: 10 * time.Second, ProbeTimeout: 5 * time.Second,
			OnChange: func(c circuit.Change) { told = append(told, c) },
		})
		began := time.Now()
		at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
		results(t, b, "f")
		<-time.After(12 * time.Second)
		results(t, b, "f") // open until 22
		<-time.After(20 * time.Second)
		allow(t, b) // at 32, expires at 37, so open until 47
		<-time.After(20 * time.Second)
		results(t, b, ".") // at 52
		results(t, b, "f") // and open until 62
		b.Reset()
		b.Reset()
		expired := told[4].Cause
		require.Error(t, expired)
		require.Equal(t, []circuit.Change{
			{Name: "b", To: circuit.Open, Reason: circuit.Consecutive, At: at(0), Until: at(10), Cause: errDown},
			{Name: "b", From: circuit.Open, To: circuit.HalfOpen, Reason: circuit.CooldownOver, At: at(10)},
			{Name: "b", From: circuit.HalfOpen, To: circuit.Open, Reason: circuit.ProbeFailed, At: at(12),
				Until: at(22), Cause: errDown},
			{Name: "b", From: circuit.Open, To: circuit.HalfOpen, Reason: circuit.CooldownOver, At: at(22)},
			{Name: "b", From: circuit.HalfOpen, To: circuit.Open, Reason: circuit.ProbeExpired, At: at(37),
				Until: at(47), Cause: expired},
			{Name: "b", From: circuit.Open, To: circuit.HalfOpen, Reason: circuit.CooldownOver, At: at(47)},
			{Name: "b", From: circuit.HalfOpen, To: circuit.Closed, Reason: circuit.ProbesPassed, At: at(52)},
			{Name: "b", To: circuit.Open, Reason: circuit.Consecutive, At: at(52), Until: at(62), Cause: errDown},
			{Name: "b", From: circuit.Open, To: circuit.Closed, Reason: circuit.ByHand, At: at(52)},
		}, told)
	})
}

func TestChangesComeInOrderAndOneAtATime(t *testing.T) {
	var telling sync.Mutex
	state, told := circuit.Closed, 0
	b := circuit.New("b", circuit.Config{Consecutive: 1, OnChange: func(c circuit.Change) {
		if !telling.TryLock() {
			t.Error("two at a time")
			return
		}
		defer telling.Unlock()
		if c.From != state {
			t.Errorf("from %v, after %v", c.From, state)
		}
		state = c.To
		told++
	}})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 { // no more than are kept
				if p, err := b.Allow(); err == nil {
					p.Done(errDown)
				}
				b.Reset()
			}
		})
	}
	all.Wait()
	telling.Lock()
	defer telling.Unlock()
	require.Equal(t, b.State(), state)
	require.Positive(t, told)
}

func TestOnChangeMayCallTheBreaker(t *testing.T) {
	var b *circuit.Breaker
	var told []circuit.State
	b = circuit.New("b", circuit.Config{Consecutive: 1, OnChange: func(c circuit.Change) {
		told = append(told, c.To)
		if c.To == circuit.Open {
			refused(t, b)
			b.Reset()
			require.Equal(t, circuit.Closed, b.State())
		}
	}})
	results(t, b, "f")
	require.Equal(t, []circuit.State{circuit.Open, circuit.Closed}, told, "the second after the first has returned")
}

func TestASlowOnChangeDelaysNoOtherCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		var told []string
		b := circuit.New("b", circuit.Config{Consecutive: 1, OnChange: func(c circuit.Change) {
			<-let
			told = append(told, fmt.Sprint(c.To))
		}})
		slow := make(chan struct{})
		go func() {
			defer close(slow)
			allow(t, b).Done(errDown)
		}()
		synctest.Wait()
		for range 2_000 { // more than are kept
			refused(t, b)
			b.Reset()
			results(t, b, "f")
		}
		require.Empty(t, told)
		close(let)
		<-slow
		require.Len(t, told, 1+1_000, "the one that was being told, and the last thousand")
		require.Equal(t, "open", told[1_000])
	})
}

func TestAPanicOfOnChangeLosesNoOtherChange(t *testing.T) {
	var told []circuit.State
	b := circuit.New("b", circuit.Config{Consecutive: 1, OnChange: func(c circuit.Change) {
		told = append(told, c.To)
		if len(told) == 1 {
			panic("mine")
		}
	}})
	p := allow(t, b)
	require.PanicsWithValue(t, "mine", func() { p.Done(errDown) })
	require.Equal(t, circuit.Open, b.State())
	b.Reset()
	require.Equal(t, []circuit.State{circuit.Open, circuit.Closed}, told)
}

func TestStatesHaveNames(t *testing.T) {
	for s, want := range map[circuit.State]string{
		circuit.Closed: "closed", circuit.Open: "open", circuit.HalfOpen: "half-open", 9: "state(9)",
	} {
		text, err := s.MarshalText()
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}
