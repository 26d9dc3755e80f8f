package river_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// hasten is a process that does runs of three model calls and two effects, as fast as it can, until
// its input ends.
func hasten(args []string) error {
	ctx := context.Background()
	w, err := openWorld(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	defer w.Close()
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		if len(req.Messages) < 5 {
			return providertest.Call("draft", page{fmt.Sprint(len(req.Messages))}).Response(), nil
		}
		return providertest.Say("Done.").Response(), nil
	})
	a, err := w.agent(agent.Config{Provider: model}, func() {})
	if err != nil {
		return err
	}
	rc, cfg := riverConfig(16), w.config(a)
	cfg.Watch, cfg.Leg = 0, agent.Leg{}
	if err := pawlriver.Configure(rc, cfg); err != nil {
		return err
	}
	return w.serve(ctx, rc)
}

// BenchmarkRuns measures runs a second with one, two and four worker processes. With -deep N there
// are N jobs in the queue besides, which come later.
//
//	go test -run '^$' -bench Runs -benchtime 1000x -deep 100000 .
func BenchmarkRuns(b *testing.B) {
	for _, workers := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			w := newWorld(b)
			w.exec(b, `INSERT INTO river_job (kind, args, max_attempts, priority, unique_key, unique_states)
				SELECT 'pawl.leg', jsonb_build_object('session', 'deep-' || n, 'agent', 'writer', 'key', n::text, 'input',
					'{"Key":"first","Prompt":"Publish a page.","Session":"deep-' || n || '"}'), 25, 4, sha256(n::text::bytea),
					B'11111000' FROM generate_series(1, $1::int) n`, *deep)
			w.exec(b, "ANALYZE river_job")
			c := w.client(b)
			all := make([]*roletest.Process, workers)
			for i := range all {
				all[i] = roletest.Start(b, "hasten", w.dsn, w.schema)
			}
			for _, p := range all {
				require.Equal(b, "started", p.Line())
			}
			b.ResetTimer()
			began := time.Now()
			require.NoError(b, pgx.BeginFunc(b.Context(), w.pool, func(tx pgx.Tx) error {
				for n := range b.N {
					err := pawlriver.Enqueue(b.Context(), tx, c, "writer",
						agent.Input{Session: fmt.Sprint("s-", n), Key: "first", Prompt: "Publish a page."}, nil)
					if err != nil {
						return err
					}
				}
				return nil
			}))
			for w.count(b, "SELECT count(*) FROM ended WHERE session LIKE 's-%'") < b.N {
				<-time.After(10 * time.Millisecond)
			}
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "runs/s")
			b.StopTimer()
			for _, p := range all {
				p.Kill(b)
			}
			require.Zero(b, w.count(b, "SELECT count(*) FROM effects WHERE times > 1"))
		})
	}
}
