package session

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// This file keeps the cost of a run independent of the length of its session. A process keeps the
// state in which it left a session, and reads only what is new. A process that doesn't know a
// session reads it from its last snapshot.

// snapshotAfter is after how many records a snapshot is appended when a session is closed.
const snapshotAfter = 500

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
func (s *Sessions) read(ctx context.Context, session string, known *loadedState) (loadedState, error) {
	if known != nil {
		recs, err := Records(ctx, s.Store, session, known.machine.State().Seq-1, 0)
		if err != nil {
			return loadedState{}, err
		}
		snapshot := func(rec journal.Record) bool { return rec.Kind == machine.KindSnapshot }
		if len(recs) > 0 && known.endsWith(session, &recs[0]) && !slices.ContainsFunc(recs[1:], snapshot) {
			return *known, known.apply(session, recs[1:])
		}
	} // else the session was deleted, pruned, rewritten or replaced by another process
	recs, err := s.recordsFromSnapshot(ctx, session)
	if err != nil {
		return loadedState{}, err
	}
	state := loadedState{machine: machine.New(session)}
	if len(recs) > 0 && recs[0].Kind == machine.KindSnapshot {
		state.machine = machine.NewAfter(session, recs[0].Seq-1)
	}
	return state, state.apply(session, recs)
}

// recordsFromSnapshot returns the records of a session from its newest snapshot on, or all if there
// is none. It searches backwards.
func (s *Sessions) recordsFromSnapshot(ctx context.Context, session string) ([]journal.Record, error) {
	head, err := s.Store.Head(ctx, session)
	if errors.Is(err, journal.ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, unanswered(session, "reading its head", err)
	}
	var found []journal.Record
	for from, size := head.Seq, uint64(snapshotAfter+100); from > head.Pruned; size *= 2 {
		to := from
		from -= min(size, from-head.Pruned)
		most := 0 // to the end
		if len(found) > 0 {
			most = int(to - from)
		}
		page, err := Records(ctx, s.Store, session, from, most)
		if err != nil {
			return nil, err
		}
		if len(page) > 0 && page[0].Seq != from+1 { // the session was pruned meanwhile
			return Records(ctx, s.Store, session, 0, 0)
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

// Load returns a machine of its own with the session's facts. An unknown session has one without
// facts.
func (s *Sessions) Load(ctx context.Context, session string) (*machine.Machine, error) {
	state, err := s.read(ctx, session, s.cache.copy(session))
	if err != nil {
		return nil, err
	}
	return state.machine, nil
}

// snapshotIfDue appends a snapshot if there are snapshotAfter records since the last. It isn't
// shown: the run is over. The earlier facts stay.
func (l *Log) snapshotIfDue() {
	if l.sessions.InMemory || !hasName(l.Name) {
		return
	}
	l.Lock()
	defer l.Unlock()
	if l.machine == nil || l.err != nil || l.since < snapshotAfter || l.leaseLost() {
		return
	}
	if err := l.AppendLocked(nil, Clean(&machine.Snapshot{State: l.State()})); err != nil {
		l.since = 0 // it is too large: not again before there are as many records more
		l.Unlocked(func() {
			l.sessions.Logger.WarnContext(l.Ctx, "agent: taking a snapshot", "session", l.Name, "error", err)
		})
	}
}

// remember puts the state of a session that is being closed into the cache. Goroutines that were
// abandoned may still use the machine, so the cache gets another.
func (l *Log) remember() {
	l.Lock()
	defer l.Unlock()
	if l.machine == nil || l.err != nil || l.State().Seq == 0 || !hasName(l.Name) || l.leaseLost() {
		return
	}
	s := l.loadedState
	s.machine = s.machine.Move()
	l.sessions.cache.put(l.Name, &s)
}
