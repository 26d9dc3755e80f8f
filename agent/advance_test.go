package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A counter counts appends, chunks, and the beginnings and ends of tool calls, and calls at at one
// of them.
type counter struct {
	journal.Store

	mu sync.Mutex
	n  int
	on int // 0: none
	at func()
}

func (c *counter) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n == c.on {
		c.at()
	}
}

func (c *counter) Append(ctx context.Context, a journal.Append) error {
	defer c.count()
	return c.Store.Append(ctx, a)
}

// A countedModel is a model whose chunks a counter counts.
type countedModel struct {
	provider.Provider
	c *counter
}

func (m countedModel) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for chunk, err := range m.Provider.Stream(ctx, req) {
			m.c.count()
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// counted returns a tool that takes a second.
func (c *counter) counted(done *effects, spec tools.Spec) tools.Tool {
	return tools.New(spec, func(ctx context.Context, in Number) (string, error) {
		c.count()
		defer c.count()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
		done.add(in.N)
		return fmt.Sprint("done ", in.N), nil
	})
}

// crew returns an agent with parallel calls, one that asks, and a subagent that has the same.
func (c *counter) crew(t *testing.T, done *effects) *agent.Agent {
	build := func(cfg agent.Config, replies ...providertest.Step) *agent.Agent {
		cfg.Provider = countedModel{inTurn(replies...), c}
		cfg.Tools = append(cfg.Tools, c.counted(done, tools.Spec{Name: "work", ParallelSafe: true}),
			c.counted(done, tools.Spec{Name: "risky", Risk: tools.High}))
		return newAgent(t, cfg)
	}
	child := build(agent.Config{Name: "child"}, calls("work", 11, 12), call("risky", 13), say("I did."))
	return build(agent.Config{Name: "parent", Journal: c,
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x", ParallelSafe: true})}},
		calls("work", 1, 2),
		providertest.Calls(providertest.CallSpec{Tool: "child", Input: agent.Task{Task: "x"}},
			providertest.CallSpec{Tool: "work", Input: Number{3}},
			providertest.CallSpec{Tool: "risky", Input: Number{4}}),
		say("Done."))
}

// first is the input of the runs in these tests.
var first = agent.Input{Session: "s", Key: "first", Prompt: "go"}

// advanced drives a run until it has ended, each time as Progressed says. It approves calls, and
// says of calls in doubt that they haven't had their effect.
func advanced(t *testing.T, a *agent.Agent, leg agent.Leg) (last agent.Progressed, legs int) {
	t.Helper()
	for legs < 200 {
		p, err := a.Advance(t.Context(), first, leg)
		require.NoError(t, err)
		legs++
		switch p.Next {
		case agent.NextEnded:
			require.Zero(t, p.At)
			require.Empty(t, p.Key)
			return p, legs
		case agent.NextWait:
			require.NotEmpty(t, p.Result.Pending)
			for _, pause := range p.Result.Pending {
				d := agent.Approve(pause.ID)
				if pause.Kind == agent.PauseInDoubt {
					d = agent.Answer(pause.ID, "it wasn't done")
				}
				require.NoError(t, a.Session("s").Decide(t.Context(), d))
			}
		default:
			require.GreaterOrEqual(t, time.Until(p.At), time.Second)
			require.Len(t, p.Key, 32)
			<-time.After(time.Until(p.At))
		}
	}
	require.Fail(t, "the run doesn't end")
	return last, legs
}

// requireNeverStopped fails the test if a run of the store's sessions was stopped or canceled.
func requireNeverStopped(t *testing.T, store journal.Store) (sessions int) {
	t.Helper()
	for head, err := range store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		sessions++
		var log []agent.Fact
		for rec, err := range store.Read(t.Context(), head.Session, 0) {
			require.NoError(t, err)
			f, err := machine.Decode(head.Session, rec)
			require.NoError(t, err)
			log = append(log, f)
			if end, ok := f.(*agent.RunEnded); ok {
				require.Contains(t, []agent.Status{agent.Paused, agent.Completed}, end.Status, end.Code)
			}
			if end, ok := f.(*agent.ToolFinished); ok {
				require.Contains(t, []tools.Status{tools.OK, tools.Answered}, end.Result.Status)
			}
		}
		requireSound(t, head.Session, log)
	}
	return sessions
}

// TestTheEndOfTheContextAtAnyEventNeverEndsTheRun, whether there is time to reach a safe point or
// what is in progress is cut off.
func TestTheEndOfTheContextAtAnyEventNeverEndsTheRun(t *testing.T) {
	for name, grace := range map[string]time.Duration{"safe point": 0, "cut off": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			events := 0
			for on := 0; on <= events; on++ { // 0: never
				if on%*every != 0 {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					var done effects
					c := &counter{Store: &journal.MapStore{}}
					a := c.crew(t, &done)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					c.on, c.at = on, cancel
					leg := agent.Leg{Grace: grace}
					_, err := a.Advance(ctx, first, leg)
					require.NoError(t, err)
					last, _ := advanced(t, a, leg)
					require.Equal(t, "Done.", last.Result.Text(), "event %d", on)
					require.NoError(t, last.Result.Err())
					require.Equal(t, 2, requireNeverStopped(t, c.Store))
					for _, n := range []int{1, 2, 3, 4, 11, 12, 13} {
						require.LessOrEqual(t, done.of(n), 1, "event %d, call %d", on, n)
						if grace == 0 {
							require.Equal(t, 1, done.of(n), "event %d, call %d", on, n)
						}
					}
					if on == 0 {
						events = min(c.n, 200)
						require.Greater(t, events, 60)
					}
				})
			}
		})
	}
}

// TestLegsHaveTheSameFactsButForThePauses, however many steps each has.
func TestLegsHaveTheSameFactsButForThePauses(t *testing.T) {
	var whole []string
	for _, c := range []struct{ steps, legs int }{{0, 1}, {1, 12}, {2, 6}, {5, 3}} {
		synctest.Test(t, func(t *testing.T) {
			var done effects
			var replies []providertest.Step
			for n := range 11 {
				replies = append(replies, call("work", n))
			}
			a := newAgent(t, agent.Config{Provider: inTurn(append(replies, say("Done."))...),
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
			last, legs := advanced(t, a, agent.Leg{Steps: c.steps})
			require.Equal(t, "Done.", last.Result.Text())
			require.Equal(t, c.legs, legs)
			var kinds []string
			for _, f := range facts(t, a, "s") {
				switch f := f.(type) {
				case *machine.Continued:
					continue
				case *agent.RunEnded:
					if f.Status == agent.Paused {
						require.Equal(t, machine.CodeLeg, f.Code)
						continue
					}
				}
				kinds = append(kinds, fmt.Sprintf("%T %d", f, f.Envelope().Step))
			}
			if whole == nil {
				whole = kinds
			}
			require.Equal(t, whole, kinds)
		})
	}
}

// TestTheStepsOfSubagentsCountForALeg, and each pauses with its parent.
func TestTheStepsOfSubagentsCountForALeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		c := &counter{Store: &journal.MapStore{}}
		last, legs := advanced(t, c.crew(t, &done), agent.Leg{Steps: 1})
		require.Equal(t, "Done.", last.Result.Text())
		require.Equal(t, 6, legs, "a model call each")
		require.Equal(t, 7, done.all())
		requireNeverStopped(t, c.Store)
	})
}

func TestALegPausesWhenItsTimeIsUpAndCutsNothingOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a := newAgent(t, agent.Config{Provider: inTurn(calls("slow", 20, 30), say("Done.")),
			Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}})
		began := time.Now()
		p, err := a.Advance(t.Context(), first, agent.Leg{Time: 5 * time.Second})
		require.NoError(t, err)
		require.Equal(t, agent.NextAgain, p.Next)
		require.Equal(t, machine.CodeLeg, p.Result.Code)
		require.Equal(t, 20*time.Second, time.Since(began), "the second call hasn't begun")
		last, _ := advanced(t, a, agent.Leg{})
		require.Equal(t, "Done.", last.Result.Text())
		require.Equal(t, 2, done.all())
	})
}

func TestOnlyWorkCountsForTheDurationOfARunInLegs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a := newAgent(t, agent.Config{Limits: agent.Limits{Duration: time.Minute},
			Provider: inTurn(call("slow", 20), call("slow", 21), say("Done.")),
			Tools:    []tools.Tool{done.slow(tools.Spec{Name: "slow"})}})
		for range 2 {
			p, err := a.Advance(t.Context(), first, agent.Leg{Steps: 1})
			require.NoError(t, err)
			require.Equal(t, agent.NextAgain, p.Next)
			<-time.After(time.Hour)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		last, _ := advanced(t, a, agent.Leg{})
		require.Equal(t, agent.Completed, last.Result.Status)
		<-ctx.Done()
		_, err := a.Advance(ctx, first, agent.Leg{})
		require.ErrorIs(t, err, context.DeadlineExceeded, "nothing is begun when the context has ended")
	})
}

// A silentModel ignores its context until it is freed.
type silentModel struct{ free chan struct{} }

func (d silentModel) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		<-d.free
		yield(provider.Start("m"), nil)
	}
}

func TestAProviderThatIgnoresItsContextIsAbandonedAndTheRunStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, free := &journal.MapStore{}, make(chan struct{})
		deaf := newAgent(t, agent.Config{Journal: store, Provider: silentModel{free}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		p, err := deaf.Advance(ctx, first, agent.Leg{Grace: 2 * time.Second})
		require.NoError(t, err)
		require.Equal(t, time.Minute+7*time.Second, time.Since(began))
		require.Equal(t, agent.NextAgain, p.Next)
		require.Equal(t, agent.Running, p.Result.Status)
		require.ErrorIs(t, p.Result.Err(), machine.ErrRunning)
		require.Equal(t, 1, deaf.Abandoned())

		a, _ := scripted(t, agent.Config{Journal: store}, say("Done."))
		last, legs := advanced(t, a, agent.Leg{})
		require.Equal(t, "Done.", last.Result.Text())
		require.Equal(t, 1, legs)
		requireNeverStopped(t, store)
		close(free)
		synctest.Wait()
		require.Zero(t, deaf.Abandoned())
	})
}

// TestADecisionIsActedOnByTheNextLegAndNamesAnotherJob: the job that waits for the expiry has
// another key than the one that the decision leads to.
func TestADecisionIsActedOnByTheNextLegAndNamesAnotherJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a, _, done := risky(t, agent.Config{Journal: store, PauseExpires: 24 * time.Hour}, call("risky", 1),
			say("Done."))
		p, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.NextWait, p.Next)
		require.Equal(t, 24*time.Hour, time.Until(p.At))
		<-time.After(time.Second)
		again, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, p.Key, again.Key, "a copy of the same job")
		require.Equal(t, p.At, again.At)

		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(p.Result.Pending[0].ID)))
		ending, _ := scripted(t, agent.Config{Journal: store})
		require.NoError(t, ending.Drain(t.Context()))
		drained, err := ending.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.NextAgain, drained.Next, "no fact was recorded since")
		require.NotEqual(t, p.Key, drained.Key)
		require.Equal(t, time.Second, time.Until(drained.At))

		last, legs := advanced(t, a, agent.Leg{})
		require.Equal(t, "Done.", last.Result.Text())
		require.Equal(t, 1, legs)
		require.Equal(t, 1, done.of(1))
	})
}

func TestAPauseThatHasExpiredIsActedOnByTheNextLeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, done := risky(t, agent.Config{PauseExpires: time.Hour}, call("risky", 1), say("Done."))
		p, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		<-time.After(time.Until(p.At) - time.Second)
		early, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.NotEqual(t, p.Key, early.Key, "a queue whose clock is ahead takes the job")
		<-time.After(time.Until(early.At))
		last, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "Done.", last.Result.Text())
		require.Zero(t, done.all())
	})
}

func TestAdvanceOfASessionThatAnotherProcessHasComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		list := []tools.Tool{done.slow(tools.Spec{Name: "slow"})}
		b, _ := scripted(t, agent.Config{Journal: store, Tools: list}, call("slow", 40), say("Done."))
		var wg sync.WaitGroup
		wg.Go(func() { run(t, b) })
		<-time.After(time.Second)
		a, _ := scripted(t, agent.Config{Journal: store, Tools: list})
		p, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.NextLater, p.Next)
		require.Equal(t, 29*time.Second, time.Until(p.At), "the lease ends")
		_, err = a.Advance(t.Context(), agent.Input{Session: "s", Key: "k", Owner: "eve", Prompt: "go"}, agent.Leg{})
		require.ErrorIs(t, err, agent.ErrNotOwner, "what the session says is for its owner")
		wg.Wait()
	})
}

// TestAnInputThatIsRepeatedSaysHowItsRunStands, also when others have followed.
func TestAnInputThatIsRepeatedSaysHowItsRunStands(t *testing.T) {
	a, model, _ := risky(t, agent.Config{}, say("One."), call("risky", 1), say("Two."))
	input := func(key string) agent.Input { return agent.Input{Session: "s", Key: key, Prompt: "go"} }
	for range 2 {
		p, err := a.Advance(t.Context(), input("one"), agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "One.", p.Result.Text())
	}
	waits, err := a.Advance(t.Context(), input("two"), agent.Leg{})
	require.NoError(t, err)
	require.Equal(t, agent.NextWait, waits.Next)
	require.Zero(t, waits.At)
	require.Empty(t, waits.Key)
	p, err := a.Advance(t.Context(), input("one"), agent.Leg{})
	require.NoError(t, err)
	require.Equal(t, agent.NextEnded, p.Next)
	require.Equal(t, "One.", p.Result.Text())
	_, err = a.Advance(t.Context(), input("three"), agent.Leg{})
	require.ErrorAs(t, err, new(*agent.PausedError), "another input can't start")

	decided := agent.Resume("s", agent.Approve(waits.Result.Pending[0].ID).By("ann"))
	for range 2 {
		p, err = a.Advance(t.Context(), decided, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "Two.", p.Result.Text())
	}
	other := agent.Resume("s", agent.Reject(waits.Result.Pending[0].ID, "no").By("bob"))
	_, err = a.Advance(t.Context(), other, agent.Leg{})
	require.ErrorAs(t, err, new(*agent.DecisionError))
	p, err = a.Advance(t.Context(), agent.Continue("s"), agent.Leg{})
	require.NoError(t, err)
	require.Equal(t, agent.NextEnded, p.Next)
	require.Len(t, model.Requests(), 3)
}

func TestADecisionThatIsGivenAgainInTheNextLegIsLeftOut(t *testing.T) {
	a, _, done := risky(t, agent.Config{}, call("risky", 1), call("work", 2), say("Done."))
	p, err := a.Advance(t.Context(), first, agent.Leg{})
	require.NoError(t, err)
	in := agent.Resume("s", agent.Approve(p.Result.Pending[0].ID))
	for _, next := range []agent.Next{agent.NextAgain, agent.NextEnded} {
		p, err = a.Advance(t.Context(), in, agent.Leg{Steps: 1})
		require.NoError(t, err)
		require.Equal(t, next, p.Next)
	}
	require.Equal(t, 2, done.all())
}

func TestALaterLegNeedsOnlyTheKeyOfTheInput(t *testing.T) {
	a, _, _ := risky(t, agent.Config{}, call("work", 1), say("Done."))
	named := agent.Input{Session: "s", Key: "first"}
	_, err := a.Advance(t.Context(), named, agent.Leg{})
	var wrong *agent.ArgError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "Input.Prompt", wrong.Field)
	_, err = a.Advance(t.Context(), first, agent.Leg{Steps: 1})
	require.NoError(t, err)
	for range 2 {
		p, err := a.Advance(t.Context(), named, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "Done.", p.Result.Text())
	}
}

func TestACallOfTheHostIsMadeInALeg(t *testing.T) {
	a, _, done := risky(t, agent.Config{})
	in := agent.CallTool("s", "work", Number{1})
	in.Key = "k"
	for range 2 {
		p, err := a.Advance(t.Context(), in, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "done 1", p.Result.Text())
	}
	require.Equal(t, 1, done.of(1))
}

func TestAdvanceRefusesAnInputThatCannotBeRepeated(t *testing.T) {
	a, _ := scripted(t, agent.Config{})
	for field, in := range map[string]agent.Input{
		"Input.Key":     {Session: "s", Prompt: "go"},
		"Input.Session": {Key: "k", Prompt: "go"},
		"Input.Prompt":  {Session: "s", Key: "k"},
	} {
		_, err := a.Advance(t.Context(), in, agent.Leg{})
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
	_, err := a.Advance(t.Context(), agent.Continue("unknown"), agent.Leg{})
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	_, err = new(agent.Agent).Advance(t.Context(), first, agent.Leg{})
	require.Error(t, err)
}

func TestARunOfAnotherVersionWaitsForItAndAfterAnHourIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		old, _, _ := risky(t, agent.Config{Name: "a", Journal: store}, call("risky", 1))
		p, err := old.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.NoError(t, old.Session("s").Decide(t.Context(), agent.Approve(p.Result.Pending[0].ID)))
		for name, cfg := range map[string]agent.Config{"another name": {Name: "b"}, "other tools": {Name: "a"}} {
			cfg.Journal = store
			a, _ := scripted(t, cfg, say("Done."))
			p, err = a.Advance(t.Context(), first, agent.Leg{})
			require.NoError(t, err, name)
			require.Equal(t, agent.NextLater, p.Next, "%s %+v", name, p.Result)
			require.Equal(t, time.Minute, time.Until(p.At))
		}
		<-time.After(time.Hour + time.Second)
		a, _ := scripted(t, agent.Config{Name: "a", Journal: store}, say("Done."))
		_, err = a.Advance(t.Context(), first, agent.Leg{})
		require.ErrorContains(t, err, "risky is gone")
		p, err = a.Advance(t.Context(), first, agent.Leg{AcceptChanges: true})
		require.NoError(t, err)
		require.Equal(t, "Done.", p.Result.Text())
	})
}

func TestARunThatIsDrainedInItsLegGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		build := func() *agent.Agent {
			return newAgent(t, agent.Config{Journal: store, Provider: inTurn(call("slow", 20), say("Done.")),
				Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}})
		}
		a := build()
		time.AfterFunc(time.Second, func() { _ = a.Drain(context.Background()) })
		p, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.NextAgain, p.Next)
		require.Equal(t, machine.CodeDrained, p.Result.Code)
		last, _ := advanced(t, build(), agent.Leg{})
		require.Equal(t, "Done.", last.Result.Text())
	})
}

func TestARunThatLosesItsLeaseInALegGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		build := func(s journal.Store) *agent.Agent {
			return newAgent(t, agent.Config{Journal: s, Provider: inTurn(call("slow", 50), say("Done.")),
				Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow", Idempotent: true})}})
		}
		p, err := build(&mute{Store: store}).Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.NextLater, p.Next)
		require.Equal(t, agent.Running, p.Result.Status)
		last, _ := advanced(t, build(store), agent.Leg{})
		require.Equal(t, "Done.", last.Result.Text())
		requireNeverStopped(t, store)
	})
}

func TestARunThatItsHostHasPausedWaitsForContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a := newAgent(t, agent.Config{Provider: inTurn(call("slow", 5), say("Done.")),
			Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}})
		time.AfterFunc(time.Second, func() { _ = a.Session("s").Pause(context.Background()) })
		for range 2 {
			p, err := a.Advance(t.Context(), first, agent.Leg{})
			require.NoError(t, err)
			require.Equal(t, agent.NextWait, p.Next)
			require.Zero(t, p.At)
			require.Equal(t, machine.CodeHost, p.Result.Code)
		}
		p, err := a.Advance(t.Context(), agent.Continue("s"), agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "Done.", p.Result.Text())
	})
}

func TestRecoverGoesOnWithARunAfterALeg(t *testing.T) {
	var done effects
	a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Provider: inTurn(call("work", 1), say("Done.")),
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
	p, err := a.Advance(t.Context(), first, agent.Leg{Steps: 1})
	require.NoError(t, err)
	require.Equal(t, agent.NextAgain, p.Next)
	n, err := a.Recover(t.Context(), agent.Recovery{})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	p, err = a.Advance(t.Context(), first, agent.Leg{})
	require.NoError(t, err)
	require.Equal(t, "Done.", p.Result.Text())
}

// TestAMessageThatALegDidNotDeliverIsDeliveredByTheNext, and its sender learns that.
func TestAMessageThatALegDidNotDeliverIsDeliveredByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a := newAgent(t, agent.Config{Provider: inTurn(call("slow", 5), say("Done.")),
			Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow", Idempotent: true})}})
		var receipt *agent.Receipt
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, func() {
			receipt, _ = a.Session("s").Steer(context.Background(), "hurry")
			cancel()
		})
		p, err := a.Advance(ctx, first, agent.Leg{Grace: time.Second})
		require.NoError(t, err)
		require.Equal(t, agent.NextAgain, p.Next)
		last, _ := advanced(t, a, agent.Leg{})
		require.Equal(t, agent.Completed, last.Result.Status)
		step, err := receipt.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, step)
	})
}

// headless is a store whose heads can't be read.
type headless struct{ journal.Store }

func (headless) Head(context.Context, string) (journal.Head, error) {
	return journal.Head{}, errors.New("no connection")
}

func TestAnErrorOfAdvanceSaysNothingAboutTheRun(t *testing.T) {
	a := newAgent(t, agent.Config{Journal: headless{&journal.MapStore{}}, Provider: inTurn(say("Done."))})
	p, err := a.Advance(t.Context(), first, agent.Leg{})
	require.ErrorContains(t, err, "no connection")
	require.Zero(t, p)
}
