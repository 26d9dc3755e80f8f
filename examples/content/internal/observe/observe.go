package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/pawlkit/pawl/agent/screen"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A Config configures an [Observer].
type Config struct {
	Salt   string       // of the hashes of user ids
	Logger *slog.Logger // gets the alerts; nil: nothing is logged
}

// An Observer counts what happens, and knows which alerts are on. It is safe for concurrent use.
type Observer struct {
	*telemetry.Telemetry // its Hooks are for the agent, and its Provider is around the models
	cfg                  Config
	reader               *sdk.ManualReader
	events               metric.Int64UpDownCounter
	took                 metric.Float64Histogram // s

	mu     sync.Mutex
	ended  []ended           // in the last ten minutes, the oldest first
	alerts map[string]*Alert // those that are on, by rule
	past   []Alert           // those that are over, newest first
	known  map[string]known  // the spans of sessions
}

// New returns an observer.
func New(cfg Config) (*Observer, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	o := &Observer{cfg: cfg, reader: sdk.NewManualReader(), alerts: map[string]*Alert{}}
	meters := sdk.NewMeterProvider(sdk.WithReader(o.reader))
	meter := meters.Meter("content")
	var errs [3]error
	o.Telemetry, errs[0] = telemetry.New(telemetry.Config{Metrics: meters})
	o.events, errs[1] = meter.Int64UpDownCounter("content.events")
	o.took, errs[2] = meter.Float64Histogram("content.seconds", metric.WithExplicitBucketBoundaries(.01, .05, .1, .25,
		.5, 1, 2.5, 5, 10, 30, 60, 120))
	return o, errors.Join(errs[:]...)
}

// Event counts what the assistant reports; see assistant.Config.
func (o *Observer) Event(ev assistant.Event) {
	if ev.Category != "" && ev.Pipeline.Name == "" {
		o.count("error", string(ev.Category), 1)
	}
	switch ev.Kind {
	case assistant.RequestEnded:
		o.took.Record(context.Background(), ev.Took.Seconds(), attributes("request", ev.Intent))
		o.rate("requests", faults[ev.Category])
	case assistant.PipelineBegan, assistant.PipelineRetried:
		o.count(string(ev.Kind), "", 1)
	case assistant.PipelineEnded:
		o.took.Record(context.Background(), ev.Took.Seconds(), attributes("pipeline", ev.Pipeline.State))
		// what the status forbids has done nothing
		rolledBack := ev.Pipeline.State == assistant.PipelineFailed && ev.Category != portfolio.InvalidStatus
		if rolledBack {
			o.count("rollback", ev.Pipeline.Failed, 1)
		}
		o.rate("pipelines", rolledBack)
	}
}

// faults are the categories of errors that aren't the user's.
var faults = map[portfolio.Category]bool{
	portfolio.ToolExecutionFailed: true, portfolio.ToolTimeout: true, portfolio.AIProviderError: true,
	portfolio.AIRateLimit: true,
}

// Calls returns the ledger of the providers of models. It counts each attempt.
func (o *Observer) Calls() *budget.Ledger {
	return budget.NewLedger(budget.LedgerConfig{Keep: -1, Sink: o.modelCall})
}

func (o *Observer) modelCall(e budget.Entry) {
	o.count("tokens", e.Kind, e.Tokens())
	o.count("provider call "+e.Outcome, e.Provider, 1)
	if e.Outcome == budget.CallDone || e.Outcome == budget.CallFailed { // else it was given up by its caller
		o.rate("calls of "+e.Provider, e.Outcome == budget.CallFailed)
	}
}

// Handler returns the handler of a log in JSON, without ids of users, e-mail addresses and
// telephone numbers.
func Handler(w io.Writer, level slog.Leveler, salt string) slog.Handler {
	clean := func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			if a.Key == "user" || a.Key == "owner" {
				return slog.String(a.Key, portfolio.Hash(v, salt))
			}
			v, _ = screen.Mask(v)
			return slog.String(a.Key, v)
		case error:
			text, _ := screen.Mask(v.Error())
			return slog.String(a.Key, text)
		}
		return a
	}
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: clean})
}

// hash returns the id of a user as it may be shown.
func (o *Observer) hash(user string) string { return portfolio.Hash(user, o.cfg.Salt) }

// count counts events that package telemetry doesn't know, such as errors by category. Names of
// users and ids of artifacts are no attributes.
func (o *Observer) count(event, what string, n int64) {
	o.events.Add(context.Background(), n, attributes(event, what))
}

func attributes(event, what string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("event", event), attribute.String("what", what))
}

// Metrics returns the handler of /metrics: the text format of Prometheus, version 0.0.4.
func (o *Observer) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all metricdata.ResourceMetrics
		if err := o.reader.Collect(r.Context(), &all); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				write(w, strings.ReplaceAll(m.Name, ".", "_"), m.Data)
			}
		}
	})
}

// write writes a metric: a sum as a gauge, or a histogram.
func write(w io.Writer, name string, data metricdata.Aggregation) {
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		fmt.Fprintf(w, "# TYPE %s gauge\n", name)
		for _, p := range data.DataPoints {
			fmt.Fprintf(w, "%s{%s} %d\n", name, labels(p.Attributes), p.Value)
		}
	case metricdata.Histogram[float64]:
		histogram(w, name, data.DataPoints)
	case metricdata.Histogram[int64]:
		histogram(w, name, data.DataPoints)
	}
}

func histogram[N int64 | float64](w io.Writer, name string, points []metricdata.HistogramDataPoint[N]) {
	fmt.Fprintf(w, "# TYPE %s histogram\n", name)
	for _, p := range points {
		of, below := labels(p.Attributes), uint64(0)
		for i, limit := range p.Bounds {
			below += p.BucketCounts[i]
			fmt.Fprintf(w, "%s_bucket{%s,le=\"%v\"} %d\n", name, of, limit, below)
		}
		fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%[1]s_sum{%[2]s} %[4]v\n%[1]s_count{%[2]s} %[3]d\n", name, of,
			p.Count, p.Sum)
	}
}

// labels returns attributes as labels. All metrics have some.
func labels(set attribute.Set) string {
	var list []string
	for _, a := range set.ToSlice() {
		list = append(list, fmt.Sprintf("%s=%q", strings.ReplaceAll(string(a.Key), ".", "_"), a.Value.String()))
	}
	return strings.Join(list, ",")
}
