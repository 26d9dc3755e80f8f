package guard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
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
		"success": {script: script{half, say(reported)}, outcome: "done", in: 30, out: 20, counted: true,
			success: 1},
		"success, no figures": {script: script{half, say(provider.End(provider.StopDone, provider.Usage{}))},
			outcome: "done", in: tokensIn, out: 4, success: 1},
		"429": {script: script{refused(fault.RateLimited, 429)}, outcome: "failed", counted: true,
			pauses: 1},
		"503": {script: script{refused(fault.Degraded, 503)}, outcome: "failed", counted: true,
			failure: 1},
		"408": {script: script{refused(fault.Transient, 408)}, outcome: "failed", counted: true,
			failure: 1},
		"400": {script: script{refused(fault.Permanent, 400)}, outcome: "failed", counted: true},
		"401": {script: script{refused(fault.UserFixable, 401)}, outcome: "failed", counted: true},
		"no connection": {script: script{fail(failure(fault.Degraded))}, outcome: "failed", counted: true,
			failure: 1},
		"reset at the start": {script: script{fail(failure(fault.Transient))}, outcome: "failed", in: tokensIn,
			failure: 1},
		"cut": {script: script{half}, outcome: "failed", in: tokensIn, out: 4, failure: 1},
		"reset in the middle": {script: script{half, fail(failure(fault.Transient))}, outcome: "failed", in: tokensIn,
			out: 4, failure: 1},
		"503 in the middle": {script: script{half, refused(fault.Degraded, 503)}, outcome: "failed", in: tokensIn,
			out: 4, failure: 1},
		"figures at the start": {script: script{say(begun, provider.Text("twelve bytes")),
			fail(failure(fault.Transient))}, outcome: "failed", in: 30, out: 4, failure: 1},
		"never begins": {script: script{wait(time.Hour)}, outcome: "failed", in: tokensIn, failure: 1},
		"silent in the middle": {script: script{half, wait(time.Hour)}, outcome: "failed", in: tokensIn, out: 4,
			failure: 1},
		"against the grammar": {script: script{half, say(provider.ToolEnd(7))}, outcome: "failed", in: tokensIn,
			out: 4},
		"panic":                 {script: script{half, boom}, outcome: "failed", in: tokensIn, out: 4},
		"panic at once":         {script: script{boom}, outcome: "failed", in: tokensIn},
		"canceled at the start": {script: script{wait(time.Minute)}, cancel: true, outcome: "aborted", in: tokensIn},
		"canceled": {script: script{half, wait(time.Minute)}, cancel: true, outcome: "aborted",
			in: tokensIn, out: 4},
		"canceled, seen late": {script: script{half, deaf(2 * s), fail(failure(fault.Transient))}, cancel: true,
			outcome: "aborted", in: tokensIn, out: 4},
		"calls": {script: script{say(start, provider.ToolStart(0, "", "abc"), provider.ToolDelta(0, "123456")),
			fail(failure(fault.Transient))},
			outcome: "failed", in: tokensIn, out: 3, failure: 1},
		"a picture": {script: script{say(start, provider.File(provider.Media{Type: "image/png", Data: []byte("abc")})),
			fail(failure(fault.Transient))},
			outcome: "failed", in: tokensIn, out: 2000, failure: 1},
		"an answer taken back": {script: script{half,
			say(provider.Reset("again"), start, provider.Text("abc"), reported)}, outcome: "done",
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
				entries := r.ledger.Entries(budget.Filter{})
				require.Len(t, entries, 1)
				e := entries[0]
				require.Equal(t, []any{tc.outcome, tc.in, tc.out, !tc.counted},
					[]any{e.Outcome, e.Input, e.Output, e.Estimated})
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
				want := budget.CallAborted
				if at == len(pieces)-1 {
					want = budget.CallDone
				}
				require.Equal(t, []string{want}, r.outcomes(), "%s at %d", how, at)
				require.Zero(t, r.breaker.Snapshot().Failures)
				r.settled()
			}
		})
	}
}

func TestAGuardIsAsGoodAsNewAfterAnyCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}}, paced(s))
		through := func(req *provider.Request) stream.Seq { return r.Stream(t.Context(), req) }
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

func TestCancelingAtAnyChunkGivesEverythingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for at := range pieces {
			for _, in := range []time.Duration{-s / 2, s / 2} { // before the chunk comes, and after it
				r := newRig(t, option{}, paced(s))
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Duration(at+1)*s+in, cancel)
				got := watch(r.Stream(ctx, ask))
				if at == len(pieces)-1 && in > 0 {
					require.NoError(t, got.err)
					require.Equal(t, []string{budget.CallDone}, r.outcomes())
				} else {
					require.ErrorIs(t, got.err, context.Canceled)
					require.Equal(t, []string{budget.CallAborted}, r.outcomes())
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
				gate: ratelimit.GateConfig{Slots: 1},
				guard: guard.Config{Retry: single(),
					OnEvent: failures(func(context.Context, guard.Failure) { retried = true })},
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
			require.Equal(t, []string{budget.CallPreempted, budget.CallDone}, r.outcomes())
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
				require.Equal(t, []string{budget.CallPreempted, budget.CallDone}, r.outcomes())
			} else {
				require.Equal(t, began.Add(8*s), person())
				require.Equal(t, []string{budget.CallDone}, r.outcomes())
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

// TestAVictimThatFailsIsStillAVictim: what a provider makes of the end of its context is no failure
// of its own.
func TestAVictimThatFailsIsStillAVictim(t *testing.T) {
	spoiled := func(ctx context.Context, yield func(provider.Chunk, error) bool) bool {
		<-ctx.Done()
		yield(provider.Chunk{}, failure(fault.Transient))
		return false
	}
	cut := func(ctx context.Context, _ func(provider.Chunk, error) bool) bool { <-ctx.Done(); return false }
	for _, last := range []func(context.Context, func(provider.Chunk, error) bool) bool{spoiled, cut} {
		synctest.Test(t, func(t *testing.T) {
			twice := map[fault.Class]fault.Retry{fault.Transient: {Attempts: 2}}
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

// deaf is a provider at work for d that doesn't respect its context.
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
				r := newRig(t, option{gate: ratelimit.GateConfig{Slots: 1},
					guard: guard.Config{FirstChunk: 2 * s, Retry: exact(fault.Transient)}}, tc.last, good)
				person := r.person(s+time.Duration(tc.failures)*3*s/2, s)
				require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
				person()
				require.Equal(t, tc.failures, r.breaker.Snapshot().Failures)
				require.Equal(t, tc.pauses, r.gate.Snapshot().Totals.Pauses)
				require.Equal(t, []string{budget.CallFailed, budget.CallDone}, r.outcomes())
				require.Len(t, of[guard.Failure](&r.told), 1)
				r.settled()
			})
		})
	}
}
