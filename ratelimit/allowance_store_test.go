package ratelimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/allowancetest"
)

func TestTheStoreOfAllowancesInMemory(t *testing.T) {
	allowancetest.Run(t, func(*testing.T) ratelimit.AllowanceStore { return ratelimit.NewAllowanceMemory(100) })
}

func TestAFullStoreDropsTheLeastRecentKeyWithoutAnOpenTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 1, Per: time.Minute}}, Concurrent: 1, MaxKeys: 3,
		})
		take := func(key string) (func(), error) { return a.Take(t.Context(), key) }
		known := func(key string) bool {
			status, err := a.Status(t.Context(), key)
			require.NoError(t, err)
			return status[0].Remaining == 0
		}
		_, err := take("open") // and stays open
		require.NoError(t, err)
		for _, key := range []string{"first", "second", "third"} {
			release, err := take(key)
			require.NoError(t, err)
			release()
		}
		require.Equal(t, []bool{true, false, true, true},
			[]bool{known("open"), known("first"), known("second"), known("third")})

		for _, key := range []string{"fourth", "fifth"} {
			_, err := take(key)
			require.NoError(t, err)
		}
		_, err = take("sixth")
		require.ErrorIs(t, err, ratelimit.ErrAllowanceFull)
		require.Equal(t, fault.RateLimited, fault.Of(err))
		pass(time.Hour)
		_, err = take("sixth")
		require.NoError(t, err)
	})
}
