package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestWhatAModelIsToldWithACallIsCountedBeforeIt is about requests that just fit: what the last
// call says of itself, and what hooks say, are made room for.
func TestWhatAModelIsToldWithACallIsCountedBeforeIt(t *testing.T) {
	counter := memory.NewEstimator(provider.ModelInfo{})
	for name, warn := range map[string]int{"the last call": 0, "a hook": 400,
		"a hook that says more than there is room for at once": 2_000} {
		t.Run(name, func(t *testing.T) {
			for size := range 20 { // of a page: some fill the window to the last token
				n, most, last := 0, 0, ""
				mem := small(memory.Step{Strategy: memory.Slide{}})
				mem.Rules, mem.Keep = []memory.Rule{}, 1
				mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
					return memory.Context{Screen: "page 42"}, nil
				}
				cfg := agent.Config{Memory: mem, Tools: []tools.Tool{reading(1_600 + 5*size)},
					Limits: agent.Limits{Steps: 4},
					Provider: providertest.Func(
						func(_ context.Context, req *provider.Request) (*provider.Response, error) {
							most = max(most, memory.CountRequest(counter, req).Total)
							if last = req.Messages[len(req.Messages)-1].Text(); n == 4 {
								return answer("so far"), nil
							}
							n++
							return callOf("read", Number{n}), nil
						})}
				if warn > 0 {
					cfg.Hooks = []agent.Hooks{{BeforeStep: func(_ context.Context, s *agent.Step) error {
						if !s.Final {
							return nil
						}
						return agent.Warn(strings.Repeat("mind ", warn) + "the gap")
					}}}
				}
				a := newAgent(t, cfg)
				all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
				require.NoError(t, err)
				require.Equal(t, "so far", of[*agent.RunEnded](all)[0].Result.Text())
				require.LessOrEqual(t, most, 9_000)
				require.Contains(t, last, "You have reached the limit")
				require.Equal(t, warn > 0, strings.HasSuffix(last, "the gap"))
				require.Equal(t, warn, strings.Count(last, "mind "))
				requireSound(t, "s", facts(t, a, "s"))
			}
		})
	}
}
