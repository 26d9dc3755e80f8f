package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

func TestCancelingALeasesContextKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1})
		late := errors.New("late")
		first, err := gate.Acquire(t.Context(), ratelimit.AcquireRequest{})
		require.NoError(t, err)
		waited := make(chan ratelimit.Lease)
		go func() {
			lease, err := gate.Acquire(t.Context(), ratelimit.AcquireRequest{})
			require.NoError(t, err)
			waited <- lease
		}()
		synctest.Wait()
		first.CancelFunc()(late)
		require.Equal(t, late, context.Cause(first.Context()))
		require.False(t, first.Preempted())
		require.Equal(t, 1, gate.Snapshot().Queued)
		first.Release(ratelimit.Outcome{})
		second := <-waited // whose context comes the other way
		require.NoError(t, second.Context().Err())
		second.CancelFunc()(late)
		require.Equal(t, late, context.Cause(second.Context()))
		second.Release(ratelimit.Outcome{})
		require.Nil(t, second.CancelFunc())
		require.Nil(t, ratelimit.Lease{}.CancelFunc())
	})
}
