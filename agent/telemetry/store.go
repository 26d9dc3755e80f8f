package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// maxPauses is how many pauses a Telemetry remembers: the newest, because it doesn't learn of those
// that end in other processes. For others it reads the session's log when they are decided.
const maxPauses = 10_000

// The kinds of the records that are looked at.
var (
	kindSuspended = machine.Record(&agent.Suspended{}).Kind
	kindDecided   = machine.Record(&machine.Decided{}).Kind
	kindCompacted = machine.Record(&machine.Compacted{}).Kind
)

// A pauseTime says when a person was asked.
type pauseTime struct {
	at   time.Time
	kind agent.PauseKind
}

// Store returns a store that measures appends, how long people take to decide, and how often
// conversations are compacted. Give it to agents as their journal.
func (t *Telemetry) Store(s journal.Store) journal.Store {
	if t == nil || s == nil {
		return s
	}
	return &measured{s, t}
}

type measured struct {
	journal.Store
	t *Telemetry
}

// Append measures an append.
func (s *measured) Append(ctx context.Context, a journal.Append) error {
	begun := time.Now()
	err := s.Store.Append(ctx, a)
	attrs := []attribute.KeyValue{}
	if err != nil && !errors.Is(err, journal.ErrInbox) { // that is an answer
		attrs = append(attrs, attribute.String(attrError, "append"))
	}
	s.t.meters.append.Record(ctx, time.Since(begun).Seconds(), metric.WithAttributes(attrs...))
	if err != nil {
		return err
	}
	for i := range a.Records {
		switch a.Records[i].Kind {
		case kindSuspended, kindDecided, kindCompacted:
			if f, err := machine.Decode(a.Session, a.Records[i]); err == nil {
				s.fact(ctx, f, a.Records[i].Time)
			}
		}
	}
	return nil
}

// fact measures what a fact says.
func (s *measured) fact(ctx context.Context, f agent.Fact, at time.Time) {
	switch f := f.(type) {
	case *agent.Suspended:
		s.t.mu.Lock()
		defer s.t.mu.Unlock()
		for _, p := range f.Pause.Flat() {
			if _, known := s.t.pauses[p.ID]; known {
				continue
			}
			if len(s.t.asked) == maxPauses {
				delete(s.t.pauses, s.t.asked[0])
				s.t.asked = s.t.asked[1:]
			}
			s.t.pauses[p.ID], s.t.asked = pauseTime{at, p.Kind}, append(s.t.asked, p.ID)
		}
	case *machine.Decided:
		if f.Decision.Kind == machine.Superseded {
			s.forget(f.Decision.ID)
			return
		}
		asked, ok := s.forget(f.Decision.ID)
		if !ok {
			asked, ok = s.find(ctx, f.Session(), f.Decision.ID)
		}
		if ok {
			s.t.meters.approval.Record(ctx, max(at.Sub(asked.at), 0).Seconds(), metric.WithAttributes(
				attribute.String(attrKind, string(asked.kind)),
				attribute.String(attrDecision, string(f.Decision.Kind))))
		}
	case *machine.Compacted:
		s.t.meters.compactions.Add(ctx, 1, metric.WithAttributes(attribute.String(attrAgent, f.Agent())))
	}
}

// forget returns when somebody was asked, and forgets it.
func (s *measured) forget(id string) (pauseTime, bool) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	p, ok := s.t.pauses[id]
	delete(s.t.pauses, id)
	return p, ok
}

// find looks for a pause in the log of its session: another process has asked.
func (s *measured) find(ctx context.Context, session, id string) (asked pauseTime, ok bool) {
	for rec, err := range s.Read(ctx, session, 0) {
		if err != nil || ok {
			break
		}
		if rec.Kind != kindSuspended {
			continue
		}
		f, err := machine.Decode(session, rec)
		suspended, isPause := f.(*agent.Suspended)
		if err != nil || !isPause {
			continue
		}
		for _, p := range suspended.Pause.Flat() {
			if p.ID == id {
				asked, ok = pauseTime{rec.Time, p.Kind}, true
			}
		}
	}
	return asked, ok
}
