package ratelimit_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

// rude returns a gate whose OnEvent panics at events of a kind until calm is called.
func rude(cfg ratelimit.GateConfig, kind ratelimit.EventKind) (g *ratelimit.Gate, calm func()) {
	angry := true
	cfg.OnEvent = func(e ratelimit.Event) {
		if angry && e.Kind == kind {
			panic("rude")
		}
	}
	return ratelimit.NewGate(cfg), func() { angry = false }
}

func TestAPanicInOnEventLeavesNoRequestBehind(t *testing.T) {
	for name, cfg := range map[string]ratelimit.GateConfig{
		"while it waits": {Slots: 1}, "when it starts": {Slots: 1, Overcommit: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, calm := rude(cfg, ratelimit.EventPreempted)
				work, err := g.Acquire(t.Context(), ratelimit.AcquireRequest{})
				require.NoError(t, err)
				require.PanicsWithValue(t, "rude", func() { g.Acquire(t.Context(), person) })
				calm()
				snap := g.Snapshot()
				require.Zero(t, snap.Queued)
				require.Equal(t, 1, snap.Running)
				require.True(t, work.Preempted())
				work.Release(success)
				require.Zero(t, g.Snapshot().Running, "nobody is there to end another lease")
				g.Close()
			})
		})
	}
}

func TestAPanicInOnEventLeavesNoContextBehind(t *testing.T) {
	g, _ := rude(ratelimit.GateConfig{Slots: 1}, ratelimit.EventPaused)
	lease, err := g.Acquire(t.Context(), person)
	require.NoError(t, err)
	require.PanicsWithValue(t, "rude", func() { lease.Release(limited(time.Second)) })
	require.ErrorIs(t, lease.Context().Err(), context.Canceled)
	g.Close()

	slower := ratelimit.Outcome{Quota: &ratelimit.Quota{Requests: ratelimit.Window{Limit: 50}}}
	g, _ = rude(ratelimit.GateConfig{Slots: 1, RequestsPerMinute: 100}, ratelimit.EventRates)
	lease, err = g.Acquire(t.Context(), person)
	require.NoError(t, err)
	require.PanicsWithValue(t, "rude", func() { lease.Requeue(t.Context(), slower) })
	require.Zero(t, g.Snapshot().Running, "nobody has the new lease")
	require.ErrorIs(t, lease.Context().Err(), context.Canceled)
}

// A nosyContext is a context whose methods call the gate.
type nosyContext struct {
	context.Context
	gate *ratelimit.Gate
}

func (c nosyContext) Err() error {
	c.gate.Snapshot()
	return c.Context.Err()
}

func (c nosyContext) Value(key any) any {
	c.gate.Snapshot()
	return c.Context.Value(key)
}

func TestContextsAreCalledWithoutALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1})
		ended, end := context.WithCancel(t.Context())
		ctx := nosyContext{ended, g}
		lease, err := g.Acquire(ctx, person)
		require.NoError(t, err)
		lease, err = lease.Requeue(ctx, success)
		require.NoError(t, err)
		end()
		_, err = lease.Requeue(ctx, success)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, g.Snapshot().Running)
	})
}

func TestAnyNumberOfSlotsLetsBackgroundWorkStart(t *testing.T) {
	for _, slots := range []int{math.MinInt, -1, 0, 2, math.MaxInt} {
		for _, keep := range []float64{math.Inf(-1), -1, 0, 0.5, 1, 7, math.Inf(1), math.NaN()} {
			g := ratelimit.NewGate(ratelimit.GateConfig{Slots: slots, ReservedShare: keep})
			ctx, cancel := context.WithCancel(t.Context())
			canceled := context.AfterFunc(ctx, func() {})
			_, err := g.Acquire(t.Context(), ratelimit.AcquireRequest{OnWait: func(ratelimit.Delay) {
				t.Errorf("%d slots, %v kept: it waits", slots, keep)
				g.Close()
			}})
			require.NoError(t, err, "%d slots, %v kept", slots, keep)
			canceled()
			cancel()
		}
	}
}
