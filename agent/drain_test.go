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
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestDrainPausesRunsAtTheirNextSafePointAndAnotherProcessGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		cfg := agent.Config{Name: "a", Journal: store, Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}}
		a, _ := scripted(t, cfg, call("slow", 20), say("not here"))
		var res *agent.Result
		var wg sync.WaitGroup
		wg.Go(func() { res = run(t, a) })
		<-time.After(5 * time.Second)
		began := time.Now()
		require.NoError(t, a.Drain(t.Context()))
		require.Equal(t, 15*time.Second, time.Since(began), "the tool call has ended")
		wg.Wait()
		require.Equal(t, agent.Paused, res.Status)
		require.Equal(t, machine.CodeDrained, res.Code)
		require.Equal(t, 1, done.of(20))
		_, err := a.Run(t.Context(), agent.Input{Prompt: "one more"})
		require.ErrorIs(t, err, agent.ErrDraining)
		require.NoError(t, a.Drain(t.Context()), "again")

		b, _ := scripted(t, cfg, say("Done."))
		var got []agent.Recovered
		n, err := b.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) { got = append(got, r) }})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, "Done.", got[0].Result.Text())
		require.Equal(t, 1, done.of(20))
	})
}

func TestDrainSaysWhatIsStillUnderWayWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}}, call("slow", 20),
			say("Done."))
		var wg sync.WaitGroup
		wg.Go(func() { run(t, a) })
		<-time.After(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late := a.Drain(ctx)
		require.ErrorContains(t, late, "agent: 1 runs were still under way when draining ended")
		require.ErrorContains(t, late, ": s")
		require.ErrorIs(t, late, context.DeadlineExceeded)
		wg.Wait()
		require.NoError(t, a.Drain(t.Context()))
	})
}

func TestDrainOfAnIdleAgentReturnsAtOnce(t *testing.T) {
	a, _ := scripted(t, agent.Config{})
	require.NoError(t, a.Drain(t.Context()))
}

func TestRecoverGoesOnWithWhatIsStrandedAndWithNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		spec := agent.Config{Name: "a",
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"}),
				done.tool(tools.Spec{Name: "risky", Risk: tools.High}),
				done.slow(tools.Spec{Name: "slow", Timeout: time.Hour})}}
		build := func(name string, s journal.Store, steps ...providertest.Step) *agent.Agent {
			cfg := spec
			cfg.Name, cfg.Journal = name, s
			a, _ := scripted(t, cfg, steps...)
			return a
		}
		prompt := func(a *agent.Agent, session string) {
			_, _ = a.Run(t.Context(), agent.Input{Session: session, Prompt: "go"})
		}
		for i := range 9 { // their process dies in the middle
			prompt(build("a", &weak{Store: store, at: 3, err: death, lasts: true}, call("work", i)),
				fmt.Sprintf("dead-%d", i))
		}
		prompt(build("b", &weak{Store: store, at: 3, err: death, lasts: true}, call("work", 100)), "foreign")
		prompt(build("a", store, say("Done.")), "complete")
		prompt(build("a", store, call("risky", 200)), "waits")
		prompt(build("a", store, call("risky", 201), say("")), "decided")
		live := build("a", store, call("slow", 600), say("Done."))
		var wg sync.WaitGroup
		wg.Go(func() { prompt(live, "live") })
		<-time.After(time.Minute)

		b := build("a", store)
		pending, err := b.Session("decided").Pending(t.Context())
		require.NoError(t, err)
		require.NoError(t, b.Session("decided").Decide(t.Context(), agent.Approve(pending[0].ID)))

		c, model := scripted(t, agent.Config{Name: "a", Journal: store, Tools: spec.Tools},
			repeat(say("Recovered."), 10)...)
		var mu sync.Mutex
		seen := map[string]string{}
		n, err := c.Recover(t.Context(), agent.Recovery{Parallel: 3, Each: func(r agent.Recovered) {
			mu.Lock()
			defer mu.Unlock()
			seen[r.Session] = r.Result.Text()
		}})
		require.NoError(t, err)
		require.Equal(t, 10, n)
		require.Len(t, seen, 10)
		require.Equal(t, "Recovered.", seen["decided"])
		require.Equal(t, "Recovered.", seen["dead-8"])
		require.Len(t, model.Requests(), 10)
		require.Equal(t, 1, done.of(201))
		require.Zero(t, done.of(100)+done.of(200))

		n, err = c.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n, "nothing is left")
		wg.Wait()
		require.Equal(t, 1, done.of(600))
	})
}

func repeat(step providertest.Step, n int) []providertest.Step {
	out := make([]providertest.Step, n)
	for i := range out {
		out[i] = step
	}
	return out
}

func TestRecoverResumesWhatWasDecidedInMemory(t *testing.T) {
	a, _, done := risky(t, agent.Config{}, call("risky", 1), say("Done."))
	n, err := a.Recover(t.Context(), agent.Recovery{})
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(run(t, a).Pending[0].ID)))
	var res *agent.Result
	n, err = a.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) { res = r.Result }})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "Done.", res.Text())
	require.Equal(t, 1, done.of(1))
}

func TestRecoverResumesASessionWhosePauseHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, model, done := risky(t, agent.Config{Journal: &journal.MapStore{}, PauseExpires: time.Hour},
			call("risky", 1), say("Too late."))
		require.Equal(t, agent.Paused, run(t, a).Status)
		n, err := a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n, "there is still time")
		<-time.After(2 * time.Hour)
		n, err = a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Zero(t, done.all())
		model.AssertDone(t)
		require.Contains(t, finished(t, a, "s")[0].Text(), "rejected: expired")
	})
}

// TestACallThatReturnsJustWhenItIsLeftBehindHasOneResult, which hooks see once.
func TestACallThatReturnsJustWhenItIsLeftBehindHasOneResult(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			seen := make(chan *agent.ToolResult, 10)
			stubborn := tools.New(tools.Spec{Name: "stubborn", Timeout: time.Second, Idempotent: true, NoRetries: true},
				func(context.Context, Number) (string, error) {
					<-time.After(6 * time.Second) // the limit, and the time in which a call has to return
					return "at last", nil
				})
			a, _ := scripted(t, agent.Config{
				Tools: []tools.Tool{stubborn},
				Hooks: []agent.Hooks{{AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
					seen <- r
					return nil
				}}},
			}, call("stubborn", 1), say("Done."))
			res := run(t, a)
			require.Equal(t, agent.Completed, res.Status)
			synctest.Wait()
			require.Len(t, seen, 1)
			require.Len(t, finished(t, a, "s"), 1)
		})
	}
}

func TestWhoGoesOnWithADrainedRunReadsTheMessagesToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		cfg := agent.Config{Name: "a", Journal: &journal.MapStore{},
			Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}}
		a, _ := scripted(t, cfg, call("slow", 20))
		go func() { _, _ = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"}) }()
		<-time.After(5 * time.Second)
		receipt, err := a.Session("s").Steer(t.Context(), "be quick")
		require.NoError(t, err)
		steps := make(chan int, 1)
		go func() {
			step, _ := receipt.Wait(t.Context())
			steps <- step
		}()
		require.NoError(t, a.Drain(t.Context()))
		<-time.After(time.Minute)

		b, model := scripted(t, cfg, say("Done."))
		n, err := b.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, "be quick", model.Requests()[0].LastUserText())
		require.Equal(t, 2, <-steps)
	})
}
