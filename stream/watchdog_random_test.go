package stream_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream"
)

// TestAWatchdogKeepsToTheLimitsOfEachOfItsCalls makes random calls; limits of earlier calls must
// have no effect.
func TestAWatchdogKeepsToTheLimitsOfEachOfItsCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	limit := func() time.Duration {
		return []time.Duration{0, -1, time.Second, 7 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute,
			1<<63 - 1}[r.IntN(8)]
	}
	for range 60 {
		synctest.Test(t, func(t *testing.T) {
			var dog stream.Watchdog
			for range 60 {
				<-time.After(time.Duration(r.Int64N(int64([]time.Duration{2, time.Second, time.Hour}[r.IntN(3)]))))
				watched(t, r, &dog, stream.Timeouts{First: limit(), Idle: limit(), Total: limit()})
			}
			require.Equal(t, dog.End(), dog.End())
		})
	}
}

// watched makes a call of some chunks and waits for its limit, if it has one.
func watched(t *testing.T, r *rand.Rand, dog *stream.Watchdog, limits stream.Timeouts) {
	began := time.Now()
	ctx := dog.Begin(t.Context(), limits)
	first := limits.First
	if first <= 0 {
		first = limits.Idle
	}
	shortest := time.Duration(0)
	for _, d := range []time.Duration{first, limits.Idle, limits.Total} {
		if d > 0 && (shortest == 0 || d < shortest) {
			shortest = d
		}
	}
	last, silence := began, first
	chunks := r.IntN(4)
	for range chunks {
		if shortest > 0 {
			if d := time.Duration(r.Int64N(int64(min(shortest, time.Hour)))); d > 0 {
				<-time.After(d / 8) // too little for any limit
			}
		}
		chunk := start
		dog.Hold(&chunk)
		dog.Wait()
		last, silence = time.Now(), limits.Idle
	}
	if r.IntN(2) == 0 || shortest == 0 || shortest > 1<<62 {
		require.NoError(t, ctx.Err())
		require.Nil(t, dog.End())
		require.Equal(t, context.Canceled, context.Cause(ctx))
		return
	}
	from, least, most := last, time.Duration(1<<62), time.Duration(1<<62)
	if silence > 0 && silence < most {
		if least, most = silence, silence; chunks > 0 { // looked for every quarter of the shorter limit
			most += silence/4 + 1
		}
	}
	if limits.Total > 0 {
		least, most = min(least, limits.Total-last.Sub(began)), min(most, limits.Total-last.Sub(began))
	}
	if least >= 1<<61 { // only First is limited, and it has passed
		require.Nil(t, dog.End())
		return
	}
	<-ctx.Done()
	took := time.Since(from)
	late := dog.End()
	require.NotNil(t, late)
	require.Equal(t, error(late), context.Cause(ctx))
	require.GreaterOrEqual(t, took, least, "%+v: %v", limits, late)
	require.LessOrEqual(t, took, most, "%+v: %v", limits, late)
}
