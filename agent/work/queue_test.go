package work_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/work"
)

// onBoth runs a scenario with a store that is a queue, and with one that isn't.
func onBoth(t *testing.T, scenario func(*testing.T, *world)) {
	t.Helper()
	for _, name := range []string{"queue", "lists"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if name == "lists" {
					w.store = struct{ journal.Store }{w.store}
				}
				scenario(t, w)
			})
		})
	}
}

// started returns the prompts in the order in which model calls began.
func (w *world) started() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.starts, " ")
}

func TestRunsOfAGroupAreLimited(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a := w.agent("a")
		for i := range 9 {
			group := []string{"acme", "acme", "zoo"}[i/3]
			w.enqueue(a, fmt.Sprint("s-", i), agent.Input{Labels: map[string]string{"tenant": group}},
				agent.QueueOptions{Group: group})
		}
		for range 2 {
			w.run(work.Config{Agents: []*agent.Agent{a}, PerGroup: 2})
		}
		most := 2
		if _, ok := w.store.(journal.Queue); !ok {
			most = 3 // by the number of processes minus one
		}
		w.pass(90 * time.Second)
		require.Contains(t, []int{2, most}, w.atATime("zoo"))
		w.pass(20 * time.Minute)
		require.Len(t, w.told, 9)
		require.Contains(t, []int{2, most}, w.atATime("acme"))
	})
}

func TestALongQueueOfATenantKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		for i := range 1500 {
			w.enqueue(a, fmt.Sprint("long-", i), agent.Input{Priority: 90}, agent.QueueOptions{Group: "long"})
		}
		w.pass(time.Second)
		for _, group := range []string{"b", "c"} {
			for i := range 2 {
				w.enqueue(a, fmt.Sprint(group, i), agent.Input{Priority: 20 + i}, agent.QueueOptions{Group: group})
			}
		}
		w.enqueue(a, "long-urgent", agent.Input{Priority: 99}, agent.QueueOptions{Group: "long"})
		w.run(work.Config{Agents: []*agent.Agent{a}, Parallel: 1})
		w.pass(6 * time.Minute)
		require.Equal(t, "b1 c1 long-urgent b0 c0", w.started()[:len("b1 c1 long-urgent b0 c0")])
	})
}

func TestTheMostUrgentIsNextBehindManyThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		for i := range 3000 {
			w.enqueue(a, fmt.Sprint("s-", i), agent.Input{Priority: 1}, agent.QueueOptions{})
		}
		w.pass(time.Second)
		w.enqueue(a, "urgent", agent.Input{Priority: 100}, agent.QueueOptions{})
		w.run(work.Config{Agents: []*agent.Agent{a}, Parallel: 1})
		w.pass(30 * time.Second)
		require.Equal(t, "urgent", w.started())
	})
}

// TestARunThatCannotBeStartedIsDelayedMoreAndMore, and takes no place meanwhile.
func TestARunThatCannotBeStartedIsDelayedMoreAndMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		drained := w.agent("a")
		w.enqueue(drained, "s", agent.Input{}, agent.QueueOptions{Group: "g"})
		require.NoError(t, drained.Drain(t.Context()))
		claims := &claiming{MapStore: w.store.(*journal.MapStore)}
		w.store = claims
		broken := w.agent("a")
		require.NoError(t, broken.Drain(t.Context()))
		_, stop := w.run(work.Config{Agents: []*agent.Agent{broken}, PerGroup: 1})
		w.pass(time.Second)
		require.EqualValues(t, 1, claims.claimed.Load())
		for n, wait := range []int{10, 20, 40, 80, 160, 320, 450, 450} {
			w.pass(time.Duration(wait) * time.Second / 2)
			require.EqualValues(t, n+1, claims.claimed.Load(), "before it is due again")
			w.pass(time.Duration(wait)*time.Second/2 + time.Second)
			require.EqualValues(t, n+2, claims.claimed.Load(), "after %d s", wait)
		}
		stop()
		w.run(work.Config{Agents: []*agent.Agent{w.agent("a")}, PerGroup: 1})
		w.pass(10 * time.Minute)
		require.Equal(t, []string{"s completed"}, w.told)
	})
}

// A claiming store counts what a worker asks.
type claiming struct {
	*journal.MapStore
	claimed, looked, others atomic.Int64
}

func (c *claiming) Claim(ctx context.Context, claim journal.Claim, owner string, ttl time.Duration) (
	journal.Queued, journal.Lease, error) {
	q, l, err := c.MapStore.Claim(ctx, claim, owner, ttl)
	if q.Session != "" {
		c.claimed.Add(1)
	}
	return q, l, err
}

func (c *claiming) Due(ctx context.Context, claim journal.Claim, take func(journal.Head) bool) (journal.Queued, error) {
	c.looked.Add(1)
	return c.MapStore.Due(ctx, claim, take)
}

func (c *claiming) Head(ctx context.Context, session string) (journal.Head, error) {
	c.others.Add(1)
	return c.MapStore.Head(ctx, session)
}

func (c *claiming) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	c.others.Add(1)
	return c.MapStore.Heads(ctx, f)
}

func TestAHundredIdleWorkersAskOnceEachPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := &claiming{MapStore: w.store.(*journal.MapStore)}
		w.store = store
		a := w.agent("a")
		w.enqueue(a, "later", agent.Input{}, agent.QueueOptions{At: time.Now().Add(time.Hour)})
		w.enqueue(w.agent("b"), "another's", agent.Input{}, agent.QueueOptions{})
		before := store.others.Load()
		for range 100 {
			w.run(work.Config{Agents: []*agent.Agent{a}, Poll: time.Second, PerLabel: map[string]int{"tenant": 1}})
		}
		w.pass(100*time.Second + time.Millisecond)
		require.LessOrEqual(t, store.looked.Load(), int64(100*101))
		require.GreaterOrEqual(t, store.looked.Load(), int64(100*100))
		require.Zero(t, store.others.Load()-before, "other statements")
		require.Zero(t, store.claimed.Load())
	})
}

func TestAClaimThatLedToNoStartIsFreeWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.agent("a")
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		c := journal.Claim{Agents: []string{"a"}}
		q, _, err := w.store.(journal.Queue).Claim(t.Context(), c, "a process that dies", 10*time.Second)
		require.NoError(t, err)
		require.Equal(t, "s", q.Session)
		w.run(work.Config{Agents: []*agent.Agent{a}})
		w.pass(9 * time.Second)
		require.Empty(t, w.started())
		w.pass(3 * time.Second)
		require.Equal(t, "s", w.started())
	})
}

func TestTheLeaseOfAClaimedRunNamesItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a, err := agent.New(agent.Config{Name: "a", Provider: w, Journal: w.store, Owner: "machine 7"})
		require.NoError(t, err)
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		w.run(work.Config{Agents: []*agent.Agent{a}})
		w.pass(30 * time.Second)
		h, err := w.store.Head(t.Context(), "s")
		require.NoError(t, err)
		require.Regexp(t, "^machine 7/", h.Owner)
	})
}

// TestAnEndIsToldThoughTheNextRunWaits: the session has a place in the queue because of its end,
// too.
func TestAnEndIsToldThoughTheNextRunWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a := w.agent("a")
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{})
		_, err := a.Advance(t.Context(), agent.Continue("s"), agent.Leg{})
		require.NoError(t, err)
		w.enqueue(a, "s", agent.Input{}, agent.QueueOptions{At: time.Now().Add(time.Hour)})
		w.run(work.Config{Agents: []*agent.Agent{a}})
		w.pass(30 * time.Second)
		require.Equal(t, []string{"s completed"}, w.told)
		require.Equal(t, agent.Queued, w.status("s"))
		w.pass(2 * time.Hour)
		require.Equal(t, []string{"s completed", "s completed"}, w.told)
	})
}

func TestStatisticsDoNotSaturate(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a := w.agent("a")
		for i := range 10_050 {
			h := journal.HeadUpdate{Status: string(agent.Queued), Due: w.began, Queue: &journal.Place{Agent: "a"},
				Info: []byte(`{"agent":"a","precedence":60}`)}
			require.NoError(t, w.store.Append(t.Context(), journal.Append{Session: fmt.Sprint("s-", i), Head: &h}))
		}
		worker, err := work.New(work.Config{Agents: []*agent.Agent{a}})
		require.NoError(t, err)
		w.pass(time.Second)
		stats, err := worker.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, work.Stats{Counts: work.Counts{Queued: 10_050}, Oldest: w.began.UTC(),
			Agents: map[string]work.Counts{"a": {Queued: 10_050}}}, stats)
	})
}
