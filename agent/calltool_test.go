package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestACallOfTheHostTakesThePathOfACallOfTheModel(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var done effects
		var path []string
		undone := 0
		note := func(what string) { path = append(path, what) }
		tool := tools.Func[Number, string]{
			Spec:  tools.Spec{Name: "write", Risk: tools.High},
			Check: func(context.Context, Number) error { note("check"); return nil },
			Run: func(_ context.Context, in Number) (string, error) {
				note("run")
				done.add(in.N)
				return "written", nil
			},
			Verify: func(context.Context, Number, string) error { note("verify"); return nil },
			Undo:   func(context.Context, Number, string) error { undone++; return nil },
		}
		hooks := agent.Hooks{
			BeforeTool:   func(context.Context, *agent.ToolCall) error { note("before"); return nil },
			AfterTool:    func(context.Context, *agent.ToolCall, *agent.ToolResult) error { note("after"); return nil },
			BeforeFinish: func(context.Context, *agent.Result) error { return agent.SendBack("more") },
		}
		policy := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
			note("policy")
			return tools.Verdict{}
		}
		a, model := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{tool}, Hooks: []agent.Hooks{hooks},
			Policies: []tools.Policy{policy}}, say("I see."), say("I see."), say("I see."))
		s := a.Session("s")
		res, err := s.Call(t.Context(), "write", Number{7})
		require.ErrorAs(t, err, new(*agent.PausedError))
		require.Equal(t, agent.Paused, res.Status)
		require.Nil(t, res.Called)
		require.Equal(t, []string{"before", "policy"}, path)
		_, err = s.Call(t.Context(), "write", Number{8})
		require.ErrorAs(t, err, new(*agent.PausedError))

		require.NoError(t, s.Decide(t.Context(), agent.Approve(res.Pending[0].ID).By("ann")))
		res, err = a.Run(t.Context(), agent.Continue("s"))
		require.NoError(t, err)
		require.Equal(t, []string{"before", "policy", "policy", "check", "run", "verify", "after"}, path)
		require.Equal(t, agent.Completed, res.Status)
		require.Equal(t, tools.OK, res.Called.Status)
		require.Equal(t, "written", res.Text())
		require.Zero(t, res.Steps)
		require.Equal(t, []string{"write"}, res.ToolNames())
		model.AssertCalls(t, 0)
		later, err := s.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, res.Called, later.Called)
		requireSound(t, "s", facts(t, a, "s"))

		shown, err := s.Messages(t.Context())
		require.NoError(t, err)
		require.Len(t, shown, 2, "the call and its result")
		require.Len(t, shown[0].Calls(), 1)
		rec, err := s.Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Len(t, rec.Undone, 1)
		require.Equal(t, 1, undone)
		require.Equal(t, 1, done.of(7))
	})
}

func TestTheModelIsToldThatACallWasTheHosts(t *testing.T) {
	var done effects
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}, say("I see."))
	_, err := a.Session("s").Call(t.Context(), "work", Number{1})
	require.NoError(t, err)
	run(t, a)
	sent := model.Requests()[0].Messages
	require.Len(t, sent, 4)
	require.True(t, memory.IsHostMessage(&sent[0]))
	require.Contains(t, sent[0].Text(), "It wasn't your decision")
	require.Len(t, sent[1].Calls(), 1)
	require.Equal(t, provider.RoleTool, sent[2].Role)
	require.Equal(t, "go", sent[3].Text())
}

func TestACallOfTheHostThatIsWrongLeavesNoTrace(t *testing.T) {
	var done effects
	a, _ := scripted(t,
		agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"}),
			done.tool(tools.Spec{Name: "other", Modes: []string{"edit"}})},
			Modes: []agent.Mode{{Name: "read"}, {Name: "edit"}}, Limits: agent.Limits{PromptBytes: 100}})
	for name, in := range map[string]agent.HostCall{
		"no such tool":        agent.CallTool("s", "missing", Number{1}),
		"not in the mode":     agent.CallTool("s", "other", Number{1}),
		"no name":             agent.CallTool("s", "", Number{1}),
		"an input of no JSON": agent.CallTool("s", "work", make(chan int)),
		"broken JSON":         agent.CallTool("s", "work", json.RawMessage(`{`)),
		"too deep": agent.CallTool("s", "work",
			json.RawMessage(strings.Repeat("[", 2000)+strings.Repeat("]", 2000))),
		"a long key":           {Session: "s", Tool: "work", Input: Number{1}, CallKey: strings.Repeat("k", 201)},
		"a session of a child": agent.CallTool("call/x", "work", Number{1}),
	} {
		t.Run(name, func(t *testing.T) {
			res, err := a.Run(t.Context(), in)
			var wrong *agent.ArgError
			require.ErrorAs(t, err, &wrong)
			require.Contains(t, wrong.Field, "HostCall.")
			require.Nil(t, res)
		})
	}
	_, err := a.Session("s").Call(t.Context(), "work", json.RawMessage(`{"n":1,"x":"`+strings.Repeat("x", 100)+`"}`))
	require.ErrorAs(t, err, new(*agent.LimitError))
	_, err = (*agent.Session)(nil).Call(t.Context(), "work", nil)
	require.ErrorAs(t, err, new(*agent.ArgError))
	require.Empty(t, facts(t, a, "s"))
	require.Zero(t, done.all())
}

func TestACallOfTheHostThatFailsCompletesItsRun(t *testing.T) {
	fails := tools.New(tools.Spec{Name: "fails"}, func(context.Context, Number) (string, error) {
		return "", errors.New("no such page")
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{fails}})
	res, err := a.Session("s").Call(t.Context(), "fails", Number{1})
	require.NoError(t, err)
	require.NoError(t, res.Err())
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, tools.Failed, res.Called.Status)
	require.Contains(t, res.Text(), "no such page")
	res, err = a.Session("s").Call(t.Context(), "fails", map[string]any{"n": "x"})
	require.NoError(t, err)
	require.Equal(t, tools.Invalid, res.Called.Status)
	res, err = a.Session("s").Call(t.Context(), "fails", nil)
	require.NoError(t, err)
	require.Equal(t, tools.Invalid, res.Called.Status, "nil is an empty object")
}

func TestACallOfTheHostIsResumedAfterACrash(t *testing.T) {
	for _, repeatable := range []bool{false, true} {
		crashes := 0
		for at, over := 1, false; !over; at++ {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				var done effects
				build := func(store journal.Store) *agent.Agent {
					return newAgent(t, agent.Config{Journal: store, Provider: providertest.Script(),
						Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", Idempotent: repeatable})}})
				}
				dying := &weak{Store: store, at: at, err: death, lasts: true}
				_, err := build(dying).Session("s").Call(t.Context(), "work", Number{1})
				if over = !dying.dead(); over {
					require.NoError(t, err)
					return
				}
				crashes++
				<-time.After(time.Minute) // the lease ends
				a := build(store)
				_, err = a.Recover(t.Context(), agent.Recovery{})
				require.NoError(t, err)
				if len(facts(t, a, "s")) == 0 {
					require.Zero(t, done.all())
					return
				}
				res, err := a.Session("s").Result(t.Context())
				require.NoError(t, err)
				if res.Status == agent.Paused {
					require.False(t, repeatable)
					require.Equal(t, agent.PauseInDoubt, res.Pending[0].Kind)
					res = runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "it did")))
				}
				require.Equal(t, agent.Completed, res.Status)
				require.True(t, res.Called.Status.Good())
				requireSound(t, "s", facts(t, a, "s"))
			})
		}
		require.Greater(t, crashes, 2)
	}
}

func TestAMessageToACallOfTheHostIsntDelivered(t *testing.T) {
	var a *agent.Agent
	var receipt *agent.Receipt
	tool := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (_ string, err error) {
		receipt, err = a.Session("s").Steer(ctx, "hello")
		return "ok", err
	})
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{tool}})
	res, err := a.Session("s").Call(t.Context(), "work", Number{1})
	require.NoError(t, err)
	require.Equal(t, tools.OK, res.Called.Status)
	_, err = receipt.Wait(t.Context())
	require.Error(t, err)
	model.AssertCalls(t, 0)
}

func TestTheConversationOfAPrunedSessionHasTheCallOfTheHost(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{},
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}, say("I see."))
	s := a.Session("s")
	run(t, a)
	_, err := s.Call(t.Context(), "work", Number{1})
	require.NoError(t, err)
	before, err := s.Messages(t.Context())
	require.NoError(t, err)
	log := facts(t, a, "s")
	m, err := machine.Replay("s", log...)
	require.NoError(t, err)
	snapshot := &machine.Snapshot{Meta: agent.Meta{Origin: &machine.Origin{Session: "s", Run: m.State().Run.ID},
		Seq: m.State().Seq + 1}, State: m.State()}
	require.Equal(t, before, machine.Conversation([]agent.Fact{snapshot}))
}

// A call that repeats one of an earlier run has the same idempotency key, if the host says so.
func TestACallOfTheHostCanHaveTheKeyOfAnEarlierOne(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var ran, undone []string
		tool := tools.Func[Number, string]{
			Spec: tools.Spec{Name: "write", Risk: tools.High, Idempotent: true},
			Run: func(ctx context.Context, _ Number) (string, error) {
				ran = append(ran, tools.IdempotencyKey(ctx))
				return "written", nil
			},
			Undo: func(ctx context.Context, _ Number, _ string) error {
				undone = append(undone, tools.IdempotencyKey(ctx))
				return nil
			},
		}
		a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{tool}})
		s := a.Session("s")
		for range 2 {
			in := agent.CallTool("s", "write", Number{7})
			in.CallKey = "pay-1"
			res, err := a.Run(t.Context(), in)
			require.ErrorAs(t, err, new(*agent.PausedError))
			_, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
			require.NoError(t, err)
		}
		_, err := s.Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Equal(t, []string{"pay-1", "pay-1"}, ran)
		require.Equal(t, []string{"pay-1"}, undone)
	})
}
