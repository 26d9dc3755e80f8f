package telemetry

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// Export makes the spans of runs from their facts, with the times that these have: the same spans,
// with the same attributes, as the hooks make while a run takes place, except that a run has no
// parent that isn't a run. It is for runs that took place without telemetry, and for what a
// collector has lost. It records no metrics and writes no log lines.
//
// The facts are those of whole sessions ([agent.Session.Facts]), in order. A subagent's run is
// within the tool call that it belongs to if the facts of the session that called it come first.
// What hasn't ended is ended with the last fact, with the error type "unfinished"; what a crash has
// ended has the type "interrupted".
func (t *Telemetry) Export(ctx context.Context, facts ...agent.Fact) error {
	if t == nil {
		return nil
	}
	e := exporter{t: t, ctx: ctx, calls: make(map[string]trace.SpanContext)}
	if e.ctx == nil {
		e.ctx = context.Background()
	}
	e.ctx = trace.ContextWithSpanContext(e.ctx, trace.SpanContext{}) // runs have no other parents than runs
	for _, f := range facts {
		if err := e.fact(f); err != nil {
			return err
		}
	}
	e.endLeg("unfinished")
	return nil
}

// An exporter makes spans from the facts of sessions, one after the other.
type exporter struct {
	t     *Telemetry
	ctx   context.Context
	calls map[string]trace.SpanContext // of tool calls, for subagents

	machine *machine.Machine // of the session
	last    time.Time        // of the newest fact
	leg     *leg             // what is under way of a run; nil: nothing
}

// A leg is the part of a run from its beginning, or from where it continues, to its end or pause.
type leg struct {
	ctx   context.Context
	span  trace.Span
	step  *exportedStep
	tools map[string]trace.Span // by the id of the call
}

type exportedStep struct {
	span     trace.Span
	system   string
	messages []provider.Message
}

func (e *exporter) fact(f agent.Fact) error {
	meta := f.Envelope()
	if meta.Origin == nil {
		return fmt.Errorf("telemetry: a %T names no run", f)
	}
	if e.machine == nil || e.machine.State().Session != meta.Session() {
		e.endLeg("unfinished")
		e.machine = machine.NewAfter(meta.Session(), meta.Seq-1)
	}
	e.begin(f, &meta)
	if err := e.machine.Apply(f); err != nil {
		return fmt.Errorf("telemetry: these facts aren't those of a whole session: %w", err)
	}
	e.last = meta.Time
	if e.leg != nil {
		e.take(f, &meta)
	}
	return nil
}

// begin begins a leg if a fact does.
func (e *exporter) begin(f agent.Fact, meta *agent.Meta) {
	switch f := f.(type) {
	case *agent.RunStarted:
		e.endLeg("interrupted")
		if f.From == "" { // else another session has it
			e.startLeg(meta, false)
		}
	case *machine.Continued:
		e.endLeg("interrupted")
		e.startLeg(meta, true)
	case *machine.RunEnded, *machine.Undone, *machine.Snapshot, *machine.RuleRevoked, *machine.TitleChanged,
		*machine.LabelChanged:
	default:
		if r := e.machine.State().Run; e.leg == nil && r.IsOpen() && meta.Run() == r.ID {
			e.startLeg(meta, true)
		}
	}
}

func (e *exporter) startLeg(meta *agent.Meta, resumed bool) {
	ctx := e.ctx
	if sc, ok := e.calls[meta.Parent()]; ok && !resumed {
		ctx = trace.ContextWithSpanContext(ctx, sc)
	}
	l := &leg{tools: make(map[string]trace.Span)}
	l.ctx, l.span = e.t.startRun(ctx, meta.Origin, resumed, trace.WithTimestamp(meta.Time))
	e.leg = l
}

// endLeg ends what is under way, with an error.
func (e *exporter) endLeg(kind string) {
	if e.leg == nil {
		return
	}
	e.leg.close(kind, e.last)
	failed(e.leg.span, kind)
	e.leg.span.End(trace.WithTimestamp(e.last))
	e.leg = nil
}

// close ends the steps and the calls that are under way.
func (l *leg) close(kind string, at time.Time) {
	if l.step != nil {
		failed(l.step.span, kind)
		l.step.span.End(trace.WithTimestamp(at))
		l.step = nil
	}
	for id, span := range l.tools {
		failed(span, kind)
		span.End(trace.WithTimestamp(at))
		delete(l.tools, id)
	}
}

// take makes the spans within a leg.
func (e *exporter) take(f agent.Fact, meta *agent.Meta) {
	l, at := e.leg, trace.WithTimestamp(meta.Time)
	switch f := f.(type) {
	case *agent.StepStarted:
		_, span := e.t.tracer.Start(l.ctx, opChat, at, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(e.t.chatAttributes(meta.Origin, meta.Step)...))
		e.t.requested(span, f.Model)
		shown, _ := machine.Shown(e.machine.State().Messages, false)
		l.step = &exportedStep{span: span, system: f.System, messages: shown}
		if f.Messages != nil {
			l.step.messages = f.Messages
		}
	case *agent.Replied:
		if s := l.step; s != nil {
			replied(s.span, &reply{f.Model, f.ResponseID, f.Stop, f.Usage})
			e.t.exchange(s.span, s.system, s.messages, f.Message.Parts)
			s.span.End(at)
			l.step = nil
		}
	case *machine.StepFailed:
		if s := l.step; s != nil {
			failed(s.span, classOf(f.Class))
			s.span.End(at)
			l.step = nil
		}
	case *agent.ToolStarted:
		_, span := e.t.tracer.Start(l.ctx, named(opTool, f.Call.Name), at,
			trace.WithAttributes(e.t.toolAttributes(meta.Origin, meta.Step, f.Call.Name, meta.Call)...))
		l.tools[meta.Call], e.calls[meta.Call] = span, span.SpanContext()
	case *agent.ToolFinished:
		if span := l.tools[meta.Call]; span != nil {
			called(span, f.Result)
			e.t.call(span, string(f.Call.Input), f.Result.Text())
			span.End(at)
			delete(l.tools, meta.Call)
		}
	case *agent.Suspended:
		if span := l.tools[meta.Call]; span != nil {
			span.End(at)
			delete(l.tools, meta.Call)
		}
	case *machine.RunEnded:
		l.close("unfinished", meta.Time)
		endRun(l.span, e.machine.Result(f.Status, f.Code, nil))
		l.span.End(at)
		e.leg = nil
	}
}
