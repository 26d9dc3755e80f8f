package otlp

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A receiver is a collector that keeps what it is sent.
type receiver struct {
	collector.UnimplementedTraceServiceServer

	mu      sync.Mutex
	spans   []*tracepb.Span
	metrics map[string]bool
}

func (r *receiver) Export(_ context.Context,
	req *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// meter is the receiver of metrics.
type meter struct {
	collectormetrics.UnimplementedMetricsServiceServer
	*receiver
}

func (m meter) Export(_ context.Context,
	req *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, resource := range req.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, metric := range scope.GetMetrics() {
				m.metrics[metric.GetName()] = true
			}
		}
	}
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}

// grpcServer starts a receiver over gRPC, and returns its address.
func grpcServer(t *testing.T, r *receiver) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	collector.RegisterTraceServiceServer(s, r)
	collectormetrics.RegisterMetricsServiceServer(s, meter{receiver: r})
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// httpServer starts a receiver over HTTP, and returns its address.
func httpServer(t *testing.T, r *receiver) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var in collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &in) != nil || req.URL.Path != "/v1/traces" {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		_, _ = r.Export(req.Context(), &in)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

type page struct {
	ID string `json:"id"`
}

func TestACollectorGetsTheSpansOfARun(t *testing.T) {
	for name, exporter := range map[string]func(t *testing.T, r *receiver) (sdktrace.SpanExporter, error){
		"gRPC": func(t *testing.T, r *receiver) (sdktrace.SpanExporter, error) {
			return otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpoint(grpcServer(t, r)),
				otlptracegrpc.WithInsecure())
		},
		"HTTP": func(t *testing.T, r *receiver) (sdktrace.SpanExporter, error) {
			return otlptracehttp.New(t.Context(), otlptracehttp.WithEndpoint(httpServer(t, r)),
				otlptracehttp.WithInsecure())
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &receiver{metrics: make(map[string]bool)}
			out, err := exporter(t, r)
			require.NoError(t, err)
			measures, err := otlpmetricgrpc.New(t.Context(), otlpmetricgrpc.WithEndpoint(grpcServer(t, r)),
				otlpmetricgrpc.WithInsecure())
			require.NoError(t, err)
			traces := sdktrace.NewTracerProvider(sdktrace.WithBatcher(out), sdktrace.WithIDGenerator(telemetry.IDs{}))
			metrics := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(measures)))
			tel, err := telemetry.New(telemetry.Config{Traces: traces, Metrics: metrics})
			require.NoError(t, err)
			a, err := agent.New(agent.Config{
				Name: "cms", Hooks: []agent.Hooks{tel.Hooks()}, Params: agent.Params{Model: "m-1"},
				Journal: tel.Store(&journal.MapStore{}),
				Provider: tel.Provider(providertest.Script(providertest.Call("delete", page{"home"}),
					providertest.Say("Done."))),
				Tools: []tools.Tool{tools.New(tools.Spec{Name: "delete", Risk: tools.High},
					func(context.Context, page) (string, error) { return "deleted", nil })},
			})
			require.NoError(t, err)
			res, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "Go."})
			require.ErrorAs(t, err, new(*agent.PausedError))
			_, err = a.Run(t.Context(), agent.Resume("s-1", agent.Approve(res.Pending[0].ID)))
			require.NoError(t, err)
			require.NoError(t, traces.Shutdown(t.Context()))
			require.NoError(t, metrics.Shutdown(t.Context()))

			r.mu.Lock()
			defer r.mu.Unlock()
			ids, names := map[string]string{}, map[string]int{}
			for _, s := range r.spans {
				ids[string(s.GetSpanId())] = s.GetName()
				names[s.GetName()]++
				require.Equal(t, r.spans[0].GetTraceId(), s.GetTraceId(), "a run that has paused is one trace")
			}
			require.Equal(t, map[string]int{"invoke_agent cms": 2, "chat m-1": 2, "execute_tool delete": 1}, names)
			for _, s := range r.spans {
				if s.GetName() != "invoke_agent cms" {
					require.Equal(t, "invoke_agent cms", ids[string(s.GetParentSpanId())])
				} else if len(s.GetLinks()) > 0 {
					require.Equal(t, "invoke_agent cms", ids[string(s.GetLinks()[0].GetSpanId())])
				}
			}
			for _, name := range []string{"gen_ai.client.inference.duration", "gen_ai.client.inference.usage.input_tokens",
				"gen_ai.execute_tool.duration", "pawl.approval.duration"} {
				require.True(t, r.metrics[name], name)
			}
		})
	}
}
