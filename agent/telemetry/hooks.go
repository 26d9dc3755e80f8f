package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Hooks returns the hooks that make the spans of runs (invoke_agent), of model calls (chat) and of
// tool calls (execute_tool), with their metrics and log lines. Put them first in
// agent.Config.Hooks, and into those of subagents, too.
//
// A run is a child of the span that the caller's context has; Input.Trace should then be
// [Traceparent]. What continues a run later, after a pause or a crash, is a span of its own in the
// trace of the run, linked to the span in which the run began and to that of its caller.
func (t *Telemetry) Hooks() agent.Hooks {
	if t == nil {
		return agent.Hooks{}
	}
	return agent.Hooks{
		Name:   "telemetry",
		Around: t.around,
		BeforeStep: func(ctx context.Context, s *agent.Step) error {
			if a := activeIn(ctx, spanStep); a != nil {
				t.requested(a.span, s.Model)
				a.name = t.model(s.Model)
			}
			return nil
		},
		AfterStep: func(ctx context.Context, s *agent.Step, r *provider.Response) error {
			if a := activeIn(ctx, spanStep); a != nil {
				a.mu.Lock()
				a.usage = r.Usage
				a.mu.Unlock()
				replied(a.span, &reply{r.Model, r.ID, r.Stop, r.Usage})
				t.exchange(a.span, s.System, s.Messages, r.Parts)
			}
			return nil
		},
		AfterTool: func(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
			if a := activeIn(ctx, spanTool); a != nil && a.call == c.ID {
				a.mu.Lock()
				a.status = r.Status
				a.mu.Unlock()
				called(a.span, r)
				t.call(a.span, string(c.Input), r.Text())
			}
			return nil
		},
		AfterRun: func(ctx context.Context, r *agent.Result) error {
			if a := runIn(ctx); a != nil {
				endRun(a.span, r)
				a.mu.Lock()
				a.result, a.failure = r.Status, runError(r)
				a.mu.Unlock()
			}
			return nil
		},
	}
}

// The kinds of an [agent.Span].
const (
	spanRun  = "run"
	spanStep = "step"
	spanTool = "tool"
)

// An active is a span that has begun.
type active struct {
	kind   string
	origin *machine.Origin
	step   int
	name   string // of the model or the tool
	call   string
	span   trace.Span
	begun  time.Time
	run    *active // for a step or a call

	mu     sync.Mutex // guards what follows
	usage  provider.Usage
	status tools.Status
	result agent.Status

	failure string // of a run: the type of its error
}

type activeKey struct{}

// activeIn returns the innermost span of a context, if it is of that kind.
func activeIn(ctx context.Context, kind string) *active {
	a, _ := ctx.Value(activeKey{}).(*active)
	if a == nil || a.kind != kind {
		return nil
	}
	return a
}

// runIn returns the span of the run that a context belongs to.
func runIn(ctx context.Context) *active {
	a, _ := ctx.Value(activeKey{}).(*active)
	if a != nil && a.run != nil {
		return a.run
	}
	return a
}

// around is Hooks.Around.
func (t *Telemetry) around(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
	a := &active{kind: s.Kind, origin: s.Origin, step: s.Step, name: s.Tool, call: s.Call, begun: time.Now()}
	switch s.Kind {
	case spanRun:
		ctx, a.span = t.startRun(ctx, s.Origin, s.Resumed)
	case spanStep:
		a.run = runIn(ctx)
		ctx, a.span = t.tracer.Start(ctx, opChat, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(t.chatAttributes(s.Origin, s.Step)...))
	default:
		a.run = runIn(ctx)
		ctx, a.span = t.tracer.Start(ctx, named(opTool, s.Tool),
			trace.WithAttributes(t.toolAttributes(s.Origin, s.Step, s.Tool, s.Call)...))
	}
	ctx = context.WithValue(ctx, activeKey{}, a)
	return ctx, func(err error) { t.end(ctx, a, err) }
}

// startRun starts the span of a run, or of what continues it.
func (t *Telemetry) startRun(ctx context.Context, o *machine.Origin, resumed bool,
	options ...trace.SpanStartOption) (context.Context, trace.Span) {
	options = append(options, trace.WithAttributes(t.runAttributes(o)...))
	caller := trace.SpanContextFromContext(ctx)
	own, err := trace.TraceIDFromHex(o.Trace)
	switch {
	case err != nil: // it has no trace, which no run of this version has
	case resumed:
		begun := trace.NewSpanContext(trace.SpanContextConfig{TraceID: own, SpanID: runSpan(o.Run),
			TraceFlags: trace.FlagsSampled, Remote: true})
		options = append(options,
			trace.WithLinks(trace.Link{SpanContext: begun,
				Attributes: []attribute.KeyValue{attribute.String(attrRun, o.Run)}}))
		if caller.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: caller}))
		}
		ctx = trace.ContextWithRemoteSpanContext(ctx, begun)
	case caller.IsValid():
		ctx = withIDs(ctx, wantedIDs{span: runSpan(o.Run)})
	default:
		ctx = withIDs(ctx, wantedIDs{own, runSpan(o.Run)})
	}
	ctx, span := t.tracer.Start(ctx, named(opAgent, o.Agent), options...)
	return withIDs(ctx, wantedIDs{}), span
}

// end ends a span, and records its metrics and its log line.
func (t *Telemetry) end(ctx context.Context, a *active, err error) {
	took := time.Since(a.begun)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.kind {
	case spanRun:
		if err != nil && a.result == "" { // it has ended without AfterRun
			a.failure = classOf(fault.Of(err))
			failed(a.span, a.failure)
		}
		t.meters.agent.Record(ctx, took.Seconds(),
			with(attrsAgent, [4]string{opAgent, a.origin.Agent, a.failure, string(a.result)}))
	case spanStep:
		kind := ""
		if err != nil {
			kind = classOf(fault.Of(err))
			failed(a.span, kind)
		}
		t.meters.chat(ctx, t.providerName(), a.name, kind, took, a.usage)
		t.log(ctx, a, "agent: step", took, err, slog.String("model", a.name), slog.Int64("input_tokens", a.usage.Input),
			slog.Int64("output_tokens", a.usage.Output))
	default:
		kind := ""
		switch {
		case err != nil && a.status == "": // it was stopped before it had a result
			kind = "canceled"
			failed(a.span, kind)
		case a.status != "" && !a.status.Good():
			kind = string(a.status)
		}
		t.meters.tool.Record(ctx, took.Seconds(),
			with(attrsTool, [4]string{a.name, a.origin.Agent, kind, string(a.status)}))
		t.log(ctx, a, "agent: call", took, err, slog.String("tool", a.name), slog.String("call", a.call),
			slog.String("status", string(a.status)))
	}
	a.span.End()
}

// log writes the line of a step or a call.
func (t *Telemetry) log(ctx context.Context, a *active, what string, took time.Duration, err error,
	attrs ...slog.Attr) {
	if t.cfg.Logger == nil || !t.cfg.Logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs = append(attrs, slog.String("session", a.origin.Session), slog.String("run", a.origin.Run),
		slog.Int("step", a.step), slog.Duration("took", took))
	if sc := a.span.SpanContext(); sc.HasTraceID() {
		attrs = append(attrs, slog.String("trace_id", sc.TraceID().String()))
		if sc.HasSpanID() {
			attrs = append(attrs, slog.String("span_id", sc.SpanID().String()))
		}
	}
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("error", classOf(fault.Of(err))))
	}
	t.cfg.Logger.LogAttrs(ctx, level, what, attrs...)
}
