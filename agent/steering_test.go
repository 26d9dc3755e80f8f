package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestNothingIsLostThatIsSentWhileARunLooksForIt: two senders race with each other and with a run
// that looks before each step, and that continues until it is told to stop. What was sent while
// step n was the newest that anyone had seen is read before the next step but one, also if nobody
// sends anything after it.
func TestNothingIsLostThatIsSentWhileARunLooksForIt(t *testing.T) {
	const runs, rounds, senders = 3, 300, 2
	type sent struct {
		text string
		seen int
	}
	for range runs {
		var e effects
		a := newAgent(t, agent.Config{
			Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
				return callOf("work", Number{1}), nil
			}),
			Tools:  []tools.Tool{e.tool(tools.Spec{Name: "work", Polls: true})},
			Limits: agent.Limits{Steps: -1, Duration: -1},
		})
		var (
			newest, stopped atomic.Int64
			newestOf        [senders]atomic.Pointer[sent]
			all             sync.WaitGroup
		)
		send := func(sender, round int) {
			text := fmt.Sprint(sender, " ", round)
			receipt, err := a.Session("s").Steer(t.Context(), text)
			if err != nil {
				t.Error(err)
				return
			}
			newestOf[sender].Store(&sent{text, int(newest.Load())})
			if _, err := receipt.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		var start [senders]chan int
		done := make(chan bool, senders)
		work := func() {
			for sender := range senders {
				start[sender] = make(chan int)
				all.Go(func() {
					for round := range start[sender] {
						send(sender, round)
						done <- true
					}
				})
			}
			for round := 0; round < rounds && !t.Failed(); round++ {
				for sender := range senders { // at once
					start[sender] <- round
				}
				for range senders {
					<-done
				}
			}
			for sender := range senders {
				close(start[sender])
			}
			if err := a.Session("s").Stop(t.Context()); err != nil {
				t.Error(err)
			}
			stopped.Store(newest.Load())
		}
		read := make(map[string]bool)
		var res *agent.Result
		for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			if err != nil || t.Failed() {
				t.Error(err)
				break
			}
			switch ev := ev.(type) {
			case *agent.StepStarted:
				if newest.Store(int64(ev.Step)); ev.Step == 1 {
					all.Go(work)
				}
				for i := range newestOf {
					if s := newestOf[i].Load(); s != nil && !read[s.text] && ev.Step > s.seen+1 {
						t.Errorf("%q was sent at step %d and isn't read before step %d", s.text, s.seen, ev.Step)
					}
				}
			case *machine.Steered:
				read[ev.Message.Text()] = true
			case *agent.RunEnded:
				res = ev.Result
			}
		}
		all.Wait()
		require.False(t, t.Failed())
		require.Equal(t, machine.CodeHost, res.Code)
		require.LessOrEqual(t, int64(res.Steps), stopped.Load()+1)
		require.Len(t, read, rounds*senders)
	}
}

// TestMessagesAreReadInTheOrderInWhichTheyWereSent, however often they had to wait.
func TestMessagesAreReadInTheOrderInWhichTheyWereSent(t *testing.T) {
	for _, when := range []string{"while the model speaks", "while its calls run", "both"} {
		t.Run(when, func(t *testing.T) {
			var done effects
			a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
				calls("work", 1, 2), say("Done."))
			steer := func(texts ...string) {
				for _, text := range texts {
					_, err := a.Session("s").Steer(t.Context(), text)
					require.NoError(t, err)
				}
			}
			var want []string
			for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				require.NoError(t, err)
				switch ev := ev.(type) {
				case *agent.StepStarted:
					if ev.Step == 1 && when != "while its calls run" {
						steer("a", "b", "c")
						want = append(want, "a", "b", "c")
					}
				case *agent.ToolStarted:
					if ev.Meta.Call[len(ev.Meta.Call)-1] == '0' && when != "while the model speaks" {
						steer("d", "e")
						want = append(want, "d", "e")
					}
				}
			}
			var got []string
			for _, m := range model.Requests()[1].Messages[3:] {
				got = append(got, m.Text())
			}
			require.Equal(t, want, got)
		})
	}
}

// steered runs a session whose one tool sends messages, through the agent of the run or that of
// another process.
func steered(t *testing.T, elsewhere bool, send func(ctx context.Context, b *agent.Agent) error) *agent.Agent {
	t.Helper()
	var b *agent.Agent
	work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
		return "x", send(ctx, b)
	})
	cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{work}}
	a, _ := scripted(t, cfg, call("work", 1), say("done"))
	if b = a; elsewhere {
		b = reopen(t, cfg)
	}
	require.Equal(t, agent.Completed, runInput(t, a, agent.Input{Session: "s", Prompt: "go", Key: "first"}).Status)
	return a
}

func TestAMessageThatIsSentAgainIsReadOnce(t *testing.T) {
	for name, elsewhere := range map[string]bool{"in this process": false, "in another process": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var receipts []*agent.Receipt
				a := steered(t, elsewhere, func(ctx context.Context, b *agent.Agent) error {
					var mu sync.Mutex
					var wg sync.WaitGroup
					for range 20 {
						wg.Go(func() {
							r, err := b.Session("s").Steer(ctx, "be quick", "k")
							mu.Lock()
							defer mu.Unlock()
							receipts = append(receipts, r)
							if err != nil {
								t.Error(err)
							}
						})
					}
					wg.Wait()
					_, err := b.Session("s").Steer(ctx, "be careful", "other")
					return err
				})
				for _, r := range receipts {
					step, err := r.Wait(t.Context())
					require.NoError(t, err)
					require.Equal(t, 2, step)
				}
				require.Len(t, of[*machine.Steered](asEvents(facts(t, a, "s"))), 2)

				run := facts(t, a, "s")[0].Envelope().Run()
				for _, key := range []string{"k", "other", "first"} {
					_, err := a.Session("s").Steer(t.Context(), "be quick", key)
					requireDuplicate(t, err, key, run)
					_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "be quick", Key: key})
					requireDuplicate(t, err, key, run)
				}
				requireSound(t, "s", facts(t, a, "s"))

				require.NoError(t, a.Session("s").Fork(t.Context(), "copy", 0))
				_, err := a.Session("copy").Steer(t.Context(), "be quick", "k")
				require.ErrorIs(t, err, agent.ErrNothingOpen, "a copy has no keys")
			})
		})
	}
}

// A message that a run didn't read before it paused is lost, as its sender learns, and isn't read
// by the next one.
func TestAMessageWithAKeyThatWasNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var receipt *agent.Receipt
		var b *agent.Agent
		work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
			var err error
			if receipt, err = b.Session("s").Steer(ctx, "be quick", "k"); err != nil {
				return "", err
			}
			return "x", b.Session("s").Pause(ctx)
		})
		cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{work}}
		a, _ := scripted(t, cfg, call("work", 1))
		b = reopen(t, cfg, say("on"), say("quick"))
		require.Equal(t, agent.Paused, run(t, a).Status)
		_, err := receipt.Wait(t.Context())
		require.ErrorContains(t, err, "before the message could be delivered")
		require.Equal(t, "on", runInput(t, b, agent.Continue("s")).Text())
		require.Equal(t, "quick", runInput(t, b, agent.Input{Session: "s", Prompt: "be quick", Key: "k"}).Text())
		require.Empty(t, of[*machine.Steered](asEvents(facts(t, b, "s"))))
	})
}

// What a run has dropped can be sent to it again with its key, and is read once.
func TestAMessageThatWasDroppedIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *agent.Agent
		var receipts []*agent.Receipt
		work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, n Number) (string, error) {
			for range n.N {
				receipt, err := b.Session("s").Steer(ctx, "be quick", "k")
				if err != nil {
					return "", err
				}
				receipts = append(receipts, receipt)
			}
			if n.N == 1 {
				return "x", b.Session("s").Pause(ctx)
			}
			return "x", nil
		})
		cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{work}}
		b, _ = scripted(t, cfg, call("work", 1))
		require.Equal(t, agent.Paused, run(t, b).Status)
		b = reopen(t, cfg, call("work", 1))
		require.Equal(t, agent.Paused, runInput(t, b, agent.Continue("s")).Status)
		b = reopen(t, cfg, call("work", 2), say("quick"))
		require.Equal(t, "quick", runInput(t, b, agent.Continue("s")).Text())
		for i, want := range []int{0, 0, 4, 4} {
			step, err := receipts[i].Wait(t.Context())
			require.Equal(t, want, step)
			require.Equal(t, want == 0, err != nil)
		}
		require.Len(t, of[*machine.Steered](asEvents(facts(t, b, "s"))), 1)
	})
}

// A message whose key the session gets while it is being sent, with an input of another process for
// example, isn't read in the run after that.
func TestAMessageWhoseKeyWasUsedMeanwhileIsDropped(t *testing.T) {
	var store journal.Store = &journal.MapStore{}
	work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
		data, err := json.Marshal(session.Item{Text: "go", Key: "k"})
		if err != nil {
			return "", err
		}
		return "x", store.Post(ctx, "s",
			journal.Item{ID: "m-late", Kind: session.ItemSteer, Time: time.Now(), Data: data})
	})
	a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{work}}, call("work", 1), say("done"))
	require.Equal(t, agent.Completed, runInput(t, a, agent.Input{Session: "s", Prompt: "go", Key: "k"}).Status)
	require.Empty(t, of[*machine.Steered](asEvents(facts(t, a, "s"))))
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Zero(t, head.Inbox)
}

func TestTheKeyOfAMessage(t *testing.T) {
	a, _ := scripted(t, agent.Config{})
	for _, key := range []string{strings.Repeat("k", 201), "a\tb"} {
		_, err := a.Session("s").Steer(t.Context(), "hello", key)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "Input.Key", bad.Field)
	}
	_, err := a.Session("s").Steer(t.Context(), "hello", "k", "l")
	require.EqualError(t, err, "agent: Steer: key: there are 2 keys; a message has one")
	for _, key := range []string{"k", ""} {
		_, err := a.Session("s").Steer(t.Context(), "hello", key)
		require.ErrorIs(t, err, agent.ErrNothingOpen)
	}
}
