package plan

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// serve has a runner drive what is due, until the function that it returns is called.
func serve(t testing.TB, r *Runner) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { r.Serve(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}

// watched returns the events of a run until its end.
func watched(t testing.TB, r *Runner, run string) (events []Event) {
	t.Helper()
	for ev, err := range r.Watch(t.Context(), run, 0) {
		require.NoError(t, err)
		events = append(events, ev)
	}
	return events
}

func long(id string, after ...string) Node {
	n := made(id, after...)
	n.Timeout = time.Hour
	return n
}

func TestRunsAreDrivenAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: 9 * time.Minute}
		r := s.runner(t, Config{})
		defer serve(t, r)()
		began := time.Now()
		for _, run := range []string{"x", "y", "z"} {
			_, err := r.Start(t.Context(), run, plan("A", long(run)))
			require.NoError(t, err)
		}
		for _, run := range []string{"x", "y", "z"} {
			require.Equal(t, Completed, last(watched(t, r, run)).(*Ended).Status)
		}
		require.Less(t, time.Since(began), 9*time.Minute+2*time.Second)
	})
}

func TestWhoStopsReadingStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: time.Minute}
		store := &journal.MapStore{}
		r, other := s.runner(t, Config{Agent: s.agent(t, store)}), s.runner(t, Config{Agent: s.agent(t, store)})
		defer serve(t, r)()
		_, err := other.Start(t.Context(), "p-1", plan("A", long("a"), long("b", "a")))
		require.NoError(t, err)
		for ev, err := range other.Watch(t.Context(), "p-1", 0) {
			require.NoError(t, err)
			if _, ok := ev.(*NodeStarted); ok {
				break
			}
		}
		events := watched(t, other, "p-1")
		require.Equal(t, Completed, last(events).(*Ended).Status)
		for i, ev := range events {
			require.Equal(t, uint64(i+1), ev.Envelope().Seq)
		}
		require.Equal(t, []string{"a", "b"}, s.all())

		for _, after := range []uint64{0, 3, 1000} {
			var end *Ended
			for ev, err := range r.Watch(t.Context(), "p-1", after) {
				require.NoError(t, err)
				end, _ = ev.(*Ended)
			}
			require.NotNil(t, end, "after %d", after)
		}
		for _, err := range r.Watch(t.Context(), "p-2", 0) {
			require.ErrorIs(t, err, agent.ErrNothingOpen)
			require.ErrorContains(t, err, "there is no run of plans of this name")
		}
	})
}

func TestADecidedNodeGoesOnWhileOthersAreInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: 8 * time.Second}
		store := &journal.MapStore{}
		a := s.agent(t, store)
		r, other := s.runner(t, Config{Agent: a}), s.runner(t, Config{Agent: a})
		defer serve(t, r)()
		out := published("out")
		out.Input["on"] = From("look.id")
		out.Input["name"] = "out"
		look := Node{ID: "look", Tool: "see", Input: map[string]any{"name": "look"}}
		_, err := r.Start(t.Context(), "p-1", plan("A", long("a"), look, out))
		require.NoError(t, err)
		var asked, began time.Time
		for ev, err := range other.Watch(t.Context(), "p-1", 0) {
			require.NoError(t, err)
			switch ev := ev.(type) {
			case *NodeEnded:
				if ev.Node == "a" {
					require.False(t, began.IsZero(), "it waits until a has ended")
				}
				if ev.Node == "out" {
					require.Equal(t, NodeDone, ev.Status)
				}
			case *Paused:
				for _, p := range ev.Pending {
					head, err := store.Head(t.Context(), "p-1")
					require.NoError(t, err)
					if len(p.Path) > 0 {
						require.Equal(t, statusRunning, head.Status)
						require.Equal(t, p.ID, head.Open[0].ID, "it is in lists while others are in progress")
						asked = time.Now()
						s.begin("out", func() { began = time.Now() })
					}
					require.NoError(t, other.Decide(t.Context(), "p-1", agent.Approve(p.ID).By("ann")))
				}
			}
		}
		require.LessOrEqual(t, began.Sub(asked), 1500*time.Millisecond)
	})
}

func TestCancelEndsWhatIsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: 9 * time.Minute}
		r := s.runner(t, Config{})
		defer serve(t, r)()
		_, err := r.Start(t.Context(), "p-1", plan("A", long("a")), plan("B", long("b")))
		require.NoError(t, err)
		time.Sleep(time.Minute)
		began := time.Now()
		require.NoError(t, r.Cancel(t.Context(), "p-1", "stop"))
		require.Equal(t, Canceled, last(watched(t, r, "p-1")).(*Ended).Status)
		require.Less(t, time.Since(began), 2*time.Second)
		require.Empty(t, s.all())
	})
}

func TestAWorkerThatAsksDoesNotGoOnWhenItsPlanIsGivenUp(t *testing.T) {
	var s shop
	store := &journal.MapStore{}
	model := providertest.Script(providertest.Call("publish", item{Name: "x"}),
		providertest.Call("make", item{Name: "y"}), providertest.Say("Done."))
	worker, err := agent.New(agent.Config{Name: "worker", Provider: model, Journal: store, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "publish", Risk: tools.High}, s.make), tools.New(tools.Spec{Name: "make"}, s.make)}})
	require.NoError(t, err)
	r := s.runner(t, Config{Agent: s.agent(t, store), Workers: map[string]*agent.Agent{"w": worker}})
	_, err = run(r, plan("A", Node{ID: "w", Worker: "w", Prompt: "go"}), plan("B", made("b")))
	require.NoError(t, err)
	require.Equal(t, "publish", open(t, r).Call.Name)
	require.NoError(t, r.GiveUp(t.Context(), "p-1", "no"))
	_, err = run(r)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, s.all())
	model.AssertCalls(t, 1)
}

// A counting store counts the calls of its methods for the log p-1.
type counting struct {
	journal.Store
	heads, takes, appends atomic.Int64
}

func (s *counting) Head(ctx context.Context, session string) (journal.Head, error) {
	if session == "p-1" {
		s.heads.Add(1)
	}
	return s.Store.Head(ctx, session)
}

func (s *counting) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	if session == "p-1" {
		s.takes.Add(1)
	}
	return s.Store.Take(ctx, session, fence)
}

func (s *counting) Append(ctx context.Context, a journal.Append) error {
	if a.Session == "p-1" {
		s.appends.Add(1)
	}
	return s.Store.Append(ctx, a)
}

func TestARunInProgressReadsItsInboxOnlyIfThereIsSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: 9 * time.Minute}
		store := &counting{Store: &journal.MapStore{}}
		r := s.runner(t, Config{Agent: s.agent(t, store)})
		_, err := r.Start(t.Context(), "p-1", plan("A", long("a")))
		require.NoError(t, err)
		_, err = r.Finish(t.Context(), "p-1")
		require.NoError(t, err)
		require.LessOrEqual(t, store.takes.Load(), int64(2), "at the beginning and at the end")
		require.LessOrEqual(t, store.heads.Load(), int64(9*60+5))
		require.Equal(t, int64(3), store.appends.Load(), "the plan, the start of its node, and the end of both")
	})
}

func TestFinishWaitsForThePersonAndForTheLeaseOfAProcessThatDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		store := &journal.MapStore{}
		r := s.runner(t, Config{Agent: s.agent(t, store)})
		_, err := r.Start(t.Context(), "p-1", plan("A", published("a")))
		require.NoError(t, err)
		_, err = store.Lease(t.Context(), "p-1", "dead", 30*time.Second)
		require.NoError(t, err)
		began := time.Now()
		time.AfterFunc(time.Hour, func() {
			require.NoError(t, r.Decide(context.Background(), "p-1", agent.Approve(open(t, r).ID)))
		})
		state, err := r.Finish(t.Context(), "p-1")
		require.NoError(t, err)
		require.Equal(t, Completed, state.Status)
		require.WithinRange(t, time.Now(), began.Add(time.Hour), began.Add(time.Hour+2*time.Second))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = r.Start(t.Context(), "p-2", plan("A", published("a")))
		require.NoError(t, err)
		_, err = r.Finish(ctx, "p-2")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// The time for which a node waits for the lease of a process that died isn't time that it works.
func TestALeaseThatIsWaitedForTakesNothingOfANodesLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: time.Second}
		store := &journal.MapStore{}
		r := s.runner(t, Config{Agent: s.agent(t, store)})
		n := made("a")
		n.Timeout = 5 * time.Second
		_, err := store.Lease(t.Context(), SessionOf("p-1", 0, "a"), "dead", 30*time.Second)
		require.NoError(t, err)
		_, err = r.Start(t.Context(), "p-1", plan("A", n))
		require.NoError(t, err)
		state, err := r.Finish(t.Context(), "p-1")
		require.NoError(t, err)
		require.Equal(t, 1, state.Nodes[0].Attempts)
		require.Equal(t, []string{"a"}, s.all())
	})
}

func TestANodeThatTakesTooLongFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: time.Minute}
		r := s.runner(t, Config{})
		n := made("a")
		n.Timeout = 5 * time.Second
		_, err := r.Start(t.Context(), "p-1", plan("A", n))
		require.NoError(t, err)
		began := time.Now()
		_, err = r.Finish(t.Context(), "p-1")
		require.ErrorContains(t, err, "it took too long")
		require.Less(t, time.Since(began), time.Minute)
	})
}

func TestADeletedRunLeavesNothing(t *testing.T) {
	store := &journal.MapStore{}
	var s shop
	worker, err := agent.New(agent.Config{Name: "w", Provider: providertest.Script(providertest.Say("x")),
		Journal: store})
	require.NoError(t, err)
	s.fail = map[string][]error{"x": {errors.New("no")}}
	r := s.runner(t, Config{Agent: s.agent(t, store), Workers: map[string]*agent.Agent{"w": worker}})
	_, err = run(r, plan("A", made("a"), made("x", "a")), plan("B", made("b"), Node{ID: "w", Worker: "w", Prompt: "x"}))
	require.NoError(t, err)
	require.NoError(t, r.Delete(t.Context(), "p-1"))
	for head := range store.Heads(t.Context(), journal.Filter{}) {
		require.Fail(t, "is left", head.Session)
	}
	require.NoError(t, r.Delete(t.Context(), "p-1"))
	_, err = r.State(t.Context(), "p-1")
	require.ErrorIs(t, err, agent.ErrNothingOpen)
}

func TestTheEventsOfNodesAreShown(t *testing.T) {
	store := &journal.MapStore{}
	var s shop
	worker, err := agent.New(agent.Config{Name: "w", Provider: providertest.Script(providertest.Say("hello")),
		Journal: store})
	require.NoError(t, err)
	var mu sync.Mutex
	seen := map[string][]string{}
	r := s.runner(t, Config{Agent: s.agent(t, store), Workers: map[string]*agent.Agent{"w": worker},
		Event: func(node string, ev agent.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch ev := ev.(type) {
			case *agent.Replied:
				seen[node] = append(seen[node], "replied")
			case *agent.ToolFinished:
				seen[node] = append(seen[node], ev.Call.Name)
			}
		}})
	_, err = run(r, plan("A", made("a"), Node{ID: "w", Worker: "w", Prompt: "x"}))
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"a": {"make"}, "w": {"replied"}}, seen)
}

func TestKeysAreDerived(t *testing.T) {
	keys := func() (all []string) {
		synctest.Test(t, func(t *testing.T) {
			var s shop
			r := s.runner(t, Config{})
			events, err := run(r, plan("A", made("a"), made("b")))
			require.NoError(t, err)
			for _, ev := range events {
				if f, ok := ev.(*NodeStarted); ok {
					all = append(all, f.Key)
				}
			}
		})
		return all
	}
	first := keys()
	require.Equal(t, first, keys())
	require.False(t, slices.Contains(first[1:], first[0]))
}

// TestADecisionJustBeforeTheEndCounts also if another process has posted it, so that nobody has
// told this one.
func TestADecisionJustBeforeTheEndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: time.Millisecond}
		r := s.runner(t, Config{})
		other, err := New(Config{Agent: r.cfg.Agent})
		require.NoError(t, err)
		s.begin("a", func() { require.NoError(t, other.Cancel(t.Context(), "p-1", "a mistake")) })
		_, err = r.Start(t.Context(), "p-1", plan("A", made("a")))
		require.NoError(t, err)
		state, err := r.Finish(t.Context(), "p-1")
		require.Error(t, err)
		require.Equal(t, Canceled, state.Status)
		head, err := r.store.Head(t.Context(), "p-1")
		require.NoError(t, err)
		require.Zero(t, head.Inbox)
	})
}
