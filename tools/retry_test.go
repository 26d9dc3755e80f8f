package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A failing tool fails with each of errs, and then succeeds.
type failing struct {
	errs []error
	ran  int
	keys []string
	ctxs []context.Context
}

func (f *failing) run(ctx context.Context) (tools.Result, error) {
	f.ran++
	f.keys, f.ctxs = append(f.keys, tools.IdempotencyKey(ctx)), append(f.ctxs, ctx)
	if f.ran <= len(f.errs) {
		return tools.Result{}, f.errs[f.ran-1]
	}
	return tools.Text("done"), nil
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// retried runs a tool once, with breakers if set isn't nil, and returns what was told of its
// retries.
func retried(t *testing.T, ctx context.Context, set *circuit.Set, spec tools.Spec,
	fn func(context.Context) (tools.Result, error)) (out tools.Outcome, told []tools.Retrying) {
	t.Helper()
	d := define(t, raw(spec, fn))
	out = through(t, ctx, set, d, &tools.Call{Name: d.Name(), IdempotencyKey: "k-1", Input: json.RawMessage(`{}`),
		OnRetry: func(_ *tools.Call, next tools.Retrying) { told = append(told, next) }})
	return out, told
}

func TestACallIsTriedAgainByTheClassOfItsFailure(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		err         error
		retries     map[fault.Class]fault.Retry
		attempts    int
		least, most time.Duration // the waits together
	}{
		"transient":        {errTransient, nil, 3, 240 * ms, 360 * ms},
		"its own deadline": {context.DeadlineExceeded, nil, 3, 240 * ms, 360 * ms},
		"rate limited":     {fault.New(fault.RateLimited, "x"), nil, 5, 12 * time.Second, 18 * time.Second},
		"degraded":         {errDegraded, nil, 2, 800 * ms, 1200 * ms},
		"permanent":        {errors.New("x"), nil, 1, 0, 0},
		"for a person":     {fault.NewFixable("x", "y", errTransient), nil, 1, 0, 0},
		"invalid":          {fault.New(fault.Invalid, "x"), nil, 1, 0, 0},
		"not found":        {fault.New(fault.NotFound, "x"), nil, 1, 0, 0},
		"denied":           {fault.New(fault.Denied, "x"), nil, 1, 0, 0},
		"canceled":         {context.Canceled, nil, 1, 0, 0},
		"out of range":     {fault.New(fault.Class(200), "x"), nil, 1, 0, 0},
		"advised": {fault.WithRetryAfter(errTransient, 7*time.Second), nil, 3, 14 * time.Second,
			14 * time.Second},
		"at once": {fault.WithRetryAfter(errTransient, 0), nil, 3, 0, 0},
		"configured": {errTransient,
			map[fault.Class]fault.Retry{fault.Transient: {Attempts: 6, Min: 120 * ms, Max: 240 * ms}}, 6, 96*ms +
				4*160*ms, 4*240*ms + 144*ms},
		"another class": {errTransient, map[fault.Class]fault.Retry{fault.Degraded: {Attempts: 6}}, 3, 240 * ms,
			360 * ms},
		"shortest only": {errDegraded, map[fault.Class]fault.Retry{fault.Degraded: {Min: 12 * time.Second}}, 2,
			8 * time.Second, 12 * time.Second},
		"longest only": {errDegraded, map[fault.Class]fault.Retry{fault.Degraded: {Max: 12 * ms}}, 2, 8 * ms,
			12 * ms},
		"permanent, too": {errors.New("x"), map[fault.Class]fault.Retry{fault.Permanent: {Attempts: 3}}, 3, 240 * ms,
			360 * ms},
		"never": {errTransient, map[fault.Class]fault.Retry{fault.Transient: {Attempts: 1}}, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, spec := range []tools.Spec{{Idempotent: true, Retries: c.retries},
					{ReadOnly: true, Retries: c.retries}} {
					f := failing{errs: repeat(c.err, 100)}
					began := time.Now()
					out, told := retried(t, t.Context(), nil, spec, f.run)
					took := time.Since(began)
					require.Equal(t, c.attempts, f.ran)
					require.Equal(t, c.attempts, out.Attempts)
					require.Len(t, told, c.attempts-1)
					require.Equal(t, tools.Failed, out.Status)
					require.ErrorIs(t, out.Err, c.err)
					require.Equal(t, took, out.Took)
					require.GreaterOrEqual(t, took, c.least)
					require.LessOrEqual(t, took, c.most)
					for i, next := range told {
						require.Equal(t, i+2, next.Attempt)
						require.Equal(t, c.attempts, next.Of)
						require.Equal(t, c.err, next.Err)
						require.Equal(t, fault.Of(c.err), next.Class)
					}

					f = failing{errs: repeat(c.err, c.attempts-1)}
					out, _ = retried(t, t.Context(), nil, spec, f.run)
					require.Equal(t, tools.OK, out.Status)
					require.Equal(t, c.attempts, out.Attempts)
					require.Equal(t, "done", text(out.Parts))
				}
				f := failing{errs: repeat(c.err, 1)}
				out, told := retried(t, t.Context(), nil, tools.Spec{}, f.run)
				require.Equal(t, tools.Failed, out.Status, "a tool that says nothing of itself is called once")
				require.Equal(t, 1, out.Attempts)
				require.Empty(t, told)
				for _, spec := range []tools.Spec{{Idempotent: true, NoRetries: true},
					{ReadOnly: true, NoRetries: true}} {
					f := failing{errs: repeat(c.err, 1)}
					retried(t, t.Context(), nil, spec, f.run)
					require.Equal(t, 1, f.ran)
				}
			})
		})
	}
}

func TestAttemptsAreCountedTogetherAndDelaysByClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := failing{errs: []error{errTransient, fault.New(fault.RateLimited, "x"), errTransient}}
		out, told := retried(t, t.Context(), nil, tools.Spec{ReadOnly: true}, f.run)
		require.Equal(t, 3, f.ran, "the third failure is of a class that allows three")
		require.Equal(t, errTransient, out.Err)
		require.Equal(t, "connection reset (tried 3 times)", text(out.Parts))
		require.Less(t, told[0].Wait, 200*time.Millisecond)
		require.GreaterOrEqual(t, told[1].Wait, 800*time.Millisecond)
		require.LessOrEqual(t, told[1].Wait, 1200*time.Millisecond)
		require.Equal(t, 5, told[1].Of)
	})
}

func TestEveryAttemptHasTheSameKeyAndTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := failing{errs: repeat(errTransient, 2)}
		_, _ = retried(t, t.Context(), nil, tools.Spec{Idempotent: true}, f.run)
		require.Equal(t, []string{"k-1", "k-1", "k-1"}, f.keys)
		first, _ := f.ctxs[0].Deadline()
		last, _ := f.ctxs[2].Deadline()
		require.Equal(t, first, last)
	})
}

func TestAWaitThatIsLongerThanWhatIsLeftIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := fault.WithRetryAfter(fault.New(fault.RateLimited, "too many requests"), 40*time.Second)
		f := failing{errs: repeat(limited, 9)}
		began := time.Now()
		out, told := retried(t, t.Context(), nil, tools.Spec{ReadOnly: true, Timeout: time.Minute}, f.run)
		require.Equal(t, 40*time.Second, time.Since(began), "the first wait fits, the second doesn't")
		require.Equal(t, 2, f.ran)
		require.Len(t, told, 1)
		require.Equal(t, tools.Failed, out.Status)
		require.Equal(t, fault.RateLimited, out.Class)
		require.Equal(t, "too many requests (tried 2 times) (try again in 40s)", text(out.Parts))

		f = failing{errs: repeat(limited, 9)}
		run, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began = time.Now()
		out, _ = retried(t, run, nil, tools.Spec{ReadOnly: true, Timeout: time.Minute}, f.run)
		require.Zero(t, time.Since(began), "the run ends before")
		require.Equal(t, 1, f.ran)
		require.Equal(t, tools.Failed, out.Status)
	})
}

func TestAllAttemptsTogetherHaveTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		out, told := retried(t, t.Context(), nil, tools.Spec{ReadOnly: true, Timeout: time.Second},
			func(ctx context.Context) (tools.Result, error) {
				ran++
				select {
				case <-time.After(600 * time.Millisecond):
					return tools.Result{}, errTransient
				case <-ctx.Done():
					return tools.Result{}, ctx.Err()
				}
			})
		require.Equal(t, 2, ran)
		require.Len(t, told, 1)
		require.Equal(t, time.Second, out.Took)
		require.Equal(t, tools.TimedOut, out.Status)
	})
}

func TestNothingIsTriedAgainOnceTheContextHasEnded(t *testing.T) {
	for name, after := range map[string]time.Duration{"during the attempt": time.Second,
		"during the wait": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run, cancel := context.WithCancel(t.Context())
				defer cancel()
				defer time.AfterFunc(after, cancel).Stop()
				ran := 0
				out, told := retried(t, run, nil, tools.Spec{ReadOnly: true},
					func(context.Context) (tools.Result, error) {
						ran++
						<-time.After(2 * time.Second)
						return tools.Result{}, fault.WithRetryAfter(errTransient, 10*time.Second)
					})
				require.Equal(t, 1, ran)
				require.Equal(t, after > 2*time.Second, len(told) == 1, "of a retry that there will be nobody is told")
				require.Equal(t, max(after, 2*time.Second), out.Took)
				require.Equal(t, tools.Canceled, out.Status)
				require.Equal(t, fault.None, out.Class)
			})
		})
	}
}

func TestWhatIsNeverTriedAgain(t *testing.T) {
	often := map[fault.Class]fault.Retry{fault.Permanent: {Attempts: 5}, fault.Transient: {Attempts: 5}}
	for name, fn := range map[string]func() (tools.Result, error){
		"a panic":         func() (tools.Result, error) { panic(errTransient) },
		"an error panics": func() (tools.Result, error) { return tools.Result{}, (*nilError)(nil) },
		"a wrapped panic": func() (tools.Result, error) {
			return tools.Result{}, fault.Wrap(fault.Transient, &tools.PanicError{})
		},
		"a suspended call":   func() (tools.Result, error) { return tools.Result{}, tools.Suspend{Kind: "job"} },
		"suspended, by *":    func() (tools.Result, error) { return tools.Result{}, &tools.Suspend{Kind: "job"} },
		"a result":           func() (tools.Result, error) { return tools.Result{Failed: true}, nil },
		"what isn't encoded": func() (tools.Result, error) { return tools.Result{Data: make(chan int)}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			out, told := retried(t, t.Context(), nil, tools.Spec{ReadOnly: true, Retries: often},
				func(context.Context) (tools.Result, error) { ran++; return fn() })
			require.Equal(t, 1, ran)
			require.Equal(t, 1, out.Attempts)
			require.Empty(t, told)
		})
	}
}

func TestACallWhoseOutputCannotBeEncodedHasRun(t *testing.T) {
	ran := 0
	out := execute(t, t.Context(),
		tools.New(tools.Spec{Name: "t", ReadOnly: true,
			Retries: map[fault.Class]fault.Retry{fault.Permanent: {Attempts: 5}}},
			func(context.Context, none) (any, error) { ran++; return make(chan int), nil }))
	require.Equal(t, 1, ran)
	require.Equal(t, tools.Failed, out.Status)
}

func TestOnlyWhatMayPassIsSaidToBeTriedAgain(t *testing.T) {
	for err, want := range map[error]string{
		fault.WithRetryAfter(errors.New("no such page"), time.Minute): "no such page",
		fault.WithRetryAfter(errDegraded, 1500*time.Millisecond):      "the service is down (try again in 2s)",
	} {
		require.Equal(t, want, text(execute(t, t.Context(), fails(err)).Parts))
	}
}

func TestTheRetriesOfASpecAreItsOwn(t *testing.T) {
	mine := map[fault.Class]fault.Retry{fault.Permanent: {Attempts: 2}}
	d := define(t, raw(tools.Spec{ReadOnly: true, Retries: mine}, nil))
	delete(mine, fault.Permanent)
	require.Len(t, d.Spec().Retries, 1)
}

func TestACallCountsOnceOnItsBreakerHoweverOftenItIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := circuit.NewSet(circuit.Config{Consecutive: 3})
		for range 10 {
			f := failing{errs: repeat(errTransient, 2)}
			out, _ := retried(t, t.Context(), set, tools.Spec{ReadOnly: true}, f.run)
			require.Equal(t, tools.OK, out.Status)
		}
		require.Zero(t, set.Get("tool:t").Snapshot().Failures)
		f := failing{errs: repeat(errTransient, 9)}
		_, _ = retried(t, t.Context(), set, tools.Spec{ReadOnly: true}, f.run)
		require.Equal(t, 3, f.ran)
		require.Equal(t, 1, set.Get("tool:t").Snapshot().InARow)
	})
}

func TestNothingIsTriedAgainOnceItsBreakerIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := circuit.NewSet(circuit.Tool())
		f := failing{errs: repeat(errTransient, 9)}
		out, told := retried(t, t.Context(), set, tools.Spec{ReadOnly: true},
			func(ctx context.Context) (tools.Result, error) {
				if f.ran == 1 { // others fail meanwhile
					for range 3 {
						p, err := set.Get("tool:t").Allow()
						require.NoError(t, err)
						p.Done(errDegraded)
					}
				}
				return f.run(ctx)
			})
		require.Equal(t, 2, f.ran)
		require.Len(t, told, 1)
		require.Equal(t, tools.Failed, out.Status)
		require.Equal(t, errTransient, out.Err)

		<-time.After(10 * time.Second)
		f = failing{errs: repeat(errTransient, 9)}
		_, _ = retried(t, t.Context(), set, tools.Spec{ReadOnly: true}, f.run)
		require.Equal(t, 1, f.ran, "a probe is one attempt")
		require.Equal(t, circuit.Open, set.Get("tool:t").State())
	})
}

func TestASpecSaysNothingOfRetriesThatCannotBe(t *testing.T) {
	one := func(c fault.Class, r fault.Retry) map[fault.Class]fault.Retry {
		return map[fault.Class]fault.Retry{c: r}
	}
	for want, spec := range map[string]tools.Spec{
		"tools: t: it has Retries, but NoRetries is set, or it is neither Idempotent nor ReadOnly": {
			Retries: one(fault.Transient, fault.Retry{})},
		"so that it is never tried again": {ReadOnly: true, NoRetries: true,
			Retries: one(fault.Transient, fault.Retry{})},
		"Retries: fault: the Retry for transient has Attempts -1; use 1 to 100, or 0 for the default": {ReadOnly: true,
			Retries: one(fault.Transient, fault.Retry{Attempts: -1})},
		`it has NoBreaker and the Resource "network:cms"; give one of them`: {NoBreaker: true, Resource: "network:cms"},
	} {
		_, err := tools.NewRegistry(raw(spec, nil))
		require.ErrorContains(t, err, want)
		var bad *tools.SpecError
		require.ErrorAs(t, err, &bad)
	}
}

func TestDelaysGrowAreSpreadAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 100 {
			f := failing{errs: repeat(errTransient, 7)}
			_, told := retried(t, t.Context(), nil, tools.Spec{ReadOnly: true, Timeout: time.Hour,
				Retries: map[fault.Class]fault.Retry{fault.Transient: {Attempts: 8, Min: 100 * time.Millisecond,
					Max: 1200 * time.Millisecond}}}, f.run)
			require.Len(t, told, 7)
			for i, mid := range []time.Duration{100, 200, 400, 800, 1000, 1000, 1000} {
				mid *= time.Millisecond
				require.GreaterOrEqual(t, told[i].Wait, mid*8/10)
				require.LessOrEqual(t, told[i].Wait, mid*12/10)
				seen[told[i].Wait] = true
			}
		}
		require.Greater(t, len(seen), 600)
	})
}
