package observe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// count counts events that package telemetry doesn't know, such as errors by category. Names of
// users and ids of artifacts are no attributes.
func (o *Observer) count(event, what string, n int64) {
	o.events.Add(context.Background(), n, attributes(event, what))
}

// record keeps how long a request or a pipeline took.
func (o *Observer) record(event, what string, took time.Duration) {
	o.took.Record(context.Background(), took.Seconds(), attributes(event, what))
}

func attributes(event, what string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("event", event), attribute.String("what", what))
}

// Metrics returns the handler of /metrics: the text format of Prometheus, version 0.0.4.
func (o *Observer) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all metricdata.ResourceMetrics
		if err := o.reader.Collect(r.Context(), &all); err != nil {
			o.cfg.Logger.ErrorContext(r.Context(), "metrics can't be read", "component", "observe", "error", err)
			http.Error(w, "The metrics can't be read; the log says why.", http.StatusInternalServerError)
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
