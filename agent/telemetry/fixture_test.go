package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A rig records what a Telemetry makes.
type rig struct {
	t       *testing.T
	spans   *tracetest.SpanRecorder
	traces  *sdktrace.TracerProvider
	metrics *sdkmetric.ManualReader
	tel     *telemetry.Telemetry
}

func newRig(t *testing.T, cfg telemetry.Config) *rig {
	t.Helper()
	r := &rig{t: t, spans: tracetest.NewSpanRecorder(), metrics: sdkmetric.NewManualReader()}
	r.traces = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans),
		sdktrace.WithIDGenerator(telemetry.IDs{}))
	cfg.Traces, cfg.Metrics = r.traces, sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.metrics))
	var err error
	r.tel, err = telemetry.New(cfg)
	require.NoError(t, err)
	return r
}

// ended returns the spans, all of which must have ended once.
func (r *rig) ended() []sdktrace.ReadOnlySpan {
	r.t.Helper()
	spans := r.spans.Ended()
	require.Len(r.t, r.spans.Started(), len(spans), "a span is open")
	return spans
}

type page struct {
	ID string `json:"id"`
}

func call(tool, id string) providertest.Step { return providertest.Call(tool, page{id}) }

var errGone = fault.New(fault.NotFound, "no page of that secret name")

// theAgent has a tool that works, one that fails, one that asks, and a subagent.
func theAgent(t *testing.T, tel *telemetry.Telemetry, store journal.Store, steps ...providertest.Step) *agent.Agent {
	t.Helper()
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true, NoRetries: true},
		func(_ context.Context, in page) (string, error) {
			if in.ID == "gone" {
				return "", errGone
			}
			return "the secret of " + in.ID, nil
		})
	helper, err := agent.New(agent.Config{Name: "helper", Hooks: []agent.Hooks{tel.Hooks()}, Tools: []tools.Tool{read},
		Provider: providertest.Script(call("read", "sub"), providertest.Say("Helped."))})
	require.NoError(t, err)
	a, err := agent.New(agent.Config{
		Name: "cms", Hooks: []agent.Hooks{tel.Hooks()}, Journal: tel.Store(store),
		Provider: tel.Provider(providertest.Script(steps...)), Params: agent.Params{Model: "m-1"},
		Tools: []tools.Tool{read, tools.New(tools.Spec{Name: "delete", Risk: tools.High},
			func(context.Context, page) (string, error) { return "deleted", nil }),
			agent.AsTool(helper, tools.Spec{Name: "ask"})},
	})
	require.NoError(t, err)
	return a
}

var ids = regexp.MustCompile(`r-[0-9a-f]{32}|\b[0-9a-f]{32}\b`)

// tree returns spans as text: each below its parent, in the order in which they began, with what
// doesn't differ from run to run.
func (r *rig) tree(spans []sdktrace.ReadOnlySpan) string {
	names := map[string]string{}
	named := func(text string) string {
		return ids.ReplaceAllStringFunc(text, func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprintf("id-%d", len(names)+1)
			}
			return names[id]
		})
	}
	slices.SortStableFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	var b strings.Builder
	var below func(parent trace.SpanID, indent string)
	below = func(parent trace.SpanID, indent string) {
		children := slices.DeleteFunc(slices.Clone(spans), func(s sdktrace.ReadOnlySpan) bool {
			return s.Parent().SpanID() != parent
		})
		slices.SortStableFunc(children, func(a, b sdktrace.ReadOnlySpan) int {
			// calls of one reply may begin in any order
			step, call := attr(a, "pawl.step"), attr(a, "gen_ai.tool.call.id")
			if other := attr(b, "gen_ai.tool.call.id"); call != "" && other != "" && step == attr(b, "pawl.step") {
				return strings.Compare(call, other)
			}
			return a.StartTime().Compare(b.StartTime())
		})
		for _, s := range children {
			fmt.Fprintf(&b, "%s%s (%s)", indent, s.Name(), s.SpanKind())
			if s.Status().Code == codes.Error {
				fmt.Fprintf(&b, " ERROR %s", s.Status().Description)
			}
			b.WriteString("\n")
			values := map[string]string{}
			for _, kv := range s.Attributes() {
				values[string(kv.Key)] = named(kv.Value.String())
			}
			for _, key := range slices.Sorted(maps.Keys(values)) {
				fmt.Fprintf(&b, "%s  %s = %s\n", indent, key, values[key])
			}
			for _, l := range s.Links() {
				fmt.Fprintf(&b, "%s  link to %s\n", indent, named(l.SpanContext.TraceID().String()))
			}
			below(s.SpanContext().SpanID(), indent+"    ")
		}
	}
	below(trace.SpanID{}, "")
	return b.String()
}

// attr returns an attribute of a span as text, or "".
func attr(s sdktrace.ReadOnlySpan, key string) string {
	for _, kv := range s.Attributes() {
		if string(kv.Key) == key {
			return kv.Value.String()
		}
	}
	return ""
}

// sum returns the sum of a counter, or the count of a histogram, over the series with these
// attributes.
func (r *rig) sum(name string, attrs ...attribute.KeyValue) (n float64) {
	r.t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(r.t, r.metrics.Collect(context.Background(), &data))
	has := func(set attribute.Set) bool {
		for _, a := range attrs {
			if v, ok := set.Value(a.Key); !ok || v != a.Value {
				return false
			}
		}
		return true
	}
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			if m.Name != name {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					if has(p.Attributes) {
						n += float64(p.Value)
					}
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					if has(p.Attributes) {
						n += float64(p.Count)
					}
				}
			}
		}
	}
	return n
}

// run runs an input to its end or pause.
func run(t *testing.T, a *agent.Agent, in agent.Work) *agent.Result {
	t.Helper()
	res, err := a.Run(t.Context(), in)
	var paused *agent.PausedError
	if err != nil && !errors.As(err, &paused) {
		require.NoError(t, err)
	}
	return res
}

// total returns the sum of what a histogram has recorded.
func (r *rig) total(name string) (sum float64) {
	r.t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(r.t, r.metrics.Collect(context.Background(), &data))
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == name {
				for _, p := range h.DataPoints {
					sum += p.Sum
				}
			}
		}
	}
	return sum
}
