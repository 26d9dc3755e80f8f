package session

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Facts returns the facts of a session with numbers above after, or those from the snapshot on
// if earlier ones were pruned: the first most of them, or all if most is 0. An unknown session has
// none.
func (s *Sessions) Facts(ctx context.Context, session string, after uint64, most int) ([]machine.Fact, error) {
	recs, err := Records(ctx, s.Store, session, after, most)
	if err != nil {
		return nil, err
	}
	facts := make([]machine.Fact, len(recs))
	for i, rec := range recs {
		if facts[i], err = machine.Decode(session, rec); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// Records returns the records of a session with numbers above after, or those from the snapshot on
// if earlier ones were pruned: the first most of them, or all if most is 0.
func Records(ctx context.Context, store journal.Store, session string, after uint64, most int) (recs []journal.Record,
	err error) {
	for rec, err := range store.Read(ctx, session, after) {
		var pruned *journal.PrunedError
		if errors.As(err, &pruned) { // perhaps only while it was read
			return Records(ctx, store, session, pruned.UpTo, most)
		}
		if err != nil {
			return nil, unanswered(session, "reading its journal", err)
		}
		if recs = append(recs, rec); len(recs) == most {
			break
		}
	}
	return recs, nil
}
