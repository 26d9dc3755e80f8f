package tools_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

// TestACallKeepsToItsTimeLimitHoweverOftenProgressMovesIt: at random.
func TestACallKeepsToItsTimeLimitHoweverOftenProgressMovesIt(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	short := func() time.Duration { return time.Duration(r.Int64N(int64(40 * time.Second))) }
	for range 40 {
		synctest.Test(t, func(t *testing.T) {
			for range 30 {
				<-time.After(short() * time.Duration(r.IntN(3)))
				spec := tools.Spec{Timeout: []time.Duration{1, time.Second, 20 * time.Second, time.Minute, time.Hour,
					1<<63 - 1}[r.IntN(6)], Progress: r.IntN(2) == 0}
				limit, returns, told := spec.Timeout, r.IntN(3) == 0, 0
				d := define(t, raw(spec, func(ctx context.Context) (tools.Result, error) {
					began := time.Now()
					for range r.IntN(5) {
						<-time.After(short())
						took := time.Since(began)
						if tools.Progress(ctx, tools.ProgressReport{}); spec.Progress && took < limit {
							limit = max(limit, min(took+tools.ProgressExtends, max(tools.ProgressLimit, spec.Timeout)))
						}
					}
					if took := time.Since(began); took == limit {
						<-time.After(1)
					}
					require.Equal(t, time.Since(began) > limit, ctx.Err() != nil)
					if !returns && limit < 1<<62 {
						<-ctx.Done()
					}
					return tools.Result{}, ctx.Err()
				}))
				began, rang := time.Now(), time.Duration(0)
				out := tools.Execute(t.Context(), d, &tools.Call{OnTimeout: func(*tools.Call) {
					told++
					rang = time.Since(began)
				}}, nil)
				require.LessOrEqual(t, told, 1)
				if require.Equal(t, out.Status == tools.TimedOut, told == 1, "%+v", spec); told == 1 {
					require.Equal(t, limit, rang)
				}
			}
		})
	}
}
