package tools_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

// inside runs fn with the context of a call.
func inside(t *testing.T, ctx context.Context, call *tools.Call, fn func(ctx context.Context)) {
	t.Helper()
	d := define(t, raw(tools.Spec{Timeout: time.Minute}, func(ctx context.Context) (tools.Result, error) {
		fn(ctx)
		return tools.Result{}, nil
	}))
	require.Equal(t, tools.OK, tools.Execute(ctx, d, approve(t, d, call), nil).Status)
}

func TestAToolKnowsItsCall(t *testing.T) {
	call := &tools.Call{Session: "s", IdempotencyKey: "s/1/0", Fence: 7}
	inside(t, t.Context(), call, func(ctx context.Context) {
		sub, stop := context.WithCancel(context.WithValue(ctx, none{}, "v"))
		defer stop()
		for _, ctx := range []context.Context{ctx, sub, context.WithoutCancel(sub)} {
			got, ok := tools.CallOf(ctx)
			require.True(t, ok)
			require.Same(t, call, got)
			require.Equal(t, "s/1/0", tools.IdempotencyKey(ctx))
			require.Equal(t, uint64(7), tools.Fence(ctx))
		}
	})
}

func TestOutsideOfACallThereIsNothingToKnow(t *testing.T) {
	_, ok := tools.CallOf(t.Context())
	require.False(t, ok)
	require.Empty(t, tools.IdempotencyKey(t.Context()))
	require.Zero(t, tools.Fence(t.Context()))
	require.NotPanics(t, func() { tools.Progress(t.Context(), tools.ProgressReport{}) })
}

func TestACallInACallIsTheInnerOne(t *testing.T) {
	inside(t, t.Context(), &tools.Call{IdempotencyKey: "outer"}, func(ctx context.Context) {
		inside(t, ctx, &tools.Call{IdempotencyKey: "inner"}, func(ctx context.Context) {
			require.Equal(t, "inner", tools.IdempotencyKey(ctx))
		})
		require.Equal(t, "outer", tools.IdempotencyKey(ctx))
		require.NoError(t, ctx.Err())
	})
}

func TestTheContextOfTheRunIsBehindThatOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := context.WithValue(t.Context(), none{}, "v")
		inside(t, run, &tools.Call{}, func(ctx context.Context) {
			require.Equal(t, "v", ctx.Value(none{}))
			ctx.Done()
			require.Equal(t, "v", ctx.Value(none{}))
			at, ok := ctx.Deadline()
			require.True(t, ok)
			require.Equal(t, time.Minute, time.Until(at))
			<-time.After(time.Hour)
			require.Equal(t, "v", ctx.Value(none{}))
		})
		soon, stop := context.WithTimeout(run, time.Second)
		defer stop()
		inside(t, soon, &tools.Call{}, func(ctx context.Context) {
			at, _ := ctx.Deadline()
			require.Equal(t, time.Second, time.Until(at))
		})
	})
}

func TestDerivedContextsEndWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inside(t, t.Context(), &tools.Call{}, func(ctx context.Context) {
			plain, stop := context.WithCancel(ctx)
			defer stop()
			valued, stop := context.WithTimeout(context.WithValue(ctx, none{}, 1), time.Hour)
			defer stop()
			short, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			called, uncalled := false, true
			context.AfterFunc(ctx, func() { called = true })
			unregister := context.AfterFunc(ctx, func() { uncalled = false })
			require.True(t, unregister())

			<-short.Done()
			require.Equal(t, context.DeadlineExceeded, short.Err())
			require.NoError(t, ctx.Err(), "the child's end isn't the parent's")
			require.NoError(t, plain.Err())

			<-time.After(time.Minute)
			synctest.Wait()
			require.True(t, called)
			require.True(t, uncalled)
			late, stop := context.WithTimeout(ctx, time.Hour)
			defer stop()
			var timeout *tools.TimeoutError
			for _, sub := range []context.Context{plain, valued, late} {
				<-sub.Done()
				require.Error(t, sub.Err())
				require.ErrorAs(t, context.Cause(sub), &timeout)
			}
			require.Equal(t, context.DeadlineExceeded, late.Err())
			afterwards := false
			context.AfterFunc(ctx, func() { afterwards = true })
			synctest.Wait()
			require.True(t, afterwards)
		})
	})
}

// TestWhatEndsARunEndsWhatIsDerivedInACall with the same error, whatever the tool had asked its
// context before.
func TestWhatEndsARunEndsWhatIsDerivedInACall(t *testing.T) {
	for name, ask := range map[string]func(context.Context){
		"nothing": func(context.Context) {},
		"Err":     func(ctx context.Context) { _ = ctx.Err() },
		"Cause":   func(ctx context.Context) { _ = context.Cause(ctx) },
		"Done":    func(ctx context.Context) { <-ctx.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				why := errors.New("why")
				run, stop := context.WithTimeoutCause(t.Context(), time.Second, why)
				defer stop()
				inside(t, run, &tools.Call{}, func(ctx context.Context) {
					<-time.After(2 * time.Second)
					ask(ctx)
					sub, stop := context.WithCancel(ctx)
					defer stop()
					for _, ctx := range []context.Context{ctx, sub} {
						require.Equal(t, context.DeadlineExceeded, ctx.Err())
						require.Equal(t, why, context.Cause(ctx))
					}
				})
			})
		})
	}
}

func TestDerivedContextsCostNoGoroutine(t *testing.T) {
	inside(t, t.Context(), &tools.Call{}, func(ctx context.Context) {
		before := runtime.NumGoroutine()
		for range 100 {
			_, stop := context.WithCancel(context.WithValue(ctx, none{}, 1))
			defer stop()
			_, stop = context.WithTimeout(ctx, time.Hour)
			defer stop()
			defer context.AfterFunc(ctx, func() {})()
		}
		require.LessOrEqual(t, runtime.NumGoroutine(), before)
	})
}

func TestAContextEndsWhenItsCallDoes(t *testing.T) {
	for name, use := range map[string]func(ctx context.Context) context.Context{
		"unused": func(ctx context.Context) context.Context { return ctx },
		"used":   func(ctx context.Context) context.Context { ctx.Done(); return ctx },
		"derived": func(ctx context.Context) context.Context {
			sub, stop := context.WithCancel(ctx)
			context.AfterFunc(sub, stop)
			return sub
		},
	} {
		t.Run(name, func(t *testing.T) {
			var kept context.Context
			run, stop := context.WithCancelCause(context.WithValue(t.Context(), none{}, "v"))
			inside(t, run, &tools.Call{IdempotencyKey: "k"}, func(ctx context.Context) {
				kept = use(ctx)
				require.NoError(t, kept.Err())
				require.NoError(t, context.Cause(kept))
			})
			stop(limitError{})
			for range 2 {
				require.Equal(t, context.Canceled, kept.Err())
				require.Equal(t, context.Canceled, context.Cause(kept))
				<-kept.Done()
			}
			sub, cancel := context.WithCancel(kept)
			defer cancel()
			require.Equal(t, context.Canceled, sub.Err())
			require.Equal(t, context.Canceled, context.Cause(sub))
			require.Equal(t, "v", kept.Value(none{}))
			require.Equal(t, "k", tools.IdempotencyKey(kept))
		})
	}
}

// Whoever watches a context in the moment of its end sees a consistent picture: Err is set once
// Done is closed, never changes, and has a cause.
func TestAContextIsConsistentWhileItEnds(t *testing.T) {
	begun := make(chan struct{}, 1)
	d := define(t, raw(tools.Spec{Timeout: 100 * time.Microsecond, Progress: true},
		func(ctx context.Context) (tools.Result, error) {
			begun <- struct{}{}
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					if i == 0 {
						tools.Progress(ctx, tools.ProgressReport{})
					}
					ctx.Deadline()
					ctx.Value(none{})
					sub, stop := context.WithCancel(ctx)
					defer stop()
					for ctx.Err() == nil {
						runtime.Gosched()
					}
					first := ctx.Err()
					select {
					case <-ctx.Done():
					default:
						t.Error("Err is set, Done isn't closed")
					}
					<-sub.Done()
					if err := ctx.Err(); err != first {
						t.Errorf("Err was %v and is %v", first, err)
					}
					if a, b := context.Cause(ctx), context.Cause(sub); a == nil || a != b {
						t.Errorf("the causes are %v and %v", a, b)
					}
				})
			}
			wg.Wait()
			return tools.Result{}, ctx.Err()
		}))
	for i := range 40 {
		run, stop := context.WithCancel(t.Context())
		var canceled sync.WaitGroup
		canceled.Go(func() {
			<-begun
			for range i {
				runtime.Gosched()
			}
			stop()
		})
		rings := 0
		// no race: Execute waits for it
		out := tools.Execute(run, d, approve(t, d, &tools.Call{OnTimeout: func(*tools.Call) { rings++ }}), nil)
		require.Contains(t, []tools.Status{tools.TimedOut, tools.Canceled}, out.Status)
		require.Equal(t, out.Status == tools.TimedOut, rings == 1)
		require.LessOrEqual(t, rings, 1)
		canceled.Wait()
	}
}
