package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A sessionLog is a session that this process holds. It is the only way to write facts. Agent.open
// takes the lease of the session and replays its facts; append redacts, stamps, truncates, stores,
// applies and queues new facts; close releases the lease.
//
// The driver of a run uses it. Changes between runs use it without a driver: Undo, Fork, Prune,
// Compact, Revoke, and the end of a subagent's run that was abandoned.
type sessionLog struct {
	claim

	// fixed when the session is opened
	agent  *Agent
	name   string
	ctx    context.Context // ends with the caller's, and when the lease is lost
	cancel context.CancelCauseFunc
	stored context.Context // for the store: doesn't end
	lease  journal.Lease
	renew  *renewal // nil for a store in memory
	deltas bool     // notes are queued, too; fixed

	resumed bool // a decision has resumed the run; only the driving goroutine uses it

	mu sync.Mutex // guards what follows; taken with lock
	loadedState
	origin   *machine.Origin  // of the newest run; nil before the first
	queue    []Event          // facts that were appended and not shown yet, and notes in their place among them
	records  []journal.Record // of the append under way; used again for the next one
	err      error            // why nothing can be appended any more
	retrying bool             // an append is tried again: nothing else may be appended meanwhile
	retried  *sync.Cond
	spending *spending       // with that of subagents; nil before the first is called
	asked    map[string]bool // pauses that were shown
	over     outcome         // of a run
}

// An outcome is what the log knows of the end of a run besides the fact.
type outcome struct {
	cause error     // why the run ends, for the Result of the end that is appended next
	shown *RunEnded // the newest end, with its Result
}

func (l *sessionLog) state() *machine.State { return l.machine.State() }

// run returns the newest run; nil before the first.
func (l *sessionLog) run() *machine.RunState { return l.machine.State().Run }

// lock locks mu. It waits while an append is retried: that append may have been stored although it
// failed, so no other fact may take its number. It waits on a Cond, and the append doesn't sleep
// while it holds mu, because under the fake time of testing/synctest a goroutine that waits for a
// Mutex stops the clock.
func (l *sessionLog) lock() {
	l.mu.Lock()
	for l.retrying {
		l.retried.Wait()
	}
}

// unlocked calls a function of the host without mu, which the caller holds, because that function
// may call the agent.
func (l *sessionLog) unlocked(fn func()) {
	l.mu.Unlock()
	defer l.lock()
	fn()
}

// append writes facts, all or none. The caller sets at most Call, By, Step and Origin of their
// envelopes. append redacts, stamps, checks, encodes, stores and applies the facts, and queues them
// to be shown. After an error, nothing more can be appended, except after errTooLarge.
func (l *sessionLog) append(facts ...Fact) error { return l.appendTaking(nil, facts...) }

// appendTaking is append for facts that are the outcome of inbox items, which leave the inbox with
// them.
func (l *sessionLog) appendTaking(items []string, facts ...Fact) error {
	own := make([]redactedFact, len(facts))
	for i, f := range facts {
		own[i] = l.redact(f)
	}
	l.lock()
	defer l.mu.Unlock()
	return l.appendLocked(items, own...)
}

// A redactedFact is redacted, or contains nothing that must be. Config.Redact isn't called while mu
// is held, because it may call the agent.
type redactedFact struct{ Fact }

func (l *sessionLog) redact(f Fact) redactedFact {
	l.agent.redact.Fact(f)
	return redactedFact{f}
}

// appendLocked is appendTaking for a caller that holds mu.
func (l *sessionLog) appendLocked(items []string, facts ...redactedFact) error {
	if l.err != nil {
		return l.err
	}
	after, changed := l.machine.Trial(), false
	recs := slices.Grow(l.records[:0], len(facts))[:len(facts)]
	l.records = recs
	defer clear(recs)
	events := len(l.queue)
	for i, f := range facts {
		f, err := l.encode(l.stamp(f.Fact, i), &recs[i])
		if errors.Is(err, errTooLarge) {
			l.queue = l.queue[:events]
			return err
		}
		changed = changed || after.ChangesHead(f)
		if err == nil {
			err = after.Apply(f)
		}
		if err != nil {
			l.queue = l.queue[:events]
			return l.broken(err)
		}
		if start, ok := f.(*RunStarted); ok {
			l.origin = start.Meta.Origin
		}
		l.enqueue(f, after)
	}
	app := journal.Append{Session: l.name, After: l.state().Seq, Fence: l.lease.Fence, Records: recs, Taken: items}
	if changed {
		app.Head = after.Head()
	}
	if err := l.store(app); err != nil {
		l.queue = l.queue[:events]
		refused := l.broken(&appendError{l.name, err})
		l.unlocked(func() { l.agent.logger.ErrorContext(l.ctx, "agent: journal", "session", l.name, "error", err) })
		return refused
	}
	l.machine.Adopt()
	for i := range recs {
		l.count(&recs[i])
	}
	if l.spending != nil {
		l.spending.update(l.run())
	}
	return nil
}

// broken records that nothing can be appended any more, and ends the session's context.
func (l *sessionLog) broken(err error) error {
	l.err = err
	l.cancel(err)
	return err
}

// stamp returns the nth fact of an append with its envelope filled in. Facts that have the right
// number stay as they are: those of a fork.
func (l *sessionLog) stamp(f Fact, n int) Fact {
	meta := f.Envelope()
	if meta.Seq == l.state().Seq+1+uint64(n) {
		return f
	}
	_, starts := f.(*RunStarted)
	if meta = l.envelope(meta, n); starts {
		meta.Step = 0
	}
	return machine.Stamp(f, meta)
}

// envelope returns m, filled in for the nth fact after those in the state. The caller holds mu.
func (l *sessionLog) envelope(m Meta, n int) Meta {
	s := l.state()
	if m.Origin == nil {
		m.Origin = l.origin
	}
	m.Seq, m.Time, m.V = s.Seq+1+uint64(n), time.Now().UTC().Round(0), machine.Version
	m.By = machine.ValidText(m.By)
	if m.Step == 0 && s.Run != nil {
		m.Step = s.Run.Step
	}
	return m
}

// errTooLarge says that a reply or a snapshot doesn't fit into a record. Results are truncated
// instead.
var errTooLarge = errors.New("agent: a reply or a snapshot is larger than a record of the journal")

// encode puts the record of a fact into rec, and returns the fact, shortened if it is too large for
// a record. The in-memory store of an agent without a journal gets the fact itself.
func (l *sessionLog) encode(f Fact, rec *journal.Record) (_ Fact, err error) {
	if l.agent.inMemory {
		*rec = machine.Record(f)
		return f, nil
	}
	for {
		if *rec, err = machine.Encode(f); err != nil {
			return nil, err
		}
		switch f.(type) {
		case *Replied, *machine.Snapshot:
			if len(rec.Data) > l.agent.record-l.agent.record/roomForResult {
				return nil, errTooLarge
			}
		}
		shorter, ok := f, false
		if len(rec.Data) > l.agent.record {
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
// full, for example. The caller holds mu.
func (l *sessionLog) store(app journal.Append) error {
	defer l.retried.Broadcast()
	began := time.Now()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := l.agent.store.Append(l.stored, app)
		if err == nil || !journal.Unclear(err) || errors.Is(err, journal.ErrUnusable) ||
			time.Since(began) > appendTimeout {
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

// An appendError says that the journal refuses an append. The run and its subagents' runs stay open
// in the journal, so that another process can resume them.
type appendError struct {
	session string
	err     error
}

func (e *appendError) Error() string {
	return fmt.Sprintf("agent: session %q: the journal refuses an append: %v", e.session, e.err)
}

func (e *appendError) Unwrap() error { return e.err }

// enqueue queues the event of a fact. after has the state after it. The caller holds mu.
func (l *sessionLog) enqueue(f Fact, after *machine.Machine) {
	switch f := f.(type) {
	case *RunEnded:
		l.over.shown = endEvent(f, after, l.over.cause)
		l.queue = append(l.queue, l.over.shown)
	case *Suspended:
		l.showPauses(f)
	default:
		l.queue = append(l.queue, f)
	}
}

// endEvent returns the event of the end of a run, with its Result. cause is why it ended, if that
// is known here.
func endEvent(f *RunEnded, after *machine.Machine, cause error) *RunEnded {
	shown := *f
	shown.Result = after.Result(f.Status, f.Code, cause)
	return &shown
}

// showPauses queues a pause, or, for a call of a subagent, the pauses that the subagent waits for.
// Each is shown once.
func (l *sessionLog) showPauses(f *Suspended) {
	if l.asked == nil {
		l.asked = make(map[string]bool)
	}
	for _, p := range f.Pause.Flat() {
		if !l.asked[p.ID] {
			l.asked[p.ID] = true
			shown := &Suspended{Meta: f.Meta, Pause: p}
			if len(p.Path) == 0 {
				shown.Spent = f.Spent
			}
			l.queue = append(l.queue, shown)
		}
	}
}

// note queues a note after the facts so far. The caller holds mu.
func (l *sessionLog) note(ev Event) {
	if l.deltas {
		l.queue = append(l.queue, ev)
	}
}

// noteMeta returns the envelope of a note that is about no tool call.
func (l *sessionLog) noteMeta() NoteMeta { return NoteMeta{Origin: l.origin, Step: l.run().Step} }

// lost reports whether nothing can be appended any more.
func (l *sessionLog) lost() bool {
	l.lock()
	defer l.mu.Unlock()
	return l.err != nil
}
