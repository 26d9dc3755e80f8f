package live_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// slow is a tool that takes a minute.
func slow() tools.Tool {
	return tools.New(tools.Spec{Name: "slow"}, func(context.Context, Number) (string, error) {
		<-time.After(time.Minute)
		return "done", nil
	})
}

func TestAMessageToARunInProgressIsAnsweredBeforeTheRunReadsIt(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{slow()}},
			providertest.Call("slow", Number{1}), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		<-time.After(time.Second)
		began := time.Now()
		sent, err := h.Send(t.Context(), agent.Input{Session: "s", Prompt: "hurry", Key: "k"})
		require.NoError(t, err)
		require.Equal(t, live.Sent{Started: live.Started{Session: "s"}, Steered: true}, sent)
		require.Equal(t, began, time.Now())
		_, err = h.Send(t.Context(),
			agent.Input{Session: "s", Prompt: "look", Parts: []provider.Part{{Kind: provider.PartText, Text: "x"}}})
		require.ErrorIs(t, err, agent.ErrBusy)
		_, err = h.Send(t.Context(), agent.Input{Session: "s", Prompt: "mine", Owner: "bob"})
		require.ErrorIs(t, err, agent.ErrNotOwner)
		<-run.Done
		read := 0
		facts, err := a.Session("s").Facts(t.Context())
		require.NoError(t, err)
		for _, f := range facts {
			if s, ok := f.(*machine.Steered); ok {
				require.Equal(t, "hurry", s.Message.Text())
				read++
			}
		}
		require.Equal(t, 1, read)
		_, err = h.Send(t.Context(), agent.Input{Session: "s", Prompt: "hurry", Key: "k"})
		require.ErrorIs(t, err, agent.ErrDuplicate)
		require.NoError(t, h.Close())
	})
}

// A late store puts a message into the inbox only when it is told to.
type late struct {
	journal.Store
	post chan struct{}
}

func (s *late) Post(ctx context.Context, session string, it journal.Item) error {
	<-s.post
	return s.Store.Post(ctx, session, it)
}

func TestAMessageThatComesTooLateForARunStartsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type tenant struct{}
		whose := tools.New(tools.Spec{Name: "whose"}, func(ctx context.Context, _ Number) (string, error) {
			return fmt.Sprint(ctx.Value(tenant{})), nil
		})
		store := &late{&journal.MapStore{}, make(chan struct{})}
		model := providertest.Script(providertest.Call("slow", Number{1}), providertest.Say("Done."),
			providertest.Call("whose", Number{2}), providertest.Say("Of course."))
		a := newAgent(t, agent.Config{Journal: store, Provider: model, Tools: []tools.Tool{slow(), whose}})
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		<-time.After(55 * time.Second) // the run ends before the store's time is over
		sent := make(chan live.Sent)
		go func() {
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), tenant{}, "north"))
			defer cancel()
			one, err := h.Send(ctx, agent.Input{Session: "s", Prompt: "hurry"})
			if err != nil {
				t.Error(err)
			}
			sent <- one
		}()
		<-run.Done
		close(store.post)
		require.True(t, (<-sent).Steered)
		<-time.After(time.Minute)
		res, err := a.Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "Of course.", res.Text())
		model.AssertSaw(t, 3, providertest.ToolResultText("whose", "north"))
		require.NoError(t, h.Close())
	})
}

func TestMessagesToARunThatPausesAreReadInOrderWhenItGoesOn(t *testing.T) {
	for name, ended := range map[string]bool{"read by the run": false, "read by the next run": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				steps := []providertest.Step{providertest.Calls(providertest.CallSpec{Tool: "slow", Input: Number{1}},
					providertest.CallSpec{Tool: "risky", Input: Number{2}}), providertest.Say("One."),
					// each text may have its own answer
					providertest.Say("Two."), providertest.Say("Three."), providertest.Say("Four.")}
				a := newAgent(t, agent.Config{Tools: []tools.Tool{slow(), risky(&n)}}, steps...)
				h := newHub(t, live.Config{Agent: a})
				run := start(t, h)
				<-time.After(time.Second)
				for _, text := range []string{"a", "b", "c"} {
					sent, err := h.Send(t.Context(), agent.Input{Session: "s", Prompt: text, Key: text})
					require.NoError(t, err)
					require.True(t, sent.Steered)
				}
				<-run.Done
				<-time.After(time.Hour + time.Millisecond) // the hub looks for what is due at another moment
				pending, err := a.Session("s").Pending(t.Context())
				require.NoError(t, err)
				if ended { // without the hub, which notices it while the run goes on or after that
					require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(pending[0].ID)))
					_, err = a.Run(t.Context(), agent.Continue("s"))
					require.NoError(t, err)
				} else {
					_, err = h.Decide(t.Context(), "s", agent.Approve(pending[0].ID))
					require.NoError(t, err)
				}
				<-time.After(time.Hour)
				messages, err := a.Session("s").Messages(t.Context())
				require.NoError(t, err)
				var said []string
				for i := range messages {
					if messages[i].Role == provider.RoleUser && messages[i].Text() != "" {
						said = append(said, messages[i].Text())
					}
				}
				require.Equal(t, []string{"go", "a", "b", "c"}, said)
				require.Equal(t, 1, n)
				require.NoError(t, h.Close())
			})
		})
	}
}

// A blind store can't be read a few times.
type blind struct {
	journal.Store
	left atomic.Int32 // how many times
}

func (s *blind) Head(ctx context.Context, session string) (journal.Head, error) {
	if s.left.Add(-1) >= 0 {
		return journal.Head{}, fault.New(fault.Transient, "the store is away")
	}
	return s.Store.Head(ctx, session)
}

// timesSaid returns how many messages of a session have that text.
func timesSaid(t *testing.T, a *agent.Agent, text string) (n int) {
	t.Helper()
	messages, err := a.Session("s").Messages(t.Context())
	require.NoError(t, err)
	for i := range messages {
		if messages[i].Text() == text {
			n++
		}
	}
	return n
}

func TestAMessageIsReadOnceAlthoughTheJournalIsAwayMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &blind{Store: &journal.MapStore{}}
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{slow()}},
			providertest.Call("slow", Number{1}), providertest.Say("Done."), providertest.Say("Again."))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		<-time.After(time.Second)
		_, err := h.Send(t.Context(), agent.Input{Session: "s", Prompt: "hurry", Key: "k"})
		require.NoError(t, err)
		store.left.Store(3)
		<-run.Done
		<-time.After(time.Minute)
		require.Equal(t, 1, timesSaid(t, a, "hurry"))
		require.NoError(t, h.Close())
	})
}

func TestAMessageToARunThatIsStoppedIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{Tools: []tools.Tool{slow()}}, providertest.Call("slow", Number{1}),
			providertest.Say("Never."))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		<-time.After(time.Second)
		_, err := h.Send(t.Context(), agent.Input{Session: "s", Prompt: "hurry"})
		require.NoError(t, err)
		require.NoError(t, h.Cancel(t.Context(), "s"))
		<-run.Done
		<-time.After(time.Hour)
		info, err := a.Session("s").Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Stopped, info.Status)
		require.NoError(t, h.Close())
	})
}

func TestAStartWaitsForASessionThatAnotherProcessReleases(t *testing.T) {
	for name, c := range map[string]struct {
		held time.Duration
		err  error
	}{"soon": {time.Second, nil}, "late": {3 * time.Second, agent.ErrBusy}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				a := newAgent(t, agent.Config{Journal: store}, providertest.Say("One."), providertest.Say("Two."))
				h := newHub(t, live.Config{Agent: a, Recover: -1})
				<-start(t, h).Done
				lease, err := store.Lease(t.Context(), "s", "a process that has just ended its run", time.Minute)
				require.NoError(t, err)
				time.AfterFunc(c.held, func() { _ = store.Release(t.Context(), lease) })
				began := time.Now()
				_, err = h.Start(t.Context(), agent.Input{Session: "s", Prompt: "again"})
				require.ErrorIs(t, err, c.err)
				require.InDelta(t, min(c.held, 2*time.Second), time.Since(began), float64(5*time.Millisecond))
				<-time.After(time.Minute)
				require.NoError(t, h.Close())
			})
		})
	}
}

func TestAStartInASessionWithARunIsBusyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{Tools: []tools.Tool{slow()}}, providertest.Call("slow", Number{1}),
			providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		start(t, h)
		began := time.Now()
		_, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "again"})
		require.ErrorIs(t, err, agent.ErrBusy)
		require.Equal(t, began, time.Now())
		<-time.After(time.Hour)
		require.NoError(t, h.Close())
	})
}
