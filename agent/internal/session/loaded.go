package session

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// This file keeps the cost of a run independent of the length of its session: a session is read
// from its last snapshot.

// snapshotAfter is after how many records a snapshot is appended when a session is closed.
const snapshotAfter = 500

// read returns a machine with the newest state of a session, and the number of records since its
// newest snapshot. An unknown session has a state without facts.
func (s *Sessions) read(ctx context.Context, session string) (m *machine.Machine, since int, err error) {
	recs, err := s.recordsFromSnapshot(ctx, session)
	if err != nil {
		return nil, 0, err
	}
	facts, err := decode(session, recs)
	if err != nil {
		return nil, 0, err
	}
	if since = len(recs); since > 0 && recs[0].Kind == machine.KindSnapshot {
		since--
	}
	m, err = machine.Replay(session, facts...)
	return m, since, err
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
	m, _, err := s.read(ctx, session)
	return m, err
}

// snapshotIfDue appends a snapshot if there are snapshotAfter records since the last. It isn't
// shown: the run is over. The earlier facts stay.
func (l *Log) snapshotIfDue() {
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
