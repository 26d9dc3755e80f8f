package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A sessionLog is a session that this process holds, and the only way in which anything is written to it. [Agent.open] takes
// the lease of the session and reads its facts into a machine; close gives the lease back. In between append stamps facts,
// redacts and truncates them, stores them, applies them, and queues them to be shown.
//
// The driver of a run uses it, and without a driver so does whatever changes a session between runs: Undo, Fork, Prune,
// Compact, Revoke, and the end of a subagent that was abandoned.
type sessionLog struct {
	// fixed when the session is opened
	agent  *Agent
	name   string
	ctx    context.Context // ends with the caller's, and when the lease is lost
	cancel context.CancelCauseFunc
	stored context.Context // for the store: doesn't end
	lease  journal.Lease
	renew  *renewal
	driver *driver // of the run under way; nil without one; guarded by Agent.mu
	deltas bool    // notes are queued, too: somebody reads them; fixed

	mu       sync.Mutex // guards what follows; taken with lock
	machine  *machine.Machine
	origin   *machine.Origin // of the newest run; nil before the first
	queue    []Event         // facts that were appended and not shown yet, and notes in their place among them
	err      error           // why nothing can be appended any more
	retrying bool            // an append is tried again: nothing else may be appended meanwhile
	retried  *sync.Cond
	spending *spending       // with that of subagents; nil before the first is called
	asked    map[string]bool // pauses of subagents that were shown
}

func (l *sessionLog) state() *machine.State { return l.machine.State() }

// run returns the newest run; nil before the first.
func (l *sessionLog) run() *machine.RunState { return l.machine.State().Run }

// lock takes mu. While an append is tried again it waits: that append may have been kept although it failed, so nothing else
// may take its number. It waits on a Cond, and the append doesn't sleep under mu, because under the fake time of
// testing/synctest a goroutine that waits for a Mutex keeps the clock from moving on.
func (l *sessionLog) lock() {
	l.mu.Lock()
	for l.retrying {
		l.retried.Wait()
	}
}

// append writes facts, all or none. Of their envelopes the caller sets at most Call, By, Step and Origin. It redacts them,
// stamps them, checks and encodes them, stores them, applies them, and queues them to be shown. After an error
// nothing more can be appended, except after an [errTooLarge].
func (l *sessionLog) append(facts ...Fact) error { return l.appendTaking(nil, facts...) }

// appendTaking is append for facts that are the outcome of inbox items, which leave the inbox with them.
func (l *sessionLog) appendTaking(items []string, facts ...Fact) error {
	own := make([]redactedFact, len(facts))
	for i, f := range facts {
		own[i] = l.redact(f)
	}
	l.lock()
	defer l.mu.Unlock()
	return l.appendLocked(items, own...)
}

// A redactedFact has been redacted, or holds nothing that has to be. The host's Redact isn't called while mu is held, because it
// may call the agent.
type redactedFact struct{ Fact }

func (l *sessionLog) redact(f Fact) redactedFact {
	if end, ok := f.(RunEnded); ok {
		end.RunEnded = l.agent.redact.Fact(end.RunEnded).(machine.RunEnded)
		return redactedFact{end}
	}
	return redactedFact{l.agent.redact.Fact(f)}
}

// appendLocked is appendTaking for a caller that holds mu.
func (l *sessionLog) appendLocked(items []string, facts ...redactedFact) error {
	if l.err != nil {
		return l.err
	}
	var end RunEnded // with the Result to be filled in: there is at most one in an append
	own := make([]Fact, len(facts))
	for i, f := range facts {
		if e, ok := f.Fact.(RunEnded); ok {
			end = e
		}
		own[i] = l.stamp(f.Fact, i)
	}
	if err := l.machine.Check(own); err != nil {
		return l.broken(err)
	}
	head, err := l.machine.Head(own)
	if err != nil {
		return l.broken(err)
	}
	recs, err := l.encode(own)
	if errors.Is(err, errTooLarge) {
		return err
	}
	if err == nil {
		err = l.store(journal.Append{Session: l.name, After: l.state().Seq, Fence: l.lease.Fence, Records: recs, Taken: items, Head: head})
	}
	if err != nil {
		l.agent.logger.ErrorContext(l.ctx, "agent: journal", "session", l.name, "error", err)
		return l.broken(&appendError{l.name, err})
	}
	for _, f := range own {
		if err := l.machine.Apply(f); err != nil {
			return l.broken(err)
		}
		if _, ok := f.(RunStarted); ok {
			l.setOrigin()
		}
		l.enqueue(f, end)
	}
	if l.spending != nil {
		l.spending.update(l.run())
	}
	return nil
}

// broken ends the use of a log that can't be written to any more.
func (l *sessionLog) broken(err error) error {
	l.err = err
	l.cancel(err)
	return err
}

// stamp returns the nth of the facts that are appended together with its envelope. Facts that were stamped before, those of a
// fork, stay as they are.
func (l *sessionLog) stamp(f Fact, n int) Fact {
	meta := f.Envelope()
	if meta.Seq > 0 {
		return f
	}
	s := l.state()
	if meta.Run == "" {
		meta.Origin = *l.origin
	}
	meta.Session, meta.Seq, meta.Time, meta.V = l.name, s.Seq+1+uint64(n), time.Now().UTC().Round(0), machine.Version
	meta.By = machine.ValidText(meta.By)
	if _, starts := f.(RunStarted); !starts && meta.Step == 0 && s.Run != nil {
		meta.Step = s.Run.Step
	}
	return machine.Stamp(f, meta)
}

// errTooLarge says that a reply doesn't fit into a record. A result that doesn't is truncated.
var errTooLarge = errors.New("agent: the reply is larger than a record of the journal")

// encode returns facts as records, and truncates those that wouldn't fit. The store of an agent without a journal gets the
// facts as they are.
func (l *sessionLog) encode(facts []Fact) ([]journal.Record, error) {
	recs := make([]journal.Record, len(facts))
	for i, f := range facts {
		if l.agent.inMemory {
			recs[i] = machine.Record(f)
			continue
		}
		for {
			rec, err := machine.Encode(f)
			if err != nil {
				return nil, err
			}
			_, reply := f.(Replied)
			if reply && len(rec.Data) > l.agent.record-l.agent.record/roomForResult {
				return nil, errTooLarge
			}
			recs[i], facts[i] = rec, f
			if len(rec.Data) <= l.agent.record {
				break
			}
			shorter, ok := machine.Truncate(f)
			if !ok {
				break // the store says what is wrong
			}
			f = shorter
		}
	}
	return recs, nil
}

// roomForResult is the share of a record that a reply leaves free, because its calls are repeated in the records of their results.
const roomForResult = 64

// appendTimeout is how long an append whose outcome is unclear is tried again.
const appendTimeout = 30 * time.Second

// store hands an append to the store. An append whose outcome is unclear is tried again, unchanged. mu is held.
func (l *sessionLog) store(app journal.Append) error {
	defer l.retried.Broadcast()
	began := time.Now()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := l.agent.store.Append(l.stored, app)
		if err == nil || !journal.Unclear(err) || time.Since(began) > appendTimeout {
			return err
		}
		l.retrying = true
		l.mu.Unlock()
		timer := time.NewTimer(wait)
		<-timer.C
		l.mu.Lock()
		l.retrying = false
	}
}

// An appendError says that the journal refuses an append. The log stays open, for whoever resumes the session next; so do
// those of the subagents whose calls it ends.
type appendError struct {
	session string
	err     error
}

func (e *appendError) Error() string {
	return fmt.Sprintf("agent: session %q: the journal refuses an append: %v", e.session, e.err)
}

func (e *appendError) Unwrap() error { return e.err }

// enqueue queues what a fact shows. mu is held.
func (l *sessionLog) enqueue(f Fact, end RunEnded) {
	switch f := f.(type) {
	case machine.RunEnded:
		if end.Result == nil { // the end that a fork gives to what it has copied
			end.Result = new(Result)
		}
		end.RunEnded, *end.Result = f, *l.machine.Result(f.Status, f.Code, end.cause)
		l.queue = append(l.queue, end)
	case Suspended:
		if f.Pause.Kind == machine.PauseAgent {
			l.showNested(f)
			return
		}
		l.queue = append(l.queue, f)
	default:
		l.queue = append(l.queue, f)
	}
}

// showNested queues the pauses that a subagent waits for, each once: they are what a person can decide on.
func (l *sessionLog) showNested(f Suspended) {
	if l.asked == nil {
		l.asked = make(map[string]bool)
	}
	for _, p := range f.Pause.Flat() {
		if !l.asked[p.ID] {
			l.asked[p.ID] = true
			l.queue = append(l.queue, Suspended{Meta: f.Meta, Pause: p})
		}
	}
}

// note queues a note in its place among the facts. mu is held.
func (l *sessionLog) note(ev Event) {
	if l.deltas {
		l.queue = append(l.queue, ev)
	}
}

// noteMeta returns the envelope of a note that is about no tool call.
func (l *sessionLog) noteMeta() Meta { return Meta{Origin: *l.origin, Step: l.run().Step} }

// lost returns whether nothing can be appended any more.
func (l *sessionLog) lost() bool {
	l.lock()
	defer l.mu.Unlock()
	return l.err != nil
}
