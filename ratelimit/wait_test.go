package ratelimit_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

// told records the waits of a request; the function returns them when all goroutines are blocked.
func (r *room) told(t ratelimit.AcquireRequest) (ratelimit.AcquireRequest, func() []ratelimit.Delay) {
	var waits []ratelimit.Delay
	t.OnWait = func(w ratelimit.Delay) {
		r.gate.Snapshot() // no lock is held
		r.mu.Lock()
		defer r.mu.Unlock()
		waits = append(waits, w)
	}
	return t, func() []ratelimit.Delay {
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.Clone(waits)
	}
}

func (r *room) at(d time.Duration) time.Time { return r.began.Add(d) }

func TestAWaitHasItsReasonAndItsEnd(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("first", person)
		r.come("ann", person)
		r.come("running late", person)
		work, waits := r.told(background("a", 0))
		r.come("work", work)
		require.Equal(t, []ratelimit.Delay{{Reason: ratelimit.DelayQueue, Ahead: 2}}, waits())

		r.get("first").Release(limited(10 * time.Second))
		require.Equal(t, ratelimit.Delay{Reason: ratelimit.DelayRateLimit, Until: r.at(10 * time.Second), Ahead: 2},
			waits()[1])
		r.gate.Pause(20 * time.Second)
		require.True(t, r.at(20*time.Second).Equal(waits()[2].Until))
		<-time.After(time.Second)

		memory := r.gate.PauseBackground("memory")
		disk := r.gate.PauseBackground("disk")
		require.Len(t, waits(), 3, "the rate limit is still why")
		<-time.After(19 * time.Second)
		require.Equal(t, ratelimit.Delay{Reason: ratelimit.DelayPaused, Detail: "memory", Ahead: 1}, waits()[3])
		memory()
		require.Equal(t, ratelimit.Delay{Reason: ratelimit.DelayPaused, Detail: "disk", Ahead: 1}, waits()[4])
		disk()
		require.Equal(t, ratelimit.Delay{Reason: ratelimit.DelayQueue, Ahead: 1}, waits()[5])
		require.Len(t, waits(), 6)
	})
}

func TestTheNextInLineWaitsForTheRates(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{RequestsPerMinute: 60, TokensPerMinute: 600, Burst: 1}, func(r *room) {
		r.come("first", ratelimit.AcquireRequest{Interactive: true, Tokens: 600})
		work, waits := r.told(ratelimit.AcquireRequest{Tokens: 100})
		r.come("work", work)
		require.Equal(t, []ratelimit.Delay{{Reason: ratelimit.DelayTokens, Until: r.at(10 * time.Second)}}, waits())
		<-time.After(time.Second)
		ann, annWaits := r.told(ratelimit.AcquireRequest{Interactive: true, Tokens: 50})
		r.come("ann", ann)
		require.Equal(t, []ratelimit.Delay{{Reason: ratelimit.DelayTokens, Until: r.at(5 * time.Second)}}, annWaits())
		require.Equal(t, ratelimit.Delay{Reason: ratelimit.DelayQueue, Ahead: 1}, waits()[1], "a person is before it")
		<-time.After(time.Minute)
		require.Equal(t, 5*time.Second, r.find("ann").after)
		require.Equal(t, 15*time.Second, r.find("work").after)
		require.Equal(t, ratelimit.Delay{Reason: ratelimit.DelayTokens, Until: r.at(15 * time.Second)}, waits()[2])
		require.Len(t, waits(), 3)
	})
	inRoom(t, ratelimit.GateConfig{Slots: 3, RequestsPerMinute: 2, Burst: 1}, func(r *room) {
		r.come("first", person)
		r.come("second", person)
		ann, waits := r.told(person)
		r.come("ann", ann)
		require.Equal(t, []ratelimit.Delay{{Reason: ratelimit.DelayRequests, Until: r.at(30 * time.Second)}}, waits())
		r.get("first").Release(ratelimit.Outcome{Unsent: true}) // never sent: its request is returned
		r.get("ann")
	})
}

func TestTheNextInLineIsInformedWhenAnotherCallStarts(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{TokensPerMinute: 600, Burst: 1}, func(r *room) {
		r.come("first", ratelimit.AcquireRequest{Interactive: true, Tokens: 600})
		work, waits := r.told(ratelimit.AcquireRequest{Tokens: 100})
		r.come("work", work)
		<-time.After(5 * time.Second)
		r.come("ann", ratelimit.AcquireRequest{Interactive: true, Tokens: 50})
		require.Equal(t, 5*time.Second, r.find("ann").after)
		require.Len(t, waits(), 2)
		require.Equal(t, ratelimit.Delay{Reason: ratelimit.DelayTokens, Until: r.at(15 * time.Second)}, waits()[1])
		<-time.After(time.Minute)
		require.Equal(t, 15*time.Second, r.find("work").after)
	})
}

func TestARequestThatDoesNotWaitGetsNoReason(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{}, func(r *room) {
		ann, waits := r.told(person)
		r.come("ann", ann)
		r.get("ann")
		require.Empty(t, waits())
	})
}

func TestAPanicInOnWaitLeavesNothingBehind(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("first", person)
		rude := person
		rude.OnWait = func(ratelimit.Delay) { panic("rude") }
		require.PanicsWithValue(t, "rude", func() { r.gate.Acquire(r.t.Context(), rude) })
		require.Zero(t, r.gate.Snapshot().Queued)
		r.get("first").Release(success)
		require.Zero(t, r.gate.Snapshot().Running)
	})
}

func TestASnapshotShowsTheLongestWaitByPriority(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 2}, func(r *room) {
		r.come("work", background("a", ratelimit.Validation)) // since 0
		<-time.After(time.Second)
		r.come("ann", person)
		for i := range 3 {
			r.come(fmt.Sprint("low ", i), background("a", ratelimit.Background))
			<-time.After(time.Second)
		}
		r.come("bob", person) // preempts work
		r.again("work", r.get("work"), success)
		r.come("eve", person)
		<-time.After(time.Second)
		snap := r.gate.Snapshot()
		require.Equal(t, []ratelimit.Lane{
			{Interactive: true, Running: 2, Queued: 1, Longest: time.Second},
			{Priority: ratelimit.Validation, Queued: 1, Longest: 5 * time.Second},
			{Priority: ratelimit.Background, Queued: 3, Longest: 4 * time.Second},
		}, snap.Lanes)
		require.Equal(t, 5, snap.Queued)
		require.Equal(t, ratelimit.Totals{Started: 3, Preempted: 1}, snap.Totals)
	})
}

func TestEventsComeInOrderOutsideTheLock(t *testing.T) {
	var g *ratelimit.Gate
	var got []string
	cfg := ratelimit.GateConfig{Slots: 1, OnEvent: func(e ratelimit.Event) {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Reason))
		switch {
		case e.Kind == ratelimit.EventBackgroundPaused && e.Reason == "one":
			// events of the callback are delivered after it, not within it
			g.PauseBackground("two")()
			g.Pause(time.Hour)
			got = append(got, "end of one")
		case e.Reason == "boom":
			panic("boom")
		}
	}}
	g = ratelimit.NewGate(cfg)
	resume := g.PauseBackground("one")
	require.Equal(t, []string{"background_paused one", "end of one", "paused "}, got)
	resume()
	require.Panics(t, func() { g.PauseBackground("boom") })
	g.Close() // events still come
	require.Equal(t, []string{"background_resumed one", "background_paused boom", "closed "}, got[3:])
}

func TestASlowListenerMissesOnlyDroppableEvents(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1, Queue: 1}, func(r *room) {
		hold, held := make(chan struct{}), false
		var got []ratelimit.Event
		g := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1, Queue: 1, OnEvent: func(e ratelimit.Event) {
			if !held {
				held = true
				<-hold
			}
			got = append(got, e)
		}})
		l, err := g.Acquire(r.t.Context(), ratelimit.AcquireRequest{})
		require.NoError(t, err)
		r.gone.Go(func() { g.Acquire(r.t.Context(), ratelimit.AcquireRequest{}) })
		r.kinds()
		r.gone.Go(func() { g.PauseBackground("slow") })
		r.kinds()
		for range 1500 {
			_, err := g.Acquire(r.t.Context(), ratelimit.AcquireRequest{})
			require.Error(t, err)
		}
		l.Release(limited(time.Second))
		close(hold)
		r.kinds()
		require.Len(t, got, 1+1024+1)
		require.Equal(t, ratelimit.EventPaused, got[1025].Kind)
		require.Equal(t, 1500-1024, got[1025].Missed)
		g.Close()
	})
}

func TestNoCallDeliversTheEventsOfOthersForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var priorities []int
		g := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1, Queue: 1, OnEvent: func(e ratelimit.Event) {
			<-time.After(time.Second)
			priorities = append(priorities, e.Priority)
		}})
		l, err := g.Acquire(t.Context(), ratelimit.AcquireRequest{})
		require.NoError(t, err)
		var gone sync.WaitGroup
		gone.Go(func() { g.Acquire(t.Context(), ratelimit.AcquireRequest{}) })
		synctest.Wait()
		var first time.Duration
		gone.Go(func() {
			began := time.Now()
			g.Acquire(t.Context(), ratelimit.AcquireRequest{Priority: 1})
			first = time.Since(began)
		})
		for i := range 100 { // twice as many as it can handle in time
			synctest.Wait()
			g.Acquire(t.Context(), ratelimit.AcquireRequest{Priority: 2 + i%50})
			<-time.After(time.Second / 2)
		}
		g.Close()
		l.Release(success)
		gone.Wait()
		<-time.After(time.Hour)
		synctest.Wait()
		require.Equal(t, 17*time.Second, first, "its own event, and a few")
		require.Len(t, priorities, 102)
		require.Equal(t, []int{1, 2, 3, 4}, priorities[:4], "in order")
		require.Equal(t, []int{50, 51, 0}, priorities[99:], "to the end")
	})
}

func TestErrorsSayWhatToDo(t *testing.T) {
	full := &ratelimit.QueueFullError{Gate: "openai", Queue: 10, Priority: 20}
	require.EqualError(t, full,
		`ratelimit: gate "openai": 10 background requests are waiting, which is the limit: try one of priority 20 later`)
	long := &ratelimit.PauseTooLongError{Gate: "openai", Rest: time.Hour, Max: time.Minute}
	require.EqualError(t, long,
		`ratelimit: gate "openai": the provider asks for a pause of 1h0m0s, and at most 1m0s is waited for: use another provider, or try again then`)
	require.False(t, errors.Is(ratelimit.ErrClosed, ratelimit.ErrPreempted))
}
