package telemetry

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
)

// A Content says how much of prompts, replies, inputs and results spans contain.
type Content int

// How much spans contain.
const (
	NoContent Content = iota // nothing of it
	Redacted                 // all of it, after Config.Redact
	Full                     // all of it
)

// Config configures a [Telemetry]. The zero Config uses the global providers of OpenTelemetry, and
// records no content.
type Config struct {
	Traces  trace.TracerProvider // nil: otel.GetTracerProvider()
	Metrics metric.MeterProvider // nil: otel.GetMeterProvider()

	// Provider names the provider and the default model in spans and metrics, by its
	// [provider.Info]. nil: the first one that [Telemetry.Provider] is given, so a program sets it
	// only if it doesn't call that, such as one that exports a journal. A provider that doesn't
	// know is "unknown".
	Provider provider.Provider

	// Content says whether spans contain prompts, replies, inputs and results. Each is cut at 16
	// KiB.
	Content Content
	// Redact is applied to each text if Content is Redacted, which needs it.
	Redact func(string) string

	// Logger gets a line for each step and each call, with the ids of the trace and the span if
	// there is one; nil: nothing is logged.
	Logger *slog.Logger
}

// A Telemetry makes spans, metrics and log lines of what agents do. It is safe for concurrent use.
// The methods of a nil Telemetry do nothing, so that a program can switch telemetry off without
// another change: Hooks is empty, and Provider and Store return what they are given.
type Telemetry struct {
	cfg    Config
	tracer trace.Tracer
	meter  metric.Meter
	meters *meters
	gauges *gauges
	info   atomic.Pointer[provider.ModelInfo] // nil until a provider is known
}

// New returns a Telemetry. The error is a *[agent.ArgError].
func New(cfg Config) (*Telemetry, error) {
	switch {
	case cfg.Content < NoContent || cfg.Content > Full:
		return nil, &agent.ArgError{Func: "telemetry.New", Field: "Config.Content",
			Problem: "it should be NoContent, Redacted or Full"}
	case cfg.Content == Redacted && cfg.Redact == nil:
		return nil, &agent.ArgError{Func: "telemetry.New", Field: "Config.Redact",
			Problem: "it is nil, and Content is Redacted; set it to the function of agent.Config.Redact, for example"}
	}
	if cfg.Traces == nil {
		cfg.Traces = otel.GetTracerProvider()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = otel.GetMeterProvider()
	}
	t := &Telemetry{cfg: cfg, tracer: cfg.Traces.Tracer(scope, trace.WithInstrumentationVersion(Conventions)),
		meter: cfg.Metrics.Meter(scope, metric.WithInstrumentationVersion(Conventions))}
	var err, gaugesErr error
	t.meters, err = newMeters(t.meter)
	t.gauges, gaugesErr = newGauges(t.meter)
	if err := errors.Join(err, gaugesErr); err != nil {
		return nil, &agent.ArgError{Func: "telemetry.New", Field: "Config.Metrics", Problem: err.Error(), Err: err}
	}
	t.learn(cfg.Provider)
	return t, nil
}

// learn keeps what the first provider says of itself.
func (t *Telemetry) learn(p provider.Provider) {
	if p != nil && t.info.Load() == nil {
		info, _ := provider.Info(p)
		t.info.CompareAndSwap(nil, &info)
	}
}

// modelInfo returns what the provider says of itself; zero if there is none yet.
func (t *Telemetry) modelInfo() provider.ModelInfo {
	if info := t.info.Load(); info != nil {
		return *info
	}
	return provider.ModelInfo{}
}

// providerName returns the provider's name in the conventions.
func (t *Telemetry) providerName() string {
	switch name := t.modelInfo().Provider; {
	case name == "":
		return "unknown"
	case providerNames[name] != "":
		return providerNames[name]
	default:
		return name
	}
}

// model returns the model of a request: the one that it names, or the default.
func (t *Telemetry) model(requested string) string {
	if requested != "" {
		return requested
	}
	return t.modelInfo().ID
}
