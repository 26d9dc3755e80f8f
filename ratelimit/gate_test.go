package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
)

var (
	person  = ratelimit.AcquireRequest{Interactive: true}
	success = ratelimit.Outcome{}
)

// A started is the result of a request.
type started struct {
	name  string
	lease ratelimit.Lease
	err   error
	after time.Duration // since the test began
}

// A room is a gate with requests, and a record of their starts, under fake time.
type room struct {
	t     *testing.T
	gate  *ratelimit.Gate
	began time.Time
	gone  sync.WaitGroup

	mu     sync.Mutex // guards what follows
	starts []started
	seen   int // of these, by order
	events []ratelimit.Event
}

func inRoom(t *testing.T, cfg ratelimit.GateConfig, fn func(*room)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &room{t: t, began: time.Now()}
		cfg.Name = "g"
		cfg.OnEvent = func(e ratelimit.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		}
		r.gate = ratelimit.NewGate(cfg)
		defer func() {
			r.gate.Close()
			r.gone.Wait()
		}()
		fn(r)
	})
}

// come makes a request, and returns when it has started or waits.
func (r *room) come(name string, t ratelimit.AcquireRequest) {
	r.comeWith(r.t.Context(), name, t)
}

func (r *room) comeWith(ctx context.Context, name string, t ratelimit.AcquireRequest) {
	r.gone.Go(func() {
		l, err := r.gate.Acquire(ctx, t)
		r.note(name, l, err)
	})
	synctest.Wait()
}

// again has a call requeue.
func (r *room) again(name string, l ratelimit.Lease, o ratelimit.Outcome) {
	r.gone.Go(func() {
		l, err := l.Requeue(r.t.Context(), o)
		r.note(name, l, err)
	})
	synctest.Wait()
}

func (r *room) note(name string, l ratelimit.Lease, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starts = append(r.starts, started{name, l, err, time.Since(r.began)})
}

// get returns the lease of a call that has started.
func (r *room) get(name string) ratelimit.Lease {
	r.t.Helper()
	s := r.find(name)
	require.NoError(r.t, s.err, name)
	return s.lease
}

// find returns the latest result of the request of that name.
func (r *room) find(name string) started {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.starts) - 1; i >= 0; i-- {
		if r.starts[i].name == name {
			return r.starts[i]
		}
	}
	require.Fail(r.t, "still waiting: "+name)
	return started{}
}

// order returns the names of the requests that have started or failed since its last call, in
// order.
func (r *room) order() (names []string) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.starts[r.seen:] {
		names = append(names, s.name)
	}
	r.seen = len(r.starts)
	return names
}

func (r *room) kinds() (kinds []ratelimit.EventKind) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// oneByOne ends the call of that name, then those that start in its place, and returns their order.
func (r *room) oneByOne(name string) (names []string) {
	r.t.Helper()
	r.order()
	for {
		r.get(name).Release(success)
		next := r.order()
		if len(next) == 0 {
			return names
		}
		require.Len(r.t, next, 1)
		name = next[0]
		names = append(names, name)
	}
}

func background(session string, priority int) ratelimit.AcquireRequest {
	return ratelimit.AcquireRequest{Session: session, Priority: priority}
}

func TestInteractiveRequestsGoFirstInTheOrderOfArrival(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("first", person)
		r.come("planning", background("a", ratelimit.Planning))
		r.come("ann", person)
		r.come("execution", background("b", 0))
		r.come("bob", ratelimit.AcquireRequest{Interactive: true, Priority: ratelimit.Background, Session: "z"})
		r.come("indexing", background("c", ratelimit.Background))
		r.come("eve", ratelimit.AcquireRequest{Interactive: true, Priority: ratelimit.Planning})
		r.come("validation", background("d", ratelimit.Validation))
		r.come("named execution", background("e", ratelimit.Execution))
		require.Equal(t, []string{"ann", "bob", "eve", "planning", "execution", "named execution", "validation",
			"indexing"}, r.oneByOne("first"))
	})
}

func TestSessionsTakeTurnsWithinAPriority(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("first", person)
		for i := range 3 {
			r.come(fmt.Sprint("a", i), background("a", 0))
		}
		for i := range 2 {
			r.come(fmt.Sprint("b", i), background("b", 0))
		}
		r.come("nameless", background("", 0))
		r.come("c0", background("c", 0))
		require.Equal(t, []string{"a0", "b0", "nameless", "c0", "a1", "b1", "a2"}, r.oneByOne("first"))
	})
}

func TestAShareOfTheSlotsIsReservedForInteractiveCalls(t *testing.T) {
	for name, c := range map[string]struct {
		slots, kept int
		keep        float64
	}{
		"one":             {1, 0, 0},
		"two":             {2, 0, 0},
		"three":           {3, 0, 0},
		"four":            {4, 1, 0},
		"of two":          {2, 1, 0.2},
		"of three":        {3, 1, 0.1},
		"not a number, 3": {3, 0, math.NaN()},
		"not a number, 4": {4, 1, math.NaN()},
		"five":            {5, 1, 0},
		"six":             {6, 2, 0},
		"ten":             {10, 2, 0},
		"default":         {0, 2, 0},
		"none":            {4, 0, -1},
		"half":            {4, 2, 0.5},
		"never all":       {4, 3, 7},
		"not one, 1":      {1, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inRoom(t, ratelimit.GateConfig{Slots: c.slots, ReservedShare: c.keep}, func(r *room) {
				snap := r.gate.Snapshot()
				require.Equal(t, c.kept, snap.Reserved)
				for i := range 12 {
					r.come(fmt.Sprint(i), ratelimit.AcquireRequest{NoPreempt: i%2 == 0})
				}
				require.Len(t, r.order(), snap.Slots-c.kept, "background calls leave the kept slots free")
				for i := range c.kept {
					r.come(fmt.Sprint("person ", i), person)
				}
				require.Len(t, r.order(), c.kept)
				require.Zero(t, r.gate.Snapshot().Totals.Preempted, "nobody is preempted while a slot is free")
			})
		})
	}
}

func TestALaterInteractiveRequestPreemptsAnotherCall(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 4, ReservedShare: -1}, func(r *room) {
		r.come("old", background("a", ratelimit.Background))
		r.come("high", background("b", ratelimit.Planning))
		r.come("young", background("c", ratelimit.Background))
		r.come("middle", background("d", 0))
		wanted := func() (names []string) {
			for _, name := range []string{"old", "high", "young", "middle"} {
				l := r.get(name)
				if l.Preempted() {
					require.ErrorIs(t, context.Cause(l.Context()), ratelimit.ErrPreempted)
					names = append(names, name)
				}
			}
			return names
		}
		require.Empty(t, wanted())
		r.come("ann", person)
		require.Equal(t, []string{"young"}, wanted(), "the lowest priority, then the youngest")
		r.come("bob", person)
		require.Equal(t, []string{"old", "young"}, wanted())
		r.come("eve", person)
		require.Equal(t, []string{"old", "young", "middle"}, wanted())
		r.get("young").Release(ratelimit.Outcome{Unsent: true})
		r.get("ann")
		r.get("old").Release(ratelimit.Outcome{Unsent: true})
		r.get("bob")
		require.EqualValues(t, 3, r.gate.Snapshot().Totals.Preempted)
	})
}

func TestAPreemptedCallReturnsToTheHeadOfItsSession(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("a0", background("a", 0))
		r.come("a1", background("a", 0))
		r.come("b0", background("b", 0))
		r.come("high", background("c", ratelimit.Planning))
		r.come("ann", person)
		l := r.get("a0")
		require.ErrorIs(t, context.Cause(l.Context()), ratelimit.ErrPreempted)
		require.Equal(t, fault.None, fault.Of(context.Cause(l.Context())), "it is no failure")
		r.again("a0", l, ratelimit.Outcome{Err: context.Cause(l.Context()), Tokens: 12})
		require.Equal(t, []string{"high", "a0", "a1", "b0"}, r.oneByOne("ann"))
		require.Zero(t, r.gate.Snapshot().Step, "and no rate limit")
	})
}

func TestACallIsPreemptedAtMostThreeTimes(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("work", background("a", 0))
		for range 3 {
			r.come("ann", person)
			require.True(t, r.get("work").Preempted())
			r.again("work", r.get("work"), success)
			r.get("ann").Release(success)
		}
		r.come("bob", person)
		l := r.get("work")
		require.False(t, l.Preempted())
		require.NoError(t, l.Context().Err())
		<-time.After(time.Hour)
		require.False(t, l.Preempted())
		l.Release(success)
		r.get("bob")
	})
}

func TestAPinnedCallIsNotPreempted(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 3, ReservedShare: -1}, func(r *room) {
		r.come("pinned", background("a", ratelimit.Background))
		r.come("from the start", ratelimit.AcquireRequest{Priority: ratelimit.Background, NoPreempt: true})
		r.come("work", background("a", ratelimit.Planning))
		require.True(t, r.get("pinned").Pin())
		require.True(t, r.get("pinned").Pin())
		r.come("ann", person)
		require.True(t, r.get("work").Preempted())
		require.False(t, r.get("work").Pin(), "too late")
		r.come("bob", person)
		require.False(t, r.get("pinned").Preempted())
		require.False(t, r.get("from the start").Preempted())
		r.again("work", r.get("work"), success)
		r.get("ann").Release(success)
		r.get("bob").Release(success)
		require.False(t, r.get("bob").Pin(), "it has ended")
	})
}

func TestAPreemptedCallThatDoesNotEndIsOvertakenAfterASecond(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 2, ReservedShare: -1}, func(r *room) {
		r.come("a", background("a", 0))
		r.come("b", background("b", 0))
		r.come("waiting", background("c", 0))
		r.come("ann", person)
		<-time.After(600 * time.Millisecond)
		r.come("bob", person)
		require.Equal(t, 2, r.gate.Snapshot().Preempted)
		<-time.After(10 * time.Second)
		require.Equal(t, time.Second, r.find("ann").after)
		require.Equal(t, 1600*time.Millisecond, r.find("bob").after, "each victim has its own second")
		require.Equal(t, 4, r.gate.Snapshot().Running)
		require.Equal(t, 2, r.gate.Snapshot().Overtaken)
		r.order()
		r.get("ann").Release(success)
		r.get("bob").Release(success)
		r.get("b").Release(success)
		require.Equal(t, []string{"waiting"}, r.order(), "not before the calls fit the slots again")
		r.get("a").Release(success)
		require.Zero(t, r.gate.Snapshot().Overtaken)
	})
}

func TestALatePreemptedCallIsOvertakenAtOnceByTheNextRequest(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("work", background("a", 0))
		ctx, cancel := context.WithCancel(r.t.Context())
		r.comeWith(ctx, "ann", person)
		cancel()
		require.ErrorIs(t, r.find("ann").err, context.Canceled)
		<-time.After(time.Minute)
		r.come("bob", person)
		r.get("bob")
		require.EqualValues(t, 1, r.gate.Snapshot().Totals.Preempted)
	})
}

func TestWithASingleSlotAnInteractiveRequestWaitsForAPinnedCall(t *testing.T) {
	for _, overcommit := range []bool{false, true} {
		t.Run(fmt.Sprint("overcommit ", overcommit), func(t *testing.T) {
			inRoom(t, ratelimit.GateConfig{Slots: 1, Overcommit: overcommit}, func(r *room) {
				r.come("work", ratelimit.AcquireRequest{NoPreempt: true})
				r.come("ann", person)
				<-time.After(time.Hour)
				if !overcommit {
					require.Equal(t, 1, r.gate.Snapshot().Lanes[0].Queued)
					r.get("work").Release(success)
				}
				r.get("ann")
				require.Zero(t, r.gate.Snapshot().Totals.Preempted)
			})
		})
	}
}

func TestWithOvercommitInteractiveRequestsNeverWait(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 2, ReservedShare: -1, Overcommit: true}, func(r *room) {
		r.come("a", background("a", 0))
		r.come("b", background("b", 0))
		for i := range 5 {
			r.come(fmt.Sprint("person ", i), person)
			r.get(fmt.Sprint("person ", i))
		}
		require.True(t, r.get("a").Preempted())
		require.True(t, r.get("b").Preempted())
		r.come("c", background("c", 0))
		r.get("a").Release(success)
		r.get("b").Release(success)
		for i := range 3 {
			r.get(fmt.Sprint("person ", i)).Release(success)
		}
		require.Equal(t, 1, r.gate.Snapshot().Queued, "no background call starts above the slots")
		r.get("person 3").Release(success)
		r.get("c")
	})
}

func TestAFullQueueRejectsBackgroundRequests(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1, Queue: 2}, func(r *room) {
		r.come("first", background("a", 0))
		r.come("low", background("a", ratelimit.Background))
		r.come("mid", background("a", ratelimit.Validation))
		r.order()
		r.come("high", background("a", ratelimit.Planning))
		var full *ratelimit.QueueFullError
		require.ErrorAs(t, r.find("high").err, &full)
		require.Equal(t, ratelimit.QueueFullError{Gate: "g", Queue: 2, Priority: ratelimit.Planning}, *full)
		require.Equal(t, fault.RateLimited, fault.Of(full))
		for i := range 10 {
			r.come(fmt.Sprint("person ", i), person)
		}
		require.Equal(t, []string{"high"}, r.order())
		r.again("first", r.get("first"), success) // a call that held a slot before is accepted
		require.Equal(t, []string{"person 0"}, r.order())
		require.Equal(t, 3+9, r.gate.Snapshot().Queued)
		require.EqualValues(t, 1, r.gate.Snapshot().Totals.Rejected)
	})
}

func TestARequestWhoseContextEndsLeavesAtOnce(t *testing.T) {
	why := errors.New("the tab was closed")
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("first", person)
		for _, ticket := range []ratelimit.AcquireRequest{person, background("a", 0)} {
			ctx, cancel := context.WithCancelCause(r.t.Context())
			r.comeWith(ctx, "gone", ticket)
			require.Equal(t, 1, r.gate.Snapshot().Queued)
			cancel(why)
			require.ErrorIs(t, r.find("gone").err, why)
			require.Zero(t, r.gate.Snapshot().Queued)
			_, err := r.gate.Acquire(ctx, ticket)
			require.ErrorIs(t, err, why)
		}
		again, cancel := context.WithCancelCause(r.t.Context())
		cancel(why)
		_, err := r.get("first").Requeue(again, success)
		require.ErrorIs(t, err, why)
		require.Zero(t, r.gate.Snapshot().Running)
	})
}

func TestASlotGrantedToACanceledRequestGoesToTheNext(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1, RequestsPerMinute: 100, Burst: 1}, func(r *room) {
		r.come("next", person)
		for i := range 10 {
			l := r.get("next")
			ctx, cancel := context.WithCancel(r.t.Context())
			r.comeWith(ctx, "gone", person)
			r.come("next", person)
			if i%2 == 0 { // usually both happen before the other goroutine sees either
				cancel()
				l.Release(success)
			} else {
				l.Release(success)
				cancel()
			}
			if gone := r.find("gone"); i%2 == 1 && gone.err == nil { // it got the slot before the cancellation
				gone.lease.Release(ratelimit.Outcome{Unsent: true})
			} else {
				require.ErrorIs(t, gone.err, context.Canceled)
			}
			r.get("next")
			require.EqualValues(t, 98-i, r.gate.Snapshot().RequestsLeft)
		}
	})
}

func TestALeaseEndsOnce(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("first", person)
		r.come("second", person)
		r.come("third", person)
		l := r.get("first")
		l.Release(success)
		l.Release(success)
		require.ErrorIs(t, l.Context().Err(), context.Canceled)
		require.False(t, l.Pin())
		require.False(t, l.Preempted())
		_, err := l.Requeue(r.t.Context(), success)
		require.ErrorIs(t, err, ratelimit.ErrReleased)
		require.Equal(t, 1, r.gate.Snapshot().Running)
		require.Equal(t, 1, r.gate.Snapshot().Queued, "the second's slot is its own")

		var zero ratelimit.Lease
		zero.Release(success)
		require.False(t, zero.Pin())
		require.False(t, zero.Preempted())
		require.NoError(t, zero.Context().Err())
		_, err = zero.Requeue(r.t.Context(), success)
		require.ErrorIs(t, err, ratelimit.ErrReleased)
	})
}

func TestALeaseEndsWithItsCaller(t *testing.T) {
	why := errors.New("the caller has enough")
	g := ratelimit.NewGate(ratelimit.GateConfig{})
	ctx, cancel := context.WithCancelCause(t.Context())
	l, err := g.Acquire(ctx, person)
	require.NoError(t, err)
	cancel(why)
	require.ErrorIs(t, context.Cause(l.Context()), why)
	require.False(t, l.Preempted())
	l.Release(ratelimit.Outcome{Unsent: true})
	var none context.Context // a mistake that mustn't panic
	l, err = g.Acquire(none, person)
	require.NoError(t, err)
	l.Release(ratelimit.Outcome{Unsent: true})
}

func TestTheHostsPausesOfTheBackgroundLaneOverlap(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 4}, func(r *room) {
		r.come("running", background("a", 0))
		memory := r.gate.PauseBackground("memory")
		disk := r.gate.PauseBackground("disk")
		require.Equal(t, []string{"memory", "disk"}, r.gate.Snapshot().BackgroundPaused)
		require.NoError(t, r.get("running").Context().Err(), "what runs goes on")
		r.come("work", background("a", 0))
		r.come("ann", person)
		require.Equal(t, []string{"running", "ann"}, r.order())
		memory()
		memory()
		require.Empty(t, r.order())
		disk()
		require.Equal(t, []string{"work"}, r.order())
		require.Equal(t, []ratelimit.EventKind{ratelimit.EventBackgroundPaused, ratelimit.EventBackgroundResumed},
			r.kinds())
	})
}

func TestClosingRejectsAllWaitingRequests(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1, RequestsPerMinute: 10, Burst: 1}, func(r *room) {
		r.come("running", person)
		r.come("ann", person)
		r.come("work", background("a", 0))
		resume := r.gate.PauseBackground("memory")
		r.gate.Pause(time.Minute)
		r.gate.Close()
		r.gate.Close()
		for _, name := range []string{"ann", "work"} {
			require.ErrorIs(t, r.find(name).err, ratelimit.ErrClosed)
		}
		r.come("late", person)
		require.ErrorIs(t, r.find("late").err, ratelimit.ErrClosed)
		l := r.get("running")
		require.ErrorIs(t, context.Cause(l.Context()), ratelimit.ErrClosed)
		resume()
		_, err := l.Requeue(r.t.Context(), success)
		require.ErrorIs(t, err, ratelimit.ErrClosed)
		require.True(t, r.gate.Snapshot().Closed)
		require.Zero(t, r.gate.Snapshot().Running)
	})
}

func contextFor(r *room) (context.Context, context.CancelFunc) {
	return context.WithCancel(r.t.Context())
}
