package telemetry

import (
	"cmp"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// The functions of this file make the attributes of live spans and of those of [Telemetry.Export],
// so that both have the same ones.

// ofRun returns what the spans of a run have in common.
func (t *Telemetry) ofRun(o *machine.Origin) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(attrConversation, o.Session), attribute.String(attrRun, o.Run)}
	if o.Agent != "" {
		attrs = append(attrs, attribute.String(attrAgent, o.Agent))
	}
	return attrs
}

// named returns the name of a span: the operation, and what it is about if that is known.
func named(operation, what string) string {
	if what == "" {
		return operation
	}
	return operation + " " + what
}

func (t *Telemetry) runAttributes(o *machine.Origin) []attribute.KeyValue {
	attrs := append(t.ofRun(o), attribute.String(attrOperation, opAgent))
	if o.Parent != "" {
		attrs = append(attrs, attribute.String(attrParent, o.Parent))
	}
	if o.Trace != "" {
		attrs = append(attrs, attribute.String(attrTrace, o.Trace))
	}
	return attrs
}

// endRun sets what is known when a run has ended or paused.
func endRun(span trace.Span, res *agent.Result) {
	attrs := []attribute.KeyValue{attribute.String(attrStatus, string(res.Status)), attribute.Int(attrSteps, res.Steps)}
	if res.Code != "" {
		attrs = append(attrs, attribute.String(attrCode, res.Code))
	}
	span.SetAttributes(append(attrs, tokens(res.Usage)...)...)
	if kind := runError(res); kind != "" {
		failed(span, kind)
	}
}

// runError returns the type of the error with which a run has ended; empty: there is none.
func runError(res *agent.Result) string {
	if res.Status == agent.Failed || res.Status == agent.Stopped {
		return cmp.Or(res.Code, string(res.Status))
	}
	return ""
}

func (t *Telemetry) chatAttributes(o *machine.Origin, step int) []attribute.KeyValue {
	return append(t.ofRun(o), attribute.String(attrOperation, opChat), attribute.String(attrProvider, t.providerName()),
		attribute.Int(attrStep, step))
}

// requested sets the model that is asked.
func (t *Telemetry) requested(span trace.Span, model string) {
	if model = t.model(model); model != "" {
		span.SetName(named(opChat, model))
		span.SetAttributes(attribute.String(attrRequestModel, model))
	}
}

// A reply is what is known of the reply to a model call.
type reply struct {
	model, id string
	stop      provider.StopReason
	usage     provider.Usage
}

// replied sets what is known of a reply.
func replied(span trace.Span, r *reply) {
	attrs := append(usage(r.usage), attribute.StringSlice(attrFinishReasons, []string{finishReason(r.stop)}))
	if r.model != "" {
		attrs = append(attrs, attribute.String(attrResponseModel, r.model))
	}
	if r.id != "" {
		attrs = append(attrs, attribute.String(attrResponseID, r.id))
	}
	span.SetAttributes(attrs...)
}

// finishReason returns a reason in the terms of the conventions.
func finishReason(stop provider.StopReason) string {
	switch stop {
	case provider.StopDone:
		return "stop"
	case provider.StopLength:
		return "length"
	case provider.StopToolCalls:
		return "tool_call"
	case provider.StopFiltered:
		return "content_filter"
	}
	return string(stop)
}

// tokens returns what both a run and a model call have of their usage.
func tokens(u provider.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int64(attrInputTokens, u.Input),
		attribute.Int64(attrOutputTokens, u.Output)}
}

func usage(u provider.Usage) []attribute.KeyValue {
	attrs := tokens(u)
	for _, part := range []struct {
		name   string
		tokens int64
	}{{attrCacheRead, u.CacheRead}, {attrCacheWrite, u.CacheWrite}, {attrReasoning, u.Reasoning}} {
		if part.tokens > 0 {
			attrs = append(attrs, attribute.Int64(part.name, part.tokens))
		}
	}
	return attrs
}

func (t *Telemetry) toolAttributes(o *machine.Origin, step int, tool, call string) []attribute.KeyValue {
	return append(t.ofRun(o), attribute.String(attrOperation, opTool), attribute.String(attrTool, tool),
		attribute.String(attrToolType, "function"),
		attribute.String(attrToolCall, call), attribute.Int(attrStep, step))
}

// called sets what is known of the result of a call. A program that has failed isn't an error of
// the call.
func called(span trace.Span, res *agent.ToolResult) {
	span.SetAttributes(attribute.String(attrOutcome, string(res.Status)))
	if res.Exit != nil {
		span.SetAttributes(attribute.Int(attrExit, res.Exit.Code))
	}
	if !res.Status.Good() {
		failed(span, string(res.Status))
	}
}

// failed marks a span as failed. Texts of errors aren't recorded: they may contain what the spans
// mustn't.
func failed(span trace.Span, kind string) {
	span.SetStatus(codes.Error, kind)
	span.SetAttributes(attribute.String(attrError, kind))
}

// classOf returns the type of an error of a model call.
func classOf(class fault.Class) string {
	if class == fault.None {
		return "canceled"
	}
	return class.String()
}
