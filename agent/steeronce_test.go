package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// steered runs a session whose one tool sends messages, through the agent of the run or that of
// another process.
func steered(t *testing.T, elsewhere bool, send func(ctx context.Context, b *agent.Agent) error) *agent.Agent {
	t.Helper()
	var b *agent.Agent
	work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
		return "x", send(ctx, b)
	})
	cfg := agent.Config{Journal: journal.NewMemory(), Tools: []tools.Tool{work}}
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
		cfg := agent.Config{Journal: journal.NewMemory(), Tools: []tools.Tool{work}}
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

// A message whose key the session gets while it is being sent, with an input of another process for
// example, isn't read in the run after that.
func TestAMessageWhoseKeyWasUsedMeanwhileIsDropped(t *testing.T) {
	var store journal.Store = journal.NewMemory()
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
