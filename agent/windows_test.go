package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
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

// windows returns a provider with a model for each window, by name, which all are m.
func windows(t *testing.T, m provider.Provider, sizes map[string]int) *provider.Router {
	t.Helper()
	routes := make(map[string]provider.Route)
	for name, size := range sizes {
		routes[name] = provider.Route{Provider: informed{size, m}}
	}
	r, err := provider.NewRouter(routes)
	require.NoError(t, err)
	return r
}

// switching is a tool that switches to the mode that it is given.
func switching() tools.Tool {
	return tools.New(tools.Spec{Name: "switch"}, func(ctx context.Context, in struct {
		To string `json:"to"`
	}) (string, error) {
		return "switched", agent.SwitchMode(ctx, in.To, "")
	})
}

func to(mode string) providertest.Step {
	return providertest.Call("switch", map[string]string{"to": mode})
}

func TestAConversationIsKeptWithinTheWindowOfTheModelOfItsMode(t *testing.T) {
	sizes := map[string]int{"default": 100_000, "tiny": 10_000}
	modes := []agent.Mode{{Name: "wide"}, {Name: "tight", Model: "tiny"}, {Name: "unheard", Model: "of"}}
	slide := []memory.Step{{Strategy: memory.Slide{}}}
	for name, c := range map[string]struct {
		cfg    agent.Config
		mode   string
		budget int // of the compactions; 0: there are none
	}{
		"the agent's own": {mode: "wide"},
		"the mode's":      {mode: "tight", budget: 9_000},
		"the agent's, by name": {cfg: agent.Config{Params: agent.Params{Model: "tiny"}}, mode: "wide",
			budget: 9_000},
		"that which the configuration has": {
			cfg: agent.Config{Memory: &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 60_000,
				Reserve: 1_000}, Steps: slide}}}, mode: "tight"},
		"the agent's, of an unknown model": {cfg: agent.Config{Params: agent.Params{Model: "tiny"}}, mode: "unheard",
			budget: 9_000},
	} {
		t.Run(name, func(t *testing.T) {
			m := providertest.Script(reads(20)...)
			cfg := c.cfg
			if cfg.Memory == nil {
				cfg.Memory = &agent.Memory{Config: memory.Config{Window: memory.Window{Reserve: 1_000}, Steps: slide}}
			}
			r := windows(t, m, sizes)
			cfg.Provider, cfg.Modes, cfg.Tools, cfg.Limits = sending{r, m}, modes, []tools.Tool{reading(800)},
				agent.Limits{Steps: 50}
			a := newAgent(t, cfg)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go", Mode: c.mode}))
			require.NoError(t, err)
			require.Equal(t, c.budget > 0, len(of[*machine.Compacted](all)) > 0)
			for _, f := range of[*machine.Compacted](all) {
				require.Equal(t, c.budget, f.Report.Budget)
			}
		})
	}
}

// sending has what one provider knows of its models, and sends all calls to another.
type sending struct {
	*provider.Router
	to provider.Provider
}

func (s sending) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return s.to.Stream(ctx, req)
}

func TestTheWindowFollowsASwitchOfTheMode(t *testing.T) {
	steps := append([]providertest.Step{to("wide")}, reads(20)[:20]...)
	steps = append(steps, to("tight"), say("done"))
	m := providertest.Script(steps...)
	var shares []float64
	mem := &agent.Memory{Config: memory.Config{Window: memory.Window{Reserve: 1_000},
		Steps: []memory.Step{{Strategy: memory.Slide{}}}}}
	mem.ProgressNotes = []notes.Progress{{At: []float64{.1, .9},
		Write: func(_ context.Context, in *notes.Input) (json.RawMessage, error) {
			shares = append(shares, in.Share)
			return json.RawMessage(`{}`), nil
		}}}
	a := newAgent(t, agent.Config{
		Provider: sending{windows(t, m, map[string]int{"default": 100_000, "tiny": 10_000}), m}, Memory: mem,
		Modes: []agent.Mode{{Name: "tight", Model: "tiny"}, {Name: "wide"}},
		Tools: []tools.Tool{reading(800), switching()}, Limits: agent.Limits{Steps: 50},
	})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	compacted := of[*machine.Compacted](all)
	require.Len(t, compacted, 1)
	require.Equal(t, 9_000, compacted[0].Report.Budget)
	require.Greater(t, compacted[0].Report.Before, 9_000, "it was no trouble for the model before")
	require.Less(t, compacted[0].Report.After, 9_000)
	require.Len(t, shares, 2)
	require.Less(t, shares[0], .2, "a tenth of the wide window")
	require.Greater(t, shares[1], 1.0, "of the other one more than all")

	report, err := a.Session("s").Compact(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, 9_000, report.Budget, "by hand, too")
}

func TestANoteHasTheRoomOfTheModelThatWritesIt(t *testing.T) {
	for name, c := range map[string]struct {
		sizes    map[string]int
		from, to int
	}{
		"a mode with a smaller one": {map[string]int{"default": 200_000, "other": 10_000}, 1_000, 10_000},
		"a mode with a bigger one":  {map[string]int{"default": 10_000, "other": 200_000}, 4_500, 200_000},
	} {
		took := 0
		m := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			switch {
			case req.Labels.Kind == "note":
				took = memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}), req).Total + req.MaxOutput
				return answer(`{"done":[],"remaining":[]}`), nil
			case len(req.Messages) == 1 && took == 0:
				return callOf("next", Number{1}), nil
			}
			return answer("done"), nil
		})
		a := newAgent(t, agent.Config{
			Provider: sending{windows(t, m, c.sizes), m}, Modes: []agent.Mode{{Name: "m", Model: "other"}},
			Memory: &agent.Memory{ContextReset: &notes.ContextReset{}},
			Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) {
				return strings.Repeat("word ", 50_000), nil
			})},
		})
		run(t, a)
		require.Greater(t, took, c.from, name)
		require.LessOrEqual(t, took, c.to, name)
	}
}
