package work_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// alerts collects what rules tell.
type alerts struct {
	mu  sync.Mutex
	all []work.Stuck
}

func (a *alerts) add(_ context.Context, s work.Stuck) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, s)
}

func (a *alerts) list() []work.Stuck {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]work.Stuck{}, a.all...)
}

// waiting returns an agent whose run waits for an approval.
func waiting(t *testing.T, store journal.Store) *agent.Agent {
	t.Helper()
	risky := tools.New(tools.Spec{Name: "pay", Risk: tools.High},
		func(context.Context, struct{}) (string, error) { return "paid", nil })
	a, err := agent.New(agent.Config{Name: "payer", Journal: store, Tools: []tools.Tool{risky},
		Provider: providertest.Script(providertest.Call("pay", struct{}{}), providertest.Say("paid"))})
	require.NoError(t, err)
	return a
}

func TestARunThatWaitsTooLongIsCanceledOnceAlsoIfLeadersDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, told := newWorld(t), new(alerts)
		rules := []work.Rule{{Status: agent.Paused, After: 24 * time.Hour, Do: work.Cancel, Alert: told.add}}
		a := waiting(t, w.store)
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		_, stop := w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Minute, Rules: rules})
		w.pass(23 * time.Hour)
		require.Equal(t, agent.Paused, w.status("s"))
		for range 2 { // leaders that die: they hold the lease, and do nothing any more
			stop()
			_, err := w.store.Lease(t.Context(), "work/rules", "dead", 30*time.Second)
			require.NoError(t, err)
			_, stop = w.run(work.Config{Agents: []*agent.Agent{waiting(t, w.store)}, Poll: time.Minute, Rules: rules})
			w.run(work.Config{Agents: []*agent.Agent{waiting(t, w.store)}, Poll: time.Minute, Rules: rules})
			w.pass(10 * time.Second)
		}
		require.Empty(t, told.list())
		w.pass(2 * time.Hour)
		require.Equal(t, agent.Stopped, w.status("s"))
		require.Len(t, told.list(), 1)
		require.NoError(t, told.list()[0].Err)
		require.Equal(t, []string{"s stopped"}, w.told)
	})
}

func TestARuleLeavesARunAloneThatHasSomethingInItsInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, told := newWorld(t), new(alerts)
		gone, other := waiting(t, w.store), w.agent("other") // no worker has the agent of the run any more
		res, err := gone.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		require.NoError(t, gone.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
		w.run(work.Config{Agents: []*agent.Agent{other}, Poll: time.Minute,
			Rules: []work.Rule{{Status: agent.Paused, After: time.Hour,
				Do: work.Cancel, Alert: told.add}}})
		w.pass(3 * time.Hour)
		require.Empty(t, told.list())
		require.Equal(t, agent.Paused, w.status("s"))
	})
}

func TestARuleWarnsOncePerFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, told := newWorld(t), new(alerts)
		a, gone := waiting(t, w.store), w.agent("gone") // no worker has the agent of the runs
		panics := func(ctx context.Context, s work.Stuck) {
			told.add(ctx, s)
			panic("the pager is gone")
		}
		acme := agent.Input{Labels: map[string]string{"tenant": "acme"}}
		w.enqueue(gone, "later", acme, agent.QueueOptions{At: w.began.Add(3 * time.Hour)})
		w.enqueue(gone, "much later", acme, agent.QueueOptions{At: w.began.Add(100 * time.Hour)})
		w.enqueue(gone, "other", agent.Input{}, agent.QueueOptions{})
		w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Minute,
			Rules: []work.Rule{{Status: agent.Queued, After: time.Hour,
				Label: journal.Label{Key: "tenant", Value: "acme"}, Do: work.Warn, Alert: panics}}})
		w.pass(4*time.Hour - time.Minute)
		require.Empty(t, told.list(), "what waits for its time isn't stuck")
		w.pass(5 * time.Hour)
		require.Len(t, told.list(), 1)
		require.Equal(t, "later", told.list()[0].Session)
		require.True(t, told.list()[0].Since.Equal(w.began.Add(3*time.Hour)))
	})
}

func TestARuleRetriesRunsThatHaveFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, told := newWorld(t), new(alerts)
		a := w.agent("a")
		w.fails = 2
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Minute,
			Rules: []work.Rule{{Status: agent.Failed, After: time.Hour,
				Do: work.Retry, Alert: told.add}}})
		w.pass(5 * time.Hour)
		require.Equal(t, agent.Completed, w.status("s"))
		require.Len(t, told.list(), 2)
	})
}
