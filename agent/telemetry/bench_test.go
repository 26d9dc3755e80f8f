package telemetry_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// steps is a model that calls a tool n times, with chunks pieces of text before each call.
type steps struct{ n, chunks int }

type nothing struct {
	N int `json:"n"`
}

func (s steps) Stream(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		list := []provider.Chunk{provider.Start("m")}
		for range s.chunks {
			list = append(list, provider.Text("word "))
		}
		stop := provider.StopDone
		if len(req.Messages) < 2*s.n {
			stop = provider.StopToolCalls
			list = append(list, provider.ToolStart(0, "c", "nothing"),
				provider.ToolDelta(0, fmt.Sprintf(`{"n":%d}`, len(req.Messages))), provider.ToolEnd(0))
		}
		for _, c := range append(list, provider.End(stop, provider.Usage{Input: 10, Output: 5})) {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func stepper(tb testing.TB, tel *telemetry.Telemetry, hooks []agent.Hooks, s steps) *agent.Agent {
	tb.Helper()
	a, err := agent.New(agent.Config{
		Provider: tel.Provider(s), Hooks: hooks, Limits: agent.Limits{Steps: s.n + 1},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "nothing", Inline: true, ReadOnly: true},
			func(context.Context, nothing) (string, error) { return "", nil })},
	})
	require.NoError(tb, err)
	return a
}

func sampling(tb testing.TB) *telemetry.Telemetry {
	tb.Helper()
	tel, err := telemetry.New(telemetry.Config{
		Traces:  sdktrace.NewTracerProvider(),
		Metrics: sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
	})
	require.NoError(tb, err)
	return tel
}

// BenchmarkSteps runs 50 steps with a call each, without telemetry, with hooks that only observe,
// and with telemetry over the SDK.
func BenchmarkSteps(b *testing.B) {
	tel := sampling(b)
	idle := agent.Hooks{Name: "idle", AfterStep: func(context.Context, *agent.Step, *provider.Response) error {
		return nil
	}}
	for _, c := range []struct {
		name  string
		tel   *telemetry.Telemetry
		hooks []agent.Hooks
	}{{"off", nil, nil}, {"a hook", nil, []agent.Hooks{idle}}, {"on", tel, []agent.Hooks{tel.Hooks()}}} {
		b.Run(c.name, func(b *testing.B) {
			a := stepper(b, c.tel, c.hooks, steps{n: 50, chunks: 10})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Run(b.Context(), agent.Input{Prompt: "Go."}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Telemetry that is off costs nothing, and telemetry that is on costs nothing for a chunk.
func TestWhatTelemetryAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	allocs := func(tel *telemetry.Telemetry, hooks []agent.Hooks, s steps) int {
		a := stepper(t, tel, hooks, s)
		return int(testing.AllocsPerRun(50, func() {
			if _, err := a.Run(t.Context(), agent.Input{Prompt: "Go."}); err != nil {
				t.Fatal(err)
			}
		}))
	}
	s := steps{n: 5, chunks: 10}
	none := allocs(nil, nil, s)
	require.InDelta(t, none, allocs(nil, []agent.Hooks{(*telemetry.Telemetry)(nil).Hooks()}, s), 2)
	tel := sampling(t)
	hooks := []agent.Hooks{tel.Hooks()}
	few, many := allocs(tel, hooks, s)-none,
		allocs(tel, hooks, steps{n: 5, chunks: 500})-allocs(nil, nil, steps{n: 5, chunks: 500})
	require.InDelta(t, few, many, 5, "490 more chunks in each of 5 steps")
}
