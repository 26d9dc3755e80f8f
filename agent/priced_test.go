package agent_test

import (
	"context"
	"errors"
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

// A free model is one whose tokens are known to cost nothing.
type free struct{ provider.Provider }

func (free) Info() provider.ModelInfo { return provider.ModelInfo{Prices: new(provider.Prices)} }

// An unpriced model doesn't say what it costs.
type unpriced struct{ provider.Provider }

func (unpriced) Info() provider.ModelInfo                 { return provider.ModelInfo{} }
func (unpriced) InfoOf(string) (provider.ModelInfo, bool) { return provider.ModelInfo{}, false }
func (u unpriced) EndsWithContext() bool                  { return provider.EndsWithContext(u.Provider) }

func TestASummaryIsUnpricedOnlyIfItsPriceIsNotKnown(t *testing.T) {
	short := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		r := answer("in short")
		r.Usage = provider.Usage{Input: 90, Output: 10}
		return r, nil
	})
	broken := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		r := answer("in sh")
		r.Usage = provider.Usage{Input: 90}
		return r, errors.New("broken off")
	})
	for name, c := range map[string]struct {
		by       []provider.Provider
		cost     bool
		unpriced bool
	}{
		"free":              {by: []provider.Provider{free{short}}},
		"priced":            {by: []provider.Provider{known{short}}, cost: true},
		"of no known price": {by: []provider.Provider{unpriced{short}}, unpriced: true},
		"free, and priced":  {by: []provider.Provider{free{broken}, known{short}}, cost: true},
		"in part of no known price": {by: []provider.Provider{unpriced{broken}, known{short}},
			cost: true, unpriced: true},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []memory.Step
			for _, p := range c.by {
				steps = append(steps, memory.Step{Strategy: summariser(t, p)})
			}
			n := 0
			store := &journal.MapStore{}
			a := newAgent(t, agent.Config{
				Memory: small(steps...), Journal: store, Tools: []tools.Tool{reading(800)},
				Limits: agent.Limits{Steps: 50},
				Provider: free{providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
					if n++; n > 10 {
						return answer("done"), nil
					}
					return callOf("read", Number{n}), nil
				})}})
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			compacted := of[*machine.Compacted](all)
			require.NotEmpty(t, compacted)
			for _, f := range compacted {
				require.Positive(t, f.Usage.Total())
				require.Equal(t, c.cost, f.Cost > 0)
				require.Equal(t, !c.unpriced, f.Priced)
			}
			res := of[*agent.RunEnded](all)[0].Result
			require.Equal(t, c.unpriced, res.Unpriced)
			require.Equal(t, c.cost, res.Cost > 0)
			require.Equal(t, c.unpriced, machineOf(t, a, "s").State().Run.Unpriced, "and so it is read back")
		})
	}
}

func TestANoteThatIsWrittenForNothingIsPriced(t *testing.T) {
	mem := small()
	mem.ContextReset = &notes.ContextReset{}
	a := newAgent(t, agent.Config{Memory: mem,
		Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) { return "ok", nil })},
		Provider: free{providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			switch {
			case req.Labels.Kind == "note":
				return answer(`{"done":[],"remaining":[]}`), nil
			case len(req.Messages) == 1 && len(req.Messages[0].Parts) == 1:
				return callOf("next", Number{1}), nil
			}
			return answer("done"), nil
		})}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	note := of[*machine.NoteWritten](all)[0]
	require.Positive(t, note.Usage.Total())
	require.True(t, note.Priced)
	require.Zero(t, note.Cost)
	for _, end := range of[*agent.RunEnded](all) {
		require.False(t, end.Result.Unpriced)
	}
}
