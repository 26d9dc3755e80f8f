package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAnotherModeBringsItsOwnLimits(t *testing.T) {
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("narrow", nil), providertest.Call("look", nil),
			providertest.Say("That is how far I got.")),
		Modes: []agent.Mode{{Name: "wide"}, {Name: "narrow", Limits: &agent.Limits{Steps: 2}}},
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "narrow"}, func(ctx context.Context, _ struct{}) (string, error) {
				return "done", agent.SwitchMode(ctx, "narrow", "enough")
			}),
			tools.New(tools.Spec{Name: "look"}, func(context.Context, struct{}) (string, error) {
				return "nothing", nil
			}),
		},
	})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.Equal(t, agent.Stopped, res.Status)
	var limit *agent.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, machine.LimitSteps, limit.Limit)
	require.EqualValues(t, 2, limit.Max)
}

func TestLimitsThatAnInputNamesHoldInEveryMode(t *testing.T) {
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("narrow", nil), providertest.Say("Done.")),
		Modes:    []agent.Mode{{Name: "wide"}, {Name: "narrow", Limits: &agent.Limits{Steps: 1}}},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "narrow"},
			func(ctx context.Context, _ struct{}) (string, error) {
				return "done", agent.SwitchMode(ctx, "narrow", "enough")
			})},
	})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Prompt: "go", Limits: &agent.Limits{Steps: 5}})
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
}

func TestAnEmptyLastAnswerHasNoText(t *testing.T) {
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Reply(providertest.Say("Let me look."),
			providertest.Call("look", nil)), providertest.Empty()),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "look"}, func(context.Context, struct{}) (string, error) {
			return "nothing", nil
		})},
	})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.ErrorIs(t, err, machine.ErrNoAnswer)
	require.Equal(t, agent.Stopped, res.Status)
	require.Empty(t, res.Text())
}

func TestAPanicOfABareProviderFailsTheRun(t *testing.T) {
	for name, p := range map[string]provider.Provider{
		"at once": provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
			panic("no")
		}),
		"no sequence": provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
			return nil
		}),
		"on the way": provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				yield(provider.Start("m"), nil)
				panic("no")
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			a, err := agent.New(agent.Config{Provider: p, NoGuard: true})
			require.NoError(t, err)
			res, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
			require.Error(t, err)
			require.Equal(t, agent.Failed, res.Status)
			require.PanicsWithValue(t, "mine", func() { // the consumer's own panic isn't swallowed
				for range a.Stream(t.Context(), agent.Input{Prompt: "go"}) {
					panic("mine")
				}
			})
		})
	}
	_, err := agent.New(agent.Config{Provider: (*providertest.Model)(nil), NoGuard: true})
	require.Error(t, err)
}

func TestTimeThatAProcessWorkedBeforeItDiedCounts(t *testing.T) {
	store := &journal.MapStore{}
	var facts []agent.Fact
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Done.")), Journal: store})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	facts, err = a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	start := facts[0].(*agent.RunStarted)
	step := facts[1].(*agent.StepStarted)
	step.Time = start.Time.Add(time.Minute)
	again := &machine.Continued{Meta: step.Meta}
	again.Seq, again.Time = 3, start.Time.Add(time.Hour)
	m, err := machine.Replay("s", start, step, again)
	require.NoError(t, err)
	require.Equal(t, time.Minute, m.State().Run.Worked)
}

func TestWhatRedactingFailsOnIsWithheld(t *testing.T) {
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Say("Done.")),
		Redact:   func(string) string { panic("no") },
	})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Prompt: "a secret"})
	require.NoError(t, err)
	require.Contains(t, res.Messages[0].Text(), "withheld")
	require.NotContains(t, res.Messages[0].Text(), "secret")
}

func TestAnAgentThatNewDidNotMakeIsAnError(t *testing.T) {
	for _, a := range []*agent.Agent{nil, {}} {
		res, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
		require.Nil(t, res)
		var config *agent.ArgError
		require.ErrorAs(t, err, &config)
		require.Contains(t, config.Field, "Config.")
	}
}

func TestOptionsReachTheProvider(t *testing.T) {
	model := providertest.Script(providertest.Say("Done."))
	a, err := agent.New(agent.Config{Provider: model, Params: agent.Params{DisableParallelToolCalls: true,
		Options: map[string]json.RawMessage{"scripted": json.RawMessage(`{"tier":"flex"}`)}}})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.NoError(t, err)
	req := model.Requests()[0]
	require.True(t, req.DisableParallelToolCalls)
	require.JSONEq(t, `{"tier":"flex"}`, string(req.Options["scripted"]))
}
