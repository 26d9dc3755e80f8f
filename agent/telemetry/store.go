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

// The kinds of the records that are looked at.
var (
	kindSuspended = machine.Record(&agent.Suspended{}).Kind
	kindDecided   = machine.Record(&machine.Decided{}).Kind
	kindCompacted = machine.Record(&machine.Compacted{}).Kind
)

// Store returns a store that measures appends, how long people take to decide, and how often
// conversations are compacted. Give it to agents as their journal.
func (t *Telemetry) Store(s journal.Store) journal.Store {
	if t == nil || s == nil {
		return s
	}
	m := &measured{s, t}
	if queue, ok := s.(journal.Queue); ok {
		return &measuredQueue{m, queue}
	}
	return m
}

// measuredQueue is that of a store that is a [journal.Queue].
type measuredQueue struct {
	*measured
	queue journal.Queue
}

// Due implements [journal.Queue].
func (s *measuredQueue) Due(ctx context.Context, c journal.Claim, take func(journal.Head) bool) (
	journal.Queued, error) {
	return s.queue.Due(ctx, c, take)
}

// Claim implements [journal.Queue].
func (s *measuredQueue) Claim(ctx context.Context, c journal.Claim, owner string, ttl time.Duration) (
	journal.Queued, journal.Lease, error) {
	return s.queue.Claim(ctx, c, owner, ttl)
}

// Delay implements [journal.Queue].
func (s *measuredQueue) Delay(ctx context.Context, l journal.Lease, until time.Time) error {
	return s.queue.Delay(ctx, l, until)
}

// Depths implements [journal.Queue].
func (s *measuredQueue) Depths(ctx context.Context) ([]journal.Depth, error) {
	return s.queue.Depths(ctx)
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
		case kindDecided, kindCompacted:
			if f, err := machine.Decode(a.Session, a.Records[i]); err == nil {
				s.fact(ctx, f, a.Records[i].Time)
			}
		}
	}
	return nil
}

// Changes implements [journal.Follower].
func (s *measured) Changes(ctx context.Context, cursor string) ([]journal.Change, string, error) {
	return journal.Changes(ctx, s.Store, cursor)
}

// fact measures what a fact says.
func (s *measured) fact(ctx context.Context, f agent.Fact, at time.Time) {
	switch f := f.(type) {
	case *machine.Decided:
		if f.Decision.Kind == machine.Superseded {
			return
		}
		if asked, kind, ok := s.asked(ctx, f.Session(), f.Decision.ID); ok {
			s.t.meters.approval.Record(ctx, max(at.Sub(asked), 0).Seconds(), metric.WithAttributes(
				attribute.String(attrKind, string(kind)), attribute.String(attrDecision, string(f.Decision.Kind))))
		}
	case *machine.Compacted:
		s.t.meters.compactions.Add(ctx, 1, metric.WithAttributes(attribute.String(attrAgent, f.Agent())))
	}
}

// asked finds out when a person was asked, and what. The log is read for that, because another
// process may have asked.
func (s *measured) asked(ctx context.Context, session, id string) (time.Time, agent.PauseKind, bool) {
	return s.askedAfter(ctx, session, id, 0)
}

func (s *measured) askedAfter(ctx context.Context, session, id string, seq uint64) (at time.Time, kind agent.PauseKind,
	ok bool) {
	for rec, err := range s.Read(ctx, session, seq) {
		if pruned, is := errors.AsType[*journal.PrunedError](err); is {
			return s.askedAfter(ctx, session, id, pruned.UpTo)
		}
		if err != nil {
			break
		}
		if rec.Kind != kindSuspended {
			continue
		}
		if f, err := machine.Decode(session, rec); err == nil {
			for _, p := range f.(*agent.Suspended).Pause.Flat() {
				if p.ID == id {
					return rec.Time, p.Kind, true
				}
			}
		}
	}
	return at, kind, false
}
