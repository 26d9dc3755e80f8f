package live_test

import (
	"context"
	"path/filepath"
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
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestTheHubResumesSessionsWhosePausesHaveExpired(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		n := 0
		a := newAgent(t, agent.Config{Journal: store, PauseExpires: time.Hour, Tools: []tools.Tool{risky(&n)}},
			providertest.Call("risky", Number{1}), providertest.Say("Not in time."))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		began := time.Now()
		p := watch(t, h, run.After, nil)
		require.WithinRange(t, time.Now(), began.Add(time.Hour), began.Add(time.Hour+11*time.Second))
		require.Equal(t, allFacts(t, a), p.facts)
		require.Equal(t, "Not in time.", p.whole[1], "readers of a run that was resumed get its notes")
		require.Zero(t, n)
	})
}

func TestTheHubResumesWhatAProcessThatDiedLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{work()}}
		died := newAgent(t, cfg, providertest.Call("work", Number{1}), providertest.Hang())
		ctx, kill := context.WithCancelCause(t.Context())
		// nothing is stored any more
		time.AfterFunc(time.Second, func() { kill(&agent.SessionError{Session: "s", Code: agent.ErrBusy}) })
		_, err := died.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)

		a := newAgent(t, cfg, providertest.Say("One two."))
		h := newHub(t, live.Config{Agent: a})
		p := watch(t, h, 0, nil)
		require.Equal(t, allFacts(t, a), p.facts)
		require.Equal(t, agent.Completed, p.all[len(p.all)-1].(*agent.RunEnded).Status)
		res, err := a.Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "One two.", res.Text())
	})
}

func TestALongRunDoesNotKeepOthersFromBeingResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		says := make([]providertest.Step, 10)
		for i := range says {
			first := newAgent(t, agent.Config{Journal: store}, providertest.Hang())
			ctx, kill := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { kill(&agent.SessionError{Code: agent.ErrBusy}) })
			_, err := first.Run(ctx, agent.Input{Session: string(rune('a' + i)), Prompt: "go"})
			require.Error(t, err)
			says[i] = providertest.Slow(100*time.Second, providertest.Say("Done."))
		}
		model := providertest.Script(says...)
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store, Provider: model})})
		<-time.After(time.Minute)
		require.Len(t, model.Requests(), 10, "the runs of the others are still in progress")
		<-time.After(time.Hour)
		require.NoError(t, h.Close())
	})
}

func TestASessionThatIsNotTheAgentsIsLookedAtLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &leases{Store: &journal.MapStore{}}
		died := newAgent(t, agent.Config{Name: "other", Journal: store}, providertest.Hang())
		ctx, kill := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { kill(&agent.SessionError{Session: "s", Code: agent.ErrBusy}) })
		_, err := died.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		before := store.n.Load()
		newHub(t, live.Config{Agent: newAgent(t, agent.Config{Name: "own", Journal: store})})
		<-time.After(time.Hour)
		require.Less(t, store.n.Load()-before, int64(190))
		require.Greater(t, store.n.Load()-before, int64(100))
	})
}

// leases counts the leases that are asked for.
type leases struct {
	journal.Store
	n atomic.Int64
}

func (s *leases) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	s.n.Add(1)
	return s.Store.Lease(ctx, session, owner, ttl)
}

func TestCloseDrainsAndTheNextHubGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
		require.NoError(t, err)
		defer store.Close()
		began := make(chan struct{})
		finish := make(chan struct{})
		calls := 0
		slow := tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
			calls++
			close(began)
			<-finish
			return "worked", nil
		})
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{slow}}
		first := newHub(t,
			live.Config{Agent: newAgent(t, cfg, providertest.Reply(providertest.Say("I work. "),
				providertest.Call("work", Number{1})), providertest.Say("not here"))})
		run := start(t, first)
		before, after := &page{}, &page{}
		together(
			func() {
				for ev, err := range first.Watch(t.Context(), "s", run.After) {
					if err != nil {
						require.ErrorIs(t, err, live.ErrClosed)
						return
					}
					before.add(ev)
				}
			},
			func() {
				<-began
				time.AfterFunc(20*time.Millisecond, func() { close(finish) })
				require.NoError(t, first.Close())
			})
		end := before.all[len(before.all)-1].(*agent.RunEnded)
		require.Equal(t, machine.CodeDrained, end.Code)

		// The reply waits for the reader: one that comes after it gets no deltas.
		a := newAgent(t, cfg, providertest.Slow(time.Second, providertest.Say("All done.")))
		second := newHub(t, live.Config{Agent: a})
		after = watch(t, second, end.Seq, nil)
		require.Equal(t, allFacts(t, a), append(before.facts, after.facts...),
			"a reader that continues after the number of the last fact")
		require.Equal(t, "All done.", after.whole[0])
		require.Equal(t, 1, calls)
		require.NoError(t, second.Close())
	})
}

func TestCloseBreaksOffWhatTakesTooLongAndTheNextHubMakesTheModelCallAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		cfg := agent.Config{Journal: store}
		first := newHub(t,
			live.Config{Agent: newAgent(t, cfg,
				providertest.HangAfter(3, providertest.SayChunks("One ", "two ", "three."))), Drain: time.Minute})
		run := start(t, first)
		before := &page{}
		together(
			func() {
				for ev, err := range first.Watch(t.Context(), "s", run.After) {
					if err != nil {
						require.ErrorIs(t, err, live.ErrClosed)
						return
					}
					before.add(ev)
				}
			},
			func() {
				<-time.After(time.Second)
				began := time.Now()
				require.ErrorContains(t, first.Close(), "1 runs were still under way")
				require.Equal(t, time.Minute, time.Since(began))
			})
		require.Equal(t, "One two ", before.text())
		require.Len(t, before.facts, 2, "that it was broken off isn't stored")

		// The reply waits for the reader: one that comes after it gets no deltas.
		a := newAgent(t, cfg, providertest.Slow(time.Second, providertest.SayChunks("One ", "two ", "three.")))
		second := newHub(t, live.Config{Agent: a})
		p := watch(t, second, 2, nil)
		require.Equal(t, allFacts(t, a), append(before.facts, p.facts...))
		require.Equal(t, "One two three.", p.whole[0])
		require.Equal(t, agent.Completed, p.all[len(p.all)-1].(*agent.RunEnded).Status)
	})
}
