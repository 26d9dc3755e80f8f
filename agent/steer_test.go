package agent_test

import (
	"context"
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

func TestASteeringMessageIsReadBeforeTheNextStep(t *testing.T) {
	var done effects
	var receipt *agent.Receipt
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}, call("work", 1),
		call("work", 2), say("Done."))
	var all []agent.Event
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if _, ok := ev.(*agent.ToolStarted); ok && receipt == nil {
			receipt, err = a.Session("s").Steer(t.Context(), "be quick")
			require.NoError(t, err)
		}
		all = append(all, ev)
	}
	step, err := receipt.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, step)
	model.AssertSaw(t, 1, providertest.UserText("be quick"))
	last := model.Requests()[1].Messages
	require.Equal(t, "be quick", last[len(last)-1].Text(), "behind the results")
	require.Len(t, of[*machine.Steered](all), 1)
	requireSound(t, "s", facts(t, a, "s"))
}

func TestARunAboutToFinishTakesOneMoreStepForAMessage(t *testing.T) {
	for name, when := range map[string]func(a *agent.Agent, ev agent.Event) bool{
		"while the model speaks": func(_ *agent.Agent, ev agent.Event) bool {
			_, ok := ev.(*agent.TextDelta)
			return ok
		},
		"before it does": func(_ *agent.Agent, ev agent.Event) bool { _, ok := ev.(*agent.StepStarted); return ok },
	} {
		t.Run(name, func(t *testing.T) {
			a, model := scripted(t, agent.Config{}, say("Done."), say("Done, and that too."))
			var receipt *agent.Receipt
			for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				require.NoError(t, err)
				if receipt == nil && when(a, ev) {
					receipt, err = a.Session("s").Steer(t.Context(), "and that too")
					require.NoError(t, err)
				}
			}
			step, err := receipt.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, 2, step)
			model.AssertDone(t)
		})
	}
	t.Run("while hooks are asked", func(t *testing.T) {
		var a *agent.Agent
		var receipt *agent.Receipt
		hook := agent.Hooks{BeforeFinish: func(ctx context.Context, _ *agent.Result) (err error) {
			if receipt == nil {
				receipt, err = a.Session("s").Steer(ctx, "and that too")
			}
			return err
		}}
		a, model := func() (*agent.Agent, *providertest.Model) {
			b, m := scripted(t, agent.Config{Hooks: []agent.Hooks{hook}}, say("Done."), say("Done, and that too."))
			a = b
			return b, m
		}()
		require.Equal(t, "Done, and that too.", run(t, a).Text())
		_, err := receipt.Wait(t.Context())
		require.NoError(t, err)
		model.AssertDone(t)
	})
}

func TestAMessageThatComesTooLateSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		cfg   agent.Config
		steps []providertest.Step
		stop  func(a *agent.Agent) error
	}{
		"the run pauses": {agent.Config{}, []providertest.Step{call("risky", 1)}, nil},
		"it is canceled": {agent.Config{}, []providertest.Step{call("work", 1)}, func(a *agent.Agent) error {
			return a.Session("s").Cancel(context.Background())
		}},
		"it is stopped": {agent.Config{}, []providertest.Step{call("work", 1)}, func(a *agent.Agent) error {
			return a.Session("s").Stop(context.Background())
		}},
		"it is paused": {agent.Config{}, []providertest.Step{call("work", 1)}, func(a *agent.Agent) error {
			return a.Session("s").Pause(context.Background())
		}},
		"at the last call": {agent.Config{Limits: agent.Limits{Steps: 1}},
			[]providertest.Step{call("work", 1), say("So far.")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, _ := risky(t, c.cfg, c.steps...)
			var receipt *agent.Receipt
			for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				require.NoError(t, err)
				step, ok := ev.(*agent.StepStarted)
				if !ok || receipt != nil || c.cfg.Limits.Steps == 1 && step.Step == 1 {
					continue
				}
				receipt, err = a.Session("s").Steer(t.Context(), "late")
				require.NoError(t, err)
				if c.stop != nil {
					require.NoError(t, c.stop(a))
				}
			}
			_, err := receipt.Wait(t.Context())
			require.ErrorContains(t, err, "before the message could be delivered")
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestOnlyARunningSessionCanBeSteered(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			a, _, _ := risky(t, agent.Config{Journal: store()}, call("risky", 1))
			_, err := a.Session("s").Steer(t.Context(), "hello")
			require.ErrorIs(t, err, agent.ErrNothingOpen)
			run(t, a)
			_, err = a.Session("s").Steer(t.Context(), "hello")
			require.ErrorIs(t, err, agent.ErrNothingOpen)
			for _, err := range []error{err, a.Session("s").Stop(t.Context()), a.Session("s").Pause(t.Context())} {
				require.ErrorIs(t, err, agent.ErrNothingOpen)
				require.NotContains(t, err.Error(), "resume") // nobody wanted to
			}
		})
	}
	a, _ := scripted(t, agent.Config{})
	for _, text := range []string{"", "\xff"} {
		_, err := a.Session("s").Steer(t.Context(), text)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Field, "Input.")
	}
	_, err := a.Session("s").Steer(t.Context(), string(make([]byte, 4<<20+1)))
	var limit *agent.LimitError
	require.ErrorAs(t, err, &limit)
}

func TestWaitingForAReceiptEndsWithItsContext(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("Done."), say("Done."))
	for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		if _, ok := ev.(*agent.StepStarted); ok {
			receipt, err := a.Session("s").Steer(t.Context(), "hello")
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = receipt.Wait(ctx)
			require.ErrorIs(t, err, context.Canceled)
			break
		}
	}
}

// elsewhere runs a slow session in one process, calls do in another while it runs, and returns the
// result.
func elsewhere(t *testing.T, cfg agent.Config, do func(b *agent.Agent), steps ...providertest.Step) (*agent.Result,
	*agent.Agent, *providertest.Model) {
	t.Helper()
	cfg.Journal = &journal.MapStore{}
	var done effects
	cfg.Tools = []tools.Tool{done.slow(tools.Spec{Name: "slow"}),
		done.tool(tools.Spec{Name: "work", Modes: []string{"edit"}})}
	cfg.Modes = []agent.Mode{{Name: "ask"}, {Name: "edit"}}
	a, model := scripted(t, cfg, steps...)
	b := reopen(t, cfg)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if wait(t.Context(), 5*time.Second) == nil {
			do(b)
		}
	}()
	res := run(t, a)
	<-over
	return res, a, model
}

func TestAnotherProcessReachesARunThroughTheJournal(t *testing.T) {
	t.Run("steer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			res, a, model := elsewhere(t, agent.Config{}, func(b *agent.Agent) {
				receipt, err := b.Session("s").Steer(t.Context(), "be quick")
				require.NoError(t, err)
				step, err := receipt.Wait(t.Context())
				require.NoError(t, err)
				require.Equal(t, 2, step)
			}, call("slow", 10), say("Done."))
			require.Equal(t, "Done.", res.Text())
			model.AssertSaw(t, 1, providertest.UserText("be quick"))
			steered := 0
			for _, f := range facts(t, a, "s") {
				if _, ok := f.(*machine.Steered); ok {
					steered++
				}
			}
			require.Equal(t, 1, steered)
		})
	})
	for name, c := range map[string]struct {
		do     func(b *agent.Agent) error
		status agent.Status
		code   string
		call   tools.Status
	}{
		"stop": {func(b *agent.Agent) error { return b.Session("s").Stop(context.Background()) }, agent.Stopped,
			machine.CodeHost, tools.OK},
		"cancel": {func(b *agent.Agent) error { return b.Session("s").Cancel(context.Background()) }, agent.Stopped,
			machine.CodeCanceled, tools.Canceled},
		"pause": {func(b *agent.Agent) error { return b.Session("s").Pause(context.Background()) }, agent.Paused,
			machine.CodeHost, tools.OK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				res, a, model := elsewhere(t, agent.Config{}, func(b *agent.Agent) {
					require.NoError(t, c.do(b))
				}, call("slow", 10), say("Done."))
				require.Equal(t, c.status, res.Status)
				require.Equal(t, c.code, res.Code)
				require.Equal(t, c.call, finished(t, a, "s")[0].Status, "all but a cancellation wait for a safe point")
				model.AssertCalls(t, 1)
			})
		})
	}
	t.Run("mode", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			res, _, model := elsewhere(t, agent.Config{}, func(b *agent.Agent) {
				require.NoError(t, b.Session("s").SetMode(t.Context(), "edit"))
			}, call("slow", 10), say("Done."))
			require.Equal(t, "edit", res.Mode)
			model.AssertTools(t, 1, "slow", "work")
		})
	})
}

func TestWhatIsPostedToARunThatEndsFirstDoesntReachTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, a, model := elsewhere(t, agent.Config{Limits: agent.Limits{Steps: 1}}, func(b *agent.Agent) {
			require.NoError(t, wait(t.Context(), 6*time.Second)) // the last call is under way
			receipt, err := b.Session("s").Steer(t.Context(), "too late")
			require.NoError(t, err)
			require.NoError(t, b.Session("s").Stop(t.Context()))
			_, err = receipt.Wait(t.Context())
			require.ErrorContains(t, err, "before the message could be delivered")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = b.Session("s").Steer(ctx, "far too late")
			require.Error(t, err)
		}, call("slow", 10), providertest.Slow(time.Second, say("So far.")), say("Again."))
		require.Equal(t, machine.CodeLimit, res.Code)
		require.Equal(t, "Again.", run(t, a).Text())
		model.AssertDone(t)
	})
}

// Times don't tell a message to the run that has ended from one to the run that begins: here
// everything happens at one instant, as it may where a clock is coarse.
func TestAMessageThatIsPostedAfterTheEndOfItsRunDoesntReachTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &latePost{&journal.MapStore{}, make(chan struct{}), make(chan struct{})}
		var a *agent.Agent
		var model *providertest.Model
		refused := make(chan error, 1)
		work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
			go func() {
				receipt, err := a.Session("s").Steer(t.Context(), "too late")
				if err == nil {
					_, err = receipt.Wait(t.Context())
				}
				refused <- err
			}()
			<-store.posting
			return "done", nil
		})
		a, model = scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{work}}, call("work", 1), say("Done."),
			say("Again."))
		require.Equal(t, "Done.", run(t, a).Text())
		close(store.post)
		require.ErrorContains(t, <-refused, "before the message could be delivered")
		require.Equal(t, "Again.", run(t, a).Text())
		require.Equal(t, []string{"assistant: Done.", "user: go"}, said(model.Requests()[2].Messages[3:]))
		model.AssertDone(t)
	})
}

// What is said together with the last decision that a reply waits for is read before the next model
// call, not after it.
func TestAMessageIsDeliveredWithTheDecisionThatItCameWith(t *testing.T) {
	var a *agent.Agent
	var model *providertest.Model
	var done effects
	hold := tools.New(tools.Spec{Name: "hold"}, func(ctx context.Context, _ Number) (string, error) {
		s := a.Session("s")
		pending, err := s.Pending(ctx)
		if err == nil {
			err = s.Decide(ctx, agent.Reject(pending[0].ID, "not today"))
		}
		if err == nil {
			_, err = s.Steer(ctx, "only the drafts")
		}
		return "held", err
	})
	a, model = scripted(t,
		agent.Config{Tools: []tools.Tool{hold, done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
		providertest.Calls(providertest.CallSpec{Tool: "risky", Input: Number{1}},
			providertest.CallSpec{Tool: "hold", Input: Number{2}}), say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
	require.Equal(t, "only the drafts", model.Requests()[1].LastUserText())
	require.Zero(t, done.all())
}
