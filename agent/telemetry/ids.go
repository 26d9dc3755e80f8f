package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"go.opentelemetry.io/otel/trace"
)

// IDs makes the ids of spans. Give it to the SDK, so that the trace of a run has the id that its
// facts have, and so that what continues a run days later, in another process, is in the same
// trace:
//
//	sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(telemetry.IDs{}), …)
//
// Without it, a run that isn't in a trace of its caller begins a trace of its own, whose id is
// another one than that of its facts. All other ids are random.
type IDs struct{}

// NewIDs returns the ids of a span without a parent.
func (IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	want, _ := ctx.Value(idsKey{}).(wantedIDs)
	if !want.trace.IsValid() {
		_, _ = rand.Read(want.trace[:]) // it never fails
	}
	if !want.span.IsValid() {
		_, _ = rand.Read(want.span[:])
	}
	return want.trace, want.span
}

// NewSpanID returns the id of a span in a trace.
func (IDs) NewSpanID(ctx context.Context, _ trace.TraceID) (id trace.SpanID) {
	if want, _ := ctx.Value(idsKey{}).(wantedIDs); want.span.IsValid() {
		return want.span
	}
	_, _ = rand.Read(id[:])
	return id
}

type idsKey struct{}

// wantedIDs are the ids that the next span should have, as far as they are valid.
type wantedIDs struct {
	trace trace.TraceID
	span  trace.SpanID
}

// withIDs returns a context for starting a span with these ids. The zero wantedIDs ends that for
// the spans below.
func withIDs(ctx context.Context, ids wantedIDs) context.Context {
	return context.WithValue(ctx, idsKey{}, ids)
}

// runSpan returns the id of the span in which a run begins. It follows from the run's id, so that
// what continues the run can refer to it.
func runSpan(run string) (id trace.SpanID) {
	sum := sha256.Sum256([]byte("pawl run " + run))
	copy(id[:], sum[:])
	if !id.IsValid() {
		binary.BigEndian.PutUint64(id[:], 1)
	}
	return id
}

// Traceparent returns the span that ctx belongs to as a W3C traceparent, for agent.Input.Trace: the
// run then belongs to the caller's trace, also when it is continued later. It is empty without a
// span.
func Traceparent(ctx context.Context) string {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsValid() {
		return ""
	}
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" + sc.TraceFlags().String()
}
