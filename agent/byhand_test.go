package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestWhoGoesOnWithARunTakesNoPhaseOrSubgoalForNew(t *testing.T) {
	mem := small()
	slide := []memory.Step{{Strategy: memory.Slide{}}}
	mem.Rules = []memory.Rule{{When: memory.OnPhase(), Target: .01, Steps: slide},
		{When: memory.OnSubgoal(), Target: .01, Steps: slide}}
	mem.Keep, mem.SubgoalDone = 1, "end"
	phase := tools.New(tools.Spec{Name: "phase"}, func(ctx context.Context, in Number) (string, error) {
		return "ok", agent.SetPhase(ctx, "two")
	})
	end := tools.New(tools.Spec{Name: "end"}, func(ctx context.Context, in Number) (string, error) { return "ok", nil })
	ask := tools.New(tools.Spec{Name: "ask", Approval: tools.AskAlways}, func(context.Context, Number) (string, error) {
		return "ok", nil
	})
	a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{phase, end, ask, reading(10)}},
		call("phase", 1), call("end", 1), call("read", 1), call("read", 2), call("ask", 1), say("done"))
	res := run(t, a)
	before := len(facts(t, a, "s"))
	runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	for _, f := range facts(t, a, "s")[before:] {
		_, again := f.(*machine.Compacted)
		require.False(t, again)
	}
	require.Contains(t, asText(t, m.Requests()[5].Messages), "page 1")
}

func TestARequestThatAHookChangedTeachesNothing(t *testing.T) {
	n := 0
	a := newAgent(t, agent.Config{Memory: small(), Tools: []tools.Tool{reading(300)}, Limits: agent.Limits{Steps: 50},
		Hooks: []agent.Hooks{{BeforeStep: func(_ context.Context, s *agent.Step) error {
			s.System = "what the provider counts is this"
			return nil
		}}},
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			n++
			r := callOf("read", Number{n})
			if n == 14 {
				r = answer("done")
			}
			r.Usage = provider.Usage{Input: 20_000}
			return r, nil
		})})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Empty(t, of[*machine.Compacted](all))
}

func TestANoteWithoutAPriceMakesItsChainOneWithout(t *testing.T) {
	mem := small()
	mem.ContextReset = &notes.ContextReset{
		Write: func(_ context.Context, in *notes.Input) (notes.ResetNote, error) {
			in.Book(provider.Usage{Input: 1}, 0)
			return notes.ResetNote{}, nil
		}}
	n := 0
	a := newAgent(t, agent.Config{Memory: mem,
		Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) { return "ok", nil })},
		Provider: known{providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			if n++; n == 1 {
				return callOf("next", Number{1}), nil
			}
			return answer("done"), nil
		})}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	for _, end := range of[*agent.RunEnded](all) {
		require.True(t, end.Result.Unpriced)
	}
}

func TestAnEstimateTeachesNothing(t *testing.T) {
	n := 0
	a := newAgent(t, agent.Config{Memory: small(), Tools: []tools.Tool{reading(300)}, Limits: agent.Limits{Steps: 50},
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			n++
			r := callOf("read", Number{n})
			if n == 14 {
				r = answer("done")
			}
			r.Usage = provider.Usage{Input: 20_000, Estimated: true}
			return r, nil
		})})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Empty(t, of[*machine.Compacted](all))
}

func TestCompactingASessionThatThereIsNotMakesNone(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Memory: small(), Journal: store})
	_, err := a.Session("nobody").Compact(t.Context(), 0)
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	_, err = store.Head(t.Context(), "nobody")
	require.ErrorIs(t, err, journal.ErrNoSession)
}

func TestCompactingByHandKeepsTheInputOfTheRunThatIsPaused(t *testing.T) {
	var a *agent.Agent
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(ctx context.Context, in Number) (string, error) {
		if in.N == 1 {
			if _, err := a.Session("s").Steer(ctx, "be quick"); err != nil {
				return "", err
			}
		}
		return strings.Repeat("word ", 300), nil
	})
	mem := small(memory.Step{Strategy: memory.Slide{}})
	mem.Keep = 1
	ask := tools.New(tools.Spec{Name: "ask", Approval: tools.AskAlways}, func(context.Context, Number) (string, error) {
		return "ok", nil
	})
	a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{read, ask}}, say("hi"),
		call("read", 1), call("read", 2), call("read", 3), call("read", 4), call("ask", 1), say("done"))
	runInput(t, a, agent.Input{Session: "s", Prompt: "hello"})
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "the task"})
	report, err := a.Session("s").Compact(t.Context(), 0)
	require.NoError(t, err)
	require.True(t, report.Changed())
	res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Equal(t, "the task", res.Messages[0].Text())
	text := asText(t, m.Requests()[6].Messages)
	for _, want := range []string{"hello", "the task", "be quick"} {
		require.Contains(t, text, want)
	}
}
