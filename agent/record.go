package agent

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A ledger is what a run needs to write to a journal.
type ledger struct {
	lease   journal.Lease
	renewal *renewal

	// guarded by exec.mu
	letters *writer          // of records, as long as no store may hold on to what is in it
	recs    []journal.Record // likewise
	trying  bool             // an append is tried again: nothing else may be recorded meanwhile
	tried   sync.Cond        // trying has become false
}

// fence returns the fencing number of the run's lease; 0 without a journal.
func (x *exec) fence() uint64 {
	if x.ledger == nil {
		return 0
	}
	return x.ledger.lease.Fence
}

// stamp returns the envelope of the nth next fact.
func (x *exec) stamp(n int, call string) Meta {
	return Meta{Origin: x.origin, Seq: x.m.s.Seq + 1 + uint64(n), Time: x.now().UTC().Round(0), V: factVersion, Step: x.m.stepNumber(), Call: call}
}

// now returns the time of day.
func (x *exec) now() time.Time { return x.at(time.Since(x.began)) }

// at returns the time of day, which is now by the run's clock. In the first second it is that of the beginning and what has
// passed since: to read one clock takes half as long as to read two, and a short run reads them for each of its facts. Later
// it is read anew, because a clock may be set, and a machine suspended.
func (x *exec) at(now time.Duration) time.Time {
	if now < time.Second {
		return x.began.Add(now)
	}
	return time.Now()
}

func (m *Machine) stepNumber() int {
	if m.s.Run == nil {
		return 0
	}
	return m.s.Run.Step
}

// recordLocked appends facts, all or none: to the journal, to the state, and to what is shown. The facts are stamped, and mu is held.
func (x *exec) recordLocked(taken []string, facts ...Fact) error {
	if x.errAt != nil {
		return x.errAt
	}
	if err := x.m.wouldTake(facts); err != nil {
		x.errAt = err
		x.cancel(err)
		return err
	}
	if x.a.cfg.Journal != nil {
		if err := x.journal(taken, facts); err != nil {
			x.errAt = &refusedError{x.s.name, err}
			x.cancel(x.errAt)
			x.a.log.ErrorContext(x.ctx, "agent: journal", "session", x.s.name, "error", err)
			return x.errAt
		}
	}
	for _, f := range facts {
		if err := x.m.Apply(f); err != nil {
			x.errAt = err
			x.cancel(err)
			return err
		}
		if x.a.cfg.Journal == nil && !x.s.unnamed {
			x.s.facts = append(x.s.facts, f)
		}
		x.queue = append(x.queue, f)
	}
	if x.purse != nil {
		x.purse.note(x.m.s.Run)
	}
	return nil
}

// wouldTake returns an error if facts can't follow in the state. It looks only at those with pauses and decisions, and at those
// that change the conversation: they are rare, and hold what others have made. A log with a fact that doesn't fit could never be read again.
func (m *Machine) wouldTake(facts []Fact) error {
	judge := false
	for _, f := range facts {
		switch f := f.(type) {
		case Suspended, Decided, Snapshot, Compacted:
			judge = true
		case RunStarted:
			judge = judge || f.ContextReset != nil
		}
	}
	if !judge {
		return nil
	}
	probe := m.still()
	for _, f := range facts {
		if err := probe.Apply(f); err != nil {
			return err
		}
	}
	return nil
}

// A refusedError says that the journal refuses an append. The log stays open, for whoever goes on with it next; so do those
// of the agents that are tools whose calls it ends.
type refusedError struct {
	session string
	err     error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("agent: session %q: the journal refuses an append: %v", e.session, e.err)
}

func (e *refusedError) Unwrap() error { return e.err }

// lock takes mu. While an append is tried again it waits: an append that failed may have been kept, so nothing else may
// take its number. It waits on a Cond, and the append doesn't sleep under mu, because under the fake time of
// testing/synctest a goroutine that waits for a Mutex keeps the clock from moving on.
func (x *exec) lock() {
	x.mu.Lock()
	for x.ledger != nil && x.ledger.trying {
		x.ledger.tried.Wait()
	}
}

// appendPatience is how long an append whose outcome is unclear is tried again.
const appendPatience = 30 * time.Second

// journal appends facts to the store. An append whose outcome is unclear is tried again, unchanged.
func (x *exec) journal(taken []string, facts []Fact) error {
	l := x.ledger
	if l.letters == nil {
		l.letters = new(writer)
	}
	l.letters.b.Reset()
	recs := l.recs[:0]
	for _, f := range facts {
		rec, err := l.letters.encode(f)
		if err != nil {
			return err
		}
		recs = append(recs, rec)
	}
	l.recs = recs
	app := journal.Append{Session: x.s.name, After: x.m.s.Seq, Fence: l.lease.Fence, Records: recs, Taken: taken, Head: x.head(facts)}
	var err error
	defer l.tried.Broadcast()
	for began, wait := time.Now(), 10*time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		if err = x.a.cfg.Journal.Append(x.jctx, app); err == nil || !journal.Unclear(err) || time.Since(began) > appendPatience {
			return err
		}
		l.letters, l.recs = nil, nil // the store may have them still
		x.sleep(wait)
	}
}

// sleep waits between two tries of an append. mu is held when it is called and when it returns.
func (x *exec) sleep(d time.Duration) {
	x.ledger.trying = true
	x.mu.Unlock()
	timer := time.NewTimer(d)
	<-timer.C
	x.mu.Lock()
	x.ledger.trying = false
}

// changesHead reports whether a fact may change what the session shows of itself.
func (x *exec) changesHead(f Fact) bool {
	switch f := f.(type) {
	case RunStarted, Continued, Snapshot, Suspended, Decided, RunEnded:
		return true
	case ToolFinished: // of an agent, which may have waited for more
		return x.a.children[f.Result.Name] != nil
	}
	return false
}

// head returns what the session shows of itself after facts.
func (x *exec) head(facts []Fact) *journal.HeadUpdate {
	if !slices.ContainsFunc(facts, x.changesHead) {
		return nil
	}
	status, changed := string(Running), false
	open := make([]journal.Open, 0, 4)
	if r := x.m.s.Run; r != nil {
		status = string(r.Status)
		for _, p := range r.pending() {
			open = append(open, openMatter(&p))
		}
	}
	for _, f := range facts {
		switch f := f.(type) {
		case RunStarted, Continued:
			status, changed = string(Running), true
		case Snapshot:
			if x.m.s.Run == nil { // in a copy, it is where the log begins
				status, changed = string(f.State.Run.Status), true
			}
		case ToolFinished:
			open, changed = x.closed(open, f.Meta.Call), true
		case Suspended:
			open = x.closed(open, f.Meta.Call) // in its place comes this
			for _, p := range f.Pause.flat() {
				open = append(open, openMatter(&p))
			}
			changed = true
		case Decided:
			open, changed = slices.DeleteFunc(open, func(o journal.Open) bool { return o.ID == f.Decision.ID }), true
			status = string(Running)
		case RunEnded:
			status, changed = string(f.Status), true
			if f.Code == CodeDrained { // somebody should go on
				status = string(Running)
			}
			if f.Status != Paused {
				open = open[:0]
			}
		}
	}
	if !changed {
		return nil
	}
	return &journal.HeadUpdate{Status: status, Open: open[:min(len(open), journal.MaxOpen)]}
}

// closed returns what is open without what a call has waited for.
func (x *exec) closed(open []journal.Open, call string) []journal.Open {
	c := x.m.s.Run.callByID(call)
	if c == nil || !c.waits() {
		return open
	}
	return slices.DeleteFunc(open, func(o journal.Open) bool { return o.ID == c.Pause.ID || c.Pause.nested(o.ID) != nil })
}

func openMatter(p *Pause) journal.Open {
	return journal.Open{ID: p.ID, Kind: clean(string(p.Kind)), Title: clean(p.Call.Name + ": " + p.Reason), Expires: p.Expires}
}
