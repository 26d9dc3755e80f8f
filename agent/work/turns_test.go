package work_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
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

func TestARunGoesOnAtOnceAfterALeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store = &slow{Store: w.store}
		look := tools.New(tools.Spec{Name: "look"},
			func(context.Context, struct{}) (string, error) { return "ok", nil })
		a, err := agent.New(agent.Config{Name: "a", Journal: w.store, Tools: []tools.Tool{look},
			Provider: providertest.Script(providertest.Call("look", struct{}{}), providertest.Call("look", struct{}{}),
				providertest.Say("done"))})
		require.NoError(t, err)
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Hour, Leg: agent.Leg{Steps: 1}})
		w.pass(time.Minute)
		require.Equal(t, []string{"s completed"}, w.told)
	})
}

// A slow store takes a millisecond to read a head, and counts that.
type slow struct {
	journal.Store
	heads atomic.Int64
}

func (s *slow) Head(ctx context.Context, session string) (journal.Head, error) {
	s.heads.Add(1)
	<-time.After(time.Millisecond)
	return s.Store.Head(ctx, session)
}

func TestAWorkerWhoseAgentIsDrainedDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := &slow{Store: w.store}
		w.enqueue(w.agent("a"), "s", agent.Input{}, agent.QueueOptions{})
		w.store = store
		a := w.agent("a")
		require.NoError(t, a.Drain(t.Context()))
		w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Second})
		w.pass(time.Minute)
		require.Less(t, store.heads.Load(), int64(200))
	})
}

// interrupted drives a run until its process ends in a model call.
func (w *world) interrupted(a *agent.Agent, in agent.Work) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
	defer cancel()
	_, err := a.Advance(ctx, in, agent.Leg{Grace: time.Second})
	require.NoError(w.t, err)
}

func TestARunThatWasNotQueuedIsResumedByItsOwnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.interrupted(w.agent("b"), agent.Input{Session: "s", Key: "k", Prompt: "go"})
		require.Equal(t, agent.Running, w.status("s"))
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a"), w.agent("b")}})
		w.pass(2 * time.Minute)
		require.Equal(t, agent.Completed, w.status("s"))
	})
}

func TestTheEndsOfOtherAgentsRunsAreLeftToTheirWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.agent("b")
		w.enqueue(b, "s", agent.Input{}, agent.QueueOptions{})
		_, err := b.Advance(t.Context(), agent.Continue("s"), agent.Leg{})
		require.NoError(t, err)
		_, stop := w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}})
		w.pass(time.Minute)
		require.Empty(t, w.told)
		stop()
		w.run(work.Config{Agents: []*agent.Agent{b}})
		w.pass(time.Minute)
		require.Equal(t, []string{"s completed"}, w.told)
	})
}

func TestARunThatCannotStartTakesNoPlaceOfItsLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		acme := agent.Input{Labels: map[string]string{"tenant": "acme"}}
		w.enqueue(w.agent(""), "no worker has its agent", acme, agent.QueueOptions{})
		w.pass(time.Second)
		w.enqueue(w.agent("a"), "s", acme, agent.QueueOptions{})
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}, PerLabel: map[string]int{"tenant": 1}})
		w.pass(5 * time.Minute)
		require.Equal(t, []string{"s completed"}, w.told)
	})
}

func TestLongQueuesOfOthersKeepNoRunWaiting(t *testing.T) {
	for _, c := range []struct{ agent, tenant string }{{"other", "zoo"}, {"a", "acme"}} {
		t.Run(c.agent, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a := w.agent("a")
				w.enqueue(a, "first", agent.Input{Labels: map[string]string{"tenant": "acme"}}, agent.QueueOptions{})
				w.interrupted(a, agent.Continue("first"))
				lease, err := w.store.Lease(t.Context(), "first", "a process that drives it", time.Hour)
				require.NoError(t, err)
				defer func() { require.NoError(t, w.store.Release(context.Background(), lease)) }()
				other := w.agent(c.agent)
				for i := range 1001 {
					w.enqueue(other, fmt.Sprint("x-", i), agent.Input{Labels: map[string]string{"tenant": c.tenant}},
						agent.QueueOptions{})
				}
				w.pass(time.Second)
				w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
				w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Minute, PerLabel: map[string]int{"tenant": 1}})
				w.pass(3 * time.Minute)
				require.Equal(t, []string{"s completed"}, w.told)
			})
		})
	}
}

// A failing store can't list runs that have failed, for a while.
type failing struct {
	journal.Store
	times int
}

func (s *failing) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	if f.Status == string(agent.Failed) && s.times > 0 {
		s.times--
		return func(yield func(journal.Head, error) bool) { yield(journal.Head{}, errors.New("the database is down")) }
	}
	return s.Store.Heads(ctx, f)
}

func TestARuleWarnsOnceAlsoIfTheCheckIsNotFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, told := newWorld(t), new(alerts)
		w.store = &failing{Store: w.store, times: 9}
		w.enqueue(w.agent("gone"), "s", agent.Input{}, agent.QueueOptions{})
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}, Poll: time.Minute, Rules: []work.Rule{
			{Status: agent.Queued, After: time.Minute, Do: work.Warn, Alert: told.add},
			{Status: agent.Failed, After: time.Minute, Do: work.Warn}}})
		w.pass(time.Hour)
		require.Len(t, told.list(), 1)
	})
}
