package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// timed runs fn as a tool with a time limit of a minute, and returns how often the limit was
// reported.
func timed(t *testing.T, ctx context.Context, spec tools.Spec, fn func(ctx context.Context) error) (tools.Outcome,
	int) {
	t.Helper()
	d := define(t, raw(spec, func(ctx context.Context) (tools.Result, error) { return tools.Text("done"), fn(ctx) }))
	rings := make(chan struct{}, 10)
	out := tools.Execute(ctx, d, approve(t, d, &tools.Call{Name: "t", OnTimeout: func(c *tools.Call) {
		require.Equal(t, "t", c.Name)
		rings <- struct{}{}
	}}), nil)
	return out, len(rings)
}

func TestACallEndsAtItsTimeLimit(t *testing.T) {
	for name, fn := range map[string]func(ctx context.Context) error{
		"waits for Done": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"asks for Err": func(ctx context.Context) error {
			<-time.After(time.Minute)
			synctest.Wait()
			return fmt.Errorf("fetching: %w", ctx.Err())
		},
		"returns the cause": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		"is behind another": func(ctx context.Context) error {
			sub, stop := context.WithCancel(ctx)
			defer stop()
			<-sub.Done()
			return sub.Err()
		},
		"minds the deadline": func(ctx context.Context) error {
			at, _ := ctx.Deadline()
			<-time.After(time.Until(at))
			return os.ErrDeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cause, err error
				out, rings := timed(t, t.Context(), tools.Spec{Timeout: time.Minute}, func(ctx context.Context) error {
					ended := fn(ctx)
					synctest.Wait()
					cause, err = context.Cause(ctx), ctx.Err()
					return ended
				})
				require.Equal(t, context.DeadlineExceeded, err)
				require.Equal(t, &tools.TimeoutError{Tool: "t", After: time.Minute}, cause)
				require.ErrorIs(t, cause, context.DeadlineExceeded)
				require.Equal(t, 1, rings)
				require.Equal(t, tools.TimedOut, out.Status)
				require.Equal(t, fault.Transient, out.Class)
				require.Equal(t, time.Minute, out.Took)
				require.Contains(t, text(out.Parts),
					"The call was stopped at its time limit of 1m0s; it may have had a part of its effect.")
				var timeout *tools.TimeoutError
				require.ErrorAs(t, out.Err, &timeout)
				require.NotContains(t, out.Err.Error(), "\n")
			})
		})
	}
}

func TestATimeLimitHoldsFromCallToCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := define(t, raw(tools.Spec{Timeout: time.Minute}, func(ctx context.Context) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}))
		fast := define(t, raw(tools.Spec{Timeout: time.Second}, func(ctx context.Context) (tools.Result, error) {
			return tools.Text("x"), ctx.Err()
		}))
		for range 3 {
			require.Equal(t, tools.OK, tools.Execute(t.Context(), fast, approve(t, fast, &tools.Call{}), nil).Status)
			out := tools.Execute(t.Context(), slow, approve(t, slow, &tools.Call{}), nil)
			require.Equal(t, tools.TimedOut, out.Status)
			require.Equal(t, time.Minute, out.Took)
		}
	})
}

func TestWhatAToolSaysAfterItsTimeLimit(t *testing.T) {
	late := func(t *testing.T, err error) (out tools.Outcome) {
		synctest.Test(t, func(t *testing.T) {
			out, _ = timed(t, t.Context(), tools.Spec{Timeout: time.Minute}, func(ctx context.Context) error {
				<-time.After(time.Hour) // it ignores its context
				return err
			})
		})
		return out
	}
	out := late(t, nil)
	require.Equal(t, tools.OK, out.Status, "a result is a result")
	require.Equal(t, "done", text(out.Parts))

	out = late(t, errors.New("signal: killed"))
	require.Equal(t, tools.TimedOut, out.Status)
	require.Equal(t, fault.Transient, out.Class)
	require.Equal(t,
		"The call was stopped at its time limit of 1m0s; it may have had a part of its effect. It said: signal: killed",
		text(out.Parts))

	missing := fault.New(fault.NotFound, "there is no such page")
	out = late(t, missing)
	require.Equal(t, tools.Failed, out.Status, "this isn't for lack of time")
	require.Equal(t, fault.NotFound, out.Class)
	require.Equal(t, missing, out.Err)
	require.Equal(t, "there is no such page", text(out.Parts))

	require.NotNil(t, late(t, tools.Suspend{Kind: "job"}).Suspend)
}

func TestOnlyItsOwnTimeLimitIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, rings := timed(t, t.Context(), tools.Spec{Timeout: time.Minute}, func(ctx context.Context) error {
			<-time.After(time.Minute - 1)
			return ctx.Err()
		})
		require.Equal(t, tools.OK, out.Status)
		<-time.After(time.Hour)
		require.Zero(t, rings)

		_, rings = timed(t, t.Context(), tools.Spec{Timeout: time.Minute}, func(ctx context.Context) error {
			<-time.After(time.Hour) // it ignores its context
			return nil
		})
		require.Equal(t, 1, rings)
	})
}

type limitError struct{ codes []int } // not comparable

func (limitError) Error() string      { return "out of money" }
func (limitError) Fault() fault.Class { return fault.Permanent }

func TestACallStopsWithItsRun(t *testing.T) {
	after := func(ctx context.Context, cause error) (context.Context, func()) {
		run, cancel := context.WithCancelCause(ctx)
		timer := time.AfterFunc(time.Second, func() { cancel(cause) })
		return run, func() { timer.Stop(); cancel(nil) }
	}
	limit := limitError{codes: []int{1}}
	for name, c := range map[string]struct {
		run        func(ctx context.Context) (context.Context, func())
		err, cause error
	}{
		"canceled": {func(ctx context.Context) (context.Context, func()) {
			return after(ctx, nil)
		}, context.Canceled, context.Canceled},
		"for a reason": {func(ctx context.Context) (context.Context, func()) {
			return after(ctx, limit)
		}, context.Canceled, limit},
		"deadline": {func(ctx context.Context) (context.Context, func()) {
			run, cancel := context.WithTimeout(ctx, time.Second)
			return run, cancel
		}, context.DeadlineExceeded, context.DeadlineExceeded},
		"another call's time limit": {func(ctx context.Context) (context.Context, func()) {
			return after(ctx, &tools.TimeoutError{Tool: "outer", After: time.Second})
		}, context.Canceled, &tools.TimeoutError{Tool: "outer", After: time.Second}},
	} {
		for how, ended := range map[string]func(ctx context.Context) error{
			"Done":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"Err":   func(ctx context.Context) error { <-time.After(time.Second); synctest.Wait(); return ctx.Err() },
			"Cause": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
			"own":   func(ctx context.Context) error { <-ctx.Done(); return errors.New("signal: killed") },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					run, stop := c.run(t.Context())
					defer stop()
					var err, later, cause error
					out, rings := timed(t, run, tools.Spec{Timeout: time.Minute}, func(ctx context.Context) error {
						was := ended(ctx)
						err = ctx.Err()
						<-time.After(2 * time.Minute) // past the time limit
						later, cause = ctx.Err(), context.Cause(ctx)
						return was
					})
					require.Equal(t, c.err, err)
					require.Equal(t, c.err, later, "the first reason counts")
					require.Equal(t, c.cause, cause)
					require.Zero(t, rings)
					require.Equal(t, tools.Canceled, out.Status)
					require.Equal(t, fault.None, out.Class)
					want := "The call was stopped because the run was; it may have had a part of its effect."
					switch {
					case how == "own":
						want += " It said: signal: killed"
					case how == "Cause" && name == "for a reason":
						want += " It said: out of money"
					}
					require.Equal(t, want, text(out.Parts))
				})
			})
		}
	}
}

func TestAfterTheTimeLimitTheRunMeansNothing(t *testing.T) {
	for _, done := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			run, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			out, rings := timed(t, run, tools.Spec{Timeout: time.Minute}, func(ctx context.Context) error {
				if done {
					ctx.Done()
				}
				<-time.After(2 * time.Minute)
				cancel(errors.New("too late"))
				require.Equal(t, context.DeadlineExceeded, ctx.Err())
				var timeout *tools.TimeoutError
				require.ErrorAs(t, context.Cause(ctx), &timeout)
				<-ctx.Done()
				require.ErrorAs(t, context.Cause(ctx), &timeout)
				return ctx.Err()
			})
			require.Equal(t, tools.TimedOut, out.Status)
			require.Equal(t, 1, rings)
		})
	}
}

func TestVerifyCountsTowardsTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := execute(t, t.Context(), tools.Raw{
			Spec: tools.Spec{Name: "t", Timeout: time.Minute},
			Run: func(context.Context, json.RawMessage) (tools.Result, error) {
				<-time.After(30 * time.Second)
				return tools.Text("done"), nil
			},
			Verify: func(ctx context.Context, _ json.RawMessage, _ tools.Result) error {
				<-ctx.Done()
				return ctx.Err()
			},
		})
		require.Equal(t, tools.Unverified, out.Status)
		require.Equal(t, fault.Transient, out.Class)
		require.Equal(t, time.Minute, out.Took)
	})
}

func TestACallWaitsForWhoIsToldOfItsTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := false
		d := define(t, raw(tools.Spec{Timeout: time.Minute}, func(ctx context.Context) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}))
		tools.Execute(t.Context(), d, approve(t, d, &tools.Call{OnTimeout: func(*tools.Call) {
			<-time.After(time.Second)
			told = true
		}}), nil)
		require.True(t, told)
	})
}
