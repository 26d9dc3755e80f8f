package agent

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// This file keeps the cost of a run independent of the length of its session. A process keeps the
// state in which it left a session, and reads only what is new. A process that doesn't know a
// session reads it from its last snapshot.

const (
	// snapshotAfter is after how many records a snapshot is appended when a session is closed.
	snapshotAfter = 500
	// maxCached bounds the states that an agent keeps, by the bytes of the records that they were
	// made from.
	maxCached = 64 << 20
	// cachedCost is what a state counts besides that.
	cachedCost = 4 << 10
)

// A loadedState is the state of a session after its newest record.
type loadedState struct {
	machine *machine.Machine
	newest  recordMark
	since   int // records since the newest snapshot
	bytes   int // of these records, and of that snapshot
}

// A recordMark identifies a record.
type recordMark struct {
	kind string
	time int64
	data uint64
}

var markSeed = maphash.MakeSeed()

func markOf(rec *journal.Record) recordMark {
	return recordMark{rec.Kind, rec.Time.UnixNano(), maphash.Bytes(markSeed, rec.Data)}
}

// count counts a record that was applied to the machine.
func (s *loadedState) count(rec *journal.Record) {
	s.newest = markOf(rec)
	if rec.Kind == machine.KindSnapshot {
		s.since, s.bytes = 0, len(rec.Data)
		return
	}
	s.since++
	s.bytes += len(rec.Data)
}

// endsWith reports whether a record is the newest that was applied to the machine.
func (s *loadedState) endsWith(session string, rec *journal.Record) bool {
	state := s.machine.State()
	if rec.Seq != state.Seq || s.newest != markOf(rec) {
		return false
	}
	f, err := machine.Decode(session, *rec)
	return err == nil && f.Envelope().Run() == state.Run.ID // a fact in memory has no data
}

// apply applies records to the machine.
func (s *loadedState) apply(session string, recs []journal.Record) error {
	for i := range recs {
		f, err := machine.Decode(session, recs[i])
		if err == nil {
			err = s.machine.Apply(f)
		}
		if err != nil {
			return err
		}
		s.count(&recs[i])
	}
	return nil
}

// read returns the newest state of a session. known is an earlier state of it, or nil; read changes
// it. An unknown session has a state without facts.
func (a *Agent) read(ctx context.Context, session string, known *loadedState) (loadedState, error) {
	if known != nil {
		recs, err := records(ctx, a.store, session, known.machine.State().Seq-1, 0)
		if err != nil {
			return loadedState{}, err
		}
		if len(recs) > 0 && known.endsWith(session, &recs[0]) {
			return *known, known.apply(session, recs[1:])
		}
	} // else the session was deleted, pruned or replaced by another process
	recs, err := a.recordsFromSnapshot(ctx, session)
	if err != nil {
		return loadedState{}, err
	}
	s := loadedState{machine: machine.New(session)}
	if len(recs) > 0 && recs[0].Kind == machine.KindSnapshot {
		s.machine = machine.NewAfter(session, recs[0].Seq-1)
	}
	return s, s.apply(session, recs)
}

// recordsFromSnapshot returns the records of a session from its newest snapshot on, or all if there
// is none. It searches backwards.
func (a *Agent) recordsFromSnapshot(ctx context.Context, session string) ([]journal.Record, error) {
	head, err := a.store.Head(ctx, session)
	if errors.Is(err, journal.ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("agent: session %q: reading its head: %w", session, err)
	}
	var found []journal.Record
	for from, size := head.Seq, uint64(snapshotAfter+100); from > head.Pruned; size *= 2 {
		to := from
		from -= min(size, from-head.Pruned)
		page, err := a.recordsBetween(ctx, session, from, to, len(found) == 0)
		if errors.As(err, new(*journal.PrunedError)) { // meanwhile
			return records(ctx, a.store, session, 0, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("agent: session %q: reading its journal: %w", session, err)
		}
		found = append(page, found...)
		for i := len(page) - 1; i >= 0; i-- {
			if page[i].Kind == machine.KindSnapshot {
				return found[i:], nil
			}
		}
	}
	return found, nil
}

// recordsBetween returns the records with numbers above from, up to number to, or to the end.
func (a *Agent) recordsBetween(ctx context.Context, session string, from, to uint64, toEnd bool) (recs []journal.Record,
	err error) {
	for rec, err := range a.store.Read(ctx, session, from) {
		if err != nil {
			return nil, err
		}
		recs = append(recs, rec)
		if rec.Seq == to && !toEnd {
			break
		}
	}
	return recs, nil
}

// load returns a machine of its own with the session's facts. An unknown session has one without
// facts.
func (a *Agent) load(ctx context.Context, session string) (*machine.Machine, error) {
	s, err := a.read(ctx, session, a.cache.copy(session))
	if err != nil {
		return nil, err
	}
	return s.machine, nil
}

// snapshotIfDue appends a snapshot if there are snapshotAfter records since the last. It isn't
// shown: the run is over. The earlier facts stay.
func (l *sessionLog) snapshotIfDue() {
	if l.agent.inMemory || !cacheable(l.name) {
		return
	}
	l.lock()
	defer l.mu.Unlock()
	if l.machine == nil || l.err != nil || l.since < snapshotAfter || l.leaseLost() {
		return
	}
	if err := l.appendLocked(nil, redactedFact{&machine.Snapshot{State: l.state()}}); err != nil {
		l.since = 0 // it is too large: not again before there are as many records more
		l.unlocked(func() {
			l.agent.logger.WarnContext(l.ctx, "agent: taking a snapshot", "session", l.name, "error", err)
		})
	}
}

// remember puts the state of a session that is being closed into the cache. Goroutines that were
// abandoned may still use the machine, so the cache gets another.
func (l *sessionLog) remember() {
	l.lock()
	defer l.mu.Unlock()
	if l.machine == nil || l.err != nil || l.state().Seq == 0 || !cacheable(l.name) || l.leaseLost() {
		return
	}
	s := l.loadedState
	s.machine = s.machine.Move()
	l.agent.cache.put(l.name, &s)
}

// cacheable reports whether the state of a session is kept: it has a name of the host's, so that
// there may be other runs in it.
func cacheable(session string) bool {
	return !strings.HasPrefix(session, machine.UnnamedPrefix) && !strings.HasPrefix(session, childPrefix)
}

// A stateCache keeps the states of the sessions that were closed last: at most maxCached bytes. A
// state in it is used by nobody. The zero value is empty.
type stateCache struct {
	mu     sync.Mutex // guards what follows
	states map[string]*list.Element
	order  list.List // of *cachedState, the newest first
	bytes  int
}

type cachedState struct {
	session string
	*loadedState
}

// take removes the state of a session and returns it, or nil.
func (c *stateCache) take(session string) *loadedState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remove(c.states[session])
}

// copy returns a copy of the state of a session, or nil.
func (c *stateCache) copy(session string) *loadedState {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.states[session]
	if e == nil {
		return nil
	}
	s := *e.Value.(*cachedState).loadedState
	s.machine = s.machine.Clone()
	return &s
}

// put adds the state of a session, and removes the oldest ones if there are too many. It doesn't
// add one that is too large by itself.
func (c *stateCache) put(session string, s *loadedState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.states[session])
	if c.states == nil {
		c.states = make(map[string]*list.Element)
	}
	c.states[session] = c.order.PushFront(&cachedState{session, s})
	c.bytes += s.bytes + cachedCost
	for c.bytes > maxCached {
		c.remove(c.order.Back())
	}
}

// remove removes an element, which may be nil. The caller holds mu.
func (c *stateCache) remove(e *list.Element) *loadedState {
	if e == nil {
		return nil
	}
	s := c.order.Remove(e).(*cachedState)
	delete(c.states, s.session)
	c.bytes -= s.bytes + cachedCost
	return s.loadedState
}
