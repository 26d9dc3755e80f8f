package ratelimit_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
)

var errSlow = fault.New(fault.RateLimited, "429")

func limited(advice time.Duration) ratelimit.Outcome {
	if advice < 0 {
		return ratelimit.Outcome{Err: errSlow}
	}
	return ratelimit.Outcome{Err: fmt.Errorf("call: %w", fault.WithRetryAfter(errSlow, advice))}
}

const noAdvice = -1

func (r *room) pausedFor() time.Duration {
	until := r.gate.Snapshot().PausedUntil
	if until.IsZero() {
		return 0
	}
	return time.Until(until)
}

func TestPausesDoubleUpToFiveMinutes(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("call", person)
		shortest, longest := time.Hour, time.Duration(0)
		for step := range 1000 {
			want := 5 * time.Minute
			if step < 9 {
				want = time.Second << step
			}
			began := time.Now()
			r.again("call", r.get("call"), limited(noAdvice))
			pause := r.pausedFor()
			require.InDelta(t, want, pause, float64(want)/5, "step %d", step+1)
			require.Equal(t, step+1, r.gate.Snapshot().Step)
			<-time.After(pause)
			require.Equal(t, began.Add(pause).Sub(r.began), r.find("call").after,
				"it starts when the pause ends, to the nanosecond")
			if step >= 9 {
				shortest, longest = min(shortest, pause), max(longest, pause)
			}
		}
		require.Less(t, shortest, 4*time.Minute+15*time.Second, "a jitter of a fifth")
		require.Greater(t, longest, 5*time.Minute+45*time.Second)
		r.get("call").Release(success)
		r.come("call", person)
		r.again("call", r.get("call"), limited(noAdvice))
		require.Less(t, r.pausedFor(), 2*time.Second, "a success ends the row")
	})
}

func TestConcurrentRateLimitsAreOneStep(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 100}, func(r *room) {
		for i := range 100 {
			r.come(fmt.Sprint(i), person)
		}
		for i := range 100 {
			r.again(fmt.Sprint(i), r.get(fmt.Sprint(i)), limited(noAdvice))
		}
		snap := r.gate.Snapshot()
		require.Equal(t, 1, snap.Step)
		require.EqualValues(t, 1, snap.Totals.Pauses)
		require.EqualValues(t, 100, snap.Totals.RateLimited)
		require.Less(t, r.pausedFor(), 2*time.Second)
		require.Equal(t, 100, snap.Queued)
		r.order()
		<-time.After(2 * time.Second)
		require.Len(t, r.order(), 100)
		require.Equal(t, []ratelimit.EventKind{ratelimit.EventPaused, ratelimit.EventResumed}, r.kinds(),
			"and one end of it")
		r.again("0", r.get("0"), limited(noAdvice))
		require.Equal(t, 2, r.gate.Snapshot().Step, "what started after the pause tells something new")
	})
}

func TestASuccessOfAnEarlierCallDoesNotEndThePause(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 3}, func(r *room) {
		r.come("late", person)
		r.come("later", person)
		r.come("call", person)
		r.again("call", r.get("call"), limited(noAdvice))
		pause := r.pausedFor()
		r.get("late").Release(success)
		require.Equal(t, pause, r.pausedFor())
		require.Equal(t, 1, r.gate.Snapshot().Step)
		<-time.After(pause)
		r.get("later").Release(success)
		require.Equal(t, 1, r.gate.Snapshot().Step, "nor does it end the row after the pause")
		r.get("call").Release(ratelimit.Outcome{Err: errors.New("failed")})
		require.Equal(t, 1, r.gate.Snapshot().Step, "nor does a failure")
		r.come("never sent", person)
		r.get("never sent").Release(ratelimit.Outcome{Unsent: true})
		require.Equal(t, 1, r.gate.Snapshot().Step, "nor a call that was never made")
		r.come("next", person)
		r.get("next").Release(success)
		require.Zero(t, r.gate.Snapshot().Step)
	})
}

func TestTheProvidersAdviceIsUsedAndNeverShortensAPause(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 9}, func(r *room) {
		for i := range 7 {
			r.come(fmt.Sprint(i), person)
		}
		r.get("0").Release(limited(30 * time.Second))
		require.Equal(t, 30*time.Second, r.pausedFor(), "without a jitter")
		r.get("1").Release(limited(10 * time.Second))
		require.Equal(t, 30*time.Second, r.pausedFor())
		r.get("2").Release(limited(0))
		r.get("3").Release(limited(noAdvice))
		require.Equal(t, 30*time.Second, r.pausedFor())
		<-time.After(time.Second)
		r.get("4").Release(limited(45 * time.Second))
		require.Equal(t, 45*time.Second, r.pausedFor())
		require.Equal(t, 1, r.gate.Snapshot().Step)
		r.come("waiting", person)
		<-time.After(time.Minute)
		require.Equal(t, 46*time.Second, r.find("waiting").after)
		require.Equal(t, []ratelimit.EventKind{ratelimit.EventPaused, ratelimit.EventProlonged, ratelimit.EventResumed},
			r.kinds())
		r.get("5").Release(limited(noAdvice))
		require.Zero(t, r.pausedFor(), "from before the pause, and no advice")
		r.get("6").Release(limited(time.Second))
		require.Equal(t, time.Second, r.pausedFor(), "from before the pause, and told to wait")
		require.Equal(t, 1, r.gate.Snapshot().Step)
	})
}

func TestAnAdviceOfZeroIsNoPause(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{}, func(r *room) {
		r.come("call", person)
		r.again("call", r.get("call"), limited(0))
		require.Zero(t, r.pausedFor())
		r.get("call")
		require.Equal(t, 1, r.gate.Snapshot().Step)
		require.Empty(t, r.kinds())
	})
}

func TestAPauseThatIsTooLongRejectsRequests(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 2}, func(r *room) {
		r.come("first", person)
		r.come("second", person)
		r.come("ann", person)
		r.come("work", background("a", 0))
		r.again("first", r.get("first"), limited(5*time.Minute+time.Second))
		for _, name := range []string{"first", "ann", "work"} {
			var long *ratelimit.PauseTooLongError
			err := r.find(name).err
			require.ErrorAs(t, err, &long, name)
			require.Equal(t, fault.RateLimited, fault.Of(err))
			wait, ok := fault.RetryAfter(err)
			require.True(t, ok)
			require.Equal(t, 5*time.Minute+time.Second, wait)
			require.Equal(t, 5*time.Minute, long.Max)
		}
		r.come("late", person)
		require.Error(t, r.find("late").err)
		r.get("second").Release(success)
		<-time.After(time.Second)
		r.come("patient", person)
		require.Equal(t, 1, r.gate.Snapshot().Queued, "now it is short enough")
		<-time.After(5 * time.Minute)
		r.get("patient")
	})
}

func TestPausesOfTheBackoffAreNeverTooLong(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1, MaxRetryAfter: time.Second}, func(r *room) {
		r.come("call", person)
		for range 12 {
			r.again("call", r.get("call"), limited(noAdvice))
			<-time.After(r.pausedFor())
		}
		r.get("call")
	})
}

func TestAfterARateLimitInteractiveRequestsGoFirst(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("call", background("a", 0))
		r.come("high", background("b", ratelimit.Planning))
		r.again("call", r.get("call"), limited(time.Minute))
		r.come("ann", person)
		r.come("bob", person)
		r.come("work", background("a", 0))
		r.order()
		require.Zero(t, r.gate.Snapshot().Running)
		require.Zero(t, r.gate.Snapshot().Totals.Preempted)
		<-time.After(time.Minute)
		require.Equal(t, []string{"ann"}, r.order())
		require.Equal(t, []string{"bob", "high", "call", "work"}, r.oneByOne("ann"))
	})
}

func TestTheHostCanPauseEverything(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 2}, func(r *room) {
		r.come("running", person)
		r.gate.Pause(time.Minute)
		r.gate.Pause(time.Second)
		r.gate.Pause(-time.Second)
		r.come("ann", person)
		r.get("running").Release(success)
		<-time.After(time.Hour)
		require.Equal(t, time.Minute, r.find("ann").after)
		require.Zero(t, r.gate.Snapshot().Step)
		require.Equal(t, []ratelimit.EventKind{ratelimit.EventPaused, ratelimit.EventResumed}, r.kinds())
		r.gate.Pause(1<<63 - 1)
		require.Positive(t, r.pausedFor())
	})
}

// TestTheHostCanEndAPause: a host can also end a pause that a provider asked for by mistake, and
// that no request waits for.
func TestTheHostCanEndAPause(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.gate.Resume() // there is no pause
		r.come("first", person)
		r.get("first").Release(limited(300 * 24 * time.Hour))
		r.come("refused", person)
		require.Error(t, r.find("refused").err)
		r.gate.Resume()
		require.Zero(t, r.pausedFor())
		r.come("ann", person)
		r.get("ann").Release(limited(time.Minute))
		r.come("bob", person)
		r.gate.Resume()
		require.Zero(t, r.find("bob").after)
		r.get("bob").Release(limited(time.Minute)) // the next rate limit starts a pause with its own timer
		r.come("cid", person)
		<-time.After(time.Hour)
		require.Equal(t, time.Minute, r.find("cid").after)
		r.get("cid").Release(success)
		require.Equal(t, []ratelimit.EventKind{ratelimit.EventPaused, ratelimit.EventResumed, ratelimit.EventPaused,
			ratelimit.EventResumed,
			ratelimit.EventPaused, ratelimit.EventResumed}, r.kinds())
	})
}

// A nosy is an error whose methods call the gate.
type nosy struct{ gate *ratelimit.Gate }

func (nosy) Error() string { return "nosy" }
func (n nosy) Fault() fault.Class {
	n.gate.Snapshot()
	return fault.RateLimited
}
func (n nosy) RetryAfter() (time.Duration, bool) {
	n.gate.Snapshot()
	return time.Second, true
}

func TestMethodsOfErrorsAreCalledWithoutALock(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("call", person)
		r.again("call", r.get("call"), ratelimit.Outcome{Err: nosy{r.gate}})
		require.Equal(t, time.Second, r.pausedFor())
		<-time.After(time.Second)
		r.get("call").Release(ratelimit.Outcome{Err: nosy{r.gate}})
	})
}

func TestAfterARateLimitBackgroundWorkWaitsForTheFirstSuccess(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 4}, func(r *room) {
		r.come("first", person)
		r.come("job", ratelimit.AcquireRequest{Session: "b"})
		r.get("job").Release(success)
		r.again("first", r.get("first"), limited(time.Minute))
		r.come("job 2", ratelimit.AcquireRequest{Session: "b"})
		<-time.After(time.Minute + 4*time.Second)
		first := r.get("first") // the first call after the pause is the interactive one
		r.come("second", person)
		require.NotContains(t, r.order(), "job 2")
		first.Release(success)
		r.get("job 2").Release(success)
	})
}

func TestAnInteractiveCallFromBeforeARateLimitDoesNotDelayBackgroundWork(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 4}, func(r *room) {
		r.come("long", person)
		r.come("job", background("b", 0))
		r.again("job", r.get("job"), limited(time.Minute))
		<-time.After(time.Minute)
		r.get("job").Release(success)

		r.come("first", person)
		r.again("first", r.get("first"), limited(time.Minute))
		r.come("job 2", background("b", 0))
		<-time.After(time.Minute)
		first := r.get("first")
		r.order()
		first.Release(ratelimit.Outcome{Err: fault.New(fault.Degraded, "broken")})
		require.Equal(t, []string{"job 2"}, r.order(),
			"whatever becomes of the long call says nothing of the rate limit")
		require.Positive(t, r.gate.Snapshot().Step)
		r.get("job 2").Release(success)
		require.Zero(t, r.gate.Snapshot().Step)
		r.get("long").Release(success)
	})
}

// tried adds interactive calls that started a minute after a rate limit, and a background request
// that waits for them.
func (r *room) tried(people int) {
	for i := range people {
		r.come(fmt.Sprint("ann ", i), person)
	}
	for i := range people {
		r.again(fmt.Sprint("ann ", i), r.get(fmt.Sprint("ann ", i)), limited(time.Minute-time.Since(r.began)))
	}
	r.come("job", background("b", 0))
	<-time.After(time.Minute)
	r.get(fmt.Sprint("ann ", people-1))
	require.NotContains(r.t, r.order(), "job")
}

func TestAfterARateLimitBackgroundWorkStartsWhenAnAnswerBegins(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 4}, func(r *room) {
		r.tried(2)
		<-time.After(4 * time.Second)
		r.get("ann 1").Began()
		require.Equal(t, []string{"job"}, r.order(), "what one is granted, all are")
		require.Equal(t, 1, r.gate.Snapshot().Step, "the row ends with a success")
		r.get("ann 0").Began()
		r.come("job 2", background("b", 0))
		require.Equal(t, []string{"job 2"}, r.order(), "at once")

		r.again("ann 0", r.get("ann 0"), limited(time.Minute))
		require.Equal(t, 2, r.gate.Snapshot().Step, "which goes on")
		r.get("job").Release(success)
		r.come("job 3", background("b", 0))
		<-time.After(time.Minute)
		require.Equal(t, []string{"ann 0"}, r.order(), "and all begins anew")
		r.get("ann 1").Began()
		require.Empty(t, r.order(), "an answer from before the rate limit shows nothing")
		r.get("ann 0").Began()
		require.Equal(t, []string{"job 3"}, r.order())
	})
}

func TestAHangingInteractiveCallDelaysBackgroundWorkForFiveSeconds(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 8}, func(r *room) {
		r.tried(1)
		<-time.After(4 * time.Second)
		r.come("bob", person)
		more, waits := r.told(background("c", ratelimit.Planning))
		r.come("more", more)
		require.Equal(t, []ratelimit.Delay{{Reason: ratelimit.DelayQueue, Until: r.at(65 * time.Second), Ahead: 0}},
			waits())
		<-time.After(time.Minute)
		require.Equal(t, 65*time.Second, r.find("more").after, "to the nanosecond")
		require.Equal(t, 65*time.Second, r.find("job").after, "whoever of them came later holds up nobody for longer")
		require.Len(t, waits(), 1)
		require.Equal(t, 1, r.gate.Snapshot().Step)
		r.come("late job", background("b", 0))
		require.Equal(t, time.Since(r.began), r.find("late job").after)
		r.come("late", person)
		r.come("later job", background("b", 0))
		require.Equal(t, time.Since(r.began), r.find("later job").after)
	})
}

func TestDelayedBackgroundWorkStartsWhenTheInteractiveCallsHaveEnded(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 4}, func(r *room) {
		r.tried(1)
		<-time.After(time.Second)
		r.get("ann 0").Release(ratelimit.Outcome{Err: fault.New(fault.Transient, "broken")})
		require.Equal(t, []string{"job"}, r.order())
		r.come("bob", person)
		r.come("job 2", background("b", 0))
		require.Empty(t, r.order()[1:], "a failure shows nothing")
		r.get("job").Began()
		require.Equal(t, []string{"job 2"}, r.order(), "the answer to a job does")
	})
}

func TestAnAnswerFromBeforeAPauseOfTheHostDoesNotEndTheTrial(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 4}, func(r *room) {
		r.tried(1)
		r.gate.Pause(3 * time.Second)
		r.get("ann 0").Began() // it started before the pause
		<-time.After(3 * time.Second)
		require.Empty(t, r.order())
		r.get("ann 0").Began()
		require.Equal(t, []string{"job"}, r.order())
	})
}

func TestAnAnswerThatBeginsWithoutARateLimitChangesNothing(t *testing.T) {
	ratelimit.Lease{}.Began()
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		r.come("ann", person)
		r.come("job", background("b", 0))
		r.get("ann").Began()
		require.Equal(t, []string{"ann"}, r.order())
		lease := r.get("ann")
		lease.Release(success)
		lease.Began()
		require.Equal(t, []string{"job"}, r.order())
	})
}
