package work_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/work"
)

// done returns what a call for many sessions has done, and what it has left alone.
func done(all iter.Seq2[agent.SessionInfo, error]) (names []string, left map[string]error) {
	left = make(map[string]error)
	for info, err := range all {
		if err != nil {
			left[info.Session] = err
		} else {
			names = append(names, info.Session)
		}
	}
	slices.Sort(names)
	return names, left
}

func TestManySessionsAreRetriedCanceledAndDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fails = 6
		a := w.agent("a")
		for i := range 6 {
			tenant := map[string]string{"tenant": []string{"acme", "zoo"}[i%2]}
			w.enqueue(a, fmt.Sprint("s", i), agent.Input{Labels: tenant}, agent.QueueOptions{})
		}
		w.enqueue(a, "unqueued", agent.Input{}, agent.QueueOptions{At: time.Now().Add(1000 * time.Hour)})
		require.NoError(t, a.Session("unqueued").Cancel(t.Context()))
		worker, _ := w.run(work.Config{Agents: []*agent.Agent{a}})
		w.pass(10 * time.Minute)
		acme := agent.SessionFilter{Label: journal.Label{Key: "tenant", Value: "acme"}}

		at := time.Now().Add(time.Hour)
		names, left := done(worker.RetryAll(t.Context(), acme, at))
		require.Equal(t, []string{"s0", "s2", "s4"}, names)
		require.Empty(t, left)
		names, _ = done(worker.RetryAll(t.Context(), acme, at))
		require.Empty(t, names, "they haven't failed any more")
		w.pass(30 * time.Minute)
		require.Len(t, w.starts, 6, "not before their time")
		require.Equal(t, agent.Failed, w.status("s1"))

		acme.Status, acme.Limit = agent.Queued, 2
		for range worker.CancelAll(t.Context(), acme) {
			break // it is left, and goes on
		}
		names, left = done(worker.CancelAll(t.Context(), acme))
		require.Len(t, names, 2)
		require.Empty(t, left)
		w.pass(time.Hour)
		require.Len(t, w.starts, 6)
		require.Equal(t, agent.Stopped, w.status("s2"))

		require.NoError(t, worker.RetryAt(t.Context(), "s1", time.Now().Add(time.Minute)))
		w.pass(30 * time.Second)
		require.Equal(t, agent.Queued, w.status("s1"))
		w.pass(2 * time.Minute)
		require.Equal(t, agent.Completed, w.status("s1"))

		names, left = done(worker.DeleteAll(t.Context(), agent.SessionFilter{Status: agent.Stopped}))
		require.Equal(t, []string{"s0", "s2", "s4", "unqueued"}, names)
		require.Empty(t, left)
		_, err := w.store.Head(t.Context(), "s0")
		require.ErrorIs(t, err, journal.ErrNoSession)
	})
}

func TestWhatCannotBeDoneForASessionIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fails = 1
		a := w.agent("a")
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		worker, err := work.New(work.Config{Agents: []*agent.Agent{a}})
		require.NoError(t, err)
		names, left := done(worker.RetryAll(t.Context(), agent.SessionFilter{}, time.Time{}))
		require.Empty(t, names)
		require.ErrorIs(t, left["s"], machine.ErrCannotRetry)
		_, left = done(worker.RetryAll(t.Context(), agent.SessionFilter{}, time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)))
		require.ErrorAs(t, left["s"], new(*agent.ArgError))
		for _, all := range []iter.Seq2[agent.SessionInfo, error]{
			worker.DeleteAll(t.Context(), agent.SessionFilter{Limit: 3}),
			worker.CancelAll(t.Context(), agent.SessionFilter{}),
			worker.CancelAll(t.Context(), agent.SessionFilter{Status: agent.Failed}),
			(*work.Worker)(nil).DeleteAll(t.Context(), agent.SessionFilter{Prefix: "s"})} {
			names, left = done(all)
			require.Empty(t, names)
			require.ErrorAs(t, left[""], new(*agent.ArgError))
		}
		require.Equal(t, agent.Failed, w.status("s"))
	})
}
