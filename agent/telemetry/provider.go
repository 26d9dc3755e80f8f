package telemetry

import (
	"context"
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// Provider returns a provider that measures how long it takes until an answer begins, and that
// makes chat spans for the calls that belong to no step of a run: titles, summaries, notes, and
// those of the host. Put it around everything else, guards included: retries then lie within the
// span. The first provider also names the provider and the default model in spans and metrics,
// unless Config.Provider does.
func (t *Telemetry) Provider(p provider.Provider) provider.Provider {
	if t == nil {
		return p
	}
	t.learn(p)
	return &traced{t, p}
}

type traced struct {
	t        *Telemetry
	provider provider.Provider
}

// EndsWithContext returns what the provider inside declares.
func (p *traced) EndsWithContext() bool { return provider.EndsWithContext(p.provider) }

// Unwrap returns the provider inside.
func (p *traced) Unwrap() provider.Provider { return p.provider }

// Stream makes a call.
func (p *traced) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if p.provider == nil || req == nil {
			yield(provider.Chunk{}, provider.ErrNilProvider)
			return
		}
		if ctx == nil {
			ctx = context.Background()
		}
		c := modelCall{t: p.t, req: req, begun: time.Now()}
		ctx = c.start(ctx)
		defer c.end(ctx)
		for chunk, err := range p.provider.Stream(ctx, req) {
			c.take(ctx, &chunk, err)
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// A modelCall is a call of a traced provider.
type modelCall struct {
	t     *Telemetry
	req   *provider.Request
	begun time.Time
	span  trace.Span // nil within a step, which has the span
	first bool       // the answer has begun
	reply reply
	over  bool // the end was seen
	err   error
}

func (c *modelCall) start(ctx context.Context) context.Context {
	if activeIn(ctx, spanStep) != nil {
		return ctx
	}
	attrs := []attribute.KeyValue{attribute.String(attrOperation, opChat),
		attribute.String(attrProvider, c.t.providerName())}
	for name, value := range map[string]string{attrConversation: c.req.Labels.Session, attrAgent: c.req.Labels.Agent,
		attrRun: c.req.Labels.Run, attrKind: c.req.Labels.Kind} {
		if value != "" {
			attrs = append(attrs, attribute.String(name, value))
		}
	}
	ctx, c.span = c.t.tracer.Start(ctx, opChat, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attrs...))
	c.t.requested(c.span, c.req.Model)
	return ctx
}

// take looks at a chunk.
func (c *modelCall) take(ctx context.Context, chunk *provider.Chunk, err error) {
	if err != nil {
		c.err = err
		return
	}
	switch chunk.Kind {
	case provider.KindWaiting:
	case provider.KindStart:
		c.reply.id, c.reply.model = chunk.ID, chunk.Name
	case provider.KindEnd:
		c.over = true
		if chunk.Extra != nil {
			c.reply.stop = chunk.Extra.Stop
			if chunk.Extra.Usage != nil {
				c.reply.usage = *chunk.Extra.Usage
			}
		}
	default:
		if !c.first {
			c.first = true
			c.t.meters.firstChunk.Record(ctx, time.Since(c.begun).Seconds(),
				with(attrsChat, [4]string{opChat, c.t.providerName(), c.t.model(c.req.Model)}))
		}
	}
}

func (c *modelCall) end(ctx context.Context) {
	if c.span == nil {
		return
	}
	kind := ""
	switch {
	case c.err != nil:
		kind = classOf(fault.Of(c.err))
	case !c.over:
		kind = classOf(fault.None)
	}
	if kind != "" {
		failed(c.span, kind)
	} else {
		replied(c.span, &c.reply)
	}
	c.t.meters.chat(ctx, c.t.providerName(), c.t.model(c.req.Model), kind, time.Since(c.begun), c.reply.usage)
	c.span.End()
}
