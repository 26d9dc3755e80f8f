package agent_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestWhatAChildAsksForIsRedactedForItsParent(t *testing.T) {
	store := &journal.MapStore{}
	ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, Number) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "is hunter2 the password?"}
	})
	child := newAgent(t, agent.Config{Name: "child", Provider: providertest.Script(call("ask", 1), say("on")),
		Tools: []tools.Tool{ask}, Journal: &journal.MapStore{}})
	a, _ := scripted(t, agent.Config{Name: "parent", Journal: store,
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})},
		Redact: func(s string) string {
			return strings.ReplaceAll(s, "hunter2", "[secret]")
		}}, task("child", "x"), say("on"))
	res := run(t, a)
	require.Equal(t, "is [secret] the password?", res.Pending[0].Reason)
	for rec, err := range store.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.NotContains(t, string(rec.Data), "hunter2")
	}
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.NotContains(t, head.Open[0].Title, "hunter2")

	risky := newAgent(t,
		agent.Config{Name: "child",
			Provider: providertest.Script(providertest.Call("say", map[string]string{"text": "hunter2"}), say("on")),
			Journal:  &journal.MapStore{},
			Tools: []tools.Tool{tools.New(tools.Spec{Name: "say", Risk: tools.High}, func(_ context.Context, in struct {
				Text string `json:"text"`
			}) (string, error) {
				require.Equal(t, "hunter2", in.Text, "the child's call is as it was made")
				return "ok", nil
			})}})
	store = &journal.MapStore{}
	a, _ = scripted(t, agent.Config{Name: "parent", Journal: store,
		Tools: []tools.Tool{agent.AsTool(risky, tools.Spec{Description: "x"})},
		Redact: func(s string) string {
			return strings.ReplaceAll(s, "hunter2", "[secret]")
		}}, task("child", "x"), say("on"))
	require.Equal(t, agent.Completed, runInput(t, a, approveAll(run(t, a))).Status)
	for rec, err := range store.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.NotContains(t, string(rec.Data), "hunter2")
	}
}

func TestTheLimitsOfAModeBoundAChildToo(t *testing.T) {
	var done effects
	child := newAgent(t, agent.Config{Name: "child",
		Provider: providertest.Script(call("work", 1), providertest.Unfit(call("work", 2)), call("work", 3), say("on")),
		Tools:    []tools.Tool{done.tool(tools.Spec{Name: "work"})},
		Modes:    []agent.Mode{{Name: "short", Limits: &agent.Limits{Steps: 1}}}})
	a, _ := scripted(t, agent.Config{Name: "parent",
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}}, task("child", "x"), say("on"))
	run(t, a)
	require.Equal(t, 1, done.all(), "the mode has one step")
}

func TestAllSubagentsTogetherMakeSoManyModelCalls(t *testing.T) {
	var calls atomic.Int32
	// Each agent calls the next one eight times in each reply, until it is stopped.
	model := func(tool string) provider.Provider {
		return providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			calls.Add(1)
			var specs []providertest.CallSpec
			for range 8 {
				specs = append(specs, providertest.CallSpec{Tool: tool, Input: agent.Task{Task: "go on"}})
			}
			return providertest.Calls(specs...).Response(), nil
		})
	}
	limits := agent.Limits{Repeats: -1, Failures: -1, ToolFailures: -1, Tokens: -1}
	var last tools.Tool = tools.New(tools.Spec{Name: "work", ReadOnly: true},
		func(context.Context, agent.Task) (string, error) { return "worked", nil })
	name := "work"
	var a *agent.Agent
	for _, next := range []string{"three", "two", "one"} {
		a = newAgent(t, agent.Config{Name: next, Provider: model(name), Tools: []tools.Tool{last}, Limits: limits})
		name, last = next, agent.AsTool(a, tools.Spec{ParallelSafe: true})
	}
	res := run(t, a)
	require.Equal(t, machine.CodeLimit, res.Code)
	require.LessOrEqual(t, calls.Load(), int32(200+13+2*64),
		"three levels of agents made 70,818 calls before there was this limit")
	require.GreaterOrEqual(t, calls.Load(), int32(200))
}

// repeating returns an agent whose first call in each run is one of its tool, which does what f
// does with the agent, and the number of its runs.
func repeating(t *testing.T, f func(context.Context, *agent.Agent) error) (a *agent.Agent, runs *atomic.Int32) {
	runs = new(atomic.Int32)
	again := tools.New(tools.Spec{Name: "again"}, func(ctx context.Context, _ Number) (string, error) {
		return "ok", f(ctx, a)
	})
	a = newAgent(t, agent.Config{Name: "agent", Tools: []tools.Tool{again},
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			if len(req.Messages) > 1 {
				return say("ok").Response(), nil
			}
			runs.Add(1)
			return call("again", 1).Response(), nil
		})})
	return a, runs
}

func TestRunsThatToolsStartByHandGoEightDeep(t *testing.T) {
	var refused error
	a, runs := repeating(t, func(ctx context.Context, a *agent.Agent) error {
		_, err := a.Run(ctx, agent.Input{Prompt: "go on"})
		if err != nil && refused == nil {
			refused = err
		}
		return err
	})
	require.Equal(t, agent.Completed, runInput(t, a, agent.Input{Prompt: "go"}).Status)
	require.EqualValues(t, 9, runs.Load(), "the outermost and eight in it")
	require.ErrorContains(t, refused, "agents can be nested 8 deep")
	require.Equal(t, fault.Denied, fault.Of(refused))
}

func TestARunThatStartsAfterTheEndOfTheOtherIsntNestedInIt(t *testing.T) {
	var in context.Context
	a, runs := repeating(t, func(ctx context.Context, _ *agent.Agent) error {
		in = ctx
		return nil
	})
	ctx := t.Context()
	for range 20 {
		_, err := a.Run(ctx, agent.Input{Prompt: "go"})
		require.NoError(t, err)
		ctx = context.WithoutCancel(in)
	}
	require.EqualValues(t, 20, runs.Load())
}
