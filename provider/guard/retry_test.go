package guard_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

func TestEachClassHasItsAttemptsAndDelays(t *testing.T) {
	for _, tc := range []struct {
		class  fault.Class
		delays []time.Duration
	}{
		{fault.Transient, []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms}},
		{fault.RateLimited, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s, 60 * s}},
		{fault.Degraded, []time.Duration{5 * s, 10 * s}},
		{fault.Permanent, nil},
		{fault.UserFixable, nil},
		{fault.Invalid, nil},
		{fault.NotFound, nil},
		{fault.Denied, nil},
	} {
		t.Run(tc.class.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []guard.Failure
				f := &fake{scripts: []script{{fail(failure(tc.class))}}}
				g := newGuard(t, f,
					guard.Config{Name: "n", Retry: exact(tc.class),
						OnEvent: failures(func(_ context.Context, f guard.Failure) { told = append(told, f) })})
				began := time.Now()
				got := watch(g.Stream(t.Context(), ask))
				require.EqualValues(t, len(tc.delays)+1, f.calls.Load())
				require.Equal(t, tc.class, fault.Of(got.err))
				require.Len(t, told, len(tc.delays))
				require.Len(t, got.waits, len(tc.delays))
				at := began
				for i, d := range tc.delays {
					at = at.Add(d)
					require.Equal(t, d, told[i].Wait)
					require.Equal(t, i+1, told[i].Attempt)
					require.Equal(t, tc.class, told[i].Class)
					require.True(t, got.waits[i].Until.Equal(at))
					require.Equal(t, i+2, got.waits[i].Attempt)
				}
				require.Equal(t, at, time.Now())
				var gaveUp *guard.GaveUpError
				if len(tc.delays) == 0 {
					require.NotErrorAs(t, got.err, &gaveUp)
					return
				}
				require.ErrorAs(t, got.err, &gaveUp)
				require.Equal(t, len(tc.delays)+1, gaveUp.Attempts)
			})
		})
	}
}

func TestDelaysAreSpreadAndNeverExceedTheirBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		distinct := map[time.Duration]bool{}
		for range 50 {
			var waits []time.Duration
			f := &fake{scripts: []script{{fail(failure(fault.Transient))}}}
			g := newGuard(t, f, guard.Config{
				Retry:   map[fault.Class]fault.Retry{fault.Transient: {Attempts: 8, Min: s, Max: 6 * s}},
				OnEvent: failures(func(_ context.Context, f guard.Failure) { waits = append(waits, f.Wait) }),
			})
			require.Error(t, watch(g.Stream(t.Context(), ask)).err)
			require.Len(t, waits, 7)
			for i, middle := range []time.Duration{s, 2 * s, 4 * s, 5 * s, 5 * s, 5 * s, 5 * s} {
				require.InDelta(t, middle, waits[i], float64(middle)*0.2)
				require.LessOrEqual(t, waits[i], 6*s)
				distinct[waits[i]] = true
			}
		}
		require.Greater(t, len(distinct), 300)
	})
}

func TestWhatIsNotGivenKeepsItsDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{fail(failure(fault.Degraded))}}}
		g := newGuard(t, f, guard.Config{Retry: map[fault.Class]fault.Retry{
			fault.Degraded:  {Attempts: 4, Min: 40 * s, Exact: true}, // Max follows
			fault.Permanent: {Attempts: 2},
		}})
		began := time.Now()
		require.Error(t, watch(g.Stream(t.Context(), ask)).err)
		require.Equal(t, 120*s, time.Since(began))
		require.EqualValues(t, 4, f.calls.Load())

		f = &fake{scripts: []script{{fail(failure(fault.Permanent))}, good}}
		g = newGuard(t, f,
			guard.Config{Retry: map[fault.Class]fault.Retry{fault.Permanent: {Attempts: 2, Max: 10 * ms, Exact: true}}})
		began = time.Now()
		require.NoError(t, watch(g.Stream(t.Context(), ask)).err)
		require.Equal(t, 10*ms, time.Since(began))
	})
}

func TestEachClassKeepsItsOwnDelaysWithinACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		f := &fake{scripts: []script{
			{fail(failure(fault.Transient))}, {fail(failure(fault.RateLimited))}, {fail(failure(fault.Transient))},
			good,
		}}
		g := newGuard(t, f, guard.Config{
			Retry:   exact(fault.Transient, fault.RateLimited),
			OnEvent: failures(func(_ context.Context, f guard.Failure) { waits = append(waits, f.Wait) }),
		})
		require.NoError(t, watch(g.Stream(t.Context(), ask)).err)
		require.Equal(t, []time.Duration{100 * ms, s, 200 * ms}, waits)
	})
}

func TestARetryDoesNotDoubleWhatWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{
			{say(start, provider.Text("ha")), fail(failure(fault.Transient))},
			{say(start)}, // ends without End
			{say(start, provider.Text("half")), fail(failure(fault.Transient))},
			good,
		}}
		got := watch(newGuard(t, f, guard.Config{}).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
		require.Equal(t, []provider.ChunkKind{
			provider.KindStart, provider.KindText, provider.KindReset, provider.KindWaiting,
			provider.KindStart, provider.KindReset, provider.KindWaiting,
			provider.KindStart, provider.KindText, provider.KindReset, provider.KindWaiting,
			provider.KindStart, provider.KindText, provider.KindEnd,
		}, got.kinds)
		for _, w := range got.waits {
			require.Equal(t, provider.WaitBackingOff, w.Reason)
		}
	})
}

func TestARateLimitIsWaitedForAsAdvised(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	header := func(name, value string) time.Duration {
		d, ok := fault.ParseRetryAfter(http.Header{name: {value}}, now)
		require.True(t, ok)
		return d
	}
	for name, tc := range map[string]struct{ advice, want time.Duration }{
		"seconds":      {header("Retry-After", "7"), 7 * s},
		"date":         {header("Retry-After", now.Add(90*s).Format(http.TimeFormat)), 90 * s},
		"milliseconds": {header("Retry-After-Ms", "1500"), 1500 * ms},
		"at once":      {0, 0},
		"the longest":  {5 * time.Minute, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{scripts: []script{
					{fail(&provider.Error{Class: fault.RateLimited, Status: 429, Wait: &tc.advice})}, good,
				}}
				began := time.Now()
				got := watch(newGuard(t, f, guard.Config{}).Stream(t.Context(), ask))
				require.NoError(t, got.err)
				require.Equal(t, "fine", got.text)
				require.Equal(t, tc.want, time.Since(began))
				if tc.want == 0 {
					require.Empty(t, got.waits)
					return
				}
				require.Equal(t, provider.WaitRateLimited, got.waits[0].Reason)
				require.True(t, got.waits[0].Until.Equal(began.Add(tc.want)))
				require.Equal(t, 2, got.waits[0].Attempt)
			})
		})
	}
}

func TestTooLongAnAdviceFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{fail(fault.WithRetryAfter(failure(fault.RateLimited), 5*time.Minute+1))}}}
		began := time.Now()
		got := watch(newGuard(t, f, guard.Config{}).Stream(t.Context(), ask))
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp)
		require.Equal(t, 1, gaveUp.Attempts)
		require.Zero(t, time.Since(began))
		advice, ok := fault.RetryAfter(got.err)
		require.True(t, ok)
		require.Equal(t, 5*time.Minute+1, advice)
	})
}

func TestWhatMustNotBeMadeAgainIsNot(t *testing.T) {
	ran := provider.ProviderCall(provider.ToolCall{Name: "search"})
	once := &provider.Request{NoRestart: true}
	broken := fail(failure(fault.Transient))
	for name, tc := range map[string]struct {
		req     *provider.Request
		scripts []script
		calls   int64
	}{
		"a call of the provider":                {ask, []script{{say(start, ran), broken}}, 1},
		"a call of the provider before a reset": {ask, []script{{say(start, ran, provider.Reset("")), broken}}, 1},
		"a call in an earlier attempt": {ask, []script{
			{broken}, {say(start, ran), broken}, good}, 2},
		"no restart, text":            {once, []script{{say(start, provider.Text("x")), broken}}, 1},
		"no restart, reasoning":       {once, []script{{say(start, provider.Reasoning("x")), broken}}, 1},
		"no restart, the second time": {once, []script{{broken}, {say(start, provider.Text("x")), broken}}, 2},
		"no restart, nothing is shown": {once, []script{{say(start), broken}, {broken}, {broken}, {broken}, {broken}},
			5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{scripts: tc.scripts}
				got := watch(newGuard(t, f, guard.Config{}).Stream(t.Context(), tc.req))
				var gaveUp *guard.GaveUpError
				require.ErrorAs(t, got.err, &gaveUp)
				require.EqualValues(t, tc.calls, gaveUp.Attempts)
				require.EqualValues(t, tc.calls, f.calls.Load())
				require.Equal(t, fault.Transient, fault.Of(got.err))
				if tc.calls == 1 {
					require.Equal(t, provider.KindStart, got.kinds[0], "what was shown stands")
				}
			})
		})
	}
}

func TestGuardsAroundGuardsDoNotMultiplyAttempts(t *testing.T) {
	for _, class := range []fault.Class{fault.Transient, fault.RateLimited, fault.Degraded, fault.Permanent} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{scripts: []script{{fail(failure(class))}}}
			alone := watch(newGuard(t, f, guard.Config{Name: "inner"}).Stream(t.Context(), ask))
			attempts := f.calls.Swap(0)
			inner := newGuard(t, f, guard.Config{Name: "inner"})
			outer := newGuard(t, newGuard(t, inner, guard.Config{Name: "middle"}), guard.Config{Name: "outer"})
			got := watch(outer.Stream(t.Context(), ask))
			require.Equal(t, attempts, f.calls.Load())
			require.Equal(t, alone.err, got.err, "passed on as it is")
			require.Equal(t, alone.kinds, got.kinds)
		})
	}
}

func TestAnInnerGuardsWaitIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{fail(fault.WithRetryAfter(failure(fault.RateLimited), 4*time.Minute))}, good}}
		outer := newGuard(t, newGuard(t, f, guard.Config{}), guard.Config{FirstChunk: s, Idle: s})
		got := watch(outer.Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, "fine", got.text)
	})
}

func TestCancellationEndsAWaitAtOnce(t *testing.T) {
	stop := errors.New("the user left")
	classed := fault.New(fault.None, "preempted")
	for name, cause := range map[string]error{"plain": nil, "with a cause": stop, "with a class": classed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				f := &fake{scripts: []script{{fail(failure(fault.Degraded))}}}
				g := newGuard(t, f, guard.Config{})
				began := time.Now()
				time.AfterFunc(3*s, func() { cancel(cause) })
				got := watch(g.Stream(ctx, ask))
				require.Equal(t, 3*s, time.Since(began))
				require.ErrorIs(t, got.err, context.Cause(ctx))
				require.ErrorIs(t, got.err, context.Canceled)
				require.True(t, provider.Canceled(got.err))
				require.EqualValues(t, 1, f.calls.Load())
			})
		})
	}
}

func TestACanceledCallIsNotMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{say(start, provider.Text("half")), wait(time.Minute), say(end)}}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(s, cancel)
		got := watch(newGuard(t, f, guard.Config{}).Stream(ctx, ask))
		require.ErrorIs(t, got.err, context.Canceled)
		require.Equal(t, "half", got.text)
		require.EqualValues(t, 1, f.calls.Load())

		got = watch(newGuard(t, f, guard.Config{}).Stream(ctx, ask))
		require.ErrorIs(t, got.err, context.Canceled)
		require.EqualValues(t, 1, f.calls.Load(), "the provider isn't asked at all")

		f = &fake{scripts: []script{{fail(context.Canceled)}}} // somebody else's doing
		require.Equal(t, context.Canceled, watch(newGuard(t, f, guard.Config{}).Stream(t.Context(), ask)).err)
		require.EqualValues(t, 1, f.calls.Load())
	})
}

func TestAnEndInSpiteOfCancellationIsASuccess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	quit := func(context.Context, func(provider.Chunk, error) bool) bool { cancel(); return true }
	f := &fake{scripts: []script{{say(start), quit, say(end)}}}
	require.NoError(t, watch(newGuard(t, f, guard.Config{}).Stream(ctx, ask)).err)
}

func TestAHookIsGivenTheContextOfTheCall(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{fail(failure(fault.Transient))}, good}}
		var got any
		g := newGuard(t, f, guard.Config{OnEvent: func(ctx context.Context, _ guard.Event) { got = ctx.Value(key{}) }})
		require.NoError(t, watch(g.Stream(context.WithValue(t.Context(), key{}, "v"), ask)).err)
		require.Equal(t, "v", got)
	})
}

func TestAPanickingHookDoesNotFailTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{fail(failure(fault.Transient))}, good}}
		g := newGuard(t, f, guard.Config{OnEvent: failures(func(context.Context, guard.Failure) { panic("hook") })})
		require.NoError(t, watch(g.Stream(t.Context(), ask)).err)
	})
}
