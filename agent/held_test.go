package agent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A counted context counts what waits for its end. It never ends.
type counted struct {
	context.Context
	waiting atomic.Int32
}

func (c *counted) Done() <-chan struct{} { return make(chan struct{}) }

func (c *counted) AfterFunc(func()) (stop func() bool) {
	c.waiting.Add(1)
	var stopped atomic.Bool
	return func() bool {
		if stopped.Swap(true) {
			return false
		}
		c.waiting.Add(-1)
		return true
	}
}

func TestAnInputThatIsRefusedLeavesNothingOnItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}}, call("slow", 10),
			say("on"))
		ctx := &counted{Context: context.Background()}
		go func() {
			<-time.After(time.Second)
			_, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
			require.ErrorIs(t, err, agent.ErrBusy)
			require.Zero(t, ctx.waiting.Load(), "the session is busy")
		}()
		run(t, a)
		require.NoError(t, a.Drain(t.Context()))
		_, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, agent.ErrDraining)
		require.Zero(t, ctx.waiting.Load(), "the agent is drained")
	})
}

// A slowTake store does something when the inbox of a session is read.
type slowTake struct {
	journal.Store
	take func()
}

func (s *slowTake) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	if s.take != nil {
		s.take()
	}
	return s.Store.Take(ctx, session, fence)
}

func TestASessionThatAnotherProcessHasTakenOverIsntRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		cfg := agent.Config{Modes: []agent.Mode{{Name: "ask", Tools: func(*tools.Definition) bool { return false }}},
			Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "work"})}}
		cfg.Journal = store
		b, _ := scripted(t, cfg, say("Mine."))
		// The process stands still until its lease has ended.
		mute := &mute{Store: store, fails: errors.New("the network is down")}
		cfg.Lease = 6 * time.Second
		var taken atomic.Bool
		cfg.Journal = &slowTake{mute, func() {
			if taken.Swap(true) {
				return
			}
			<-time.After(8 * time.Second)
			run(t, b)
		}}
		a, _ := scripted(t, cfg)
		in := agent.Input{Session: "s", Prompt: "go"}
		// it isn't available in this mode, which is known once the session is read
		in.ToolChoice.Mode, in.ToolChoice.Tool = "tool", "work"
		_, err := a.Run(t.Context(), in)
		require.Error(t, err)
		require.NotEmpty(t, facts(t, b, "s"), "what the other process has done is gone")
	})
}

func TestTheErrorIsThatOfTheContextOnlyIfItsEndStoppedTheRun(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}}, call("slow", 3600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for ev, err := range a.Stream(ctx, agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		switch ev := ev.(type) {
		case *agent.ToolStarted:
			require.NoError(t, a.Session("s").Cancel(t.Context()))
		case *agent.RunEnded:
			require.Equal(t, machine.CodeCanceled, ev.Code)
			cancel() // it has ended by now
		}
	}
}

func TestHooksArentToldOfResultsThatAreNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		var told []tools.Status
		store := &mute{Store: &journal.MapStore{}, fails: errors.New("the network is down")}
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow", Timeout: time.Hour}),
			done.tool(tools.Spec{Name: "work"})}, Hooks: []agent.Hooks{{Name: "h",
			AfterTool: func(_ context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
				if c.Name == "work" {
					told = append(told, r.Status)
				}
				return nil
			}}}}
		a, _ := scripted(t, cfg, providertest.Calls(providertest.CallSpec{Tool: "slow", Input: Number{3600}},
			providertest.CallSpec{Tool: "work", Input: Number{1}}))
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, agent.ErrBusy)
		require.Empty(t, finished(t, a, "s"), "the calls are still open, for whoever resumes the session")
		require.Empty(t, told)
	})
}

func TestTheResultOfASessionSaysWhyAsThatOfItsRunDid(t *testing.T) {
	for name, cfg := range map[string]agent.Config{
		"a condition": {StopWhen: []stop.Condition{stop.AfterSteps(1)}},
		"a limit":     {Limits: agent.Limits{Tokens: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			cfg.Tools = []tools.Tool{done.tool(tools.Spec{Name: "work"})}
			a, _ := scripted(t, cfg, call("work", 1), say("on"))
			res := run(t, a)
			require.NotEmpty(t, res.Reason)
			later, err := a.Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, res.Code, later.Code)
			require.Equal(t, res.Reason, later.Reason)
		})
	}
}
