package telemetry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/abandon"
)

// Figures of the readings of a store.
const (
	readFor     = 5 * time.Second  // a reading has that long, and a reader of metrics waits that long
	readEvery   = 10 * time.Second // from the beginning of a reading to that of the next
	mostCounted = 10_000           // sessions of a status
)

// What gauges call the states that have no agent.Status or circuit.State.
const (
	statusScheduled = "scheduled" // queued for a later time
	leaseHeld       = "held"
	leaseExpired    = "expired" // its process has died, and no other has taken it over
	leaseNone       = "none"    // no process has it: it was drained, or is between two legs

	kindQuestion = "question" // also of the kinds that tools name themselves
	headKindPlan = "plan"     // the logs of runs of plans
)

// A state is what the heads of a store say.
type state struct {
	runs   map[string]int64     // by status
	due    time.Time            // when the oldest queued run was due
	open   map[string]int64     // what people decide, by kind
	since  map[string]time.Time // by kind, the earliest Updated of a session that waits for such a thing
	leases map[string]int64     // of running runs, by state
}

// readStore lists what is open or has failed.
func readStore(ctx context.Context, store journal.Store) (s state, err error) {
	ctx, cancel := context.WithTimeout(ctx, readFor)
	defer cancel()
	now := time.Now()
	s = state{runs: map[string]int64{statusScheduled: 0}, open: make(map[string]int64),
		since:  make(map[string]time.Time),
		leases: map[string]int64{leaseHeld: 0, leaseExpired: 0, leaseNone: 0}}
	for _, kind := range []agent.PauseKind{agent.PauseApproval, agent.PauseInDoubt, agent.PauseCorrection,
		machine.PauseSecret, kindQuestion} {
		s.open[string(kind)] = 0
	}
	list := func(f journal.Filter, each func(*journal.Head)) error {
		f.NoParent, f.Limit = true, mostCounted
		for h, err := range store.Heads(ctx, f) {
			if err != nil && h.Session == "" {
				return fmt.Errorf("telemetry: listing sessions: %w", err)
			}
			if err == nil {
				each(&h)
			}
		}
		return nil
	}
	for _, status := range []agent.Status{agent.Queued, agent.Running, agent.Paused, agent.Failed} {
		s.runs[string(status)] = 0
		if queue := contain.Queue(store); status == agent.Queued && queue != nil {
			if err := s.queued(ctx, queue); err != nil {
				return s, err
			}
			continue
		}
		f := journal.Filter{Status: string(status), NoKind: true}
		if status == agent.Queued {
			f.Due = now.AddDate(100, 0, 0) // all, the oldest first
		}
		if err := list(f, func(h *journal.Head) { s.run(status, h, now) }); err != nil {
			return s, err
		}
	}
	return s, list(journal.Filter{Open: true}, s.waits)
}

// queued counts the queued runs of a store that knows how many there are.
func (s *state) queued(ctx context.Context, queue journal.Queue) error {
	depths, err := queue.Depths(ctx)
	if err != nil {
		return fmt.Errorf("telemetry: counting queued runs: %w", err)
	}
	for _, d := range depths {
		s.runs[string(agent.Queued)] += int64(d.Waiting - d.Later)
		s.runs[statusScheduled] += int64(d.Later)
		if s.due.IsZero() || !d.Oldest.IsZero() && d.Oldest.Before(s.due) {
			s.due = d.Oldest
		}
	}
	return nil
}

// run counts a session.
func (s *state) run(status agent.Status, h *journal.Head, now time.Time) {
	switch {
	case status == agent.Queued && h.Due.After(now):
		s.runs[statusScheduled]++
		return
	case status == agent.Queued && s.due.IsZero():
		s.due = h.Due
	case status == agent.Running && h.Owner == "":
		s.leases[leaseNone]++
	case status == agent.Running && h.Until.After(now):
		s.leases[leaseHeld]++
	case status == agent.Running:
		s.leases[leaseExpired]++
	}
	s.runs[string(status)]++
}

// waits counts what people decide in a session.
func (s *state) waits(h *journal.Head) {
	if h.Kind != "" && h.Kind != headKindPlan {
		return
	}
	for i := range h.Open {
		kind := h.Open[i].Kind
		if h.Open[i].For != "" {
			continue
		}
		if _, known := s.open[kind]; !known {
			kind = kindQuestion
		}
		s.open[kind]++
		if since := s.since[kind]; since.IsZero() || h.Updated.Before(since) {
			s.since[kind] = h.Updated
		}
	}
}

// A reader reads a store, one reading at a time, and keeps the newest. A nil reader has no store.
type reader struct {
	// fixed at creation
	read    func() (state, error)
	closing <-chan struct{} // closed before close is called

	mu   sync.Mutex // guards what follows
	last *reading
}

// A reading is one reading of a store, on a goroutine of its own, so that a store that ignores its
// context holds up nothing else.
type reading struct {
	begun time.Time
	done  chan struct{} // closed when it has ended, and what follows is set
	found state
	err   error
}

// get returns what the newest reading has found, and waits for it. It is nil without a store.
func (r *reader) get(ctx context.Context) (*state, error) {
	if r == nil {
		return nil, nil
	}
	last := r.newest()
	if last == nil {
		return nil, nil
	}
	if last.ended() {
		return &last.found, last.err
	}
	wait := time.Until(last.begun.Add(readFor))
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-last.done:
	case <-timer.C:
		return nil, fmt.Errorf("telemetry: the store hasn't answered in time: %w", context.DeadlineExceeded)
	case <-r.closing: // who closes it may wait for this
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return &last.found, last.err
}

// newest returns the reading in progress, or one that began at most 10 s ago, or begins one. None
// begins once it closes.
func (r *reader) newest() *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	if isClosed(r.closing) || r.last != nil && (time.Since(r.last.begun) < readEvery || !r.last.ended()) {
		return r.last
	}
	next := &reading{begun: time.Now(), done: make(chan struct{}), err: contain.ErrGoexit}
	r.last = next
	go func() {
		defer close(next.done) // also if the store ends this goroutine
		next.err = func() (err error) {
			defer contain.Panic(&err)
			next.found, err = r.read()
			return err
		}()
	}()
	return next
}

func (r *reading) ended() bool { return isClosed(r.done) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// close waits for the reading in progress.
func (r *reader) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	if last == nil {
		return nil
	}
	timer := time.NewTimer(abandon.Grace)
	defer timer.Stop()
	select {
	case <-last.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("telemetry: the store is still reading: %w", contain.ErrNotReturned)
	}
}
