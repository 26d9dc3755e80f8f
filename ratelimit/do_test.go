package ratelimit_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
)

func TestDoRunsAPreemptedFunctionAgain(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		runs, done := 0, ""
		r.gone.Go(func() {
			var err error
			done, err = ratelimit.Do(r.t.Context(), r.gate, background("a", 0),
				func(ctx context.Context) (string, error) {
					runs++
					select {
					case <-ctx.Done():
						return "half", errors.New("some library's words for a canceled context")
					case <-time.After(time.Minute):
						return "whole", nil
					}
				})
			r.note("work", ratelimit.Lease{}, err)
		})
		<-time.After(30 * time.Second)
		r.come("ann", person)
		<-time.After(time.Second)
		r.get("ann").Release(success)
		<-time.After(time.Hour)
		require.NoError(t, r.find("work").err)
		require.Equal(t, "whole", done)
		require.Equal(t, 2, runs)
		require.Equal(t, 91*time.Second, r.find("work").after)
	})
}

func TestDoReturnsASuccessInSpiteOfAPreemption(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		runs := 0
		r.gone.Go(func() {
			_, err := ratelimit.Do(r.t.Context(), r.gate, background("a", 0), func(ctx context.Context) (int, error) {
				runs++
				<-ctx.Done()
				return 1, nil
			})
			r.note("work", ratelimit.Lease{}, err)
		})
		synctest.Wait()
		r.come("ann", person)
		require.NoError(t, r.find("work").err)
		require.Equal(t, 1, runs)
		r.get("ann")
	})
}

func TestDoWaitsOutRateLimits(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 1}, func(r *room) {
		runs := 0
		work := func(context.Context) (int, error) {
			runs++
			return 0, fault.WithRetryAfter(errSlow, time.Minute)
		}
		_, err := ratelimit.Do(r.t.Context(), r.gate, person, work)
		require.ErrorIs(t, err, errSlow)
		require.Equal(t, 10, runs)
		require.Equal(t, 9*time.Minute, time.Since(r.began))
		<-time.After(time.Minute)
		_, err = ratelimit.Do(r.t.Context(), r.gate, person, func(context.Context) (int, error) {
			return 0, fault.WithRetryAfter(errSlow, time.Hour)
		})
		var long *ratelimit.PauseTooLongError
		require.ErrorAs(t, err, &long)
	})
}

func TestDoReturnsErrorsAndReleasesItsSlot(t *testing.T) {
	g := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1})
	boom := errors.New("boom")
	_, err := ratelimit.Do(t.Context(), g, person, func(context.Context) (int, error) { return 7, boom })
	require.ErrorIs(t, err, boom)
	require.PanicsWithValue(t, "boom", func() {
		ratelimit.Do(t.Context(), g, person, func(context.Context) (int, error) { panic("boom") })
	})
	require.Zero(t, g.Snapshot().Running)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		ratelimit.Do(t.Context(), g, person, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
	}()
	<-gone
	require.Zero(t, g.Snapshot().Running)
	g.Close()
	_, err = ratelimit.Do(t.Context(), g, person, func(context.Context) (int, error) { return 7, nil })
	require.ErrorIs(t, err, ratelimit.ErrClosed)
	_, err = ratelimit.Do[int](t.Context(), g, person, nil)
	require.Error(t, err)
	_, err = ratelimit.Do(t.Context(), nil, person, func(context.Context) (int, error) { return 7, nil })
	require.Error(t, err)
}

func TestDoIsNotRunAgainAfterItsContextEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		runs := 0
		_, err := ratelimit.Do(ctx, g, ratelimit.AcquireRequest{}, func(ctx context.Context) (int, error) {
			runs++
			<-ctx.Done()
			return 0, context.Cause(ctx)
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 1, runs)
		require.Zero(t, g.Snapshot().Running)
	})
}

func TestARejectionByAnotherGateIsNoRateLimitOfThisGate(t *testing.T) {
	for name, refusal := range map[string]error{
		"its queue is full":     &ratelimit.QueueFullError{Gate: "inner"},
		"its pause is too long": &ratelimit.PauseTooLongError{Gate: "inner", Rest: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inRoom(t, ratelimit.GateConfig{}, func(r *room) {
				runs := 0
				_, err := ratelimit.Do(r.t.Context(), r.gate, person, func(context.Context) (int, error) {
					runs++
					return 0, refusal
				})
				require.ErrorIs(t, err, refusal)
				require.Equal(t, 1, runs)
				require.Zero(t, r.pausedFor())
				require.Zero(t, r.gate.Snapshot().Totals.RateLimited)
			})
		})
	}
}
