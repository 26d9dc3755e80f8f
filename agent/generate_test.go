package agent_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func ask(prompt string) *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User(prompt)}}
}

// used is a reply that has used n tokens.
func used(n int64, step providertest.Step) providertest.Step {
	return providertest.WithUsage(provider.Usage{Input: n}, step)
}

// generating is a tool that makes a model call and returns the answer.
func generating(spec tools.Spec) tools.Tool {
	return tools.New(spec, func(ctx context.Context, in Number) (string, error) {
		res, err := agent.Generate(ctx, ask("in short"))
		if err != nil {
			return "", err
		}
		return res.Text(), nil
	})
}

func TestAToolAsksTheModelOfItsRunAndTheRunPays(t *testing.T) {
	m := providertest.Script(used(10, call("short", 1)), used(200, say("brief")), used(3_000, say("Done.")))
	a := newAgent(t, agent.Config{Name: "writer", Provider: unpriced{m}, Params: agent.Params{Model: "m-1"},
		Tools: []tools.Tool{generating(tools.Spec{Name: "short"})}})
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go", Priority: 80, Task: "t-1"})
	require.NoError(t, err)
	require.NoError(t, res.Err())

	got := m.Requests()[1]
	require.Equal(t, "m-1", got.Model)
	require.Equal(t, 80, got.Priority)
	require.Equal(t, provider.Labels{Session: "s", Run: res.Run, Step: 1, Task: "t-1", Agent: "writer", Kind: "tool",
		Trace: res.Trace}, got.Labels)
	require.Empty(t, got.Tools)
	require.Equal(t, "brief", results(res)[0].Text())
	require.Len(t, res.Messages, 4, "the model call of the tool isn't in the conversation")

	require.EqualValues(t, 3_210, res.Usage.Total())
	require.True(t, res.Unpriced)
	require.Equal(t, 2, res.Steps)
	log := facts(t, a, "s")
	spent := of[*agent.ToolFinished](asEvents(log))[0].Spent
	require.EqualValues(t, 200, spent.Usage.Total())
	require.True(t, spent.Unpriced)
	requireSound(t, "s", log)
}

func asEvents(log []agent.Fact) (all []agent.Event) {
	for _, f := range log {
		all = append(all, f)
	}
	return all
}

func TestAToolMayNameAnotherModelAndAKind(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "short"}, func(ctx context.Context, in Number) (string, error) {
		req := ask("x")
		req.Model, req.Labels, req.Interactive = "m-2", provider.Labels{Session: "forged", Kind: "title"}, true
		_, err := agent.Generate(ctx, req)
		return "", err
	})
	a, m := scripted(t, agent.Config{Tools: []tools.Tool{tool}}, call("short", 1), say("x"), say("Done."))
	run(t, a)
	got := m.Requests()[1]
	require.Equal(t, "m-2", got.Model)
	require.Equal(t, "title", got.Labels.Kind)
	require.Equal(t, "s", got.Labels.Session)
	require.False(t, got.Interactive, "the lane is that of the run")
}

func TestAToolsModelCallIsRefusedAtALimitOfTheRun(t *testing.T) {
	var errs []error
	tool := tools.New(tools.Spec{Name: "short"}, func(ctx context.Context, in Number) (string, error) {
		for range 5 {
			if _, err := agent.Generate(ctx, ask("x")); err != nil {
				errs = append(errs, err)
			}
		}
		return "ok", nil
	})
	a, m := scripted(t, agent.Config{Limits: agent.Limits{Tokens: 250}, Tools: []tools.Tool{tool}},
		used(10, call("short", 1)), used(100, say("1")), used(100, say("2")), used(100, say("3")))
	res := run(t, a)
	require.Len(t, errs, 2)
	var limit *agent.LimitError
	require.ErrorAs(t, errs[0], &limit)
	require.Equal(t, "Tokens", limit.Limit)
	require.EqualValues(t, 310, limit.Have)
	require.ErrorAs(t, res.Err(), &limit, "the run ends at the limit, too")
	m.AssertDone(t)
}

func TestAnEndlessReplyToAToolIsCut(t *testing.T) {
	model := &endless{}
	first := providertest.Script(call("short", 1), say("Done."))
	calls := 0
	p := provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		if req.Labels.Kind == "tool" {
			calls++
			return model.Stream(ctx, req)
		}
		return first.Stream(ctx, req)
	})
	var failure error
	short := doing("short", func(ctx context.Context) error {
		_, failure = agent.Generate(ctx, ask("in short"))
		return nil
	})
	a := newAgent(t, agent.Config{Provider: p, Limits: agent.Limits{ReplyBytes: 50_000}, Tools: []tools.Tool{short}})
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	var limit *agent.LimitError
	require.ErrorAs(t, failure, &limit)
	require.Equal(t, machine.LimitReplyBytes, limit.Limit)
	require.Equal(t, 1, calls)
	require.Equal(t, 49, model.chunks)
	require.Greater(t, res.Usage.Output, int64(4_900), "what was written so far is counted")
}

func TestToolsInParallelPayTogether(t *testing.T) {
	var mu sync.Mutex
	made := 0
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if req.Labels.Kind == "step" {
			if len(req.Messages) == 1 {
				return calls("short", 1, 2, 3, 4, 5, 6).Response(), nil
			}
			return say("Done.").Response(), nil
		}
		made++
		return used(100, say("x")).Response(), nil
	})
	a := newAgent(t, agent.Config{Provider: model,
		Tools: []tools.Tool{generating(tools.Spec{Name: "short", ReadOnly: true, NoRetries: true})}})
	res := run(t, a)
	require.Equal(t, 6, made)
	require.GreaterOrEqual(t, res.Usage.Total(), int64(600))
	require.Less(t, res.Usage.Total(), int64(700))
}

func TestAStructuredAnswerInAToolIsCorrected(t *testing.T) {
	type verdict struct {
		Good bool `json:"good"`
	}
	var got verdict
	var list []string
	var failure error
	tool := tools.New(tools.Spec{Name: "judge"}, func(ctx context.Context, in Number) (string, error) {
		var err error
		if got, err = agent.GenerateFor[verdict](ctx, ask("is it good?")); err != nil {
			return "", err
		}
		if list, err = agent.GenerateFor[[]string](ctx, ask("names?")); err != nil {
			return "", err
		}
		_, failure = agent.GenerateFor[verdict](ctx, ask("again"))
		return "judged", nil
	})
	a, m := scripted(t, agent.Config{Limits: agent.Limits{OutputCorrections: 1}, Tools: []tools.Tool{tool}},
		call("judge", 1),
		used(10, say("yes")), used(20, say(`{"good":true}`)), say(`["a","b"]`), say("no"), say("no!"), say("Done."))
	res := run(t, a)
	require.True(t, got.Good)
	require.Equal(t, []string{"a", "b"}, list)
	var out *agent.OutputError
	require.ErrorAs(t, failure, &out)
	require.Equal(t, "no!", out.Text)
	require.GreaterOrEqual(t, res.Usage.Total(), int64(30))
	require.Contains(t, m.Requests()[2].Messages[2].Text(), "doesn't fit the schema")
	require.NotNil(t, m.Requests()[1].Output)
	m.AssertDone(t)
}

func TestWhatAToolSpendsElsewhereIsBooked(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "paint"}, func(ctx context.Context, in Number) (string, error) {
		if err := agent.Book(ctx, provider.Usage{}, 30*provider.USD); err != nil {
			return "", err
		}
		return "painted", agent.Book(ctx, provider.Usage{Input: 7, Output: 3}, provider.USD)
	})
	a, _ := scripted(t, agent.Config{Limits: agent.Limits{Cost: 100 * provider.USD}, Tools: []tools.Tool{tool}},
		used(1, call("paint", 1)), used(1, say("Done.")))
	res := run(t, a)
	require.Equal(t, 31*provider.USD, res.Cost)
	require.EqualValues(t, 12, res.Usage.Total())
	spent := of[*agent.ToolFinished](asEvents(facts(t, a, "s")))[0].Spent
	require.Equal(t, 31*provider.USD, spent.Cost)
	require.False(t, spent.Unpriced)
}

func TestOnlyARunningToolCallMayAskTheModelOrBook(t *testing.T) {
	var kept context.Context
	var negative error
	tool := tools.New(tools.Spec{Name: "leak"}, func(ctx context.Context, in Number) (string, error) {
		kept = ctx
		negative = agent.Book(ctx, provider.Usage{Input: -1}, 0)
		_, err := agent.Generate(ctx, nil)
		return "", err
	})
	var inHook error
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool},
		Hooks: []agent.Hooks{{BeforeStep: func(ctx context.Context, s *agent.Step) error {
			_, inHook = agent.Generate(ctx, ask("x"))
			return nil
		}}}}, call("leak", 1), say("Done."))
	res := run(t, a)
	require.Contains(t, results(res)[0].Text(), "the request is nil")
	var wrong *agent.ArgError
	require.ErrorAs(t, negative, &wrong)
	require.ErrorAs(t, inHook, &wrong)
	require.Equal(t, "Generate", wrong.Func)
	require.Equal(t, fault.Permanent, fault.Of(inHook))
	for name, ctx := range map[string]context.Context{"none": nil, "no call": t.Context(),
		"a call that is over": context.WithoutCancel(kept)} {
		_, err := agent.Generate(ctx, ask("x"))
		require.ErrorAs(t, err, &wrong, name)
		_, err = agent.GenerateFor[Number](ctx, ask("x"))
		require.ErrorAs(t, err, &wrong, name)
		require.ErrorAs(t, agent.Book(ctx, provider.Usage{}, 1), &wrong, name)
	}
}

func TestAToolsModelCallEndsWithTheToolsTimeLimitAndIsPaidFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := scripted(t,
			agent.Config{Tools: []tools.Tool{generating(tools.Spec{Name: "short", Timeout: time.Second})}},
			call("short", 1), providertest.Slow(300*time.Millisecond,
				providertest.SayChunks("one ", "two ", "three ", "four")), say("Done."))
		begun := time.Now()
		res := run(t, a)
		require.Less(t, time.Since(begun), 2*time.Second)
		f := of[*agent.ToolFinished](asEvents(facts(t, a, "s")))[0]
		require.Equal(t, tools.TimedOut, f.Result.Status)
		require.NotNil(t, f.Spent)
		require.True(t, f.Spent.Usage.Estimated)
		require.GreaterOrEqual(t, res.Usage.Total(), f.Spent.Usage.Total())
	})
}

func TestWhatACallSpentBeforeAPauseIsKeptInAnotherProcess(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		if store == nil {
			t.Skip("one process")
		}
		tool := tools.New(tools.Spec{Name: "ask"}, func(ctx context.Context, in Number) (string, error) {
			if err := agent.Book(ctx, provider.Usage{Input: 50}, 2*provider.USD); err != nil {
				return "", err
			}
			return "", tools.Suspend{Kind: "question", Prompt: "which?"}
		})
		first, _ := scripted(t, agent.Config{Name: "x", Journal: store, Tools: []tools.Tool{tool}},
			used(1, call("ask", 1)))
		res := run(t, first)
		require.Equal(t, agent.Paused, res.Status)
		require.EqualValues(t, 51, res.Usage.Total(), "it is charged with the pause")

		second, _ := scripted(t, agent.Config{Name: "x", Journal: store, Tools: []tools.Tool{tool}},
			used(1, say("Done.")))
		res = runInput(t, second, agent.Resume("s", agent.Answer(res.Pending[0].ID, "this")))
		require.Equal(t, agent.Completed, res.Status)
		require.EqualValues(t, 52, res.Usage.Total())
		require.Equal(t, 2*provider.USD, res.Cost)
	})
}

func TestAToolOfASubagentStopsAtALimitOfTheParent(t *testing.T) {
	var failure error
	tool := tools.New(tools.Spec{Name: "short"}, func(ctx context.Context, in Number) (string, error) {
		_, err := agent.Generate(ctx, ask("x"))
		if err == nil {
			_, failure = agent.Generate(ctx, ask("y"))
		}
		return "", err
	})
	child, _ := scripted(t, agent.Config{Name: "child", Tools: []tools.Tool{tool}}, used(10, call("short", 1)),
		used(500, say("x")), used(10, say("Done.")))
	parent, _ := scripted(t, agent.Config{Limits: agent.Limits{Tokens: 300},
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}},
		used(10, providertest.Call("child", agent.Task{Task: "do"})), used(1, say("Stopped.")))
	res := run(t, parent)
	var limit *agent.LimitError
	require.ErrorAs(t, failure, &limit)
	require.Equal(t, "Tokens", limit.Limit)
	require.ErrorAs(t, res.Err(), &limit)
	require.GreaterOrEqual(t, res.Usage.Total(), int64(520))
}
