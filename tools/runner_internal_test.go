package tools

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/alarm"
)

func internalTool(t *testing.T, spec Spec, fn func(ctx context.Context) error) *Definition {
	t.Helper()
	spec.Name = "t"
	d, err := Raw{Spec: spec, Run: func(ctx context.Context, _ json.RawMessage) (Result, error) { return Result{}, fn(ctx) }}.Define()
	require.NoError(t, err)
	return d
}

func TestALateRingMeansNothingForTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		rings := 0
		call := &Call{OnTimeout: func(*Call) { rings++ }}
		r.ring() // there was no call yet
		d := internalTool(t, Spec{Timeout: time.Minute}, func(ctx context.Context) error {
			<-time.After(time.Minute - 1)
			r.ring() // of the timer for the call before
			return ctx.Err()
		})
		for range 3 {
			require.Equal(t, OK, r.Execute(t.Context(), d, call).Status)
			r.ring()
		}
		require.Zero(t, rings)
	})
}

// TestAClockThatRunsOnKeepsToEachTimeLimit: it was set for a call before, with a limit that may be shorter or longer.
func TestAClockThatRunsOnKeepsToEachTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		clock := alarm.New()
		defer clock.Stop()
		r.Share(clock)
		quick := func(context.Context) error { return nil }
		hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		for _, before := range []time.Duration{time.Second, time.Minute, time.Hour} {
			for _, pause := range []time.Duration{0, time.Second / 2, 59 * time.Second, time.Minute, 3 * time.Minute} {
				require.Equal(t, OK, r.Execute(t.Context(), internalTool(t, Spec{Timeout: before}, quick), &Call{}).Status)
				<-time.After(pause)
				rings := 0
				out := r.Execute(t.Context(), internalTool(t, Spec{Timeout: time.Minute}, hangs), &Call{OnTimeout: func(*Call) { rings++ }})
				require.Equal(t, TimedOut, out.Status)
				require.Equal(t, time.Minute, out.Took)
				require.Equal(t, 1, rings)
			}
		}
	})
}

// TestACallLeavesNoTimerBehind: only a clock that is shared runs on, and who shares it stops it.
func TestACallLeavesNoTimerBehind(t *testing.T) {
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var r Runner
			clock := alarm.New()
			if shared {
				r.Share(clock)
			}
			for range 2 {
				d := internalTool(t, Spec{Timeout: time.Hour}, func(context.Context) error { return nil })
				require.Equal(t, OK, r.Execute(t.Context(), d, &Call{}).Status)
				require.Equal(t, shared, r.clock.Running())
			}
			clock.Stop()
			require.False(t, r.clock.Running())
		})
	}
}

func TestATimeLimitIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		rings := 0
		d := internalTool(t, Spec{Timeout: time.Minute}, func(ctx context.Context) error {
			<-ctx.Done()
			synctest.Wait()
			r.ring()
			return errors.New("killed")
		})
		r.Execute(t.Context(), d, &Call{OnTimeout: func(*Call) { rings++ }})
		require.Equal(t, 1, rings)
	})
}

func TestACallWaitsForWhoIsToldOfItsTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := false
		d := internalTool(t, Spec{Timeout: time.Minute}, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		var r Runner
		r.Execute(t.Context(), d, &Call{OnTimeout: func(*Call) {
			<-time.After(time.Second)
			told = true
		}})
		require.True(t, told)
	})
}

func TestAToolThatIsFasterThanTheTimerIsTimedOutAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		rings := 0
		d := internalTool(t, Spec{Timeout: time.Minute}, func(context.Context) error {
			r.clock.Stop() // it is late
			<-time.After(time.Minute)
			return errors.New("i/o timeout")
		})
		out := r.Execute(t.Context(), d, &Call{OnTimeout: func(*Call) { rings++ }})
		require.Equal(t, TimedOut, out.Status)
		require.Equal(t, 1, rings)
	})
}

func TestALargeEncoderIsNotKept(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				want := strings.Repeat("x", (i+1)*(j+1)*20)
				got, err := marshal(want)
				if err != nil || got != `"`+want+`"` {
					t.Errorf("marshal of %d bytes gave %d: %v", len(want), len(got), err)
				}
				if _, err := marshal([]any{want, math.NaN()}); !errors.Is(err, errEncode) {
					t.Errorf("marshal of NaN: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for range 100 {
		_, err := marshal(strings.Repeat("x", 10*maxKept))
		require.NoError(t, err)
		e := encoders.Get().(*encoder)
		require.LessOrEqual(t, e.buf.Cap(), maxKept)
		encoders.Put(e)
	}
}
