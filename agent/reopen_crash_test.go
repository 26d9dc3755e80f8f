package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// nestedWorkers returns what strictWorker does, with the tool in the innermost of deep agents below
// each.
func nestedWorkers(t *testing.T, store journal.Store, deep int, done *effects) (worker, desk *agent.Agent) {
	t.Helper()
	build := func(spec tools.Spec) *agent.Agent {
		a := newAgent(t, agent.Config{Name: "child", Provider: inTurn(calls("risky", 1, 2), say("I did.")),
			Tools: []tools.Tool{done.tool(spec)}})
		for range deep - 1 {
			a = newAgent(t, agent.Config{Name: "child", Provider: inTurn(task("child", "x"), say("It did.")),
				Tools: []tools.Tool{agent.AsTool(a, tools.Spec{Description: "x"})}})
		}
		return newAgent(t,
			agent.Config{Name: "parent", Journal: store, Provider: inTurn(task("child", "x"), say("Done.")),
				Tools: []tools.Tool{agent.AsTool(a, tools.Spec{Description: "x"})}})
	}
	return build(upTo("9")), build(upTo("99"))
}

func TestAPauseOfASubagentOpensAgain(t *testing.T) {
	for _, deep := range []int{1, 3} {
		store := &journal.MapStore{}
		var done effects
		worker, desk := nestedWorkers(t, store, deep, &done)
		p := run(t, worker).Pending
		require.Len(t, p, 2)
		require.NoError(t,
			desk.Session("s").Decide(t.Context(), agent.Edit(p[0].ID, Number{50}), agent.Approve(p[1].ID)))
		all, err := events(worker.Stream(t.Context(), agent.Continue("s")))
		require.NoError(t, err)
		end := of[*agent.RunEnded](all)[0].Result
		now := requireReopened(t, worker, p[0])
		require.Len(t, now.Path, deep)
		require.Equal(t, []agent.Pause{now}, end.Pending)
		shown := of[*agent.Suspended](all)
		require.Len(t, shown, 1)
		require.Equal(t, now, shown[0].Pause)
		require.Equal(t, 1, done.of(2), "the other decision is taken")
		require.Equal(t, 1, done.all())
		require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(now.ID, Number{5})))
		require.Equal(t, "Done.", runInput(t, worker, agent.Continue("s")).Text())
		require.Equal(t, 1, done.of(5))
		require.Equal(t, 2, done.all())
		requireSound(t, "s", facts(t, worker, "s"))
	}
}

// crashes runs a test whose worker's store dies at each append in turn, before and after it is
// kept. prepare runs before that, with a worker whose store lives. The session must then be left as
// if nothing had happened: then goes on from there.
func crashes(t *testing.T, build func(t *testing.T, store journal.Store) (worker, desk *agent.Agent),
	prepare func(t *testing.T, worker, desk *agent.Agent), then func(t *testing.T, worker *agent.Agent)) (n int) {
	for at, over := 1, false; !over; at++ {
		for _, kept := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				worker, desk := build(t, store)
				prepare(t, worker, desk)
				dying := &weak{Store: store, at: at, kept: kept, err: death, lasts: true}
				worker, _ = build(t, dying)
				_, _ = worker.Run(t.Context(), agent.Continue("s"))
				if over = !dying.dead(); over {
					return
				}
				n++
				<-time.After(time.Minute) // the lease ends
				worker, _ = build(t, store)
				_, err := worker.Run(t.Context(), agent.Continue("s"))
				if err != nil {
					require.ErrorAs(t, err, new(*agent.PausedError), "append %d", at)
				}
				then(t, worker)
				requireSound(t, "s", facts(t, worker, "s"))
			})
		}
	}
	return n
}

func TestAPauseOpensAgainOnceThoughTheWorkerDies(t *testing.T) {
	var done *effects
	var old agent.Pause
	build := func(t *testing.T, store journal.Store) (worker, desk *agent.Agent) {
		worker, desk, done = strictWorker(t, agent.Config{Journal: store}, calls("risky", 1, 2), say("Done."))
		return worker, desk
	}
	n := crashes(t, build, func(t *testing.T, worker, desk *agent.Agent) {
		p := run(t, worker).Pending
		old = p[0]
		require.NoError(t,
			desk.Session("s").Decide(t.Context(), agent.Edit(old.ID, Number{50}), agent.Reject(p[1].ID, "no")))
	}, func(t *testing.T, worker *agent.Agent) {
		now := requireReopened(t, worker, old)
		require.Equal(t, []string{old.ID}, now.Replaces)
		opened := 0
		for _, f := range facts(t, worker, "s") {
			if f, ok := f.(*agent.Suspended); ok && len(f.Pause.Replaces) > 0 {
				opened++
			}
		}
		require.Equal(t, 1, opened)
		require.Equal(t, "Done.", runInput(t, worker, agent.Resume("s", agent.Approve(now.ID))).Text())
		require.Equal(t, []int{1, 1}, []int{done.all(), done.of(1)})
	})
	require.GreaterOrEqual(t, n, 4)
}

func TestAPauseOfASubagentOpensAgainOnceThoughTheWorkerDies(t *testing.T) {
	for _, deep := range []int{1, 2} {
		var done effects
		var p []agent.Pause
		build := func(t *testing.T, store journal.Store) (worker, desk *agent.Agent) {
			return nestedWorkers(t, store, deep, &done)
		}
		n := crashes(t, build, func(t *testing.T, worker, desk *agent.Agent) {
			p = run(t, worker).Pending
			require.NoError(t,
				desk.Session("s").Decide(t.Context(), agent.Edit(p[0].ID, Number{50}), agent.Reject(p[1].ID, "no")))
		}, func(t *testing.T, worker *agent.Agent) {
			now := requireReopened(t, worker, p[0])
			require.Equal(t, []string{p[0].ID}, now.Replaces)
			before := done.all()
			require.Equal(t, "Done.", runInput(t, worker, agent.Resume("s", agent.Approve(now.ID))).Text())
			require.Equal(t, before+1, done.all())
		})
		require.GreaterOrEqual(t, n, 10)
	}
}

func TestAPauseOfAnAlteredLogDoesNotOpenAgain(t *testing.T) {
	store := &journal.MapStore{}
	first, _, _ := strictWorker(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
	old := run(t, first).Pending[0]
	forged := &journal.MapStore{}
	seq := uint64(0)
	lease, err := forged.Lease(t.Context(), "s", "x", time.Minute)
	require.NoError(t, err)
	for rec, err := range store.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		f, err := machine.Decode("s", rec)
		require.NoError(t, err)
		if f, ok := f.(*agent.Suspended); ok {
			f.Pause.Call.Input = []byte(`{"n":2}`)
			rec, err = machine.Encode(f)
			require.NoError(t, err)
		}
		require.NoError(t, forged.Append(t.Context(),
			journal.Append{Session: "s", After: seq, Fence: lease.Fence, Records: []journal.Record{rec}}))
		seq++
	}
	require.NoError(t, forged.Release(t.Context(), lease))
	worker, desk, done := strictWorker(t, agent.Config{Journal: forged}, call("risky", 1), say("Done."))
	postRaw(t, forged, agent.Approve(old.ID))
	_, err = worker.Run(t.Context(), agent.Continue("s"))
	require.ErrorAs(t, err, new(*agent.PausedError))
	pending, err := desk.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Equal(t, old.ID, pending[0].ID)
	require.Zero(t, done.all())
}

func TestAPauseIsDecidedByResumeThoughADecisionOnItCannotBeRead(t *testing.T) {
	store := &journal.MapStore{}
	worker, _, done := strictWorker(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
	p := run(t, worker).Pending[0]
	require.NoError(t,
		store.Post(t.Context(), "s", journal.Item{ID: "d-1", Kind: "decide", Time: time.Now().UTC(),
			Data: []byte("no JSON"), Closes: []string{p.ID}}))
	require.Equal(t, "Done.", runInput(t, worker, agent.Resume("s", agent.Approve(p.ID))).Text())
	require.Equal(t, 1, done.of(1))
}

func TestADecisionOnTheCallOfASubagentItselfChangesNothing(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	worker, _ := nestedWorkers(t, store, 1, &done)
	p := run(t, worker).Pending
	var own string
	for _, f := range facts(t, worker, "s") {
		if f, ok := f.(*agent.Suspended); ok {
			own = f.Pause.ID
		}
	}
	postRaw(t, store, agent.Approve(own))
	_, err := worker.Run(t.Context(), agent.Continue("s"))
	var paused *agent.PausedError
	require.ErrorAs(t, err, &paused)
	require.Equal(t, p, paused.Pending)
	require.Equal(t, "Done.",
		runInput(t, worker, agent.Resume("s", agent.Approve(p[0].ID), agent.Approve(p[1].ID))).Text())
	require.Equal(t, 2, done.all())
}
