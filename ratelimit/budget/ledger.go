package budget

import (
	"sync"
	"time"
)

// How a call ended, for Entry.Outcome. Any other text counts only as a call.
const (
	CallDone      = "done"      // it has an answer
	CallFailed    = "failed"    // it returned an error
	CallAborted   = "aborted"   // it was ended by its caller, or at a limit
	CallPreempted = "preempted" // it gave its slot to an interactive request, and was made again
	callLost      = "lost"      // its end isn't known: its process died before the answer
)

// An Entry is one call with its labels and what it used. A call that failed or was aborted may have
// used something, too.
type Entry struct {
	Time time.Time // when it ended; zero: now
	Names

	// Tokens. Input counts the whole prompt, including what was read from and written to a cache;
	// Output counts all output, including reasoning. Figures below 0 are taken as 0.
	Input, Output, CacheRead, CacheWrite, Reasoning int64

	// Micros is the cost of the call in millionths of a US dollar. It is counted only if Priced is
	// set.
	Micros int64
	Priced bool
	// Estimated says that the tokens weren't counted by the provider.
	Estimated bool

	Latency time.Duration
	Outcome string // CallDone, CallFailed, …
}

// Tokens returns Input plus Output.
func (e *Entry) Tokens() int64 { return sum(e.Input, e.Output) }

// LedgerConfig says what a [Ledger] keeps.
type LedgerConfig struct {
	// Keep is how many of the newest entries are kept; 0: 10,000; less than 0: none.
	Keep int
	// Names is how many names each dimension (sessions, tasks, models, …) has totals for; 0:
	// 10,000. Beyond that, the name that was used longest ago is merged into [Others].
	Names int
	// Sink, if it isn't nil, is called with every entry, for example to write it to a file or a
	// database: in the order in which they were recorded, one at a time, in the goroutine that
	// called Record. Meanwhile other calls of Record wait, so that none is lost; other methods
	// don't. Sink must not call Record of its ledger. If it panics, Record does, and the ledger
	// stays consistent.
	Sink func(Entry)
}

// Defaults of a LedgerConfig.
const (
	defaultEntries = 10_000
	defaultNames   = 10_000
)

// A Ledger records what calls have used: exact totals since its creation for every session, user,
// tenant, pipeline, task, agent, kind, provider and model, and the newest calls one by one.
//
// Its memory is bounded by LedgerConfig, with the defaults to about 3 MB of entries and 3 MB for
// each full dimension; [Totals].Partial and [Others] show what it has dropped to stay within. Make
// one with [NewLedger]. A Ledger is safe for concurrent use and starts no goroutine. A nil *Ledger
// records nothing.
type Ledger struct {
	// fixed at creation
	keep  int
	names int
	sink  func(Entry)

	recording chan struct{} // of one, for Record with a sink

	mu               sync.Mutex // guards what follows
	entries          []Entry    // a ring once it has keep of them
	oldest           int        // where the ring begins
	since            time.Time  // the time of the earliest entry ever
	last             time.Time  // of the latest
	dropped          bool       // entries, with times from lostFrom to lostTo
	lostFrom, lostTo time.Time
	total            Totals
	by               [numDims]dimension
}

// NewLedger returns an empty [Ledger].
func NewLedger(cfg LedgerConfig) *Ledger {
	l := &Ledger{keep: cfg.Keep, names: cfg.Names, sink: cfg.Sink, recording: make(chan struct{}, 1)}
	switch {
	case l.keep == 0:
		l.keep = defaultEntries
	case l.keep < 0:
		l.keep = 0
	}
	if l.names <= 0 {
		l.names = defaultNames
	}
	for i := range l.by {
		l.by[i] = newDimension()
	}
	return l
}

// Record adds a call. It takes constant time, without the Sink's.
func (l *Ledger) Record(e Entry) {
	if l == nil {
		return
	}
	e.normalize()
	if l.sink != nil {
		l.recording <- struct{}{}
		defer func() { <-l.recording }()
	}
	l.mu.Lock()
	l.add(&e, false)
	l.mu.Unlock()
	if l.sink != nil {
		l.sink(e)
	}
}

// normalize adjusts figures to their range.
func (e *Entry) normalize() {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	for _, figure := range [...]*int64{&e.Input, &e.Output, &e.CacheRead, &e.CacheWrite, &e.Reasoning, &e.Micros} {
		*figure = max(*figure, 0)
	}
	e.Latency = max(e.Latency, 0)
	if !e.Priced {
		e.Micros = 0
	}
}

// add adds a call to the totals and the entries. partial says that there may be more like it.
func (l *Ledger) add(e *Entry, partial bool) {
	if l.total.Calls == 0 || e.Time.Before(l.since) {
		l.since = e.Time
	}
	if l.total.Calls == 0 || e.Time.After(l.last) {
		l.last = e.Time
	}
	one := e.totals()
	one.Partial = partial
	l.total.merge(&one)
	for d := range l.by {
		l.by[d].add(keyOf(dim(d), &e.Names), &one, l.names)
	}
	switch {
	case l.keep == 0:
		l.drop(e)
	case len(l.entries) < l.keep:
		l.entries = append(l.entries, *e)
	default:
		l.drop(&l.entries[l.oldest])
		l.entries[l.oldest] = *e
		l.oldest = (l.oldest + 1) % l.keep
	}
}

// drop records the end times of entries that aren't kept.
func (l *Ledger) drop(e *Entry) {
	if !l.dropped || e.Time.Before(l.lostFrom) {
		l.lostFrom = e.Time
	}
	if !l.dropped || e.Time.After(l.lostTo) {
		l.lostTo = e.Time
	}
	l.dropped = true
}

// all calls visit with the kept entries, oldest first, under the lock.
func (l *Ledger) all(visit func(*Entry)) {
	for i := range l.entries {
		visit(&l.entries[(l.oldest+i)%len(l.entries)])
	}
}
