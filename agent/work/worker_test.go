package work_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A world is a journal in memory, with agents whose model takes a minute for an answer.
type world struct {
	t     *testing.T
	store journal.Store
	began time.Time

	mu     sync.Mutex // guards what follows
	starts []string   // the prompts, in the order in which model calls began
	now    map[string]int
	most   map[string]int // model calls at a time, by the label tenant
	fails  int            // how many model calls fail from now on
	told   []string       // of ends
	refuse int            // how many ends aren't taken
}

func newWorld(t *testing.T) *world {
	return &world{t: t, store: &journal.MapStore{}, began: time.Now(), now: make(map[string]int),
		most: make(map[string]int)}
}

// Stream implements provider.Provider.
func (w *world) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		tenant := req.Labels.Extra.Get("tenant")
		w.mu.Lock()
		w.starts = append(w.starts, req.Messages[len(req.Messages)-1].Text())
		w.now[tenant]++
		w.most[tenant] = max(w.most[tenant], w.now[tenant])
		failing := w.fails > 0
		w.fails--
		w.mu.Unlock()
		defer func() {
			w.mu.Lock()
			w.now[tenant]--
			w.mu.Unlock()
		}()
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			yield(provider.Chunk{}, ctx.Err())
			return
		}
		if failing {
			yield(provider.Chunk{}, fault.New(fault.Permanent, "the model is gone"))
			return
		}
		_ = yield(provider.Start("m"), nil) && yield(provider.Text("done"), nil) &&
			yield(provider.End(provider.StopDone, provider.Usage{Output: 1}), nil)
	}
}

func (w *world) agent(name string) *agent.Agent {
	w.t.Helper()
	a, err := agent.New(agent.Config{Name: name, Provider: w, Journal: w.store})
	require.NoError(w.t, err)
	return a
}

// run starts a worker that is stopped at the end of the test, or by stop.
func (w *world) run(cfg work.Config) (worker *work.Worker, stop func()) {
	w.t.Helper()
	cfg.Ended = func(_ context.Context, r *agent.Result) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.refuse > 0 {
			w.refuse--
			return errors.New("the receiver is down")
		}
		w.told = append(w.told, fmt.Sprint(r.Session, " ", r.Status))
		return nil
	}
	worker, err := work.New(cfg)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := worker.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return worker, stop
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (w *world) enqueue(a *agent.Agent, session string, in agent.Input, o agent.QueueOptions) {
	w.t.Helper()
	in.Session, in.Prompt = session, session
	require.NoError(w.t, a.Enqueue(w.t.Context(), in, o))
}

// atATime returns how many model calls of a tenant there were at a time.
func (w *world) atATime(tenant string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most[tenant]
}

func (w *world) status(session string) agent.Status {
	w.t.Helper()
	h, err := w.store.Head(w.t.Context(), session)
	require.NoError(w.t, err)
	return agent.Status(h.Status)
}

func TestACallOfTheHostIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var done []string
		a, err := agent.New(agent.Config{Name: "a", Provider: w, Journal: w.store, Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "rename"}, func(_ context.Context, in struct{ To string }) (string, error) {
				done = append(done, in.To)
				return "renamed", nil
			})}})
		require.NoError(t, err)
		call := agent.HostCall{Session: "s", Tool: "rename", Input: map[string]string{"To": "home"}, Key: "click-1"}
		require.NoError(t, a.Enqueue(t.Context(), call, agent.QueueOptions{At: time.Now().Add(time.Hour)}))
		require.ErrorIs(t, a.Enqueue(t.Context(), call, agent.QueueOptions{}), agent.ErrDuplicate)
		w.run(work.Config{Agents: []*agent.Agent{a}})
		w.pass(30 * time.Minute)
		require.Empty(t, done)
		w.pass(time.Hour)
		require.Equal(t, []string{"home"}, done)
		require.Equal(t, []string{"s completed"}, w.told)
		require.Empty(t, w.starts, "no model is called")
	})
}

func TestQueuedRunsStartByPrecedenceThenByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		for i, name := range []string{"b", "a", "d", "c"} {
			w.enqueue(a, name, agent.Input{Priority: 60 + 10*(i/3)}, agent.QueueOptions{})
			w.pass(time.Millisecond)
		}
		w.enqueue(a, "later", agent.Input{Priority: 99}, agent.QueueOptions{At: time.Now().Add(time.Hour)})
		w.run(work.Config{Agents: []*agent.Agent{a}, Parallel: 1})
		w.pass(10 * time.Minute)
		require.Equal(t, []string{"c", "b", "a", "d"}, w.starts)
		require.Equal(t, agent.Queued, w.status("later"))
		w.pass(time.Hour)
		require.Equal(t, "later", w.starts[4])
		require.Equal(t, []string{"c completed", "b completed", "a completed", "d completed",
			"later completed"}, w.told)
	})
}

func TestRunsWithALabelLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		for i := range 9 {
			tenant := map[string]string{"tenant": []string{"acme", "acme", "zoo"}[i/3]}
			w.enqueue(a, fmt.Sprint("s-", i), agent.Input{Labels: tenant}, agent.QueueOptions{})
		}
		w.run(work.Config{Agents: []*agent.Agent{a}, PerLabel: map[string]int{"tenant": 2}})
		w.pass(90 * time.Second)
		require.Equal(t, 2, w.atATime("acme"))
		require.Equal(t, 2, w.atATime("zoo"))
		w.pass(10 * time.Minute)
		require.Len(t, w.told, 9)
		require.Equal(t, 2, w.atATime("acme"))
	})
}

// A slowStore takes its time for a lease.
type slowStore struct {
	journal.Store
	takes time.Duration
}

func (s slowStore) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	<-time.After(s.takes)
	return s.Store.Lease(ctx, session, owner, ttl)
}

// TestALabelIsExceededByOneRunForEachOtherProcess: each process looks for more while it starts
// some, of which the store knows nothing yet.
func TestALabelIsExceededByOneRunForEachOtherProcess(t *testing.T) {
	for processes := range 3 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.store = slowStore{w.store, 2500 * time.Millisecond}
			acme := map[string]string{"tenant": "acme"}
			for range processes + 1 {
				w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}, PerLabel: map[string]int{"tenant": 2}})
				w.pass(300 * time.Millisecond)
			}
			for i := range 12 { // whoever looks next finds others that come first
				go func() {
					in := agent.Input{Session: fmt.Sprint(i), Prompt: "go", Labels: acme, Priority: 20 + i}
					if err := w.agent("a").Enqueue(t.Context(), in, agent.QueueOptions{}); err != nil {
						t.Error(err)
					}
				}()
				w.pass(300 * time.Millisecond)
			}
			w.pass(30 * time.Minute)
			require.LessOrEqual(t, w.atATime("acme"), 2+processes)
			w.mu.Lock()
			defer w.mu.Unlock()
			require.Len(t, w.starts, 12)
		})
	}
}

func TestAProcessThatDiesBeforeItStartsARunTakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		w.enqueue(a, "s", agent.Input{Labels: map[string]string{"tenant": "acme"}}, agent.QueueOptions{})
		_, err := w.store.Lease(t.Context(), "s", "dead", 30*time.Second)
		require.NoError(t, err)
		w.run(work.Config{Agents: []*agent.Agent{a}, PerLabel: map[string]int{"tenant": 1}})
		w.pass(29 * time.Second)
		require.Equal(t, agent.Queued, w.status("s"))
		w.pass(3 * time.Second)
		require.Equal(t, agent.Running, w.status("s"))
	})
}

func TestAWorkerHasSeveralAgentsAndLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a, b, other := w.agent("a"), w.agent("b"), w.agent("other")
		w.enqueue(a, "of a", agent.Input{}, agent.QueueOptions{})
		w.enqueue(b, "of b", agent.Input{}, agent.QueueOptions{})
		w.enqueue(other, "of other", agent.Input{}, agent.QueueOptions{})
		worker, _ := w.run(work.Config{Agents: []*agent.Agent{a, b}})
		w.pass(10 * time.Minute)
		slices.Sort(w.told)
		require.Equal(t, []string{"of a completed", "of b completed"}, w.told)
		require.Equal(t, agent.Queued, w.status("of other"))
		stats, err := worker.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, work.Counts{Queued: 1}, stats.Counts)
		require.Equal(t, map[string]work.Counts{"other": {Queued: 1}}, stats.Agents)
		require.True(t, stats.Oldest.Equal(w.began), "%v", stats.Oldest)
	})
}

func TestADrainLosesNoneOfTheRunsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 8 {
			w.enqueue(w.agent("a"), fmt.Sprint("s-", i), agent.Input{}, agent.QueueOptions{})
		}
		_, stop := w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}})
		w.pass(30 * time.Second)
		require.Len(t, w.starts, 8)
		stop() // the model calls are cut off after the grace
		require.Less(t, time.Since(w.began), 40*time.Second)
		require.Empty(t, w.told)
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}})
		w.pass(5 * time.Minute)
		require.Len(t, w.told, 8)
	})
}

func TestAnEndIsToldUntilTheHostTookIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		w.refuse = 3
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		_, stop := w.run(work.Config{Agents: []*agent.Agent{a}})
		w.pass(62 * time.Second)
		stop()
		require.Empty(t, w.told)
		require.Equal(t, agent.Completed, w.status("s"))
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}})
		w.pass(time.Minute)
		require.Equal(t, []string{"s completed"}, w.told)
	})
}

func TestAnEndIsToldThoughTheProcessThatToldItHasDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		w.refuse = 1
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		_, stop := w.run(work.Config{Agents: []*agent.Agent{a}})
		w.pass(60*time.Second + time.Millisecond)
		stop()
		require.Empty(t, w.told)
		_, err := w.store.Lease(t.Context(), "s", "dead", 30*time.Second)
		require.NoError(t, err)
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}})
		w.pass(29 * time.Second)
		w.mu.Lock()
		require.Empty(t, w.told)
		w.mu.Unlock()
		w.pass(3 * time.Second)
		require.Equal(t, []string{"s completed"}, w.told)
	})
}

func TestDeadRunsAreListedAndRetriedThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		w.fails = 4
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{Attempts: 3})
		worker, _ := w.run(work.Config{Agents: []*agent.Agent{a}})
		for retries := range 4 {
			w.pass(5 * time.Minute)
			n := 0
			for d, err := range worker.Dead(t.Context(), agent.SessionFilter{}) {
				require.NoError(t, err)
				require.Equal(t, "s", d.Session)
				require.Equal(t, retries, d.Retries)
				require.Contains(t, d.Result.Reason, "the model is gone")
				require.Equal(t, retries == 3, d.Stays != "")
				n++
			}
			require.Equal(t, 1, n)
			if err := worker.Retry(t.Context(), "s"); retries == 3 {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
			}
		}
		require.Len(t, w.told, 4)
	})
}

func TestWakeStartsWorkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		worker, _ := w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Hour})
		w.pass(time.Second)
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		w.pass(time.Minute)
		require.Empty(t, w.starts)
		worker.Wake("s")
		synctest.Wait()
		require.Equal(t, []string{"s"}, w.starts)
	})
}

func TestAPanicOfOnEventChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		w.run(work.Config{Agents: []*agent.Agent{a}, OnEvent: func(string, agent.Event) { panic("no") }})
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		w.pass(time.Hour)
		require.Equal(t, agent.Completed, w.status("s"))
	})
}

func TestWhatCannotWorkIsRefused(t *testing.T) { synctest.Test(t, refusals) }

// An odd store can't be compared.
type odd struct {
	journal.Store
	_ []int
}

func refusals(t *testing.T) {
	w := newWorld(t)
	a := w.agent("a")
	other := newWorld(t)
	all := []*agent.Agent{a}
	for field, cfg := range map[string]work.Config{
		"Agents":    {},
		"Agents[0]": {Agents: []*agent.Agent{nil}},
		"Agents[1]": {Agents: []*agent.Agent{a, w.agent("a")}},
		"Agents[2]": {Agents: []*agent.Agent{a, w.agent("b"), other.agent("c")}},
		"Parallel":  {Agents: all, Parallel: -1},
		"Poll":      {Agents: all, Poll: -1},
		"PerLabel":  {Agents: all, PerLabel: map[string]int{"tenant": 0}},
		"Rules[0]":  {Agents: all, Rules: []work.Rule{{Status: agent.Completed, After: time.Hour, Do: work.Warn}}},
		"Rules[1]": {Agents: all, Rules: []work.Rule{{Status: agent.Paused, After: time.Hour, Do: work.Warn},
			{Status: agent.Paused, After: time.Hour, Do: work.Retry}}},
	} {
		_, err := work.New(cfg)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad, field)
		require.Equal(t, "Config."+field, bad.Field)
		require.NotEmpty(t, bad.Error())
	}
	w.store = odd{w.store, nil}
	_, err := work.New(work.Config{Agents: []*agent.Agent{w.agent("a"), w.agent("b")}})
	require.ErrorContains(t, err, "journal")
	var none *work.Worker
	require.Error(t, none.Run(t.Context()))
	require.Error(t, none.Retry(t.Context(), "s"))
	_, err = none.Stats(t.Context())
	require.Error(t, err)
	none.Wake("s")
	worker, err := work.New(work.Config{Agents: all})
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, worker.Run(ended))
	require.Error(t, worker.Run(ended))
}

func TestARunOfAnAgentWithoutANameIsNotDrivenByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.enqueue(w.agent(""), "s", agent.Input{}, agent.QueueOptions{})
		_, stop := w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}})
		w.pass(10 * time.Minute)
		require.Equal(t, agent.Queued, w.status("s"))
		stop()
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a"), w.agent("")}})
		w.pass(10 * time.Minute)
		require.Equal(t, []string{"s completed"}, w.told)
	})
}
