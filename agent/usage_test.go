package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// newForecaster is the project under test of a downstream test.
func newForecaster(t *testing.T, model provider.Provider) *agent.Agent {
	weather := tools.New(tools.Spec{Name: "weather"}, func(ctx context.Context, in City) (Weather, error) {
		return Weather{Celsius: 3}, nil
	})
	return newAgent(t, agent.Config{Provider: model, Tools: []tools.Tool{weather}})
}

func TestForecastSurvivesARateLimit(t *testing.T) {
	model := providertest.Script(
		providertest.Fail(fault.RateLimited, providertest.RetryAfter(0)),
		providertest.Call("weather", map[string]any{"city": "Oslo"}),
		providertest.Say("Cold."),
	)
	a := newForecaster(t, model)

	res, err := a.Run(t.Context(), agent.Input{Prompt: "Oslo?"})

	require.NoError(t, err)
	require.Equal(t, "Cold.", res.Text())
	require.Equal(t, []string{"weather"}, res.ToolNames())
	model.AssertDone(t)
	model.AssertTools(t, 0, "weather")
	model.AssertSaw(t, 2, providertest.ToolResult("weather"))
}

// Echo is a provider of one's own: one method.
type Echo struct{}

func (Echo) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Start("echo-1"), nil) {
			return
		}
		for word := range strings.FieldsSeq(req.LastUserText()) {
			if !yield(provider.Text(word+" "), nil) {
				return
			}
		}
		yield(provider.End(provider.StopDone, provider.Usage{Input: 3, Output: 3}), nil)
	}
}

// A provider of one's own is one method.
func Example_provider() {
	a, err := agent.New(agent.Config{Provider: Echo{}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "hello there"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text(), res.Usage.Total())
	// Output:
	// hello there  6
}

func TestUsageAndCostAddUp(t *testing.T) {
	var done effects
	model := providertest.Script(
		providertest.WithUsage(provider.Usage{Input: 10, Output: 5, CacheRead: 4}, call("work", 1)),
		providertest.WithUsage(provider.Usage{Input: 20, Output: 1, Reasoning: 1}, say("Done.")))
	a := newAgent(t, agent.Config{Provider: model.WithInfo(dear), Limits: agent.Limits{Cost: -1},
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
	res := run(t, a)
	require.Equal(t, provider.Usage{Input: 30, Output: 6, CacheRead: 4, Reasoning: 1}, res.Usage)
	require.Equal(t, 32*provider.USD, res.Cost, "cached tokens are free here")
	require.False(t, res.Unpriced)
	res = run(t, newAgent(t, agent.Config{Provider: unpriced{providertest.Script(say("Hi."))}}))
	require.Zero(t, res.Cost)
	require.True(t, res.Unpriced)
}

func TestARequestSaysOnWhoseAccountItIs(t *testing.T) {
	a, model := scripted(t, agent.Config{Name: "cms", Params: agent.Params{Model: "large", MaxOutput: 100}}, say("Hi."))
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", Interactive: true, Priority: 80, Task: "reindex"})
	req := model.Requests()[0]
	require.Equal(t, provider.Labels{Session: "s", Run: res.Run, Step: 1, Task: "reindex", Agent: "cms", Kind: "step",
		Trace: res.Trace}, req.Labels)
	require.True(t, req.Interactive)
	require.Equal(t, 80, req.Priority)
	require.Equal(t, 100, req.MaxOutput)
	require.Equal(t, "large", req.Model)
	require.Len(t, res.Trace, 32)
}

func TestWaitingIsVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := scripted(t, agent.Config{},
			providertest.Fail(fault.RateLimited, providertest.RetryAfter(7*time.Second)), say("Hi."))
		began := time.Now()
		for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			require.NoError(t, err)
			if w, ok := ev.(*agent.Waiting); ok {
				require.Equal(t, provider.WaitRateLimited, w.Reason)
				require.Equal(t, 7*time.Second, w.Until.Sub(began))
				require.Equal(t, 1, w.Step)
			}
		}
		require.Equal(t, 7*time.Second, time.Since(began))
	})
}

func TestRequestsOnlyGrow(t *testing.T) {
	var done effects
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", ParallelSafe: true})}},
		calls("work", 1, 2), call("work", 3), say("Done."), say("Again."))
	run(t, a)
	run(t, a)
	reqs := model.Requests()
	for i := 1; i < len(reqs); i++ {
		require.Equal(t, reqs[i-1].Messages, reqs[i].Messages[:len(reqs[i-1].Messages)], "a prompt cache hits")
		require.Equal(t, reqs[i-1].Tools, reqs[i].Tools)
	}
}

func TestABareProviderIsCalledOnce(t *testing.T) {
	cause := errors.New("down")
	a, model := scripted(t, agent.Config{NoGuard: true}, providertest.Fail(fault.Degraded, providertest.Cause(cause)),
		say("Hi."))
	_, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.ErrorIs(t, err, cause)
	model.AssertCalls(t, 1)
}
