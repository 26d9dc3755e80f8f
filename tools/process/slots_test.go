package process_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/process"
)

func TestSlotsAreTwoForEachCPU(t *testing.T) {
	require.Equal(t, 2*runtime.NumCPU(), process.NewSlots(0).Free())
	require.Equal(t, 3, process.NewSlots(3).Free())
}

func TestACallWaitsHalfAMinuteForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := process.NewSlots(1)
		require.NoError(t, s.Acquire(t.Context(), 0))
		began := time.Now()
		err := s.Acquire(t.Context(), 0)
		require.Equal(t, fault.RateLimited, fault.Of(err))
		require.Equal(t, process.SlotWait, time.Since(began))
		require.Error(t, s.Acquire(t.Context(), -1))
		require.Equal(t, process.SlotWait, time.Since(began))

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, s.Acquire(ctx, 0), context.Canceled)
	})
}

func TestSlotsAreGivenInTheOrderOfTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := process.NewSlots(1)
		require.NoError(t, s.Acquire(t.Context(), 0))
		got := make(chan int, 10)
		for i := range 10 {
			go func() {
				if s.Acquire(t.Context(), 0) == nil {
					got <- i
					s.Release()
				}
			}()
			synctest.Wait()
		}
		s.Release()
		for i := range 10 {
			require.Equal(t, i, <-got)
		}
	})
}
