package agent_test

import (
	"context"
	"errors"
	"strings"
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

func task(tool, what string) providertest.Step {
	return providertest.Call(tool, agent.Task{Task: what})
}

// A family is a parent whose tool is a child, which has a tool that asks and one that doesn't.
type family struct {
	done          effects
	parent, child *providertest.Model
	a             *agent.Agent
}

func newFamily(t *testing.T, cfg agent.Config, parent, child []providertest.Step) *family {
	f := &family{parent: providertest.Script(parent...), child: providertest.Script(child...)}
	c := newAgent(t, agent.Config{Name: "child", Provider: f.child, Tools: []tools.Tool{
		f.done.tool(tools.Spec{Name: "risky", Risk: tools.High}), f.done.tool(tools.Spec{Name: "work"}),
		f.done.slow(tools.Spec{Name: "slow", Timeout: time.Hour})}})
	cfg.Name, cfg.Provider = "parent", f.parent
	cfg.Tools = append(cfg.Tools, agent.AsTool(c, tools.Spec{Description: "does it", ParallelSafe: true}))
	f.a = newAgent(t, cfg)
	return f
}

func TestAnAgentIsATool(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		f := newFamily(t, agent.Config{Journal: store},
			[]providertest.Step{task("child", "add one"), say("The child says so.")},
			[]providertest.Step{call("work", 1), say("I have added one.")})
		all, err := events(f.a.Stream(t.Context(),
			agent.Input{Session: "s", Prompt: "go", Interactive: true, Task: "t-1"}))
		require.NoError(t, err)
		end := of[*agent.RunEnded](all)[0].Result
		require.Equal(t, "The child says so.", end.Text())
		require.Equal(t, "I have added one.", of[*agent.ToolFinished](all)[0].Result.Parts[0].Text)
		require.Equal(t, 1, f.done.of(1))

		reqs := f.child.Requests()
		require.Equal(t, "add one", reqs[0].LastUserText())
		require.Equal(t, "s", reqs[0].Labels.Session, "budgets and queues count it on the outermost session")
		require.Equal(t, "child", reqs[0].Labels.Agent)
		require.Equal(t, end.Trace, reqs[0].Labels.Trace)
		require.True(t, reqs[0].Interactive)
		require.Equal(t, "t-1", reqs[0].Labels.Task)

		spent := of[*agent.ToolFinished](all)[0].Spent
		require.NotNil(t, spent)
		require.Positive(t, spent.Usage.Total())
		var own provider.Usage
		for _, r := range of[*agent.Replied](all) {
			own = own.Add(r.Usage)
		}
		require.Equal(t, own.Total()+spent.Usage.Total(), end.Usage.Total(), "what the child used counts")
	})
}

func TestWhatAChildPausesForIsDecidedOnAtTheParent(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		f := newFamily(t, agent.Config{Journal: store},
			[]providertest.Step{task("child", "both"), say("Done.")},
			[]providertest.Step{calls("risky", 1, 2), say("Both.")})
		res := run(t, f.a)
		require.Equal(t, agent.Paused, res.Status)
		require.Len(t, res.Pending, 2)
		for _, p := range res.Pending {
			require.Equal(t, "risky", p.Call.Name)
			require.Equal(t, agent.PauseApproval, p.Kind)
			require.Len(t, p.Path, 1)
			require.True(t, strings.HasPrefix(p.Path[0], res.Run))
		}
		if store != nil {
			h, err := store.Head(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, h.Open, 2)
		}
		_, err := f.a.Run(t.Context(), agent.Resume("s", agent.Edit(res.Pending[0].ID, "no object")))
		var bad *agent.DecisionError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, machine.DecisionBad, bad.Code)

		again := runInput(t, f.a, agent.Resume("s", agent.Edit(res.Pending[0].ID, Number{7}).By("ann")))
		require.Equal(t, agent.Paused, again.Status)
		require.Len(t, again.Pending, 1)
		require.Equal(t, res.Pending[1].ID, again.Pending[0].ID)
		require.Equal(t, 1, f.done.of(7))
		_, err = f.a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.ErrorAs(t, err, &bad)
		require.Equal(t, machine.DecisionUsed, bad.Code)

		end := runInput(t, f.a, agent.Resume("s", agent.Reject(res.Pending[1].ID, "no")))
		require.Equal(t, "Done.", end.Text())
		require.Equal(t, 1, f.done.all())
	})
}

func TestADecisionOnAChildsPauseCanBeSent(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		f := newFamily(t, agent.Config{Journal: store},
			[]providertest.Step{task("child", "it"), say("Done.")},
			[]providertest.Step{call("risky", 1), say("I did.")})
		id := run(t, f.a).Pending[0].ID
		require.NoError(t, f.a.Session("s").Decide(t.Context(), agent.Approve(id)))
		var used *agent.DecisionError
		require.ErrorAs(t, f.a.Session("s").Decide(t.Context(), agent.Approve(id)), &used)
		require.Equal(t, "Done.", runInput(t, f.a, agent.Continue("s")).Text())
		require.Equal(t, 1, f.done.all())
	})
}

func TestAPauseThreeAgentsDeepIsAddressedByItsPath(t *testing.T) {
	var done effects
	store := &journal.MapStore{}
	inner := newAgent(t, agent.Config{Name: "inner", Provider: providertest.Script(call("risky", 1), say("Inner.")),
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}})
	middle := newAgent(t,
		agent.Config{Name: "middle", Provider: providertest.Script(task("inner", "x"), say("Middle.")),
			Tools: []tools.Tool{agent.AsTool(inner, tools.Spec{Description: "x"})}})
	outer, _ := scripted(t, agent.Config{Name: "outer", Journal: store,
		Tools: []tools.Tool{agent.AsTool(middle, tools.Spec{Description: "x"})}}, task("middle", "x"), say("Outer."))
	res := run(t, outer)
	require.Len(t, res.Pending, 1)
	require.Len(t, res.Pending[0].Path, 2)
	end := runInput(t, outer, approveAll(res))
	require.Equal(t, "Outer.", end.Text())
	require.Equal(t, 1, done.all())
	sessions := 0
	for _, err := range store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		sessions++
	}
	require.Equal(t, 3, sessions)
	require.NoError(t, outer.Session("s").Delete(t.Context()))
	for h := range store.Heads(t.Context(), journal.Filter{}) {
		require.Fail(t, "is left", h.Session)
	}
}

func TestTheEndOfTheParentEndsItsChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t, agent.Config{Journal: &journal.MapStore{}},
			[]providertest.Step{task("child", "wait"), say("Done.")},
			[]providertest.Step{call("slow", 600), say("I did.")})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		res, err := f.a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, agent.Stopped, res.Status)
		require.Zero(t, f.done.all())
		n, err := f.a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func TestASupersededParentClosesItsChild(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		f := newFamily(t, agent.Config{Journal: store},
			[]providertest.Step{task("child", "it"), say("Something else.")}, []providertest.Step{call("risky", 1)})
		res := run(t, f.a)
		require.Equal(t, agent.Paused, res.Status)
		end := runInput(t, f.a, agent.Input{Session: "s", Prompt: "never mind", Supersede: true})
		require.Equal(t, "Something else.", end.Text())
		if store != nil {
			for h, err := range store.Heads(t.Context(), journal.Filter{Open: true}) {
				require.NoError(t, err)
				require.Fail(t, "is still open", h.Session)
			}
		}
		require.Zero(t, f.done.all())
	})
}

func TestAChildGetsWhatIsLeftOfTheParentsLimits(t *testing.T) {
	f := newFamily(t, agent.Config{Limits: agent.Limits{Tokens: 40}},
		[]providertest.Step{task("child", "it"), say("never said")},
		[]providertest.Step{providertest.Reply(call("work", 1)), providertest.Reply(call("work", 2)),
			providertest.Reply(call("work", 3)), providertest.Reply(call("work", 4)), say("enough")})
	res := runInput(t, f.a, agent.Input{Prompt: "go"})
	require.Equal(t, agent.Stopped, res.Status)
	var limit *agent.LimitError
	require.ErrorAs(t, res.Err(), &limit)
	require.Equal(t, machine.LimitTokens, limit.Limit)
	require.Less(t, len(f.child.Requests()), 5)
}

func TestAgentsInAgentsGoEightDeep(t *testing.T) {
	a := newAgent(t, agent.Config{Name: "leaf",
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			return say("leaf").Response(), nil
		})})
	runs := 0
	var mu sync.Mutex
	for range 12 {
		inner := a
		a = newAgent(t, agent.Config{Name: "agent",
			Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				if runs++; len(req.Messages) == 1 {
					return task("inner", "go on").Response(), nil
				}
				return say("ok").Response(), nil
			}), Tools: []tools.Tool{agent.AsTool(inner, tools.Spec{Name: "inner", Description: "x"})}})
	}
	require.Equal(t, agent.Completed, runInput(t, a, agent.Input{Prompt: "go"}).Status)
	require.Equal(t, 2*9, runs, "the outermost and eight in it")
}

func TestTheSessionsOfChildrenAreOutOfReach(t *testing.T) {
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("x"))
	for _, in := range []agent.Work{agent.Input{Session: "call/r-1.1.0", Prompt: "x"}, agent.Continue("call/r-1.1.0"),
		agent.Resume("call/r-1.1.0", agent.Approve("p-1"))} {
		_, err := a.Run(t.Context(), in)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Field, ".Session")
	}
	require.Error(t, a.Session("call/r-1.1.0").Decide(t.Context(), agent.Approve("p-1")))
}

// TestACrashAtAnyAppendOfParentOrChildRepeatsNothing lets the process die at each append, of
// whichever session it is.
func TestACrashAtAnyAppendOfParentOrChildRepeatsNothing(t *testing.T) {
	for at := 1; ; at++ {
		for _, kept := range []bool{false, true} {
			over := false
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				var done effects
				build := func(s journal.Store) *agent.Agent {
					by := func(replies ...providertest.Step) provider.Provider {
						return providertest.Func(
							func(_ context.Context, req *provider.Request) (*provider.Response, error) {
								n := 0
								for _, m := range req.Messages {
									if m.Role == provider.RoleAssistant {
										n++
									}
								}
								return replies[n].Response(), nil
							})
					}
					child := newAgent(t, agent.Config{Name: "child",
						Provider: by(call("risky", 1), call("work", 2), say("Child.")), Tools: []tools.Tool{
							done.tool(tools.Spec{Name: "risky", Risk: tools.High}),
							done.tool(tools.Spec{Name: "work"})}})
					return newAgent(t, agent.Config{Name: "parent", Journal: s,
						Provider: by(task("child", "x"), say("Parent.")), Tools: []tools.Tool{
							agent.AsTool(child, tools.Spec{Description: "x"})}})
				}
				dying := &weak{Store: store, at: at, kept: kept, err: death, lasts: true}
				a := build(dying)
				var in agent.Work = agent.Input{Session: "s", Prompt: "go"}
				var res *agent.Result
				for range 20 {
					var err error
					res, err = a.Run(t.Context(), in)
					var nothing *agent.SessionError
					var paused *agent.PausedError
					switch {
					case dying != nil && dying.dead():
						dying, a, in = nil, build(store), agent.Continue("s")
						<-time.After(time.Minute)
						continue
					case errors.Is(err, agent.ErrNothingOpen) && errors.As(err, &nothing) && nothing.Status == "":
						in = agent.Input{Session: "s", Prompt: "go"}
						continue
					case errors.Is(err, agent.ErrNothingOpen):
						return // it had ended
					case errors.As(err, &paused):
						in = decideAs(&done, paused.Pending)
						continue
					}
					require.NoError(t, err)
					if res.Status != agent.Paused {
						break
					}
					in = decideAs(&done, res.Pending)
				}
				over = dying != nil
				require.Equal(t, agent.Completed, res.Status)
				require.Equal(t, "Parent.", res.Text())
				require.Equal(t, 1, done.of(1), "append %d, kept %t", at, kept)
				require.Equal(t, 1, done.of(2), "append %d, kept %t", at, kept)
			})
			if over {
				require.Greater(t, at, 15, "there were crashes")
				return
			}
		}
	}
}

// decideAs decides as a person would who looks what has happened.
func decideAs(done *effects, pending []agent.Pause) agent.Work {
	var ds []agent.Decision
	for _, p := range pending {
		n := 1
		if p.Call.Name == "work" {
			n = 2
		}
		if p.Kind == agent.PauseInDoubt && done.of(n) > 0 {
			ds = append(ds, agent.Answer(p.ID, "it did happen"))
		} else {
			ds = append(ds, agent.Approve(p.ID))
		}
	}
	return agent.Resume("s", ds...)
}
