package agent_test

import (
	"context"
	"encoding/json"
	"errors"
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

// inTurn is a model that gives its answers in turn, in whichever process.
func inTurn(replies ...providertest.Step) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		n := 0
		for _, m := range req.Messages {
			if m.Role == provider.RoleAssistant {
				n++
			}
		}
		return replies[n].Response(), nil
	})
}

// acting returns the outermost of agents one in the other, deep of them below it. The innermost
// asks about two calls, each of which does what then says, which may be nil.
func acting(t *testing.T, store journal.Store, deep int, done *effects,
	then func(ctx context.Context, outermost *agent.Agent, n int)) *agent.Agent {
	var outermost *agent.Agent
	risky := tools.New(tools.Spec{Name: "risky", Risk: tools.High},
		func(ctx context.Context, in Number) (string, error) {
			done.add(in.N)
			if then != nil {
				then(ctx, outermost, in.N)
			}
			return "ok", nil
		})
	a := newAgent(t,
		agent.Config{Name: "child", Provider: inTurn(calls("risky", 1, 2), say("I did.")), Tools: []tools.Tool{risky}})
	for range deep - 1 {
		a = newAgent(t, agent.Config{Name: "child", Provider: inTurn(task("child", "x"), say("It did.")),
			Tools: []tools.Tool{agent.AsTool(a, tools.Spec{Description: "x"})}})
	}
	outermost = newAgent(t,
		agent.Config{Name: "parent", Journal: store, Provider: inTurn(task("child", "x"), say("Done.")),
			Tools: []tools.Tool{agent.AsTool(a, tools.Spec{Description: "x"})}})
	return outermost
}

func TestWhatAChildWaitsForBesidesStaysPendingWhileItActs(t *testing.T) {
	for _, deep := range []int{1, 3} {
		store := &journal.MapStore{}
		var done effects
		var pending []agent.Pause
		var open []journal.Open
		a := acting(t, store, deep, &done, func(ctx context.Context, a *agent.Agent, n int) {
			if n == 2 {
				return
			}
			pending, _ = a.Session("s").Pending(ctx)
			h, _ := store.Head(ctx, "s")
			open = h.Open
			for _, p := range pending {
				if err := a.Session("s").Decide(ctx, agent.Approve(p.ID)); err != nil {
					t.Error(err)
				}
			}
		})
		res := run(t, a)
		require.Len(t, res.Pending, 2)
		end := runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.Equal(t, res.Pending[1:], pending)
		require.Len(t, open, 1)
		require.Equal(t, "Done.", end.Text(), "the other was decided on meanwhile")
		require.Equal(t, 1, done.of(1))
		require.Equal(t, 1, done.of(2))
		requireSound(t, "s", facts(t, a, "s"))
		h, err := store.Head(t.Context(), "s")
		require.NoError(t, err)
		require.Empty(t, h.Open)
	}
}

func TestWhatAChildWaitsForBesidesIsDecidedOnWhileItActs(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var done effects
		var other string
		a := acting(t, store, 2, &done, func(ctx context.Context, a *agent.Agent, n int) {
			if n == 1 {
				if err := a.Session("s").Decide(ctx, agent.Approve(other)); err != nil {
					t.Error(err)
				}
				var used *agent.DecisionError
				if err := a.Session("s").Decide(ctx, agent.Reject(other, "no")); !errors.As(err, &used) ||
					used.Code != machine.DecisionUsed {
					t.Error(err)
				}
			}
		})
		res := run(t, a)
		other = res.Pending[1].ID
		require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID))).Text())
		require.Equal(t, 1, done.of(2))
	})
}

func TestWhatAChildWaitsForBesidesIsDecidedOnAfterACrash(t *testing.T) {
	crashes := 0
	for at, over := 1, false; !over; at++ {
		synctest.Test(t, func(t *testing.T) {
			store := &journal.MapStore{}
			var done effects
			res := run(t, acting(t, store, 2, &done, nil))
			dying := &weak{Store: store, at: at, err: death, lasts: true}
			_, _ = acting(t, dying, 2, &done, nil).Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
			if over = !dying.dead(); over {
				return
			}
			crashes++
			<-time.After(time.Minute)
			a := acting(t, store, 2, &done, nil)
			pending, err := a.Session("s").Pending(t.Context())
			require.NoError(t, err)
			require.Contains(t, pending, res.Pending[1], "append %d", at)
			h, err := store.Head(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, h.Open, len(pending), "append %d", at)
			end := runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[1].ID)))
			for end.Status == agent.Paused { // a call in doubt
				require.Len(t, end.Pending, 1)
				p := end.Pending[0]
				require.Equal(t, agent.PauseInDoubt, p.Kind)
				var in Number
				require.NoError(t, json.Unmarshal(p.Call.Input, &in))
				if done.of(in.N) == 0 {
					end = runInput(t, a, agent.Resume("s", agent.Approve(p.ID)))
				} else {
					end = runInput(t, a, agent.Resume("s", agent.Answer(p.ID, "it did happen")))
				}
			}
			require.Equal(t, "Done.", end.Text())
			require.Equal(t, 1, done.of(1), "append %d", at)
			require.Equal(t, 1, done.of(2), "append %d", at)
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
	require.Greater(t, crashes, 5)
}

func TestWhatWasDecidedOnInAChildHappensThoughItWasDrainedBefore(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var a *agent.Agent
	drain := false
	build := func() *agent.Agent {
		child := newAgent(t, agent.Config{Name: "child", Provider: inTurn(calls("risky", 1, 2), say("I did.")),
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}})
		return newAgent(t,
			agent.Config{Name: "parent", Journal: store, Provider: inTurn(task("child", "x"), say("Done.")),
				Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})},
				Policies: []tools.Policy{func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
					if drain {
						_ = a.Drain(ended)
					}
					return tools.Verdict{Effect: tools.Allow}
				}}})
	}
	a = build()
	res := run(t, a)
	drain = true
	again := runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Equal(t, machine.CodeDrained, again.Code)
	require.Equal(t, res.Pending[1:], again.Pending)
	require.Zero(t, done.all())
	drain = false
	a = build()
	n, err := a.Recover(t.Context(), agent.Recovery{})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 1, done.of(1))
	pending, err := a.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Equal(t, res.Pending[1:], pending)
	require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Approve(pending[0].ID))).Text())
	require.Equal(t, 1, done.of(2))
}

func TestAChildEndsWhoseCallIsntRunBecauseTheRunIsStuck(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	child := newAgent(t,
		agent.Config{Name: "child", Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})},
			Provider: inTurn(call("risky", 1), say("I did."))})
	specs := make([]providertest.CallSpec, 7)
	for i := range specs {
		specs[i] = providertest.CallSpec{Tool: "child", Input: agent.Task{Task: "x"}}
	}
	a := newAgent(t,
		agent.Config{Name: "parent", Journal: store, Provider: inTurn(providertest.Calls(specs...), say("Done.")),
			Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}})
	res := run(t, a)
	require.Len(t, res.Pending, len(specs))
	end := runInput(t, a, approveAll(res))
	var limit *agent.LimitError
	require.ErrorAs(t, end.Err(), &limit)
	require.Equal(t, machine.LimitRepeats, limit.Limit)
	require.Equal(t, 5, done.all())
	for h, err := range store.Heads(t.Context(), journal.Filter{Open: true}) {
		require.NoError(t, err)
		require.Fail(t, "is still open", h.Session)
	}
	var spent int64
	for _, f := range facts(t, a, "s") {
		if f, ok := f.(*agent.ToolFinished); ok && f.Result.Status == tools.InDoubt {
			spent += f.Spent.Usage.Total()
		}
	}
	require.Positive(t, spent)
}

// A wired store tells of each append to a session that begins a tool call.
type wired struct {
	journal.Store
	session string
	trip    func()
}

func (w *wired) Append(ctx context.Context, a journal.Append) error {
	err := w.Store.Append(ctx, a)
	if a.Session == w.session && len(a.Records) > 0 && a.Records[0].Kind == "tool_started" && w.trip != nil {
		w.trip()
	}
	return err
}

func TestAChildEndsWhoseCallIsStoppedBeforeItCouldGoOn(t *testing.T) {
	for _, beside := range []bool{false, true} { // then the calls run on goroutines of their own
		store := &wired{Store: &journal.MapStore{}, session: "s"}
		var done effects
		child := newAgent(t, agent.Config{Name: "child", Provider: inTurn(call("risky", 1), say("I did.")),
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}})
		specs := []providertest.CallSpec{{Tool: "child", Input: agent.Task{Task: "x"}}}
		if beside {
			specs = append(specs, specs...)
		}
		a := newAgent(t,
			agent.Config{Name: "parent", Journal: store, Provider: inTurn(providertest.Calls(specs...), say("Done.")),
				Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x", ParallelSafe: true})}})
		res := run(t, a)
		ctx, cancel := context.WithCancel(t.Context())
		store.trip = cancel
		end, err := a.Run(ctx, approveAll(res))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, agent.Stopped, end.Status)
		require.Zero(t, done.all())
		for h, err := range store.Heads(t.Context(), journal.Filter{Open: true}) {
			require.NoError(t, err)
			require.Fail(t, "is still open", h.Session)
		}
	}
}

func TestWhatAChildWaitedForIsOpenNoMoreWhenItsCallIsOver(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	stop := agent.Hooks{AfterTool: func(_ context.Context, c *agent.ToolCall, _ *agent.ToolResult) error {
		return agent.Abort(errors.New("enough"))
	}}
	child := newAgent(t, agent.Config{Name: "child", Hooks: []agent.Hooks{stop}, Provider: inTurn(calls("risky", 1, 2)),
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}})
	var open []journal.Open
	then := tools.New(tools.Spec{Name: "then"}, func(ctx context.Context, _ Number) (string, error) {
		h, err := store.Head(ctx, "s")
		open = h.Open
		return h.Status, err
	})
	a := newAgent(t,
		agent.Config{Name: "parent", Journal: store, Provider: inTurn(task("child", "x"), call("then", 1),
			say("Done.")), Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"}), then}})
	res := run(t, a)
	require.Len(t, res.Pending, 2)
	end := runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Equal(t, "Done.", end.Text())
	require.Empty(t, open)
	require.Equal(t, "running", results(end)[len(results(end))-1].Text())
}
