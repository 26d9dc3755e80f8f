package tools_test

import (
	"cmp"
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

// reporting runs a tool that reports progress every so often until its context ends, and returns
// how long it took.
func reporting(t *testing.T, spec tools.Spec, every time.Duration) tools.Outcome {
	t.Helper()
	out, rings := timed(t, t.Context(), spec, func(ctx context.Context) error {
		began := time.Now()
		at, ok := ctx.Deadline()
		require.True(t, ok)
		limit := max(spec.Timeout, cmp.Or(spec.ProgressLimit, tools.ProgressLimit))
		require.Equal(t, limit, at.Sub(began))
		sub, stop := context.WithTimeout(ctx, 20*time.Minute) // its own deadline holds, whatever progress does
		defer stop()
		for ctx.Err() == nil {
			tools.Progress(sub, tools.ProgressReport{Text: "on it"})
			select {
			case <-time.After(every):
			case <-ctx.Done():
			}
			synctest.Wait() // for timers of the same moment
			require.Equal(t, ctx.Err() != nil || time.Since(began) >= 20*time.Minute, sub.Err() != nil)
			again, _ := ctx.Deadline()
			require.Equal(t, at, again)
		}
		return ctx.Err()
	})
	require.Equal(t, tools.TimedOut, out.Status)
	require.Equal(t, 1, rings)
	var timeout *tools.TimeoutError
	require.ErrorAs(t, out.Err, &timeout)
	require.Equal(t, out.Took, timeout.After)
	return out
}

func TestProgressMovesTheTimeLimit(t *testing.T) {
	spec := tools.Spec{Timeout: time.Minute, Progress: true}
	for _, c := range []struct{ every, want time.Duration }{
		{10 * time.Second, 30 * time.Minute},
		{29 * time.Second, 30 * time.Minute},
		{45 * time.Second, 75 * time.Second}, // the report at 45 s moves it to 75 s; the next would come at 90 s
		{2 * time.Minute, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) { require.Equal(t, c.want, reporting(t, spec, c.every).Took) })
	}
}

func TestProgressMovesTheTimeLimitUpToThatOfTheTool(t *testing.T) {
	for _, limit := range []time.Duration{5 * time.Minute, time.Hour} {
		spec := tools.Spec{Timeout: time.Minute, Progress: true, ProgressLimit: limit}
		synctest.Test(t, func(t *testing.T) { require.Equal(t, limit, reporting(t, spec, 10*time.Second).Took) })
	}
}

func TestALongTimeLimitIsNotShortenedByProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := tools.Spec{Timeout: time.Hour, Progress: true}
		require.Equal(t, time.Hour, reporting(t, spec, 10*time.Second).Took)
	})
}

func TestProgressMovesNothingUnlessTheToolSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, _ := timed(t, t.Context(), tools.Spec{Timeout: time.Minute}, func(ctx context.Context) error {
			for ctx.Err() == nil {
				tools.Progress(ctx, tools.ProgressReport{})
				<-time.After(7 * time.Second)
			}
			return ctx.Err()
		})
		require.Equal(t, 63*time.Second, out.Took)
	})
}

func TestProgressIsPassedOnWhileTheCallRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []tools.ProgressReport
		var kept context.Context
		d := define(t,
			raw(tools.Spec{Timeout: time.Minute, Progress: true}, func(ctx context.Context) (tools.Result, error) {
				kept = ctx
				for _, done := range []float64{0.5, -1, 7, math.NaN(), math.Inf(1), math.Inf(-1)} {
					tools.Progress(context.WithValue(ctx, none{}, 1), tools.ProgressReport{Text: "x", Done: done})
				}
				<-time.After(2 * time.Minute)
				tools.Progress(ctx, tools.ProgressReport{Text: "too late"})
				return tools.Result{}, nil
			}))
		c := &tools.Call{OnProgress: func(_ *tools.Call, n tools.ProgressReport) { notes = append(notes, n) }}
		tools.Execute(t.Context(), d, approve(t, d, c), nil)
		tools.Progress(kept, tools.ProgressReport{Text: "much too late"})
		var want []tools.ProgressReport
		for _, done := range []float64{0.5, 0, 1, 0, 1, 0} {
			want = append(want, tools.ProgressReport{Text: "x", Done: done})
		}
		require.Equal(t, want, notes)
	})
}
