package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// meters are the instruments.
type meters struct {
	duration, firstChunk, agent, tool, append, approval metric.Float64Histogram
	input, output, cacheRead, cacheWrite, reasoning     metric.Int64Counter
	gate, budget, breaker, compactions                  metric.Int64Counter
}

// The attributes of the conventions' instruments.
var (
	attrsChat   = [4]string{attrOperation, attrProvider, attrRequestModel, attrError}
	attrsTokens = [4]string{attrOperation, attrProvider, attrRequestModel, attrModality}
	attrsAgent  = [4]string{attrOperation, attrAgent, attrError, attrStatus}
	attrsTool   = [4]string{attrTool, attrAgent, attrError, attrOutcome}
)

// with returns the option of a measurement with these attributes, without those that are empty.
func with(names, values [4]string) metric.MeasurementOption {
	var attrs []attribute.KeyValue
	for i, v := range values {
		if v != "" {
			attrs = append(attrs, attribute.String(names[i], v))
		}
	}
	return metric.WithAttributes(attrs...)
}

func newMeters(m metric.Meter) (*meters, error) {
	var errs []error
	histogram := func(name, unit, text string, buckets []float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(text),
			metric.WithExplicitBucketBoundaries(buckets...))
		errs = append(errs, err)
		return h
	}
	counter := func(name, unit, text string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return c
	}
	out := &meters{
		input:      counter(metricInputTokens, "{token}", "Input tokens of model calls, those of caches too."),
		output:     counter(metricOutputTokens, "{token}", "Output tokens of model calls, those of reasoning too."),
		cacheRead:  counter(metricCacheRead, "{token}", "Input tokens that were read from a cache."),
		cacheWrite: counter(metricCacheWrite, "{token}", "Input tokens that were written to a cache."),
		reasoning:  counter(metricReasoning, "{token}", "Output tokens of reasoning."),
		duration:   histogram(metricDuration, "s", "Time of model calls.", bucketsSeconds),
		firstChunk: histogram(metricFirstChunk, "s", "Time until a model call's answer begins.", bucketsSeconds),
		agent: histogram(metricAgentDuration, "s", "Time of runs, without the time in which they are paused.",
			bucketsRun),
		tool:        histogram(metricToolDuration, "s", "Time of tool calls.", bucketsSeconds),
		append:      histogram(metricAppend, "s", "Time of appends to the journal.", bucketsAppend),
		approval:    histogram(metricApproval, "s", "Time from a question to a person's decision.", bucketsPeople),
		gate:        counter(metricGateEvents, "{event}", "What has happened at gates."),
		budget:      counter(metricBudgetEvents, "{event}", "Budgets that are nearly or completely used up."),
		breaker:     counter(metricBreaker, "{change}", "Changes of breakers."),
		compactions: counter(metricCompactions, "{compaction}", "Conversations that were shortened."),
	}
	return out, errors.Join(errs...)
}

// chat records a model call. kind is the type of its error, if any.
func (m *meters) chat(ctx context.Context, provider, model, kind string, took time.Duration, u provider.Usage) {
	m.duration.Record(ctx, took.Seconds(), with(attrsChat, [4]string{opChat, provider, model, kind}))
	set := with(attrsTokens, [4]string{opChat, provider, model, "unknown"})
	m.input.Add(ctx, u.Input, set) // of a call without an answer, too: 0
	m.output.Add(ctx, u.Output, set)
	for _, part := range []struct {
		counter metric.Int64Counter
		tokens  int64
	}{{m.cacheRead, u.CacheRead}, {m.cacheWrite, u.CacheWrite}, {m.reasoning, u.Reasoning}} {
		if part.tokens > 0 {
			part.counter.Add(ctx, part.tokens, set)
		}
	}
}

// GateEvents returns a function for ratelimit.GateConfig.OnEvent that counts the events, and then
// calls next, which may be nil.
func (t *Telemetry) GateEvents(next func(ratelimit.Event)) func(ratelimit.Event) {
	if t == nil {
		return next
	}
	return counting(t.meters.gate, next, func(e ratelimit.Event) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String(attrName, e.Gate), attribute.String(attrKind, string(e.Kind))}
	})
}

// BudgetEvents returns a function for budget.Config.OnEvent that counts the events, and then calls
// next, which may be nil.
func (t *Telemetry) BudgetEvents(next func(budget.Event)) func(budget.Event) {
	if t == nil {
		return next
	}
	return counting(t.meters.budget, next, func(e budget.Event) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String(attrScope, string(e.Scope)),
			attribute.String(attrKind, string(e.Kind))}
	})
}

// BreakerChanges returns a function for circuit.Config.OnChange that counts the changes, and then
// calls next, which may be nil.
func (t *Telemetry) BreakerChanges(next func(circuit.Change)) func(circuit.Change) {
	if t == nil {
		return next
	}
	return counting(t.meters.breaker, next, func(c circuit.Change) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String(attrName, c.Name), attribute.String(attrFrom, c.From.String()),
			attribute.String(attrTo, c.To.String())}
	})
}

// counting returns a function that counts an event, and then calls next.
func counting[E any](c metric.Int64Counter, next func(E), of func(E) []attribute.KeyValue) func(E) {
	return func(e E) {
		c.Add(context.Background(), 1, metric.WithAttributes(of(e)...))
		if next != nil {
			next(e)
		}
	}
}
