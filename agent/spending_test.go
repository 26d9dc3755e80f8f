package agent_test

import (
	"context"
	"errors"
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

// A squad is agents whose model calls cost a hundred tokens each: two levels of those that delegate
// a task to several others beside each other, and workers that never come to an end by themselves.
type squad struct {
	mu    sync.Mutex
	calls map[string]int // of models, by the task
	done  effects
}

const squadCall = 100

// model answers with what reply says to a task, the nth time.
func (s *squad) model(reply func(task string, n int) providertest.Step) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		task, n := req.Messages[0].Text(), 0
		for _, m := range req.Messages {
			if m.Role == provider.RoleAssistant {
				n++
			}
		}
		s.mu.Lock()
		if s.calls == nil {
			s.calls = make(map[string]int)
		}
		s.calls[task]++
		s.mu.Unlock()
		return providertest.WithUsage(provider.Usage{Input: squadCall}, reply(task, n)).Response(), nil
	})
}

func (s *squad) all() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		n += int64(c)
	}
	return n * squadCall
}

func (s *squad) worker(t testing.TB) *agent.Agent {
	return newAgent(t,
		agent.Config{Name: "worker", Limits: agent.Limits{Steps: -1, Repeats: -1},
			Tools: []tools.Tool{s.done.slow(tools.Spec{Name: "slow"}),
				s.done.tool(tools.Spec{Name: "risky", Risk: tools.High})},
			Provider: s.model(func(task string, n int) providertest.Step {
				if task == "asks late" && n == 5 || task == "asks" && n == 0 {
					return call("risky", n)
				}
				return call("slow", 1)
			})})
}

// boss returns an agent that gives the tasks to another, all at once.
func (s *squad) boss(t testing.TB, cfg agent.Config, of *agent.Agent, tasks ...string) *agent.Agent {
	specs := make([]providertest.CallSpec, len(tasks))
	for i, what := range tasks {
		specs[i] = providertest.CallSpec{Tool: "of", Input: agent.Task{Task: what}}
	}
	cfg.Tools = append(cfg.Tools, agent.AsTool(of, tools.Spec{Name: "of", Description: "x", ParallelSafe: true}))
	cfg.Provider = s.model(func(_ string, n int) providertest.Step {
		if n == 0 {
			return providertest.Calls(specs...)
		}
		return say("Done.")
	})
	return newAgent(t, cfg)
}

func TestChildrenBesideEachOtherDrawOnOneRemainder(t *testing.T) {
	const most = 3000
	for name, limits := range map[string]agent.Limits{"tokens": {Tokens: most}, "tokens of a child": {}} {
		eachStore(t, func(t *testing.T, store journal.Store) {
			synctest.Test(t, func(t *testing.T) {
				if store != nil {
					store = &journal.MapStore{}
				}
				var s squad
				cfg, workers := agent.Config{Name: "boss", Journal: store, Limits: limits}, int64(4)
				a := s.boss(t, cfg, s.worker(t), "a", "b", "c", "d")
				if limits.Tokens == 0 { // it is that of the agents in the middle, each
					a = s.boss(t, cfg, s.boss(t, agent.Config{Name: "middle", Limits: agent.Limits{Tokens: most}},
						s.worker(t), "a", "b", "c", "d"), "x")
				}
				res := run(t, a)
				require.GreaterOrEqual(t, s.all(), int64(most), name)
				require.Less(t, s.all(), most+workers*squadCall+squadCall*2, "each goes past it by a call at most")
				require.Equal(t, s.all(), res.Usage.Total(), "all that was used is booked")
				if limits.Tokens > 0 {
					var limit *agent.LimitError
					require.ErrorAs(t, res.Err(), &limit)
					require.Equal(t, machine.LimitTokens, limit.Limit)
				}
			})
		})
	}
}

func TestChildrenOfChildrenDrawOnWhatTheOutermostHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 4000
		var s squad
		middle := s.boss(t, agent.Config{Name: "middle"}, s.worker(t), "a", "b")
		a := s.boss(t, agent.Config{Name: "boss", Journal: &journal.MapStore{}, Limits: agent.Limits{Tokens: most}},
			middle, "x", "y")
		res := run(t, a)
		require.GreaterOrEqual(t, s.all(), int64(most))
		require.Less(t, s.all(), int64(most+4*squadCall))
		require.Equal(t, s.all(), res.Usage.Total())
		var limit *agent.LimitError
		require.ErrorAs(t, res.Err(), &limit)
	})
}

func TestWhatAPausedChildHasUsedIsGoneForItsSiblingsInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1500
		store := &journal.MapStore{}
		var s squad
		build := func() *agent.Agent {
			return s.boss(t, agent.Config{Name: "boss", Journal: store, Limits: agent.Limits{Tokens: most}},
				s.worker(t), "asks late", "asks")
		}
		res := run(t, build())
		require.Len(t, res.Pending, 2)
		require.EqualValues(t, 8*squadCall, s.all())
		res = runInput(t, build(), agent.Resume("s", agent.Approve(res.Pending[1].ID)))
		require.Len(t, res.Pending, 1)
		require.EqualValues(t, most, s.all(), "no more than was left")
		require.Equal(t, 8, s.calls["asks"])
		res = runInput(t, build(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.Equal(t, agent.Stopped, res.Status)
		require.EqualValues(t, most, s.all(), "nothing is left")
		require.Equal(t, s.all(), res.Usage.Total())
		require.Equal(t, 1, s.done.of(5))
	})
}

func TestAChildThatBeginsWithNothingLeftMakesNoModelCall(t *testing.T) {
	var s squad
	res := run(t, s.boss(t, agent.Config{Name: "boss", Limits: agent.Limits{Tokens: squadCall}}, s.worker(t), "a"))
	require.Equal(t, agent.Stopped, res.Status)
	require.Zero(t, s.calls["a"])
	require.Contains(t, results(res)[0].Parts[0].Text, "it ended as stopped: its limit of tokens is reached: ")
}

func TestWhatAChildUsedIsBookedHoweverItsCallEnds(t *testing.T) {
	spent := func(t *testing.T, a *agent.Agent) (n int64) {
		for _, f := range facts(t, a, "s") {
			if f, ok := f.(*agent.ToolFinished); ok && f.Spent != nil {
				n += f.Spent.Usage.Total()
			}
		}
		return n
	}
	eachStore(t, func(t *testing.T, store journal.Store) {
		for name, end := range map[string]func(a *agent.Agent, p agent.Pause) (*agent.Result, error){
			"superseded": func(a *agent.Agent, _ agent.Pause) (*agent.Result, error) {
				return a.Run(t.Context(), agent.Input{Session: "s", Prompt: "never mind", Supersede: true})
			},
			"refused": func(a *agent.Agent, p agent.Pause) (*agent.Result, error) {
				return a.Run(t.Context(), agent.Resume("s", agent.Approve(p.ID)))
			},
		} {
			if store != nil {
				store = &journal.MapStore{}
			}
			var s squad
			denied := false
			cfg := agent.Config{Name: "boss", Journal: store,
				Policies: []tools.Policy{func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
					if denied {
						return tools.Verdict{Effect: tools.Deny, Reason: "no more"}
					}
					return tools.Verdict{Effect: tools.Allow}
				}}}
			a := s.boss(t, cfg, s.worker(t), "asks")
			res := run(t, a)
			denied = true
			_, err := end(a, res.Pending[0])
			require.NoError(t, err)
			require.EqualValues(t, squadCall, spent(t, a), name)
			require.Equal(t, 1, s.calls["asks"], name)
		}
	})
}

func TestWhatAChildUsedIsBookedIfItsCallRunsOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s squad
		deaf := tools.New(tools.Spec{Name: "deaf"}, func(context.Context, Number) (string, error) {
			<-time.After(time.Hour)
			return "ok", nil
		})
		worker := newAgent(t, agent.Config{Name: "worker", Tools: []tools.Tool{deaf},
			Provider: s.model(func(string, int) providertest.Step { return call("deaf", 1) })})
		a := newAgent(t,
			agent.Config{Tools: []tools.Tool{agent.AsTool(worker,
				tools.Spec{Name: "of", Description: "x", Timeout: 5 * time.Second})},
				Provider: s.model(func(_ string, n int) providertest.Step {
					if n == 0 {
						return task("of", "a")
					}
					return say("Done.")
				})})
		res := run(t, a)
		require.Equal(t, "Done.", res.Text())
		require.Equal(t, 1, s.calls["a"])
		require.Equal(t, s.all(), res.Usage.Total())
		<-time.After(2 * time.Hour) // the tool returns
	})
}

func TestWhatIsLeftForChildrenIsKnownAfterACrash(t *testing.T) {
	const most = 1000
	crashes := 0
	for at, over := 1, false; !over; at += 3 {
		synctest.Test(t, func(t *testing.T) {
			store := &journal.MapStore{}
			var s squad
			build := func(store journal.Store) *agent.Agent {
				return s.boss(t, agent.Config{Name: "boss", Journal: store, Limits: agent.Limits{Tokens: most}},
					s.worker(t), "a", "b")
			}
			dying := &weak{Store: store, at: at, err: death, lasts: true}
			_, _ = build(dying).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			if over = !dying.dead(); over {
				return
			}
			crashes++
			<-time.After(time.Minute)
			a, in := build(store), agent.Work(agent.Continue("s"))
			for {
				res, err := a.Run(t.Context(), in)
				var none *agent.SessionError
				var paused *agent.PausedError
				switch {
				case errors.Is(err, agent.ErrNothingOpen) && errors.As(err, &none) && none.Status == "":
					in = agent.Input{Session: "s", Prompt: "go"}
					continue
				case errors.Is(err, agent.ErrNothingOpen):
					return
				case errors.As(err, &paused) && !paused.Started:
					in = approveAll(&agent.Result{Session: "s", Pending: paused.Pending})
					continue
				}
				if res.Status != agent.Paused {
					require.Equal(t, machine.CodeLimit, res.Code)
					break
				}
				in = approveAll(res) // calls in doubt
			}
			lost := int64(2 * squadCall) // the model calls that were under way
			require.Less(t, s.all(), most+2*squadCall+lost, "append %d", at)
		})
	}
	require.Greater(t, crashes, 8)
}
