package guard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/stream"
)

func TestWhatEachEndOfAnAttemptMeansToThePath(t *testing.T) {
	refused := func(class fault.Class, status int) func(context.Context, func(provider.Chunk, error) bool) bool {
		return fail(&provider.Error{Class: class, Provider: "fake", Status: status})
	}
	half := say(start, provider.Text("twelve bytes"))
	boom := func(context.Context, func(provider.Chunk, error) bool) bool { panic("boom") }
	reported := provider.End(provider.StopDone, provider.Usage{Input: 30, Output: 20, CacheRead: 10, Reasoning: 5})
	begun := provider.Start("fake-1")
	begun.Extra = &provider.Extra{Usage: &provider.Usage{Input: 30, Output: 1}}
	for name, tc := range map[string]struct {
		script  script
		cancel  bool // after a second
		outcome string
		in, out int64
		counted bool // by the provider, not estimated
		failure int  // on the breaker
		success int
		pauses  int64
	}{
		"success":                {script: script{half, say(reported)}, outcome: "done", in: 30, out: 20, counted: true, success: 1},
		"success, no figures":    {script: script{half, say(provider.End(provider.StopDone, provider.Usage{}))}, outcome: "done", in: tokensIn, out: 4, success: 1},
		"429":                    {script: script{refused(fault.RateLimited, 429)}, outcome: "failed", counted: true, pauses: 1},
		"503":                    {script: script{refused(fault.Degraded, 503)}, outcome: "failed", counted: true, failure: 1},
		"408":                    {script: script{refused(fault.Transient, 408)}, outcome: "failed", counted: true, failure: 1},
		"400":                    {script: script{refused(fault.Permanent, 400)}, outcome: "failed", counted: true},
		"401":                    {script: script{refused(fault.UserFixable, 401)}, outcome: "failed", counted: true},
		"no connection":          {script: script{fail(failure(fault.Degraded))}, outcome: "failed", counted: true, failure: 1},
		"reset at the start":     {script: script{fail(failure(fault.Transient))}, outcome: "failed", in: tokensIn, failure: 1},
		"cut":                    {script: script{half}, outcome: "failed", in: tokensIn, out: 4, failure: 1},
		"reset in the middle":    {script: script{half, fail(failure(fault.Transient))}, outcome: "failed", in: tokensIn, out: 4, failure: 1},
		"503 in the middle":      {script: script{half, refused(fault.Degraded, 503)}, outcome: "failed", in: tokensIn, out: 4, failure: 1},
		"figures at the start":   {script: script{say(begun, provider.Text("twelve bytes")), fail(failure(fault.Transient))}, outcome: "failed", in: 30, out: 4, failure: 1},
		"never begins":           {script: script{wait(time.Hour)}, outcome: "failed", in: tokensIn, failure: 1},
		"silent in the middle":   {script: script{half, wait(time.Hour)}, outcome: "failed", in: tokensIn, out: 4, failure: 1},
		"against the grammar":    {script: script{half, say(provider.ToolEnd(7))}, outcome: "failed", in: tokensIn, out: 4},
		"panic":                  {script: script{half, boom}, outcome: "failed", in: tokensIn, out: 4},
		"panic at once":          {script: script{boom}, outcome: "failed", in: tokensIn},
		"cancelled at the start": {script: script{wait(time.Minute)}, cancel: true, outcome: "aborted", in: tokensIn},
		"cancelled":              {script: script{half, wait(time.Minute)}, cancel: true, outcome: "aborted", in: tokensIn, out: 4},
		"cancelled, seen late": {script: script{half, deaf(2 * s), fail(failure(fault.Transient))}, cancel: true,
			outcome: "aborted", in: tokensIn, out: 4},
		"calls": {script: script{say(start, provider.ToolStart(0, "", "abc"), provider.ToolDelta(0, "123456")), fail(failure(fault.Transient))},
			outcome: "failed", in: tokensIn, out: 3, failure: 1},
		"a picture": {script: script{say(start, provider.File(provider.Media{Type: "image/png", Data: []byte("abc")})), fail(failure(fault.Transient))},
			outcome: "failed", in: tokensIn, out: 2000, failure: 1},
		"an answer taken back": {script: script{half, say(provider.Reset("again"), start, provider.Text("abc"), reported)}, outcome: "done",
			in: 30 + tokensIn, out: 20 + 4, success: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, option{guard: guard.Config{Retry: single()}}, tc.script)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.cancel {
					time.AfterFunc(s, cancel)
				}
				got := watch(r.Stream(ctx, ask))
				require.Equal(t, tc.outcome == "done", got.err == nil)
				entries := r.ledger.Entries(ratelimit.Filter{})
				require.Len(t, entries, 1)
				e := entries[0]
				require.Equal(t, []any{tc.outcome, tc.in, tc.out, !tc.counted}, []any{e.Outcome, e.Input, e.Output, e.Estimated})
				require.Equal(t, "rig", e.Provider)
				seen := r.breaker.Snapshot()
				require.Equal(t, []int{tc.failure, tc.failure + tc.success}, []int{seen.Failures, seen.Results})
				require.Equal(t, tc.pauses, r.gate.Snapshot().Totals.Pauses)
				r.settled()
			})
		})
	}
}

// pieces are an answer, and paced gives them one by one.
var pieces = []provider.Chunk{start, provider.Text("a"), provider.Reasoning("b"), provider.ToolStart(0, "i", "f"),
	provider.ToolDelta(0, "{}"), provider.ToolEnd(0), provider.Text("c"), end}

func paced(d time.Duration) (sc script) {
	for _, c := range pieces {
		sc = append(sc, wait(d), say(c))
	}
	return sc
}

func TestLeavingAtAnyChunkGivesEverythingBack(t *testing.T) {
	for _, how := range []string{"break", "panic", "goexit"} {
		synctest.Test(t, func(t *testing.T) {
			for at := range pieces {
				r := newRig(t, option{}, paced(s))
				require.Equal(t, at+1, leaveAt(r.Stream(t.Context(), ask), at, how))
				want := ratelimit.CallAborted
				if at == len(pieces)-1 {
					want = ratelimit.CallDone
				}
				require.Equal(t, []string{want}, r.outcomes(), "%s at %d", how, at)
				require.Zero(t, r.breaker.Snapshot().Failures)
				r.settled()
			}
		})
	}
}

// TestACallerIsAsGoodAsNewAfterAnyCall: what an agent uses for call after call.
func TestACallerIsAsGoodAsNewAfterAnyCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, paced(s))
		caller := r.Caller()
		through := func(req *provider.Request) stream.Seq {
			return func(yield func(provider.Chunk, error) bool) { caller.Call(t.Context(), req, yield) }
		}
		calls := 0
		for at := range pieces {
			for _, how := range []string{"break", "panic", "goexit"} {
				require.Equal(t, at+1, leaveAt(through(ask), at, how))
				r.settled()
				calls++
			}
			person := r.person(s/2, s)
			got := watch(stream.Check(through(ask)))
			person()
			require.NoError(t, got.err)
			require.Equal(t, "ac", got.text)
			require.Len(t, got.waits, 1)
			r.settled()
			calls += 2 // one of them was preempted
			require.ErrorIs(t, watch(through(nil)).err, provider.ErrNilRequest)
		}
		require.Len(t, r.outcomes(), calls)
		require.Zero(t, r.breaker.Snapshot().Failures)
	})
}

func TestCancellingAtAnyChunkGivesEverythingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for at := range pieces {
			for _, in := range []time.Duration{-s / 2, s / 2} { // before the chunk comes, and after it
				r := newRig(t, option{}, paced(s))
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Duration(at+1)*s+in, cancel)
				got := watch(r.Stream(ctx, ask))
				if at == len(pieces)-1 && in > 0 {
					require.NoError(t, got.err)
					require.Equal(t, []string{ratelimit.CallDone}, r.outcomes())
				} else {
					require.ErrorIs(t, got.err, context.Canceled)
					require.Equal(t, []string{ratelimit.CallAborted}, r.outcomes())
				}
				require.Zero(t, r.breaker.Snapshot().Failures)
				r.settled()
			}
		}
	})
}

func TestAPreemptedAnswerIsMadeAgainAtNoCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for at := range pieces {
			retried := false
			r := newRig(t, option{
				gate:  ratelimit.GateConfig{Slots: 1},
				guard: guard.Config{Retry: single(), OnRetry: func(context.Context, guard.Failure) { retried = true }},
			}, paced(s))
			person := r.person(time.Duration(at)*s+s/2, 10*s)
			began := time.Now()
			res := &provider.Collector{}
			var kinds []provider.ChunkKind
			var waits []provider.Wait
			for c, err := range stream.Check(r.Stream(t.Context(), ask)) {
				require.NoError(t, err)
				require.NoError(t, res.Add(c))
				kinds = append(kinds, c.Kind)
				if c.Kind == provider.KindWaiting {
					waits = append(waits, *c.Extra.Wait)
				}
			}
			require.Equal(t, began.Add(time.Duration(at)*s+s/2), person(), "the person went at once")
			require.True(t, res.Complete())
			require.Equal(t, "ac", res.Response().Text())
			require.Equal(t, provider.WaitPreempted, waits[0].Reason)
			if at > 0 {
				require.Equal(t, provider.KindReset, kinds[at])
			} else {
				require.NotContains(t, kinds, provider.KindReset)
			}
			require.Equal(t, time.Duration(at)*s+s/2+10*s+8*s, time.Since(began))
			require.Equal(t, []string{ratelimit.CallPreempted, ratelimit.CallDone}, r.outcomes())
			require.False(t, retried)
			require.Zero(t, r.breaker.Snapshot().Failures)
			require.Empty(t, r.told.all)
			r.settled()
		}
	})
}

func TestAnAnswerThatMayNotBeMadeAgainIsNoVictim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for at := range pieces {
			r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, paced(s))
			person := r.person(time.Duration(at)*s+s/2, s)
			began := time.Now()
			got := watch(r.Stream(t.Context(), &provider.Request{Messages: ask.Messages, NoRestart: true}))
			require.NoError(t, got.err)
			require.Equal(t, "ac", got.text)
			require.NotContains(t, got.kinds, provider.KindReset)
			if at == 0 { // nothing had come
				require.Equal(t, began.Add(s/2), person())
				require.Equal(t, []string{ratelimit.CallPreempted, ratelimit.CallDone}, r.outcomes())
			} else {
				require.Equal(t, began.Add(8*s), person())
				require.Equal(t, []string{ratelimit.CallDone}, r.outcomes())
			}
			r.settled()
		}
	})
}

func TestAnAnswerWithEffectsIsNoVictim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := provider.ProviderCall(provider.ToolCall{Name: "search"})
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, script{say(start, ran), wait(3 * s), say(end)})
		began := time.Now()
		person := r.person(s, s)
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
		require.Equal(t, began.Add(3*s), person())
		require.EqualValues(t, 1, r.fake.calls.Load())
		r.settled()
	})
}

// TestAVictimThatFailsIsStillAVictim: what a provider makes of the end of its context is no failure of its own.
func TestAVictimThatFailsIsStillAVictim(t *testing.T) {
	spoiled := func(ctx context.Context, yield func(provider.Chunk, error) bool) bool {
		<-ctx.Done()
		yield(provider.Chunk{}, failure(fault.Transient))
		return false
	}
	cut := func(ctx context.Context, _ func(provider.Chunk, error) bool) bool { <-ctx.Done(); return false }
	for _, last := range []func(context.Context, func(provider.Chunk, error) bool) bool{spoiled, cut} {
		synctest.Test(t, func(t *testing.T) {
			twice := map[fault.Class]guard.Retry{fault.Transient: {Attempts: 2}}
			r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}, guard: guard.Config{Retry: twice}},
				script{say(start, provider.Text("x")), last}, script{fail(failure(fault.Transient))}, good)
			person := r.person(s, s)
			got := watch(r.Stream(t.Context(), ask))
			person()
			require.NoError(t, got.err)
			require.Equal(t, "fine", got.text)
			require.Equal(t, 1, r.breaker.Snapshot().Failures, "its own")
			r.settled()
		})
	}
}

// deaf is a provider at work for d that doesn't heed its context.
func deaf(d time.Duration) func(context.Context, func(provider.Chunk, error) bool) bool {
	return func(context.Context, func(provider.Chunk, error) bool) bool { <-time.After(d); return true }
}

func TestWhatFailedByItselfIsNoVictim(t *testing.T) {
	for name, tc := range map[string]struct {
		last     script
		failures int
		pauses   int64
	}{
		"silent before it was preempted":    {script{deaf(3 * s), fail(context.Canceled)}, 1, 0},
		"rate limited when it is preempted": {script{deaf(1500 * ms), fail(failure(fault.RateLimited))}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}, guard: guard.Config{FirstChunk: 2 * s, Retry: exact(fault.Transient)}}, tc.last, good)
				person := r.person(s+time.Duration(tc.failures)*3*s/2, s)
				require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
				person()
				require.Equal(t, tc.failures, r.breaker.Snapshot().Failures)
				require.Equal(t, tc.pauses, r.gate.Snapshot().Totals.Pauses)
				require.Equal(t, []string{ratelimit.CallFailed, ratelimit.CallDone}, r.outcomes())
				require.Len(t, of[guard.Failure](&r.told), 1)
				r.settled()
			})
		})
	}
}

// TestASlotThatIsWantedBeforeItIsUsed: the consumer holds the Waiting chunk while the slot comes and goes.
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
		require.Equal(t, []string{ratelimit.CallFailed, ratelimit.CallDone}, r.outcomes())
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
		require.Equal(t, []provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindReset, provider.KindWaiting, provider.KindWaiting,
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

func TestALongPauseFailsWhoeverWouldWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{}, script{fail(&provider.Error{Class: fault.RateLimited, Status: 429, Wait: ptr(time.Hour)})})
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
		r := newRig(t, option{guard: guard.Config{Retry: single()}}, script{fail(failure(fault.Degraded))}, script{fail(failure(fault.Degraded))},
			script{fail(failure(fault.Degraded))}, script{fail(failure(fault.Degraded))}, script{fail(failure(fault.Degraded))}, good)
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
		require.EqualError(t, got.err, `guard rig: gave up after 0 attempts (its breaker is open): circuit: "llm" is open, next try in 30s`)
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
		r = newRig(t, option{circuit: circuit.Config{Consecutive: 1}}, script{say(start, provider.Text("half")), fail(failure(fault.Transient))})
		began := time.Now()
		got = watch(r.Stream(t.Context(), ask))
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp)
		require.Equal(t, "its breaker is open", gaveUp.Reason)
		require.Equal(t, "half", got.text, "what was shown stands")
		require.Zero(t, time.Since(began))
		r.settled()
	})
}

// TestWhatAnAttemptUsedCountsThoughThereIsNoOther: the breaker opens while the call is about to be made again.
func TestWhatAnAttemptUsedCountsThoughThereIsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1, RequestsPerMinute: 100, TokensPerMinute: 6_000},
			circuit: circuit.Config{Consecutive: 1}}, script{say(start, provider.Text("twelve bytes")), wait(time.Minute)})
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
		require.Equal(t, []string{ratelimit.CallPreempted}, r.outcomes())
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
		require.Equal(t, []string{ratelimit.CallFailed}, r.outcomes())
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
				r = newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, script{say(start, provider.Text("x")), wait(time.Minute), say(end)})
				person = r.person(s, time.Minute)
				require.Equal(t, at+1, leaveAt(r.Stream(t.Context(), ask), at, how))
				require.Zero(t, r.gate.Snapshot().Queued)
				require.Equal(t, []string{ratelimit.CallPreempted}, r.outcomes())
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
		require.Equal(t, []provider.WaitReason{provider.WaitQueued, provider.WaitQueued}, []provider.WaitReason{got.waits[0].Reason, got.waits[1].Reason})
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
			require.Equal(t, []provider.Wait{{Reason: provider.WaitRateLimited, Until: got.waits[0].Until, Detail: detail}}, got.waits)
			require.Equal(t, got.waits[0].Until, time.Now())
			require.InDelta(t, time.Minute, time.Since(began), float64(s))
			r.settled()
		})
	}
}

// TestWhatIsUsedIsWhatTheGateCounts: an estimate that was too high is given back.
func TestWhatIsUsedIsWhatTheGateCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{TokensPerMinute: 5000}}, good)
		for range 10 {
			require.Empty(t, watch(r.Stream(t.Context(), ask)).waits)
		}
		require.EqualValues(t, 5000-10*5, r.gate.Snapshot().TokensLeft)
	})
}
