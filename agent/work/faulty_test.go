package work_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestWorkersOverAFaultyStoreRepeatNothingAndLoseNothing: each run ends, no effect is made twice,
// and the host is told of each end.
func TestWorkersOverAFaultyStoreRepeatNothingAndLoseNothing(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { overFaultyStore(t, seed) })
		})
	}
}

func overFaultyStore(t *testing.T, seed uint64) {
	const runs, perGroup = 12, 2
	inside := &journal.MapStore{}
	var mu sync.Mutex
	effects, told := make(map[string]int), make(map[string]bool)
	now, most := make(map[string]int), 0
	process := func(store journal.Store) *agent.Agent {
		pay := tools.New(tools.Spec{Name: "pay"}, func(ctx context.Context, _ struct{}) (string, error) {
			mu.Lock()
			effects[tools.IdempotencyKey(ctx)]++
			mu.Unlock()
			return "paid", nil
		})
		a, err := agent.New(agent.Config{Name: "a", Journal: store, NoGuard: true, Tools: []tools.Tool{pay},
			InDoubt: agent.TellInDoubt,
			Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
				group := req.Labels.Extra.Get("tenant")
				mu.Lock()
				now[group]++
				most = max(most, now[group])
				mu.Unlock()
				<-time.After(time.Second)
				mu.Lock()
				now[group]--
				mu.Unlock()
				if len(req.Messages) == 1 {
					return providertest.Call("pay", struct{}{}).Response(), nil
				}
				return providertest.Say("done").Response(), nil
			})})
		require.NoError(t, err)
		return a
	}
	healthy := process(inside)
	for i := range runs {
		group := fmt.Sprint("g", i%3)
		require.NoError(t, healthy.Enqueue(t.Context(), agent.Input{Session: fmt.Sprint("s", i), Prompt: "go",
			Labels: map[string]string{"tenant": group}}, agent.QueueOptions{Group: group, Attempts: 20}))
	}
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for n := range uint64(2) {
		faults := journaltest.Faults{Seed: 2*seed + n, Fail: .05, Keep: .05, Hang: .02, Slow: .1}
		store := journaltest.Faulty(inside, faults)
		w, err := work.New(work.Config{Agents: []*agent.Agent{process(store)}, PerGroup: perGroup,
			Ended: func(_ context.Context, r *agent.Result) error {
				mu.Lock()
				defer mu.Unlock()
				told[fmt.Sprint(r.Session, " ", r.Status)] = true
				return nil
			}})
		require.NoError(t, err)
		all.Go(func() {
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	<-time.After(6 * time.Hour)
	stop()
	all.Wait()
	for i := range runs {
		require.True(t, told[fmt.Sprint("s", i, " completed")], "s%d: %v", i, told)
	}
	require.Len(t, told, runs)
	require.NotEmpty(t, effects) // of a call that is in doubt it isn't known whether there was one
	for key, n := range effects {
		require.Equal(t, 1, n, key)
	}
	depths, err := inside.Depths(t.Context())
	require.NoError(t, err)
	require.Empty(t, depths)
	require.LessOrEqual(t, most, perGroup)
}
