package river_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestADecisionIsActedOnAlthoughWhoDecidedDiedBeforeWake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{PauseExpires: 24 * time.Hour}) // there is a job, which comes too late
	c := w.start(t, w.config(a))
	w.enqueue(t, c, "s")
	w.awaitStatus(t, "s", agent.Paused)
	w.approves(t, a, "s")
	w.await(t, 1, "SELECT count(*) FROM ended WHERE status = 'completed'")
}

func TestADiscardedJobIsNotAFailedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{})
	c := w.client(t)
	p, err := a.Advance(t.Context(), agent.Input{Session: "s", Key: "k", Prompt: "go"}, agent.Leg{Steps: 1})
	require.NoError(t, err)
	require.Equal(t, agent.NextAgain, p.Next)
	require.NoError(t, pawlriver.Wake(t.Context(), c, "s"))
	w.exec(t, "UPDATE river_job SET state = 'discarded', finalized_at = now(), attempt = 25")
	w.start(t, w.config(a))
	w.awaitStatus(t, "s", agent.Paused)
}

// dead makes a job look as if its worker had died a minute ago.
const dead = `UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 min',
	attempted_by = '{"dead"}' WHERE kind = 'pawl.leg'`

func TestARunWhoseWorkerDiedBeforeItStartedIsQueuedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{})
	w.enqueue(t, w.client(t), "s")
	w.exec(t, dead)
	w.start(t, w.config(a))
	w.awaitStatus(t, "s", agent.Paused)
	require.Zero(t, w.count(t, "SELECT count(*) FROM river_job WHERE state = 'running' AND attempted_by = '{dead}'"))
}

// TestALegThatKillsItsWorkersIsLeftToRiver: it has as many tries as the job has attempts.
func TestALegThatKillsItsWorkersIsLeftToRiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enqueue(t, w.client(t), "s")
	w.exec(t, "UPDATE river_job SET max_attempts = 3")
	w.watch(t, w.agentFor(t, agent.Config{}))
	for range 3 {
		w.await(t, 1, "SELECT count(*) FROM river_job WHERE kind = 'pawl.leg' AND state = 'available'")
		w.exec(t, dead+" AND state = 'available'")
	}
	w.await(t, 5, looked)
	require.Equal(t, 1, w.count(t, "SELECT count(*) FROM river_job WHERE kind = 'pawl.leg' AND state = 'running'"))
	require.Equal(t, 3, w.count(t, "SELECT count(*) FROM river_job WHERE kind = 'pawl.leg'"))
}

// looked selects how often somebody has looked for missing legs.
const looked = "SELECT count(*) FROM river_job WHERE kind = 'pawl.watch' AND state = 'completed'"

// watch starts a client that looks for missing legs, and does none, until the test ends.
func (w *world) watch(t *testing.T, a *agent.Agent) {
	t.Helper()
	rc := &river.Config{Queues: map[string]river.QueueConfig{}, TestOnly: true, Logger: quiet}
	require.NoError(t, pawlriver.ConfigureWatch(rc, w.config(a)))
	c, err := river.NewClient(riverpgxv5.New(w.pool), rc)
	require.NoError(t, err)
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() { require.NoError(t, c.StopAndCancel(context.Background())) })
}

// TestALegIsMissingOnlyIfNobodyWorksOnIt: neither a session that is held, nor one that has a job,
// nor one of another agent gets a job.
func TestALegIsMissingOnlyIfNobodyWorksOnIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{})
	c := w.client(t)
	w.enqueue(t, c, "held")
	w.exec(t, dead)
	held, err := w.store.Lease(t.Context(), "held", "somebody", time.Minute)
	require.NoError(t, err)
	require.NoError(t, w.store.Append(t.Context(), journal.Append{Session: "held", Fence: held.Fence,
		Head: &journal.HeadUpdate{Status: string(agent.Running)}}))
	for _, session := range []string{"queued", "other"} {
		b := a
		if session == "other" {
			b = w.agentFor(t, agent.Config{Name: "reader"})
		}
		_, err := b.Advance(t.Context(), agent.Input{Session: session, Key: "k", Prompt: "go"}, agent.Leg{Steps: 1})
		require.NoError(t, err)
	}
	require.NoError(t, pawlriver.Wake(t.Context(), c, "queued"))
	require.Equal(t, 2, w.count(t, "SELECT count(*) FROM river_job"))

	w.watch(t, a)
	w.await(t, 3, looked) // the second was a second after the sessions became due, at least
	require.Equal(t, 2, w.count(t, "SELECT count(*) FROM river_job WHERE kind = 'pawl.leg'"))

	w.exec(t, "DELETE FROM river_job WHERE kind = 'pawl.leg'")
	w.await(t, 1, "SELECT count(*) FROM river_job WHERE args->>'session' = 'queued'")
	require.Zero(t, w.count(t, looked+" AND errors IS NOT NULL"))
}

func TestManySessionsOfOthersKeepNoLegFromBeingFound(t *testing.T) {
	t.Parallel()
	w, store := newWorld(t), &journal.MapStore{}
	for i := range 1001 {
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: fmt.Sprint("other-", i),
			Head: &journal.HeadUpdate{Status: string(agent.Running)}}))
	}
	a := w.agentFor(t, agent.Config{Journal: store})
	_, err := a.Advance(t.Context(), agent.Input{Session: "s", Key: "k", Prompt: "go"}, agent.Leg{Steps: 1})
	require.NoError(t, err)
	w.watch(t, a)
	w.await(t, 1, "SELECT count(*) FROM river_job WHERE args->>'session' = 's'")
}

// A childless store keeps nothing of subagents any more, as if the process died before it got to
// that.
type childless struct {
	journal.Store
	dies atomic.Bool
}

func (s *childless) Append(ctx context.Context, a journal.Append) error {
	if s.dies.Load() && strings.HasPrefix(a.Session, machine.ChildPrefix) {
		return journal.ErrUnusable
	}
	return s.Store.Append(ctx, a)
}

func (s *childless) Release(ctx context.Context, l journal.Lease) error {
	if s.dies.Load() && strings.HasPrefix(l.Session, machine.ChildPrefix) {
		return journal.ErrUnusable
	}
	return s.Store.Release(ctx, l)
}

// TestASubagentWhoseCallerIsOverIsStoppedAndGetsNoLeg, also if its agent has legs of its own.
func TestASubagentWhoseCallerIsOverIsStoppedAndGetsNoLeg(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	store := &childless{Store: w.store}
	build := func(store journal.Store) (lead, helper *agent.Agent) {
		wait := tools.New(tools.Spec{Name: "wait"}, func(ctx context.Context, _ struct{}) (string, error) {
			store.(*childless).dies.Store(true)
			cancel()
			<-ctx.Done()
			return "", ctx.Err()
		})
		helper = w.agentFor(t, agent.Config{Name: "helper", Journal: store, Tools: []tools.Tool{wait},
			Provider: providertest.Script(providertest.Call("wait", struct{}{}))})
		return w.agentFor(t, agent.Config{Name: "lead", Journal: store,
			Tools:    []tools.Tool{agent.AsTool(helper, tools.Spec{Name: "help"})},
			Provider: providertest.Script(providertest.Call("help", agent.Task{Task: "Help."}))}), helper
	}
	lead, _ := build(store)
	_, err := lead.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
	require.ErrorIs(t, err, context.Canceled)
	child := ""
	for h, err := range w.store.Heads(t.Context(), journal.Filter{Parent: "s"}) {
		require.NoError(t, err)
		require.Equal(t, string(agent.Running), h.Status)
		child = h.Session
	}

	lead, helper := build(w.store)
	cfg := w.config(lead)
	cfg.Agents = append(cfg.Agents, helper)
	w.start(t, cfg)
	w.awaitStatus(t, child, agent.Stopped)
	require.Zero(t, w.count(t, "SELECT count(*) FROM river_job WHERE kind = 'pawl.leg'"))
}
