package guard_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// TestASlotThatIsWantedBeforeItIsUsed: the consumer holds the Waiting chunk while the slot comes
// and goes.
func TestASlotThatIsWantedBeforeItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, script{fail(failure(fault.Transient))}, good)
		first, second := r.person(0, 2*s), r.person(5*s, 10*s)
		synctest.Wait()
		waits := 0
		var told []guard.Event
		for c, err := range r.Stream(t.Context(), ask) {
			require.NoError(t, err)
			if c.Kind == provider.KindWaiting {
				if waits++; waits == 1 {
					<-time.After(8 * s)
					require.Zero(t, r.fake.calls.Load())
				}
			}
		}
		first()
		second()
		require.EqualValues(t, 2, r.fake.calls.Load())
		told = r.told.all
		require.Equal(t, 1, told[0].(guard.Failure).Attempt, "what never began is no attempt")
		require.Equal(t, []string{budget.CallFailed, budget.CallDone}, r.outcomes())
		r.settled()
	})
}

func TestTheSlotIsBackBeforeTheErrorIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, class := range []fault.Class{fault.RateLimited, fault.Degraded, fault.Permanent} {
			r := newRig(t, option{guard: guard.Config{Retry: single()}}, script{fail(failure(class))})
			for _, err := range r.Stream(t.Context(), ask) {
				require.Error(t, err)
				require.Zero(t, r.gate.Snapshot().Running)
			}
		}
	})
}

func TestARateLimitedCallWaitsInTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := fail(&provider.Error{Class: fault.RateLimited, Status: 429, Wait: ptr(7 * s)})
		r := newRig(t, option{}, script{say(start, provider.Text("x")), limited}, script{limited}, good)
		began := time.Now()
		var during ratelimit.Snapshot
		var got seen
		for c, err := range r.Stream(t.Context(), ask) {
			require.NoError(t, err)
			got.kinds = append(got.kinds, c.Kind)
			if c.Kind == provider.KindWaiting {
				got.waits = append(got.waits, *c.Extra.Wait)
				during = r.gate.Snapshot()
			}
		}
		require.Equal(t, 14*s, time.Since(began), "no delay on top")
		require.Zero(t, during.Running, "no slot is held")
		require.Equal(t, 1, during.Queued)
		require.Equal(t, []provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindReset,
			provider.KindWaiting, provider.KindWaiting,
			provider.KindStart, provider.KindText, provider.KindEnd}, got.kinds)
		for i, w := range got.waits {
			require.Equal(t, provider.WaitRateLimited, w.Reason)
			require.True(t, w.Until.Equal(began.Add(time.Duration(i+1)*7*s)))
		}
		require.Len(t, r.told.all, 2)
		require.Equal(t, 1, r.told.all[0].(guard.Failure).Attempt)
		require.Equal(t, 2, r.told.all[1].(guard.Failure).Attempt)
		require.EqualValues(t, 2, r.gate.Snapshot().Totals.RateLimited)
		r.settled()
	})
}

func TestAfterARateLimitBackgroundWorkGoesOnBesideAPersonsCall(t *testing.T) {
	limited := fail(&provider.Error{Class: fault.RateLimited, Status: 429, Wait: ptr(7 * s)})
	waiting := say(provider.Waiting(provider.Wait{Reason: provider.WaitQueued}))
	for name, tc := range map[string]struct {
		second script
		starts time.Duration // of the background call, which takes no time
	}{
		"when its answer begins": {script{wait(2 * s), say(start), wait(time.Minute), say(end)}, 9 * s},
		"not when it says that it waits": {script{wait(s), waiting, wait(2 * s), say(start), wait(time.Minute),
			say(end)}, 10 * s},
		"when it has succeeded":           {script{wait(2 * s), say(start, end)}, 9 * s},
		"when it has failed":              {script{wait(2 * s), fail(failure(fault.Permanent))}, 9 * s},
		"after 5 s in which it is silent": {script{wait(20 * s), say(start, end)}, 12 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, option{}, script{limited}, tc.second, good)
				began := time.Now()
				person := make(chan seen)
				go func() {
					person <- watch(r.Stream(t.Context(), &provider.Request{Messages: ask.Messages, Interactive: true}))
				}()
				synctest.Wait()
				require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
				require.Equal(t, tc.starts, time.Since(began))
				<-person
				require.EqualValues(t, 3, r.fake.calls.Load())
				r.settled()
			})
		})
	}
}

func TestALongPauseFailsWhoeverWouldWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{},
			script{fail(&provider.Error{Class: fault.RateLimited, Status: 429, Wait: ptr(time.Hour)})})
		backup := another()
		p, err := guard.Failover(r, backup)
		require.NoError(t, err)
		began := time.Now()
		for range 2 {
			require.Equal(t, "from the backup", watch(p.Stream(t.Context(), ask)).text)
		}
		require.Zero(t, time.Since(began))
		require.EqualValues(t, 1, r.fake.calls.Load(), "the second isn't sent")
		got := watch(r.Stream(t.Context(), ask))
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp)
		require.Equal(t, 0, gaveUp.Attempts)
		var paused *ratelimit.PauseTooLongError
		require.ErrorAs(t, got.err, &paused)
		r.settled()
	})
}

func TestAnOpenBreakerFailsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{guard: guard.Config{Retry: single()}}, script{fail(failure(fault.Degraded))},
			script{fail(failure(fault.Degraded))},
			script{fail(failure(fault.Degraded))}, script{fail(failure(fault.Degraded))},
			script{fail(failure(fault.Degraded))}, good)
		for range 5 {
			require.Error(t, watch(r.Stream(t.Context(), ask)).err)
		}
		started := r.gate.Snapshot().Totals.Started
		began := time.Now()
		got := watch(newGuard(t, r, guard.Config{Name: "outer"}).Stream(t.Context(), ask))
		var open *circuit.OpenError
		require.ErrorAs(t, got.err, &open)
		require.Equal(t, 30*s, open.RetryAfter)
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp, "so that no guard around it tries again")
		require.EqualError(t, got.err,
			`guard rig: gave up after 0 attempts (its breaker is open): circuit: "llm" is open, next try in 30s`)
		require.Zero(t, time.Since(began))
		require.Equal(t, started, r.gate.Snapshot().Totals.Started, "the gate isn't asked")
		require.EqualValues(t, 5, r.fake.calls.Load())
		require.Len(t, r.outcomes(), 5)

		p, err := guard.Failover(r, another())
		require.NoError(t, err)
		require.Equal(t, "from the backup", watch(p.Stream(t.Context(), ask)).text)
		<-time.After(30 * s)
		require.Equal(t, "fine", watch(p.Stream(t.Context(), ask)).text)
		r.settled()
	})
}

func TestABreakerThatOpensMeanwhileEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// In the queue: the slot and the reservation go back.
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}, circuit: circuit.Config{Consecutive: 1}}, good)
		person := r.person(0, 10*s)
		time.AfterFunc(5*s, func() {
			permit, err := r.breaker.Allow()
			require.NoError(t, err)
			permit.Done(failure(fault.Degraded))
		})
		synctest.Wait()
		got := watch(r.Stream(t.Context(), ask))
		person()
		var open *circuit.OpenError
		require.ErrorAs(t, got.err, &open)
		require.Zero(t, r.fake.calls.Load())
		require.Empty(t, r.outcomes())
		r.settled()

		// By its own failure: there is no point in waiting for another attempt.
		r = newRig(t, option{circuit: circuit.Config{Consecutive: 1}},
			script{say(start, provider.Text("half")), fail(failure(fault.Transient))})
		began := time.Now()
		got = watch(r.Stream(t.Context(), ask))
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp)
		require.Equal(t, "its breaker is open", gaveUp.Reason)
		require.ErrorAs(t, got.err, &open, "which says when to come again")
		require.Equal(t, 30*s, open.RetryAfter)
		require.Equal(t, fault.Transient, fault.Of(got.err))
		require.Len(t, gaveUp.Errors, 1)
		require.Equal(t, "half", got.text, "what was shown stands")
		require.Zero(t, time.Since(began))
		r.settled()
	})
}

// TestWhatAnAttemptUsedCountsThoughThereIsNoOther: the breaker opens while the call is about to be
// made again.
func TestWhatAnAttemptUsedCountsThoughThereIsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t,
			option{gate: ratelimit.GateConfig{Slots: 1, RequestsPerMinute: 100, TokensPerMinute: 6_000, Burst: 1},
				circuit: circuit.Config{Consecutive: 1}},
			script{say(start, provider.Text("twelve bytes")), wait(time.Minute)})
		permit, err := r.breaker.Allow()
		require.NoError(t, err)
		time.AfterFunc(ms, func() { permit.Done(failure(fault.Degraded)) })
		person := r.person(2*ms, time.Hour)
		var open *circuit.OpenError
		require.ErrorAs(t, watch(r.Stream(t.Context(), ask)).err, &open)
		snap := r.gate.Snapshot()
		require.EqualValues(t, 98, snap.RequestsLeft, "its own and the person's")
		require.EqualValues(t, 6_000-tokensIn-4, snap.TokensLeft)
		person()
		require.Equal(t, []string{budget.CallPreempted}, r.outcomes())
		r.settled()
	})
}

func TestAClosedGateEndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, paced(s))
		time.AfterFunc(5*s, r.gate.Close)
		waiting := make(chan error)
		go func() { <-time.After(s); waiting <- watch(r.Stream(t.Context(), ask)).err }()
		require.ErrorIs(t, watch(r.Stream(t.Context(), ask)).err, ratelimit.ErrClosed)
		require.ErrorIs(t, <-waiting, ratelimit.ErrClosed)
		require.Equal(t, []string{budget.CallFailed}, r.outcomes())
		require.Zero(t, r.breaker.Snapshot().Failures)
		r.settled()
	})
}

func TestLeavingTheQueueLeavesNothing(t *testing.T) {
	for _, how := range []string{"break", "panic", "goexit"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, good)
			person := r.person(0, time.Minute)
			synctest.Wait()
			require.Equal(t, 1, leaveAt(r.Stream(t.Context(), ask), 0, how))
			require.Zero(t, r.gate.Snapshot().Queued)
			require.Zero(t, r.fake.calls.Load())
			person()
			r.settled()

			// In the queue for the second time, at the Reset and at the Waiting.
			for at := 2; at < 4; at++ {
				r = newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}},
					script{say(start, provider.Text("x")), wait(time.Minute), say(end)})
				person = r.person(s, time.Minute)
				require.Equal(t, at+1, leaveAt(r.Stream(t.Context(), ask), at, how))
				require.Zero(t, r.gate.Snapshot().Queued)
				require.Equal(t, []string{budget.CallPreempted}, r.outcomes())
				person()
				r.settled()
			}
		})
	}
}

func TestAQueuedCallSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}, guard: guard.Config{FirstChunk: s, Idle: s}}, good)
		person := r.person(0, time.Hour)
		resume := r.gate.PauseBackground("memory is short")
		time.AfterFunc(time.Minute, resume)
		synctest.Wait()
		began := time.Now()
		got := watch(r.Stream(t.Context(), ask))
		person()
		require.NoError(t, got.err, "waiting is no silence")
		require.Equal(t, time.Hour, time.Since(began))
		require.Equal(t, []provider.WaitReason{provider.WaitQueued, provider.WaitQueued},
			[]provider.WaitReason{got.waits[0].Reason, got.waits[1].Reason})
		require.Contains(t, got.waits[0].Detail, "memory is short")
		r.settled()
	})
}

func TestAnInteractiveRequestGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, script{wait(10 * s), say(start, end)})
		ended := make(chan string, 3)
		call := func(name string, req *provider.Request) {
			req.Messages = ask.Messages
			go func() {
				require.NoError(t, watch(r.Stream(t.Context(), req)).err)
				ended <- name
			}()
			synctest.Wait()
		}
		call("low", &provider.Request{Priority: ratelimit.Background})
		call("high", &provider.Request{Priority: ratelimit.Planning})
		call("person", &provider.Request{Interactive: true})
		require.Equal(t, []string{"person", "high", "low"}, []string{<-ended, <-ended, <-ended})
		synctest.Wait()
		r.settled()
	})
}

func TestARateIsWaitedForAndSaysSo(t *testing.T) {
	for detail, cfg := range map[string]ratelimit.GateConfig{
		"for the requests a minute": {RequestsPerMinute: 1},
		"for the tokens a minute":   {TokensPerMinute: 4096 + tokensIn},
	} {
		synctest.Test(t, func(t *testing.T) {
			all := provider.End(provider.StopDone, provider.Usage{Input: tokensIn, Output: 4096})
			r := newRig(t, option{gate: cfg}, script{say(start, all)})
			began := time.Now()
			require.Empty(t, watch(r.Stream(t.Context(), ask)).waits)
			got := watch(r.Stream(t.Context(), ask))
			require.NoError(t, got.err)
			require.Equal(t,
				[]provider.Wait{{Reason: provider.WaitRateLimited, Until: got.waits[0].Until, Detail: detail}},
				got.waits)
			require.Equal(t, got.waits[0].Until, time.Now())
			require.InDelta(t, time.Minute, time.Since(began), float64(s))
			r.settled()
		})
	}
}

// TestWhatIsUsedIsWhatTheGateCounts: an estimate that was too high is given back.
func TestWhatIsUsedIsWhatTheGateCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{TokensPerMinute: 5000, Burst: 1}}, good)
		for range 10 {
			require.Empty(t, watch(r.Stream(t.Context(), ask)).waits)
		}
		require.EqualValues(t, 5000-10*5, r.gate.Snapshot().TokensLeft)
	})
}
