package agent_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A fee is a model of which a token costs that many dollars; 0: nobody knows.
type fee struct {
	provider.Provider
	dollars provider.Money
}

func (f fee) Info() provider.ModelInfo {
	if f.dollars == 0 {
		return provider.ModelInfo{ID: "free of any figure"}
	}
	return provider.ModelInfo{Prices: &provider.Prices{Input: 1_000_000 * f.dollars * provider.USD,
		Output: 1_000_000 * f.dollars * provider.USD}}
}

// fees returns a provider whose models are all m, at different prices.
func fees(t *testing.T, m provider.Provider) *provider.Router {
	t.Helper()
	r, err := provider.NewRouter(map[string]provider.Route{
		"default": {Provider: fee{m, 1}}, "cheap": {Provider: fee{m, 2}}, "dear": {Provider: fee{m, 5}},
		"odd": {Provider: fee{m, 0}},
	})
	require.NoError(t, err)
	return r
}

func TestWhatACallCostsGoesByTheModelThatItAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		cfg      agent.Config
		mode     string
		cost     provider.Money
		unpriced bool
	}{
		"the provider's own":     {cost: 1},
		"the agent's":            {cfg: agent.Config{Params: agent.Params{Model: "cheap"}}, cost: 2},
		"the mode's":             {mode: "hard", cost: 5},
		"one without a price":    {mode: "odd", unpriced: true},
		"one that nobody knows":  {mode: "unheard", unpriced: true},
		"that which a hook took": {mode: "hard", cfg: agent.Config{Hooks: []agent.Hooks{sentTo("cheap")}}, cost: 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := providertest.Script(providertest.WithUsage(provider.Usage{Input: 2, Output: 1}, say("done")))
			cfg := c.cfg
			cfg.Provider = sending{fees(t, m), m}
			cfg.Modes = []agent.Mode{{Name: "plain"}, {Name: "hard", Model: "dear"}, {Name: "odd", Model: "odd"},
				{Name: "unheard", Model: "of"}}
			res, err := newAgent(t, cfg).Run(t.Context(),
				agent.Input{Prompt: "go", Mode: c.mode, Limits: &agent.Limits{Cost: -1}})
			require.NoError(t, err)
			require.Equal(t, 3*c.cost*provider.USD, res.Cost)
			require.Equal(t, c.unpriced, res.Unpriced)
		})
	}
}

// sentTo is a hook that asks another model.
func sentTo(model string) agent.Hooks {
	return agent.Hooks{Name: "sent", BeforeStep: func(_ context.Context, s *agent.Step) error {
		s.Model = model
		return nil
	}}
}

func TestANoteCostsWhatTheModelOfItsModeDoes(t *testing.T) {
	note := providertest.WithUsage(provider.Usage{Input: 8, Output: 2}, say(`{"done":[],"remaining":["it"]}`))
	m := providertest.Script(call("hand", 1), note, say("done"))
	hand := tools.New(tools.Spec{Name: "hand"}, func(ctx context.Context, _ Number) (string, error) {
		return "asked for", agent.RequestContextReset(ctx)
	})
	a := newAgent(t, agent.Config{
		Provider: sending{fees(t, m), m}, Modes: []agent.Mode{{Name: "hard", Model: "dear"}}, Tools: []tools.Tool{hand},
		Limits: agent.Limits{Cost: -1},
		Memory: &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 100_000}},
			ContextReset: &notes.ContextReset{}},
	})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	notes := of[*machine.NoteWritten](all)
	require.Len(t, notes, 1)
	require.Empty(t, notes[0].Error)
	require.Equal(t, 50*provider.USD, notes[0].Cost)
}

func TestWhatANoteCostNeverShrinks(t *testing.T) {
	m := providertest.Script(call("hand", 1), say("done"))
	hand := tools.New(tools.Spec{Name: "hand"}, func(ctx context.Context, _ Number) (string, error) {
		return "asked for", agent.RequestContextReset(ctx)
	})
	a := newAgent(t, agent.Config{Provider: fee{m, 1}, Tools: []tools.Tool{hand},
		Limits: agent.Limits{Cost: -1, Tokens: -1}, Memory: &agent.Memory{
			Config: memory.Config{Window: memory.Window{Size: 100_000}},
			ContextReset: &notes.ContextReset{
				Write: func(_ context.Context, in *notes.Input) (notes.ResetNote, error) {
					in.Book(provider.Usage{Input: 1}, math.MaxInt64)
					in.Book(provider.Usage{Input: 1}, math.MaxInt64)
					return notes.ResetNote{Remaining: []string{"it"}}, nil
				}},
		}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	notes := of[*machine.NoteWritten](all)
	require.Len(t, notes, 1)
	require.Equal(t, provider.Money(math.MaxInt64), notes[0].Cost)
	for _, end := range of[*agent.RunEnded](all) {
		require.Equal(t, provider.Money(math.MaxInt64), end.Result.Cost, end.Code)
	}
}

func TestAModelWithoutAPriceIsToldOnceOrRefused(t *testing.T) {
	var done effects
	list := []tools.Tool{done.tool(tools.Spec{Name: "work"})}
	told := func(limits agent.Limits) (n int, end *agent.RunEnded) {
		m := providertest.Script(call("work", 1), call("work", 2), say("done"))
		a := newAgent(t, agent.Config{Provider: unpriced{m}, Tools: list, Params: agent.Params{Model: "m-1"},
			Limits: limits})
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		end = of[*agent.RunEnded](all)[0]
		require.Equal(t, end.Result.Steps, len(m.Requests()))
		return len(of[*agent.UnknownPrice](all)), end
	}
	n, end := told(agent.Limits{})
	require.Equal(t, 1, n, "with the default limit")
	require.Equal(t, agent.Completed, end.Status)
	n, _ = told(agent.Limits{Cost: provider.USD, AllowUnknownPrices: true})
	require.Equal(t, 1, n)
	n, _ = told(agent.Limits{Cost: -1})
	require.Zero(t, n, "there is no limit of cost")

	_, end = told(agent.Limits{Cost: provider.USD})
	require.Zero(t, end.Result.Steps)
	require.Equal(t, []string{machine.CodeLimit, machine.LimitRequirePrices}, []string{end.Code, end.Limit})
	var limit *agent.LimitError
	require.ErrorAs(t, end.Result.Err(), &limit)
	require.Equal(t, machine.LimitRequirePrices, limit.Limit)
	require.ErrorContains(t, limit, `agent: Limits.RequirePrices: the price of the model "m-1" isn't known`)
	require.Contains(t, limit.Words(), "price")
}
