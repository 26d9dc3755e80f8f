package river_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// agentFor returns an agent of the world.
func (w *world) agentFor(t testing.TB, cfg agent.Config) *agent.Agent {
	t.Helper()
	a, err := w.agent(cfg, func() {})
	require.NoError(t, err)
	return a
}

// approves approves what a session waits for, and dies before it wakes the session.
func (w *world) approves(t testing.TB, a *agent.Agent, session string) {
	t.Helper()
	pending, err := a.Session(session).Pending(t.Context())
	require.NoError(t, err)
	require.Len(t, pending, 1)
	require.NoError(t, a.Session(session).Decide(t.Context(), agent.Approve(pending[0].ID).By("ann")))
}

const completed = "SELECT count(*) FROM river_job WHERE kind = 'pawl.leg' AND state = 'completed'"

func TestOneJobIsOneLeg(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{})
	cfg := w.config(a)
	cfg.Leg = agent.Leg{Steps: 1}
	c := w.start(t, cfg)
	err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		return pawlriver.Enqueue(t.Context(), tx, c, "writer", agent.Input{Session: "s", Key: "k", Prompt: "go"},
			&river.InsertOpts{Priority: 2, MaxAttempts: 7, Tags: []string{"tenant"}})
	})
	require.NoError(t, err)
	w.awaitStatus(t, "s", agent.Paused)
	w.await(t, 3, completed)
	w.approves(t, a, "s")
	require.NoError(t, pawlriver.Wake(t.Context(), c, "s"))
	w.await(t, 1, "SELECT count(*) FROM ended WHERE session = 's' AND status = 'completed' AND times = 1")
	w.await(t, 4, completed)
	require.Equal(t, 1, w.count(t, "SELECT count(*) FROM river_job WHERE args->>'input' LIKE '%Prompt%'"),
		"the first has the prompt")
	require.Equal(t, 3, w.count(t,
		"SELECT count(*) FROM river_job WHERE priority = 2 AND max_attempts = 7 AND tags = '{tenant}'"))
	require.Equal(t, effectsOfRun, w.count(t, "SELECT count(*) FROM effects WHERE times = 1"))
}

func TestAJobThatComesLateReportsItsOwnRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{})
	c := w.start(t, w.config(a))
	_, err := a.Advance(t.Context(), agent.Input{Session: "s", Key: "first", Prompt: "go"}, agent.Leg{Steps: 3})
	require.NoError(t, err)
	w.approves(t, a, "s")
	_, err = a.Run(t.Context(), agent.Continue("s"))
	require.NoError(t, err)
	first, err := a.Session("s").Result(t.Context())
	require.NoError(t, err)
	_, err = a.Advance(t.Context(), agent.Input{Session: "s", Key: "second", Prompt: "go"}, agent.Leg{Steps: 1})
	require.NoError(t, err)
	_, err = c.Insert(t.Context(), pawlriver.LaterLeg("s", "writer", "first"), nil)
	require.NoError(t, err)
	w.await(t, 1, "SELECT count(*) FROM ended WHERE start = $1", int64(first.Start))
}

func TestADecisionIsActedOnAlthoughAJobWaitsForTheExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{PauseExpires: 24 * time.Hour})
	c := w.start(t, w.config(a))
	w.enqueue(t, c, "s")
	w.await(t, 1, "SELECT count(*) FROM river_job WHERE state = 'scheduled' AND scheduled_at > now() + interval '23 h'")
	w.approves(t, a, "s")
	require.NoError(t, pawlriver.Wake(t.Context(), c, "s"))
	w.await(t, 1, "SELECT count(*) FROM ended WHERE status = 'completed'")
}

// A downStore can't give leases while it is down.
type downStore struct {
	journal.Store
	down atomic.Bool
}

func (s *downStore) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if s.down.Load() {
		return journal.Lease{}, errors.New("the store is down")
	}
	return s.Store.Lease(ctx, session, owner, ttl)
}

func TestAnErrorFromBeforeAnythingWasRecordedIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := &downStore{Store: w.store}
	store.down.Store(true)
	c := w.start(t, w.config(w.agentFor(t, agent.Config{Journal: store})))
	w.enqueue(t, c, "s")
	const failed = "state = 'retryable' AND errors[1]->>'error' LIKE '%the store is down%'"
	w.await(t, 1, "SELECT count(*) FROM river_job WHERE "+failed)
	store.down.Store(false)
	_, err := c.JobRetry(t.Context(), int64(w.count(t, "SELECT id FROM river_job WHERE "+failed)))
	require.NoError(t, err)
	w.awaitStatus(t, "s", agent.Paused)
}

func TestAFailedRunCompletesItsJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{Provider: providertest.Func(
		func(context.Context, *provider.Request) (*provider.Response, error) {
			return nil, fault.New(fault.Permanent, "no such model")
		})})
	w.enqueue(t, w.start(t, w.config(a)), "s")
	w.await(t, 1, "SELECT count(*) FROM ended WHERE status = 'failed'")
	w.await(t, 1, completed)
}

func TestAnInputThatIsNeverTakenIsCanceled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(t, w.config(w.agentFor(t, agent.Config{})))
	err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		return pawlriver.Enqueue(t.Context(), tx, c, "writer",
			agent.Input{Session: "s", Key: "k", Prompt: "go", Mode: "no such mode"}, nil)
	})
	require.NoError(t, err)
	require.NoError(t, pawlriver.Wake(t.Context(), c, "no such session"))
	w.await(t, 2, "SELECT count(*) FROM river_job WHERE state = 'cancelled'")
}

func TestAJobOfAnotherProgramIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(t, w.config(w.agentFor(t, agent.Config{})))
	err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		return pawlriver.Enqueue(t.Context(), tx, c, "reader", agent.Input{Session: "s", Key: "k", Prompt: "go"}, nil)
	})
	require.NoError(t, err)
	w.exec(t, `INSERT INTO river_job (kind, args, max_attempts)
		VALUES ('pawl.leg', '{"session": "s", "agent": "writer", "key": "1", "input": "{\"New\": 1}"}', 25)`)
	require.Eventually(t, func() bool {
		return w.count(t, "SELECT count(*) FROM river_job WHERE errors[1]->>'error' LIKE '%no agent \"reader\"%'") == 1 &&
			w.count(t, "SELECT count(*) FROM river_job WHERE errors[1]->>'error' LIKE '%unknown field%'") == 1
	}, time.Minute, 20*time.Millisecond)
	require.Zero(t, w.count(t, "SELECT count(*) FROM river_job WHERE state = 'cancelled'"))
}

func TestALegOfAClientThatStopsGoesOnInAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := make(chan struct{}, 1)
	slow := tools.New(tools.Spec{Name: "slow"}, func(ctx context.Context, _ page) (string, error) {
		began <- struct{}{}
		<-time.After(100 * time.Millisecond)
		return "done", w.done(ctx)
	})
	a := w.agentFor(t, agent.Config{Tools: []tools.Tool{slow}, Provider: providertest.Func(
		func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			if len(req.Messages) == 1 {
				return providertest.Call("slow", page{}).Response(), nil
			}
			return providertest.Say("Done.").Response(), nil
		})})
	first := w.start(t, w.config(a))
	w.enqueue(t, first, "s")
	<-began
	require.NoError(t, first.StopAndCancel(t.Context()))
	require.Equal(t, agent.Running, w.status(t, "s"))
	require.Equal(t, 1, w.count(t, "SELECT count(*) FROM river_job WHERE kind = 'pawl.leg' AND state = 'available'"))
	w.start(t, w.config(a))
	w.await(t, 1, "SELECT count(*) FROM ended WHERE status = 'completed'")
	require.Equal(t, 1, w.count(t, "SELECT sum(times) FROM effects"))
}

func TestWakeFindsTheAgentOfASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg := w.config(w.agentFor(t, agent.Config{}))
	b := w.agentFor(t, agent.Config{Name: "reader"})
	cfg.Agents = append(cfg.Agents, b)
	c := w.start(t, cfg)
	w.enqueue(t, c, "s")
	err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		return pawlriver.Enqueue(t.Context(), tx, c, "reader", agent.Input{Session: "r", Key: "k", Prompt: "go"}, nil)
	})
	require.NoError(t, err)
	for _, session := range []string{"s", "r"} {
		w.awaitStatus(t, session, agent.Paused)
		w.approves(t, b, session)
		require.NoError(t, pawlriver.Wake(t.Context(), c, session))
	}
	w.await(t, 2, "SELECT count(*) FROM ended WHERE status = 'completed'")
}

func TestAnEndThatCannotBeReportedIsReportedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg := w.config(w.agentFor(t, agent.Config{Provider: providertest.Func(
		func(context.Context, *provider.Request) (*provider.Response, error) {
			return providertest.Say("Done.").Response(), nil
		})}))
	failed := make(chan struct{}, 10)
	cfg.Ended = func(ctx context.Context, tx pgx.Tx, r *agent.Result) error {
		if err := w.ended(ctx, tx, r); err != nil || len(failed) > 0 {
			return err
		}
		failed <- struct{}{}
		return errors.New("not now")
	}
	c := w.start(t, cfg)
	w.enqueue(t, c, "s")
	w.await(t, 1, "SELECT count(*) FROM river_job WHERE errors[1]->>'error' LIKE '%not now%'")
	require.Zero(t, w.count(t, "SELECT count(*) FROM ended WHERE status <> 'completed'"))
	_, err := c.JobRetry(t.Context(), int64(w.count(t, "SELECT id FROM river_job WHERE kind = 'pawl.leg'")))
	require.NoError(t, err)
	w.await(t, 1, "SELECT count(*) FROM ended WHERE status = 'completed' AND times = 1")
}
