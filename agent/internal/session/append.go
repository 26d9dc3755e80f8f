package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
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
// facts any more. Append redacts, numbers, encodes, applies and stores them, in this order, after
// those that were deferred. After an error the state is as before, and nothing more can be
// appended, except after [ErrTooLarge].
func (l *Log) Append(items []string, facts ...machine.Fact) error {
	var few [4]Redacted
	own := l.redact(few[:0], facts)
	defer l.Unlock()
	return l.AppendLocked(items, own...)
}

// redact redacts facts and adds them to own, and locks the Log.
func (l *Log) redact(own []Redacted, facts []machine.Fact) []Redacted {
	for _, f := range facts {
		own = append(own, l.sessions.Redact(f))
	}
	l.Lock()
	return own
}

// AppendLocked is Append for a caller that holds the lock.
func (l *Log) AppendLocked(items []string, facts ...Redacted) error {
	err := l.DeferLocked(facts...)
	if err == nil {
		err = l.storeDeferred(items, false)
	}
	return err
}

// AppendQuiet is Append if nothing is in the inbox, or quiet is false. Otherwise it stores only
// what was deferred before, and returns [journal.ErrInbox].
func (l *Log) AppendQuiet(quiet bool, facts ...machine.Fact) error {
	var few [4]Redacted
	own := l.redact(few[:0], facts)
	defer l.Unlock()
	return l.AppendQuietLocked(quiet, own...)
}

// AppendQuietLocked is AppendQuiet for a caller that holds the lock.
func (l *Log) AppendQuietLocked(quiet bool, facts ...Redacted) error {
	before := l.deferred()
	err := l.DeferLocked(facts...)
	if err == nil {
		err = l.storeDeferred(nil, quiet)
	}
	if errors.Is(err, journal.ErrInbox) {
		l.rollback(before)
		return cmp.Or(l.FlushLocked(), err)
	}
	return err
}

// Defer applies facts that the next append stores with its own, or [Log.Flush]. Until then nobody
// may see them, and nothing may happen because of them. Its errors are those of Append.
func (l *Log) Defer(facts ...machine.Fact) error {
	var few [4]Redacted
	own := l.redact(few[:0], facts)
	defer l.Unlock()
	return l.DeferLocked(own...)
}

// DeferLocked is Defer for a caller that holds the lock.
func (l *Log) DeferLocked(facts ...Redacted) error {
	if l.err != nil {
		return l.err
	}
	before := l.deferred()
	if before == 0 {
		l.begin()
	}
	for _, own := range facts {
		if err := l.apply(own.fact, journal.Record{}); err != nil {
			l.rollback(before)
			if errors.Is(err, ErrTooLarge) {
				return err
			}
			return cmp.Or(l.FlushLocked(), l.broken(err))
		}
	}
	return nil
}

// apply applies a fact and defers it. rec is its record if it was applied before.
func (l *Log) apply(f machine.Fact, rec journal.Record) (err error) {
	if l.Stamp(f); rec.Kind == "" {
		f, err = l.encode(f, &rec)
	}
	if err != nil {
		return err
	}
	l.changed = l.machine.ChangesHead(f) || l.changed
	if err = l.machine.Apply(f); err != nil {
		return err
	}
	if start, ok := f.(*machine.RunStarted); ok {
		l.origin = start.Meta.Origin
	}
	l.next.facts, l.next.records = append(l.next.facts, f), append(l.next.records, rec)
	if l.Observer != nil {
		l.Observer.Applied(f)
	}
	return nil
}

// rollback brings back the state before the deferred facts, and applies the first of them again.
func (l *Log) rollback(keep int) {
	l.machine.Rollback()
	l.setOrigin()
	facts, recs := slices.Clone(l.next.facts[:keep]), slices.Clone(l.next.records[:keep])
	l.end(false)
	if keep > 0 {
		l.begin()
	}
	for i, f := range facts {
		_ = l.apply(f, recs[i]) // as before
	}
}

// Flush stores the facts that were deferred. Who appends next gets the error.
func (l *Log) Flush() {
	l.Lock()
	defer l.Unlock()
	_ = l.FlushLocked()
}

// FlushLocked is Flush for a caller that holds the lock.
func (l *Log) FlushLocked() error { return l.storeDeferred(nil, false) }

// storeDeferred stores what was deferred.
func (l *Log) storeDeferred(items []string, quiet bool) error {
	n := l.deferred()
	if n == 0 {
		return nil
	}
	app := journal.Append{Session: l.Name, After: l.State().Seq - uint64(n), Fence: l.lease.Fence,
		Records: l.next.records, Taken: items, Quiet: quiet}
	if l.changed {
		app.Head = l.machine.Head()
	}
	if err := l.store(app); quiet && errors.Is(err, journal.ErrInbox) {
		return err
	} else if err != nil {
		l.rollback(0)
		refused := l.broken(&machine.SessionError{Session: l.Name, Code: machine.ErrJournal,
			Problem: "the journal refuses an append", Err: err})
		l.Unlocked(func() { l.sessions.Logger.ErrorContext(l.Ctx, "agent: journal", "session", l.Name, "error", err) })
		return refused
	}
	for i := range l.next.records {
		l.count(&l.next.records[i])
	}
	l.machine.End()
	l.end(true)
	l.sessions.Tell(l.Name, nil)
	return nil
}

// end ends an append: it says whether the deferred facts are stored, and forgets them.
func (l *Log) end(stored bool) {
	if l.Observer != nil {
		l.Observer.Appended(stored)
	}
	b := l.next
	clear(b.facts)
	clear(b.records)
	b.facts, b.records, l.next = b.facts[:0], b.records[:0], nil
	l.sessions.batches.Put(b)
}

// begin begins an append to come.
func (l *Log) begin() {
	if l.next == nil {
		l.next, _ = l.sessions.batches.Get().(*batch)
	}
	if l.next == nil {
		l.next = new(batch)
	}
	l.changed = false
	l.machine.Begin()
}

// Stamp fills in the envelope of the next fact, or of one that is shown, but can't be appended.
// Facts that have the right number stay as they are: those of a fork. The caller holds the lock.
func (l *Log) Stamp(f machine.Fact) {
	meta, next := f.Envelope(), l.State().Seq+1
	if meta.Seq == next {
		return
	}
	if meta.Origin == nil {
		meta.Origin = l.origin
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

// store passes an append to the store. The caller holds the lock, and keeps it, but mu is free
// meanwhile: see [Log.Lock].
func (l *Log) store(app journal.Append) error {
	l.storing = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.storing = false
		l.written.Broadcast()
	}()
	return Store(l.Stored, l.sessions.Store, app)
}

// Store passes an append to a store. An append whose outcome is unclear is retried unchanged,
// unless the store says that it can't be written until somebody has acted, because its disk is
// full, for example. All tries together have 30 s: the caller's ctx doesn't end before, because
// what has happened must be recorded. The first try is bounded by [contain.Store].
func Store(ctx context.Context, store journal.Store, app journal.Append) error {
	until := time.Now().Add(contain.StoreWrite)
	err := store.Append(ctx, app)
	if !again(err) {
		return err
	}
	tries, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		if tries.Err() == nil {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
				if err = store.Append(tries, app); !again(err) {
					return err
				}
				continue
			case <-tries.Done():
				timer.Stop()
			}
		}
		return fmt.Errorf("the store couldn't do it within %v: %w", contain.StoreWrite, err)
	}
}

// again reports whether an append is tried again after an error.
func again(err error) bool {
	return err != nil && journal.Unclear(err) && !errors.Is(err, journal.ErrUnusable)
}
