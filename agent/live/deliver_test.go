package live_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// followedStores runs a test on stores with an order of changes and without.
func followedStores(t *testing.T, f func(t *testing.T, store journal.Store)) {
	t.Run("in memory", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, &journal.MapStore{}) }) })
	t.Run("without an order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, struct{ journal.Store }{&journal.MapStore{}}) })
	})
	t.Run("in SQLite", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, err := sqlite.Open(filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, store.Close()) })
			f(t, store)
		})
	})
}

// A mailbox has what Config.Deliver was told.
type mailbox struct {
	mu     sync.Mutex
	told   []string // as "s 4"
	refuse func(d live.Delivery) error
}

func (m *mailbox) deliver(_ context.Context, d live.Delivery) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		if err := m.refuse(d); err != nil {
			return err
		}
	}
	m.told = append(m.told, fmt.Sprint(d.Session, " ", d.Fact.Envelope().Seq))
	return nil
}

func (m *mailbox) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.told)
}

// askingAgent returns an agent that asks for approval once in each run.
func askingAgent(t testing.TB, store journal.Store) *agent.Agent {
	n := 0
	return newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{risky(&n)},
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			if req.Messages[len(req.Messages)-1].Role == provider.RoleUser {
				return providertest.Call("risky", Number{1}).Response(), nil
			}
			return providertest.Say("Done.").Response(), nil
		})})
}

// approved does a run of a session that asks for approval, and is approved.
func approved(t testing.TB, a *agent.Agent, session string) {
	t.Helper()
	res, err := a.Run(context.Background(), agent.Input{Session: session, Prompt: "go", Owner: "ann",
		Labels: map[string]string{"team": "web"}})
	require.ErrorAs(t, err, new(*agent.PausedError))
	_, err = a.Run(context.Background(), agent.Resume(session, agent.Approve(res.Pending[0].ID).By("bob")))
	require.NoError(t, err)
}

// mustBeTold returns the facts of all sessions of agents that have to be delivered, in order.
func mustBeTold(t testing.TB, store journal.Store) (all []string) {
	t.Helper()
	for h, err := range store.Heads(context.Background(), journal.Filter{NoKind: true}) {
		require.NoError(t, err)
		for rec, err := range store.Read(context.Background(), h.Session, 0) {
			require.NoError(t, err)
			if slices.Contains([]string{"suspended", "decided", "run_ended"}, rec.Kind) {
				all = append(all, fmt.Sprint(h.Session, " ", rec.Seq))
			}
		}
	}
	return all
}

func TestDecisionsPausesAndEndsOfAllSessionsAreDelivered(t *testing.T) {
	followedStores(t, func(t *testing.T, store journal.Store) {
		elsewhere := askingAgent(t, store)
		approved(t, elsewhere, "before")
		var told []live.Delivery
		box := &mailbox{refuse: func(d live.Delivery) error { told = append(told, d); return nil }}
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: box.deliver})
		for _, session := range []string{"s", "t"} {
			approved(t, elsewhere, session)
		}
		<-time.After(3 * time.Second)
		want := slices.DeleteFunc(mustBeTold(t, store), func(s string) bool { return strings.HasPrefix(s, "before ") })
		require.Len(t, want, 8)
		require.ElementsMatch(t, want, box.all())
		require.NoError(t, h.Close())
		kinds := make(map[string]int)
		for _, d := range told {
			require.Equal(t, "ann", d.Info.Owner)
			require.Equal(t, map[string]string{"team": "web"}, d.Info.Labels)
			require.Equal(t, d.Session, d.Fact.Envelope().Session())
			switch f := d.Fact.(type) {
			case *agent.Suspended:
				require.Equal(t, "risky", f.Pause.Call.Name)
				kinds["suspended"]++
			case *machine.Decided:
				require.Equal(t, "bob", f.By)
				kinds["decided"]++
			case *agent.RunEnded:
				kinds[string(f.Status)]++
			}
		}
		require.Equal(t, map[string]int{"suspended": 2, "decided": 2, "paused": 2, "completed": 2}, kinds)
	})
}

func TestOneProcessAtATimeDelivers(t *testing.T) {
	followedStores(t, func(t *testing.T, store journal.Store) {
		var boxes [3]mailbox
		var hubs [3]*live.Hub
		for i := range hubs {
			hubs[i] = newHub(t,
				live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: boxes[i].deliver})
			<-time.After(100 * time.Millisecond)
		}
		elsewhere := askingAgent(t, store)
		approved(t, elsewhere, "a")
		<-time.After(time.Minute)
		require.Len(t, boxes[0].all(), 4)
		require.NoError(t, hubs[0].Close())
		approved(t, elsewhere, "b")
		<-time.After(11 * time.Second)
		for i := range hubs[1:] {
			require.NoError(t, hubs[i+1].Close())
		}
		told := slices.Concat(boxes[0].all(), boxes[1].all(), boxes[2].all())
		require.ElementsMatch(t, mustBeTold(t, store), told, "each once")
	})
}

func TestADeliveryThatFailsHoldsBackItsSessionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, tries, mend := &journal.MapStore{}, atomic.Int64{}, atomic.Bool{}
		box := &mailbox{refuse: func(d live.Delivery) error {
			if d.Session != "bad" || mend.Load() {
				return nil
			}
			if tries.Add(1)%2 == 0 {
				panic("the mail server is gone")
			}
			return errors.New("the mail server is gone")
		}}
		newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: box.deliver})
		elsewhere := askingAgent(t, store)
		approved(t, elsewhere, "bad")
		approved(t, elsewhere, "good")
		<-time.After(5 * time.Second)
		require.Len(t, box.all(), 4, "of the good one")
		approved(t, elsewhere, "bad")
		<-time.After(time.Hour)
		require.Less(t, tries.Load(), int64(25), "it is tried less and less often")
		require.Greater(t, tries.Load(), int64(15))
		mend.Store(true)
		<-time.After(6 * time.Minute)
		require.ElementsMatch(t, mustBeTold(t, store), box.all(), "each once")
		ofBad := slices.DeleteFunc(box.all(), func(s string) bool { return !strings.HasPrefix(s, "bad ") })
		require.True(t, slices.IsSortedFunc(ofBad, func(x, y string) int { return number(x) - number(y) }), "%v", ofBad)
	})
}

func number(told string) (n int) {
	var session string
	_, _ = fmt.Sscan(told, &session, &n)
	return n
}

func TestWhenAllFailNothingIsMissedEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, mend := &journal.MapStore{}, atomic.Bool{}
		box := &mailbox{refuse: func(live.Delivery) error {
			if mend.Load() {
				return nil
			}
			return errors.New("the mail server is gone")
		}}
		cfg := live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: box.deliver}
		h := newHub(t, cfg)
		<-time.After(time.Second)
		elsewhere := askingAgent(t, store)
		for i := range 150 {
			approved(t, elsewhere, fmt.Sprint("s-", i))
		}
		<-time.After(time.Minute)
		require.NoError(t, h.Close())
		for i := range 150 {
			approved(t, elsewhere, fmt.Sprint("s-", i))
		}
		require.NoError(t, store.Delete(t.Context(), "s-7", journal.All))
		approved(t, elsewhere, "s-7") // another session
		mend.Store(true)
		cfg.Agent = newAgent(t, agent.Config{Journal: store})
		newHub(t, cfg)
		<-time.After(10 * time.Minute)
		require.Subset(t, box.all(), mustBeTold(t, store))
	})
}

// crashing is a store whose calls fail from one on. That one may have done what it was asked for.
type crashing struct {
	journal.Store
	left func(does bool) error // reports whether the process has died; does: before the call
}

func call[T any](c *crashing, f func() (T, error)) (v T, err error) {
	if err := c.left(true); err != nil {
		return v, err
	}
	v, err = f()
	if died := c.left(false); died != nil {
		return *new(T), died
	}
	return v, err
}

func (c *crashing) Append(ctx context.Context, a journal.Append) error {
	_, err := call(c, func() (int, error) { return 0, c.Store.Append(ctx, a) })
	return err
}

func (c *crashing) Delete(ctx context.Context, session string, upTo uint64) error {
	_, err := call(c, func() (int, error) { return 0, c.Store.Delete(ctx, session, upTo) })
	return err
}

func (c *crashing) Release(ctx context.Context, l journal.Lease) error {
	_, err := call(c, func() (int, error) { return 0, c.Store.Release(ctx, l) })
	return err
}

func (c *crashing) Head(ctx context.Context, session string) (journal.Head, error) {
	return call(c, func() (journal.Head, error) { return c.Store.Head(ctx, session) })
}

func (c *crashing) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	return call(c, func() (journal.Lease, error) { return c.Store.Lease(ctx, session, owner, ttl) })
}

func (c *crashing) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	return call(c, func() (journal.Lease, error) { return c.Store.Renew(ctx, l, ttl) })
}

func (c *crashing) Changes(ctx context.Context, cursor string) (list []journal.Change, next string, err error) {
	list, err = call(c, func() (list []journal.Change, err error) {
		list, next, err = journal.Changes(ctx, c.Store, cursor)
		return list, err
	})
	return list, next, err
}

func (c *crashing) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range c.Store.Read(ctx, session, after) {
			if r, err = call(c, func() (journal.Record, error) { return r, err }); !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// TestACrashAtAnyStepMissesNothing ends a process before or after each thing that it does.
func TestACrashAtAnyStepMissesNothing(t *testing.T) {
	for step, crashed := 1, true; crashed; step++ {
		synctest.Test(t, func(t *testing.T) {
			memory := &journal.MapStore{}
			box, again := &mailbox{}, &mailbox{}
			elsewhere := askingAgent(t, memory)
			first := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: memory}), Deliver: box.deliver})
			<-time.After(time.Second)
			require.NoError(t, first.Close()) // deliveries begin here
			approved(t, elsewhere, "a")
			approved(t, elsewhere, "b")

			var mu sync.Mutex
			steps := 0
			store := &crashing{memory, func(bool) error {
				mu.Lock()
				defer mu.Unlock()
				if steps++; steps >= step {
					return errors.New("the process has died")
				}
				return nil
			}}
			dying := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Recover: -1,
				Deliver: func(ctx context.Context, d live.Delivery) error {
					if err := store.left(true); err != nil {
						return err
					}
					return errors.Join(box.deliver(ctx, d), store.left(false))
				}})
			<-time.After(3 * time.Second)
			require.NoError(t, dying.Close())
			mu.Lock()
			crashed = steps >= step
			mu.Unlock()
			approved(t, elsewhere, "a")
			approved(t, elsewhere, "c")
			newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: memory}), Deliver: again.deliver})
			<-time.After(time.Minute)
			told := append(box.all(), again.all()...)
			require.Subset(t, told, mustBeTold(t, memory), "step %d", step)
			require.LessOrEqual(t, len(told), len(mustBeTold(t, memory))+1, "one at most is told twice")
		})
	}
}
