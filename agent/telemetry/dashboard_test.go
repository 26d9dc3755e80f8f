package telemetry

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// An instrument is one that the package makes.
type instrument struct{ name, unit, kind string }

// exported returns the names of its series, by the rule of the Prometheus exporter
// (UnderscoreEscapingWithSuffixes, its default): what isn't a letter or a digit is an underscore;
// units in braces are dropped, and others are a suffix; counters end in _total, and a gauge of unit
// 1 in _ratio.
func (i instrument) exported() []string {
	name := regexp.MustCompile(`[^a-zA-Z0-9:]+`).ReplaceAllString(i.name, "_")
	units := map[string]string{"s": "seconds", "By": "bytes", "1": ""}
	if unit, known := units[i.unit]; known && unit != "" && !slices.Contains(strings.Split(name, "_"), unit) {
		name += "_" + unit
	} else if !known && !strings.HasPrefix(i.unit, "{") {
		name += "_" + i.unit
	}
	switch i.kind {
	case "counter":
		return []string{strings.TrimSuffix(name, "_total") + "_total"}
	case "histogram":
		return []string{name + "_bucket", name + "_count", name + "_sum"}
	}
	if i.unit == "1" {
		name += "_ratio"
	}
	return []string{name}
}

func TestNamesOfThePrometheusExporter(t *testing.T) {
	for i, want := range map[instrument]string{
		{"pawl.queue.age", "s", "gauge"}:                    "pawl_queue_age_seconds",
		{"pawl.runs", "{run}", "gauge"}:                     "pawl_runs",
		{"pawl.gate.events", "{event}", "counter"}:          "pawl_gate_events_total",
		{"pawl.share", "1", "gauge"}:                        "pawl_share_ratio",
		{"pawl.approval.duration", "s", "histogram"}:        "pawl_approval_duration_seconds_bucket",
		{"pawl.time_to.seconds", "s", "gauge"}:              "pawl_time_to_seconds",
		{"gen_ai.usage.input_tokens", "{token}", "counter"}: "gen_ai_usage_input_tokens_total",
		{"pawl.journal.size.of-all", "By", "counter"}:       "pawl_journal_size_of_all_bytes_total",
	} {
		require.Equal(t, want, i.exported()[0])
	}
}

// A recorder is a meter that records which instruments are made.
type recorder struct {
	noop.Meter
	made []instrument
}

func (r *recorder) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	r.made = append(r.made, instrument{name, metric.NewInt64CounterConfig(o...).Unit(), "counter"})
	return r.Meter.Int64Counter(name, o...)
}

func (r *recorder) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	r.made = append(r.made, instrument{name, metric.NewFloat64HistogramConfig(o...).Unit(), "histogram"})
	return r.Meter.Float64Histogram(name, o...)
}

func (r *recorder) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (
	metric.Int64ObservableGauge, error) {
	r.made = append(r.made, instrument{name, metric.NewInt64ObservableGaugeConfig(o...).Unit(), "gauge"})
	return r.Meter.Int64ObservableGauge(name, o...)
}

func (r *recorder) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (
	metric.Float64ObservableGauge, error) {
	r.made = append(r.made, instrument{name, metric.NewFloat64ObservableGaugeConfig(o...).Unit(), "gauge"})
	return r.Meter.Float64ObservableGauge(name, o...)
}

// instruments returns all that the package makes.
func instruments(t *testing.T) []instrument {
	t.Helper()
	var r recorder
	_, err := newMeters(&r)
	require.NoError(t, err)
	_, err = newGauges(&r)
	require.NoError(t, err)
	return r.made
}

// A dashboard is what the tests read of one of Grafana.
type dashboard struct {
	Title         string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Query string }
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		Datasource               source
		GridPos                  struct{ X, Y, W, H int }
		FieldConfig              struct{ Defaults struct{ Unit string } }
		Targets                  []struct {
			RefID, Expr, LegendFormat string
			Datasource                source
		}
	}
}

type source struct{ Type, UID string }

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	data, err := os.ReadFile("grafana.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &d))
	return d
}

func TestTheDashboardIsOneOfGrafana(t *testing.T) {
	d := readDashboard(t)
	require.Equal(t, "Pawl", d.Title)
	require.GreaterOrEqual(t, d.SchemaVersion, 39)
	require.Len(t, d.Templating.List, 1)
	require.Equal(t, "prometheus", d.Templating.List[0].Query)
	own := source{"prometheus", "${" + d.Templating.List[0].Name + "}"}
	ids, taken := map[int]bool{}, map[[2]int]int{}
	for _, p := range d.Panels {
		require.False(t, ids[p.ID], "two panels have the id %d", p.ID)
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.Zero(t, taken[at], "panel %q lies on another", p.Title)
				taken[at] = p.ID
			}
		}
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		if p.Type == "row" {
			continue
		}
		require.Equal(t, own, p.Datasource, p.Title)
		require.NotEmpty(t, p.Description, p.Title)
		require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for i, target := range p.Targets {
			require.Equal(t, string(rune('A'+i)), target.RefID, p.Title)
			require.Equal(t, own, target.Datasource, p.Title)
			require.NotEmpty(t, target.LegendFormat, p.Title)
		}
	}
}

var (
	selectors  = regexp.MustCompile(`\{[^{}]*\}`)
	groups     = regexp.MustCompile(`\bby \(([^()]*)\)`)
	durations  = regexp.MustCompile(`\[[^\]]*\]`)
	words      = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelNames = regexp.MustCompile(`([a-z_]+) *(?:=~|!~|!=|=)`)
	legends    = regexp.MustCompile(`\{\{(\w+)\}\}`)
	functions  = []string{"sum", "max", "min", "by", "rate", "increase", "histogram_quantile"}
)

// namesForPrometheus returns the instrument of each series, and the labels that series may have.
func namesForPrometheus(t *testing.T) (series map[string]string, labels map[string]bool) {
	t.Helper()
	series, labels = map[string]string{}, map[string]bool{"le": true}
	for _, i := range instruments(t) {
		for _, name := range i.exported() {
			require.Empty(t, series[name], "%s and %s are the same for Prometheus", series[name], i.name)
			series[name] = i.name
		}
	}
	for _, attr := range []string{attrOperation, attrProvider, attrRequestModel, attrError, attrModality, attrAgent,
		attrStatus, attrTool, attrOutcome, attrName, attrKind, attrScope, attrFrom, attrTo, attrDecision, attrState,
		attrLane} {
		labels[strings.ReplaceAll(attr, ".", "_")] = true
	}
	return series, labels
}

// TestThePageHasTheGauges: each has a line, and the alerts use names that there are.
func TestThePageHasTheGauges(t *testing.T) {
	page, err := os.ReadFile("../../docs/telemetry.md")
	require.NoError(t, err)
	series, labels := namesForPrometheus(t)
	for _, word := range regexp.MustCompile(`\bpawl_\w+`).FindAllString(string(page), -1) {
		require.True(t, series[word] != "" || labels[word], "the page has %q", word)
	}
	for _, i := range instruments(t) {
		if i.kind == "gauge" {
			require.Contains(t, string(page), "\n| `"+i.name+"` "+i.unit+" | ")
		}
	}
}

// TestTheDashboardUsesTheMetricsOfThePackage: a metric that is renamed leaves no empty panel, and a
// new one has a panel.
func TestTheDashboardUsesTheMetricsOfThePackage(t *testing.T) {
	series, labels := namesForPrometheus(t)
	used := map[string]bool{}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			expr := target.Expr
			require.Equal(t, strings.Count(expr, "("), strings.Count(expr, ")"), expr)
			grouped := map[string]bool{}
			for _, group := range groups.FindAllStringSubmatch(expr, -1) {
				for _, label := range strings.Split(group[1], ", ") {
					require.True(t, labels[label], "%s: no metric has the label %q", expr, label)
					grouped[label] = true
				}
			}
			for _, selector := range selectors.FindAllString(expr, -1) {
				for _, label := range labelNames.FindAllStringSubmatch(selector, -1) {
					require.True(t, labels[label[1]], "%s: no metric has the label %q", expr, label[1])
				}
			}
			for _, label := range legends.FindAllStringSubmatch(target.LegendFormat, -1) {
				require.True(t, grouped[label[1]], "%s: the legend has %q, which isn't left", expr, label[1])
			}
			expr = durations.ReplaceAllString(groups.ReplaceAllString(selectors.ReplaceAllString(expr, ""), ""), "")
			for _, word := range words.FindAllString(expr, -1) {
				if !slices.Contains(functions, word) {
					require.Contains(t, series, word, target.Expr)
					used[series[word]] = true
				}
			}
		}
	}
	for _, i := range instruments(t) {
		require.True(t, used[i.name], "no panel shows %s", i.name)
	}
}
