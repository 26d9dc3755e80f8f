package agent_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAnInputThatHasNotStartedHasNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		b, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}},
			call("slow", 10), say("Done."))
		var other sync.WaitGroup
		other.Go(func() { run(t, b) })
		<-time.After(time.Second)
		a, _ := scripted(t, agent.Config{Journal: store}, say("Two."))
		p, err := a.Advance(t.Context(), agent.Input{Session: "s", Key: "two", Prompt: "go"}, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.NextLater, p.Next)
		require.Nil(t, p.Result, "it would be that of another run")
		other.Wait()
	})
}

// A leasing is a store that calls before, once, before a session is leased.
type leasing struct {
	journal.Store
	before func()
}

func (l *leasing) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if f := l.before; f != nil {
		l.before = nil
		f()
	}
	return l.Store.Lease(ctx, session, owner, ttl)
}

// TestAnInputGoesOnWithItsOwnRun, also if that ends and another begins while it is looked up.
func TestAnInputGoesOnWithItsOwnRun(t *testing.T) {
	store := &journal.MapStore{}
	input := func(key string) agent.Input { return agent.Input{Session: "s", Key: key, Prompt: "go"} }
	b, _, _ := risky(t, agent.Config{Journal: store}, call("work", 1), say("One."), call("work", 2))
	p, err := b.Advance(t.Context(), input("one"), agent.Leg{Steps: 1})
	require.NoError(t, err)
	require.Equal(t, agent.NextAgain, p.Next)
	l := &leasing{Store: store, before: func() {
		p, err := b.Advance(t.Context(), input("one"), agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "One.", p.Result.Text())
		_, err = b.Advance(t.Context(), input("two"), agent.Leg{Steps: 1})
		require.NoError(t, err)
	}}
	a, model, _ := risky(t, agent.Config{Journal: l}, say("Two."))
	p, err = a.Advance(t.Context(), input("one"), agent.Leg{})
	require.NoError(t, err)
	require.Equal(t, agent.NextEnded, p.Next)
	require.Equal(t, "One.", p.Result.Text())
	require.Empty(t, model.Requests())
}

func TestAnInputWhoseContextWasResetGoesOnAfterAPrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := small()
		mem.ContextReset = noted()
		next := handing("next", func(context.Context, Number) (string, error) { return "ok", nil })
		a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}, Memory: mem, Tools: []tools.Tool{next}},
			call("next", 1), call("next", 2), say("Done."))
		p, err := a.Advance(t.Context(), first, agent.Leg{Steps: 2})
		require.NoError(t, err)
		require.Equal(t, agent.NextAgain, p.Next)
		_, err = a.Session("s").Prune(t.Context())
		require.NoError(t, err)
		last, _ := advanced(t, a, agent.Leg{})
		require.Equal(t, "Done.", last.Result.Text())
	})
}

// A dying is a store that can't be written after some appends.
type dying struct {
	journal.Store
	mu   sync.Mutex
	left int
}

func (d *dying) Append(ctx context.Context, a journal.Append) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		return journal.Unusable("the disk is full")
	}
	d.left--
	return d.Store.Append(ctx, a)
}

func TestAJournalThatRefusesAnyAppendEndsNoRunInALeg(t *testing.T) {
	refused := true
	for n := 0; refused; n++ {
		synctest.Test(t, func(t *testing.T) {
			var done effects
			d := &dying{Store: &journal.MapStore{}, left: n}
			c := &counter{Store: d}
			p, err := c.crew(t, &done).Advance(t.Context(), first, agent.Leg{})
			if n == 0 {
				require.Error(t, err)
				require.Zero(t, p)
			} else {
				require.NoError(t, err, "append %d", n)
			}
			refused = p.Next != agent.NextWait // at the approvals
			d.mu.Lock()
			d.left = 1_000
			d.mu.Unlock()
			last, _ := advanced(t, c.crew(t, &done), agent.Leg{})
			require.Equal(t, "Done.", last.Result.Text(), "append %d", n)
			requireNeverStopped(t, d)
			for _, i := range []int{1, 2, 3, 4, 11, 12, 13} {
				require.LessOrEqual(t, done.of(i), 1, "append %d, call %d", n, i)
			}
		})
	}
}

// TestTwoWorkersWithOneInputDoItsWorkOnce, each coming back as Progressed says.
func TestTwoWorkersWithOneInputDoItsWorkOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		store := &journal.MapStore{}
		var replies []providertest.Step
		for n := range 10 {
			replies = append(replies, call("work", n))
		}
		replies = append(replies, say("Done."))
		var all sync.WaitGroup
		for w := range 3 {
			all.Go(func() {
				c := &counter{Store: store}
				a := newAgent(t, agent.Config{Journal: store, Provider: inTurn(replies...),
					Tools: []tools.Tool{c.counted(&done, tools.Spec{Name: "work"})}})
				<-time.After(time.Duration(w) * 300 * time.Millisecond)
				last, _ := advanced(t, a, agent.Leg{Steps: w + 1})
				require.Equal(t, "Done.", last.Result.Text())
			})
		}
		all.Wait()
		for n := range 10 {
			require.Equal(t, 1, done.of(n), fmt.Sprint(n))
		}
	})
}
