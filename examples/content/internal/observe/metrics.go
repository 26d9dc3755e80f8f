package observe

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
)

// metrics are what /metrics shows. Names of users and ids of artifacts are no labels.
type metrics struct {
	registry  *prometheus.Registry
	tools     *prometheus.HistogramVec // by tool; calls and their latency
	errors    *prometheus.CounterVec   // by category
	requests  *prometheus.HistogramVec // by intent
	started   prometheus.Counter
	ended     *prometheus.CounterVec // by state
	pipelines prometheus.Histogram
	rollbacks *prometheus.CounterVec // by tool
	recovered *prometheus.CounterVec // by outcome
	tokens    *prometheus.CounterVec // by kind of call
	calls     *prometheus.CounterVec // of providers, by provider and outcome
	alerts    *prometheus.GaugeVec   // by rule
}

// seconds are the limits of the buckets of latencies.
var seconds = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "content", Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "content", Name: name, Help: help,
			Buckets: seconds}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		tools: histogram("tool_seconds", "Duration of tool calls, by tool and status (ok or error).", "tool",
			"status"),
		errors:   counter("errors_total", "Requests that ended with an error, by category.", "category"),
		requests: histogram("request_seconds", "Duration of requests, by intent.", "intent"),
		started: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "content", Name: "pipelines_started_total",
			Help: "Pipelines that were started."}),
		ended: counter("pipelines_ended_total",
			"Ends of pipelines, by state (completed or failed). One that is tried again ends again.", "state"),
		pipelines: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "content", Name: "pipeline_seconds",
			Help: "Duration of completed pipelines.", Buckets: seconds}),
		rollbacks: counter("rollbacks_total", "Tools of pipelines that were rolled back, by tool.", "tool"),
		recovered: counter("recoveries_total",
			"Failed pipelines that were tried again, by outcome (completed or failed).", "outcome"),
		tokens: counter("tokens_total", "Tokens of calls of the model, by what the call was for.", "kind"),
		calls: counter("provider_calls_total", "Calls of providers of models, by provider and outcome.", "provider",
			"outcome"),
		alerts: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "content", Name: "alert",
			Help: "1 while an alert is on, by rule."}, []string{"rule"}),
	}
	m.registry.MustRegister(m.tools, m.errors, m.requests, m.started, m.ended, m.pipelines, m.rollbacks, m.recovered,
		m.tokens, m.calls, m.alerts)
	return m
}

// Metrics returns the handler of /metrics: the text format of Prometheus.
func (o *Observer) Metrics() http.Handler {
	return promhttp.HandlerFor(o.metrics.registry, promhttp.HandlerOpts{})
}

func (m *metrics) tool(c toolCall) {
	status := "ok"
	if c.category != "" {
		status = "error"
	}
	m.tools.WithLabelValues(c.tool, status).Observe(c.took.Seconds())
}

func (m *metrics) request(ev assistant.Event) {
	m.requests.WithLabelValues(ev.Intent).Observe(ev.Took.Seconds())
	if ev.Category != "" {
		m.errors.WithLabelValues(string(ev.Category)).Inc()
	}
}

// pipeline counts the end of a pipeline; again says that it was tried again.
func (m *metrics) pipeline(ev assistant.Event, again bool) {
	state := "completed"
	if ev.Kind == assistant.PipelineFailed {
		state = "failed"
	} else if ev.Took > 0 {
		m.pipelines.Observe(ev.Took.Seconds())
	}
	if rolledBack(ev) {
		m.rollbacks.WithLabelValues(ev.Pipeline.Failed).Inc()
	}
	m.ended.WithLabelValues(state).Inc()
	if again {
		m.recovered.WithLabelValues(state).Inc()
	}
}
