package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// advance drives a session for one leg.
func advance(t *testing.T, a *agent.Agent, session string) agent.Progressed {
	t.Helper()
	p, err := a.Advance(t.Context(), agent.Continue(session), agent.Leg{})
	require.NoError(t, err)
	return p
}

// failures are those of n model calls, each of which is tried 5 times.
func failures(n int) (steps []providertest.Step) {
	for range 5 * n {
		steps = append(steps, providertest.Fail(fault.Transient))
	}
	return steps
}

var addSpec = tools.Spec{Name: "add"}

// enqueue queues an input in session "s".
func enqueue(t *testing.T, a *agent.Agent, o agent.QueueOptions) {
	t.Helper()
	require.NoError(t, a.Enqueue(t.Context(), agent.Input{Session: "s", Prompt: "go"}, o))
}

func statusOf(t *testing.T, a *agent.Agent, session string) agent.Status {
	t.Helper()
	info, err := a.Session(session).Info(t.Context())
	require.NoError(t, err)
	return info.Status
}

func TestAQueuedRunBeginsOnceAndNotBeforeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := new(effects)
		a := reopen(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{done.tool(addSpec)}},
			call("add", 1), say("done"))
		in := agent.Input{Session: "s", Key: "k", Prompt: "go", Title: "A report", Priority: 80,
			Labels: map[string]string{"tenant": "acme"}}
		at := time.Now().Add(time.Hour)
		require.NoError(t, a.Enqueue(t.Context(), in, agent.QueueOptions{At: at}))
		require.ErrorIs(t, a.Enqueue(t.Context(), in, agent.QueueOptions{}), agent.ErrDuplicate)
		in.Key = "other"
		var paused *agent.PausedError
		require.ErrorAs(t, a.Enqueue(t.Context(), in, agent.QueueOptions{}), &paused)

		require.Equal(t, agent.Queued, statusOf(t, a, "s"))
		for info, err := range a.Sessions(t.Context(), agent.SessionFilter{Status: agent.Queued,
			Label: journal.Label{Key: "tenant", Value: "acme"}}) {
			require.NoError(t, err)
			require.Equal(t, "A report", info.Title)
			require.Zero(t, info.Pending)
		}
		n, err := a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n, "it is for workers")
		n, err = a.Recover(t.Context(), agent.Recovery{Session: "s"})
		require.NoError(t, err)
		require.Zero(t, n)

		p := advance(t, a, "s")
		require.Equal(t, agent.NextWait, p.Next)
		require.True(t, p.At.Equal(at), "%v", p.At)
		require.Zero(t, done.all())
		<-time.After(time.Hour)
		p = advance(t, a, "s")
		require.Equal(t, agent.NextEnded, p.Next)
		require.Equal(t, agent.Completed, p.Result.Status)
		require.Equal(t, 1, done.all())
		require.Equal(t, agent.NextEnded, advance(t, a, "s").Next)
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestARunThatFailsIsTriedAgainWhereItFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := new(effects)
		a := reopen(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{done.tool(addSpec)}},
			slices.Concat([]providertest.Step{call("add", 1)}, failures(2), []providertest.Step{say("done")})...)
		enqueue(t, a, agent.QueueOptions{Attempts: 3})
		for _, delay := range []time.Duration{10 * time.Second, 20 * time.Second} {
			p := advance(t, a, "s")
			require.Equal(t, agent.NextWait, p.Next)
			require.Equal(t, delay, time.Until(p.At))
			require.Equal(t, agent.Queued, statusOf(t, a, "s"))
			<-time.After(delay)
		}
		p := advance(t, a, "s")
		require.Equal(t, agent.NextEnded, p.Next)
		require.Equal(t, "done", p.Result.Text())
		require.Equal(t, 1, done.all(), "what was done isn't done again")
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestARunThatFailsIsTriedAgainWhereverItsProcessDied(t *testing.T) {
	for at, over := 1, false; !over; at++ {
		for _, kept := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				dying := &weak{Store: store, at: at, kept: kept, err: death, lasts: true}
				enqueue(t, reopen(t, agent.Config{Journal: store}), agent.QueueOptions{Attempts: 2})
				_, _ = reopen(t, agent.Config{Journal: dying}, failures(1)...).Advance(t.Context(), agent.Continue("s"),
					agent.Leg{})
				over = !dying.dead()
				<-time.After(time.Minute) // the lease ends
				a := reopen(t, agent.Config{Journal: store}, say("done"))
				for p := advance(t, a, "s"); p.Next != agent.NextEnded; p = advance(t, a, "s") {
					<-time.After(time.Until(p.At))
				}
				require.Equal(t, agent.Completed, statusOf(t, a, "s"), "append %d, kept: %t", at, kept)
				requireSound(t, "s", facts(t, a, "s"))
			})
		}
	}
}

func TestAFailureThatDoesNotPassIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := reopen(t, agent.Config{Journal: &journal.MapStore{}}, providertest.Fail(fault.Permanent))
		enqueue(t, a, agent.QueueOptions{Attempts: 3})
		p := advance(t, a, "s")
		require.Equal(t, agent.NextEnded, p.Next)
		require.Equal(t, agent.Failed, p.Result.Status)
	})
}

func TestARunThatHasFailedForGoodIsRetriedThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := new(effects)
		steps := append([]providertest.Step{call("add", 1)}, failures(8)...)
		a := reopen(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{done.tool(addSpec)}},
			steps...)
		s := a.Session("s")
		require.ErrorIs(t, s.Retry(t.Context()), agent.ErrNothingOpen)
		enqueue(t, a, agent.QueueOptions{Attempts: 2})
		require.ErrorIs(t, s.Retry(t.Context()), machine.ErrCannotRetry)
		var told []agent.Status
		tell := func(_ context.Context, r *agent.Result) error {
			told = append(told, r.Status)
			return nil
		}
		for retried := 0; ; retried++ {
			require.Equal(t, agent.NextWait, advance(t, a, "s").Next)
			<-time.After(time.Minute)
			require.Equal(t, agent.NextEnded, advance(t, a, "s").Next)
			require.Equal(t, agent.Failed, statusOf(t, a, "s"))
			if retried%2 == 0 { // an end that wasn't delivered before the retry isn't one any more
				n, err := s.Deliver(t.Context(), tell)
				require.NoError(t, err)
				require.Equal(t, 1, n)
			}
			if retried == 3 {
				break
			}
			require.NoError(t, s.Retry(t.Context()))
		}
		err := s.Retry(t.Context())
		require.ErrorIs(t, err, machine.ErrCannotRetry)
		require.ErrorContains(t, err, "3 times")
		require.Equal(t, 1, done.all())
		n, err := s.Deliver(t.Context(), tell)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, []agent.Status{agent.Failed, agent.Failed, agent.Failed}, told)
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestTheEndsOfQueuedRunsAreDeliveredUntilTheHostTookThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a := reopen(t, agent.Config{Journal: store}, say("one"), say("two"), say("three"))
		due := func() bool {
			h, err := store.Head(t.Context(), "s")
			require.NoError(t, err)
			return !h.Due.IsZero()
		}
		for _, prompt := range []string{"first", "second"} {
			require.NoError(t, a.Enqueue(t.Context(), agent.Input{Session: "s", Prompt: prompt}, agent.QueueOptions{}))
			require.True(t, due())
			require.Equal(t, agent.NextEnded, advance(t, a, "s").Next)
		}
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "third"}) // which wasn't queued
		require.NoError(t, err)
		require.True(t, due())

		failed := errors.New("the hook is down")
		var told []string
		tell := func(_ context.Context, r *agent.Result) error {
			require.ErrorIs(t, a.Enqueue(t.Context(), agent.Input{Session: "s", Prompt: "x"}, agent.QueueOptions{}),
				agent.ErrBusy)
			if told = append(told, r.Text()); len(told) == 2 {
				return failed
			}
			return nil
		}
		n, err := a.Session("s").Deliver(t.Context(), tell)
		require.ErrorIs(t, err, failed)
		require.Equal(t, 1, n)
		n, err = a.Session("s").Deliver(t.Context(), func(context.Context, *agent.Result) error { panic("no") })
		require.ErrorContains(t, err, "panic")
		require.Zero(t, n)
		_, err = a.Session("s").Prune(t.Context())
		require.NoError(t, err)
		n, err = a.Session("s").Deliver(t.Context(), func(ctx context.Context, r *agent.Result) error {
			require.Equal(t, agent.Completed, r.Status)
			require.Equal(t, uint64(6), r.Start)
			return tell(ctx, r)
		})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, []string{"one", "two", ""}, told, "its log was pruned before it was delivered")
		require.False(t, due())
		_, err = a.Session("s").Deliver(t.Context(), nil)
		require.ErrorContains(t, err, "Deliver")
	})
}

func TestCancelTakesARunOutOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := reopen(t, agent.Config{Journal: &journal.MapStore{}}, say("never"))
		enqueue(t, a, agent.QueueOptions{})
		require.NoError(t, a.Session("s").Cancel(t.Context()))
		require.Equal(t, agent.Stopped, statusOf(t, a, "s"))
		require.ErrorIs(t, a.Session("s").Cancel(t.Context()), agent.ErrNothingOpen)
		require.Equal(t, agent.NextEnded, advance(t, a, "s").Next)
		n, err := a.Session("s").Deliver(t.Context(), func(_ context.Context, r *agent.Result) error {
			require.Equal(t, agent.Stopped, r.Status)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func TestCancelEndsARunThatWaitsForAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := new(effects)
		a := reopen(t, agent.Config{Journal: &journal.MapStore{},
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}, call("risky", 1))
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
		require.Equal(t, agent.Paused, res.Status)
		require.NoError(t, a.Session("s").Cancel(t.Context()))
		require.Equal(t, agent.Stopped, statusOf(t, a, "s"))
		require.Error(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
		require.Zero(t, done.all())
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestACopyOfASessionIsNotQueuedAndDeliversNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a := reopen(t, agent.Config{Journal: store}, say("one"))
		enqueue(t, a, agent.QueueOptions{})
		require.NoError(t, a.Session("s").Fork(t.Context(), "before", 0))
		require.Equal(t, agent.NextEnded, advance(t, a, "s").Next)
		require.NoError(t, a.Session("s").Fork(t.Context(), "after", 0))
		for name, want := range map[string]agent.Status{"before": agent.Stopped, "after": agent.Completed} {
			require.Equal(t, want, statusOf(t, a, name))
			h, err := store.Head(t.Context(), name)
			require.NoError(t, err)
			require.True(t, h.Due.IsZero(), name)
		}
	})
}

func TestInputsThatCannotBeQueuedAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := reopen(t, agent.Config{Journal: &journal.MapStore{}}, say("one"))
		local := new(effects).tool(tools.Spec{Name: "local"})
		for field, in := range map[string]agent.Input{
			"Input.Session":   {Prompt: "go"},
			"Input.Prompt":    {Session: "s"},
			"Input.Supersede": {Session: "s", Prompt: "go", Supersede: true},
			"Input.Tools":     {Session: "s", Prompt: "go", Tools: []tools.Tool{local}},
		} {
			var bad *agent.ArgError
			require.ErrorAs(t, a.Enqueue(t.Context(), in, agent.QueueOptions{}), &bad, field)
			require.Equal(t, field, bad.Field)
		}
		var bad *agent.ArgError
		require.ErrorAs(t, a.Enqueue(t.Context(), agent.Continue("s"), agent.QueueOptions{}), &bad)
		require.ErrorAs(t, a.Enqueue(t.Context(), agent.Input{Session: "s", Prompt: "go"},
			agent.QueueOptions{Attempts: -1}), &bad)
		require.ErrorAs(t, a.Enqueue(t.Context(), agent.Input{Session: "s", Prompt: "go"},
			agent.QueueOptions{At: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)}), &bad, "it would be due at once")
		require.Equal(t, "QueueOptions.At", bad.Field)
		require.Error(t, (*agent.Agent)(nil).Enqueue(t.Context(), agent.Input{}, agent.QueueOptions{}))
		_, err := a.Session("s").Info(t.Context())
		require.ErrorIs(t, err, agent.ErrNothingOpen, "nothing was stored")
		form := tools.External(tools.Spec{Name: "form", Schema: []byte(`{"type":"object"}`)})
		require.NoError(t, a.Enqueue(t.Context(), agent.Input{Session: "s", Prompt: "go", Tools: []tools.Tool{form}},
			agent.QueueOptions{}))
	})
}

func TestACancelThatComesAsARunBeginsToWaitEndsItWhenSomebodyLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a := reopen(t, agent.Config{Journal: store, Modes: []agent.Mode{{Name: "ask"}, {Name: "plan"}},
			Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "risky", Risk: tools.High})}}, call("risky", 1))
		require.Equal(t, agent.Paused, runInput(t, a, agent.Input{Session: "s", Prompt: "go"}).Status)
		post := func(kind, data string) {
			it := journal.Item{ID: "m-" + kind, Kind: kind, Data: []byte(data)}
			require.NoError(t, store.Post(t.Context(), "s", it))
		}
		inbox := func() int {
			h, err := store.Head(t.Context(), "s")
			require.NoError(t, err)
			return h.Inbox
		}
		post("mode", `{"text":"plan"}`)
		require.Equal(t, agent.NextWait, advance(t, a, "s").Next)
		require.Zero(t, inbox(), "it is for the session")
		post("cancel", "{}")
		p := advance(t, a, "s")
		require.Equal(t, agent.NextEnded, p.Next)
		require.Equal(t, agent.Stopped, p.Result.Status)
		require.Equal(t, "plan", p.Result.Mode)
		require.Zero(t, inbox())
		requireSound(t, "s", facts(t, a, "s"))
	})
}

// A racing store has another process take a session as soon as its head was read.
type racing struct {
	*journal.MapStore
	lease journal.Lease
}

func (s *racing) Head(ctx context.Context, name string) (journal.Head, error) {
	h, err := s.MapStore.Head(ctx, name)
	if err == nil && s.lease.Owner == "" {
		s.lease, err = s.Lease(ctx, name, "other", time.Hour)
	}
	return h, err
}

func TestACancelReachesAWorkerThatHasJustTakenTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a := reopen(t, agent.Config{Journal: store}, say("never"))
		enqueue(t, a, agent.QueueOptions{})
		raced := &racing{MapStore: store}
		other := reopen(t, agent.Config{Journal: raced}, say("never"))
		require.NoError(t, other.Session("s").Cancel(t.Context()))
		require.NoError(t, store.Release(t.Context(), raced.lease))
		require.Equal(t, agent.Stopped, advance(t, a, "s").Result.Status)
	})
}

func TestARetryIgnoresWhatWasPostedBeforeTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a := reopen(t, agent.Config{Journal: store}, providertest.Fail(fault.Permanent), say("done"))
		enqueue(t, a, agent.QueueOptions{})
		require.Equal(t, agent.Failed, advance(t, a, "s").Result.Status)
		require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: "m-1", Kind: "cancel", Data: []byte("{}")}))
		require.NoError(t, a.Session("s").Retry(t.Context()))
		require.Equal(t, agent.Completed, advance(t, a, "s").Result.Status)
	})
}

func TestARunThatIsTriedAgainReadsTheMessageThatCameBeforeItFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}}, append(failures(1), say("done"))...)
		enqueue(t, a, agent.QueueOptions{Attempts: 2})
		var receipt *agent.Receipt
		time.AfterFunc(100*time.Millisecond, func() {
			var err error
			receipt, err = a.Session("s").Steer(t.Context(), "be quick")
			require.NoError(t, err)
		})
		p := advance(t, a, "s")
		require.Equal(t, agent.Queued, statusOf(t, a, "s"))
		go func() {
			<-time.After(time.Until(p.At))
			_, _ = a.Advance(t.Context(), agent.Continue("s"), agent.Leg{})
		}()
		_, err := receipt.Wait(t.Context())
		require.NoError(t, err)
		<-time.After(time.Minute)
		require.Equal(t, "be quick", model.Requests()[5].LastUserText())
	})
}
