package agent_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A slowLease store does something before it gives out a lease, and another thing before it takes
// one back.
type slowLease struct {
	journal.Store
	lease, release func()
}

func (s *slowLease) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if s.lease != nil {
		s.lease()
	}
	return s.Store.Lease(ctx, session, owner, ttl)
}

func (s *slowLease) Release(ctx context.Context, l journal.Lease) error {
	if s.release != nil {
		s.release()
	}
	return s.Store.Release(ctx, l)
}

func TestAReceiptIsSettledThoughAnotherProcessHasTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		store := &journal.MapStore{}
		slow := &slowLease{Store: store}
		cfg := agent.Config{Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}, Journal: store}
		b, _ := scripted(t, cfg, call("slow", 10), say("on"))
		cfg.Journal = slow
		a := reopen(t, cfg)
		over := make(chan struct{})
		go func() {
			defer close(over)
			<-time.After(time.Second)
			var receipt *agent.Receipt
			slow.lease = func() {
				var err error
				receipt, err = a.Session("s").Steer(t.Context(), "be quick")
				require.NoError(t, err)
			}
			_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			require.ErrorIs(t, err, agent.ErrBusy)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err = receipt.Wait(ctx)
			require.NotErrorIs(t, err, context.DeadlineExceeded, "nobody says what became of the message")
		}()
		run(t, b)
		<-over
	})
}

func TestASessionWhoseInputWasRefusedCannotBeSteered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		store := &slowLease{Store: &journal.MapStore{}}
		a, _ := scripted(t, agent.Config{Journal: store,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}, call("risky", 1), say("on"))
		run(t, a)
		var steered, stopped error
		store.release = func() { // the input is refused, and its session not given back yet
			_, steered = a.Session("s").Steer(t.Context(), "be quick")
			stopped = a.Session("s").Stop(t.Context())
		}
		_, err := a.Run(t.Context(), agent.Continue("s"))
		var paused *agent.PausedError
		require.ErrorAs(t, err, &paused)
		require.ErrorIs(t, steered, agent.ErrNothingOpen)
		require.ErrorIs(t, stopped, agent.ErrNothingOpen)
	})
}

func TestAMessageWhoseSenderWasToldThatItIsLostIsntReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var b *agent.Agent
		var receipt *agent.Receipt
		work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
			var err error
			if receipt, err = b.Session("s").Steer(ctx, "be quick"); err != nil {
				return "", err
			}
			return "x", b.Session("s").Pause(ctx)
		})
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{work}}
		a, _ := scripted(t, cfg, call("work", 1))
		b = reopen(t, cfg, say("on"))
		require.Equal(t, agent.Paused, run(t, a).Status)
		_, err := receipt.Wait(t.Context())
		require.Error(t, err)
		n, err := b.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n, "the host has paused it")
		require.Equal(t, "on", runInput(t, b, agent.Continue("s")).Text())
		for _, f := range facts(t, b, "s") {
			_, steered := f.(*machine.Steered)
			require.False(t, steered)
		}
	})
}

func TestAReceiptThatSteerDidntMakeIsAnError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for _, r := range []*agent.Receipt{nil, {}} {
		_, err := r.Wait(ctx)
		require.ErrorContains(t, err, "Steer")
	}
}

func TestAReceiptEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var receipt *agent.Receipt
		_, a, _ := elsewhere(t, agent.Config{Limits: agent.Limits{Steps: 1}}, func(b *agent.Agent) {
			require.NoError(t, wait(t.Context(), 6*time.Second)) // the last call is under way
			var err error
			receipt, err = b.Session("s").Steer(t.Context(), "too late")
			require.NoError(t, err)
		}, call("slow", 10), providertest.Slow(time.Second, say("So far.")))
		require.NoError(t, a.Session("s").Delete(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := receipt.Wait(ctx)
		require.ErrorContains(t, err, "it isn't known whether the message was delivered")
	})
}

func TestAReceiptOfARunInThisProcessIsSettledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}},
			call("slow", 10), providertest.Slow(time.Minute, say("on")))
		began := time.Now()
		go func() { _, _ = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"}) }()
		<-time.After(time.Second)
		receipt, err := a.Session("s").Steer(t.Context(), "be quick")
		require.NoError(t, err)
		step, err := receipt.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, step)
		require.Equal(t, 10*time.Second, time.Since(began), "as soon as the model is asked")
		<-time.After(time.Hour)
	})
}

func TestARunThatBeginsReadsTheMessagesThatAreToIt(t *testing.T) {
	store := &slowLease{Store: &journal.MapStore{}}
	a, model := scripted(t, agent.Config{Journal: store}, say("one"), say("two"))
	run(t, a)
	require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: "m-1", Kind: "steer",
		Time: time.Now().Add(-time.Minute), Data: []byte(`{"text":"to the run before"}`)}))
	var receipt *agent.Receipt
	store.lease = func() {
		var err error
		receipt, err = a.Session("s").Steer(t.Context(), "be quick")
		require.NoError(t, err)
	}
	run(t, a)
	step, err := receipt.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, step)
	require.Equal(t, "be quick", model.Requests()[1].LastUserText())
	require.Len(t, model.Requests()[1].Messages, 4)
}

func TestAReceiptReadsALongSessionAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a *agent.Agent
		var receipt *agent.Receipt
		many := doing("many", func(ctx context.Context) (err error) {
			if receipt, err = a.Session("s").Steer(ctx, "be quick"); err != nil {
				return err
			}
			for range 5_000 {
				if err := agent.Emit(ctx, "counted", 1); err != nil {
					return err
				}
			}
			return nil
		})
		a, _ = scripted(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{many}}, call("many", 1),
			say("Done."))
		run(t, a)
		began := time.Now()
		step, err := receipt.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, step)
		require.Zero(t, time.Since(began), "it doesn't wait between the pieces")
	})
}

// A fewHeads store lets the head of a session be read a number of times.
type fewHeads struct {
	journal.Store
	left atomic.Int64
}

var errOften = errors.New("it is read too often")

func (s *fewHeads) Head(ctx context.Context, session string) (journal.Head, error) {
	if s.left.Add(-1) < 0 {
		return journal.Head{}, errOften
	}
	return s.Store.Head(ctx, session)
}

func TestAReaderOfAFullPageWaitsForTheNextFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fewHeads{Store: &journal.MapStore{}}
		store.left.Store(1_000_000)
		a, _ := scripted(t, agent.Config{Journal: store}, say("one"))
		run(t, a)
		s := a.Session("s")
		for i := range 1_000 {
			require.NoError(t, s.SetTitle(t.Context(), fmt.Sprint("t", i)))
		}
		all := facts(t, a, "s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		n := 0
		for _, err := range s.Watch(ctx, all[len(all)-1].Envelope().Seq-1_000) {
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			if n++; n == 1_000 {
				store.left.Store(50) // for a minute
			}
		}
		require.Equal(t, 1_000, n)
	})
}
