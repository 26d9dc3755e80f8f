package session

import (
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A Redacted is a fact that may be appended: its texts are redacted, or it has none. Redacting and
// appending are two steps because Config.Redact may call the agent, so that it isn't called while
// the Log is locked.
type Redacted struct{ fact machine.Fact }

// Redact redacts the texts of a fact in place.
func (s *Sessions) Redact(f machine.Fact) Redacted {
	s.Config.Redact.Fact(f)
	return Redacted{f}
}

// Clean is for a fact without texts, or whose texts were redacted before.
func Clean(f machine.Fact) Redacted { return Redacted{f} }

// Append writes facts, all or none, and takes the items out of the inbox whose outcome they are.
// The caller sets at most Call, By, Step and Origin of their envelopes, and doesn't change the
// facts any more. Append redacts, numbers, encodes, applies and stores them, in this order. After
// an error the state is as before, and nothing more can be appended, except after [ErrTooLarge].
func (l *Log) Append(items []string, facts ...machine.Fact) error {
	own := make([]Redacted, len(facts))
	for i, f := range facts {
		own[i] = l.sessions.Redact(f)
	}
	l.Lock()
	defer l.Unlock()
	return l.AppendLocked(items, own...)
}

// AppendLocked is Append for a caller that holds the lock.
func (l *Log) AppendLocked(items []string, facts ...Redacted) (err error) {
	if l.err != nil {
		return l.err
	}
	if l.Observer != nil {
		defer func() { l.Observer.Appended(err == nil) }()
	}
	before, changed, origin := l.State().Seq, false, l.origin
	l.machine.Begin()
	recs := slices.Grow(l.records[:0], len(facts))[:len(facts)]
	l.records = recs
	defer clear(recs)
	for i, own := range facts {
		l.stamp(own.fact, origin)
		f, err := l.encode(own.fact, &recs[i])
		changed = changed || err == nil && l.machine.ChangesHead(f)
		if err == nil {
			err = l.machine.Apply(f)
		}
		if err != nil {
			l.machine.Rollback()
			if errors.Is(err, ErrTooLarge) {
				return err
			}
			return l.broken(err)
		}
		if start, ok := f.(*machine.RunStarted); ok {
			origin = start.Meta.Origin
		}
		if l.Observer != nil {
			l.Observer.Applied(f)
		}
	}
	app := journal.Append{Session: l.Name, After: before, Fence: l.lease.Fence, Records: recs, Taken: items}
	if changed {
		app.Head = l.machine.Head()
	}
	if err = l.store(app); err != nil {
		l.machine.Rollback()
		refused := l.broken(&machine.SessionError{Session: l.Name, Code: machine.ErrJournal,
			Problem: "the journal refuses an append",
			Err:     err})
		l.Unlocked(func() { l.sessions.Logger.ErrorContext(l.Ctx, "agent: journal", "session", l.Name, "error", err) })
		return refused
	}
	for i := range recs {
		l.count(&recs[i])
	}
	if origin != l.origin {
		l.origin = origin
	}
	return nil
}

// Stamp fills in the envelope of a fact that is shown, but can't be appended. The caller holds the
// lock.
func (l *Log) Stamp(f machine.Fact) { l.stamp(f, l.origin) }

// stamp fills in the envelope of the next fact. origin is that of the newest run, also if that
// begins in this append. Facts that have the right number stay as they are: those of a fork.
func (l *Log) stamp(f machine.Fact, origin *machine.Origin) {
	meta, next := f.Envelope(), l.State().Seq+1
	if meta.Seq == next {
		return
	}
	if meta.Origin == nil {
		meta.Origin = origin
	}
	meta.Seq, meta.Time, meta.V = next, time.Now().UTC().Round(0), machine.Version
	meta.By = machine.ValidText(meta.By)
	if _, starts := f.(*machine.RunStarted); starts {
		meta.Step = 0
	} else if r := l.Run(); meta.Step == 0 && r != nil {
		meta.Step = r.Step
	}
	machine.Stamp(f, meta)
}

// ErrTooLarge says that a reply or a snapshot doesn't fit into a record. Results are truncated
// instead.
var ErrTooLarge = errors.New("agent: a reply or a snapshot is larger than a record of the journal")

// encode puts the record of a fact into rec, and returns the fact, shortened if it is too large for
// a record. A store in memory gets the fact itself.
func (l *Log) encode(f machine.Fact, rec *journal.Record) (_ machine.Fact, err error) {
	if l.sessions.InMemory {
		*rec = machine.Record(f)
		return f, nil
	}
	most := l.sessions.Record
	for {
		if *rec, err = machine.Encode(f); err != nil {
			return nil, err
		}
		switch f.(type) {
		case *machine.Replied, *machine.Snapshot:
			if len(rec.Data) > most-most/roomForResult {
				return nil, ErrTooLarge
			}
		}
		shorter, ok := f, false
		if len(rec.Data) > most {
			shorter, ok = machine.Truncate(f)
		}
		if !ok { // it fits, or the store says what is wrong
			return f, nil
		}
		f = shorter
	}
}

// roomForResult is the share of a record that a reply leaves free, because its calls are repeated
// in the records of their results.
const roomForResult = 64

// appendTimeout is how long an append whose outcome is unclear is tried again.
const appendTimeout = 30 * time.Second

// store passes an append to the store. An append whose outcome is unclear is retried unchanged,
// unless the store says that it can't be written until somebody has acted, because its disk is
// full, for example. The caller holds the lock, and keeps it, but mu is free meanwhile: see
// [Log.Lock].
func (l *Log) store(app journal.Append) error {
	l.storing = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.storing = false
		l.stored.Broadcast()
	}()
	began := time.Now()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := l.sessions.Store.Append(l.Stored, app)
		if err == nil || !journal.Unclear(err) || errors.Is(err, journal.ErrUnusable) ||
			time.Since(began) > appendTimeout {
			return err
		}
		time.Sleep(wait)
	}
}
