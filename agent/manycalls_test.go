package agent_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A weighed store counts what is written to it.
type weighed struct {
	journal.Store
	appends, records, bytes int
	open                    int // entries in heads
}

func (w *weighed) Append(ctx context.Context, app journal.Append) error {
	w.appends++
	w.records += len(app.Records)
	for _, r := range app.Records {
		w.bytes += len(r.Data)
	}
	if app.Head != nil {
		w.open += len(app.Head.Open)
	}
	return w.Store.Append(ctx, app)
}

// manyCalls runs an agent whose model makes n calls in one reply. It returns what was written, and
// the bytes that were allocated.
func manyCalls(t testing.TB, n int, spec tools.Spec, want agent.Status) (w *weighed, allocated uint64) {
	t.Helper()
	var calls []providertest.CallSpec
	for i := range n {
		calls = append(calls, providertest.CallSpec{Tool: "work", Input: Number{i}})
	}
	spec.Name = "work"
	w = &weighed{Store: &journal.MapStore{}}
	a := newAgent(t, agent.Config{
		Provider: providertest.Script(providertest.Calls(calls...), say("Done.")), Journal: w,
		Tools:  []tools.Tool{tools.New(spec, func(context.Context, Number) (string, error) { return "ok", nil })},
		Limits: agent.Limits{ReplyCalls: -1, ReplyBytes: -1, Repeats: -1, Tokens: -1},
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := run(t, a)
	runtime.ReadMemStats(&after)
	require.Equal(t, want, res.Status)
	return w, after.TotalAlloc - before.TotalAlloc
}

// Without Limits.ReplyCalls, which is 128 by default, a reply may have any number of calls.
func TestWhatManyCallsOfAReplyCostIsProportionalToTheirNumber(t *testing.T) {
	for name, c := range map[string]struct {
		spec tools.Spec
		want agent.Status
	}{
		"calls that run":  {tools.Spec{Inline: true}, agent.Completed},
		"calls that wait": {tools.Spec{Risk: tools.High}, agent.Paused},
	} {
		t.Run(name, func(t *testing.T) {
			few, fewBytes := manyCalls(t, 500, c.spec, c.want)
			many, manyBytes := manyCalls(t, 1000, c.spec, c.want)
			require.LessOrEqual(t, many.appends, 2*few.appends)
			require.LessOrEqual(t, many.records, 2*few.records)
			require.LessOrEqual(t, many.bytes, 5*few.bytes/2)
			require.LessOrEqual(t, many.open, 2*few.open)
			if c.want == agent.Completed {
				require.LessOrEqual(t, manyBytes, 3*fewBytes, "bytes allocated")
			}
		})
	}
}

// BenchmarkManyCalls prints how long a reply of 32,000 calls takes, and one of 2,000 calls that
// wait for approval.
func BenchmarkManyCalls(b *testing.B) {
	for n, c := range map[int]struct {
		spec tools.Spec
		want agent.Status
	}{32_000: {tools.Spec{Inline: true}, agent.Completed}, 2_000: {tools.Spec{Risk: tools.High}, agent.Paused}} {
		b.Run(fmt.Sprint(n, " ", c.want), func(b *testing.B) {
			began := time.Now()
			for b.Loop() {
				manyCalls(b, n, c.spec, c.want)
			}
			b.ReportMetric(float64(time.Since(began).Microseconds())/float64(b.N*n), "µs/call")
		})
	}
}
