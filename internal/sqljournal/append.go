package sqljournal

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
)

// Append implements [journal.Store].
func (s *Store) Append(ctx context.Context, a journal.Append) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if err := contextError(ctx, "append to", a.Session); err != nil {
		return err
	}
	if done, err := s.db.TryAppend(ctx, a); done || err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, a.Session)
		if err != nil {
			return err
		}
		if !at.writable(a.Fence) {
			return at.conflict(a.After, a.Fence)
		}
		if same, err := s.repeats(ctx, tx, at, a); err != nil || same {
			return err
		}
		if a.After != at.Seq {
			return at.conflict(a.After, a.Fence)
		}
		if a.Quiet && at.Inbox > 0 {
			return journal.ErrInbox
		}
		return s.add(ctx, tx, at, a)
	})
}

// repeats reports whether the records of a are in the log already, at the same numbers and with the
// same fence.
func (s *Store) repeats(ctx context.Context, tx Tx, at *row, a journal.Append) (bool, error) {
	n := uint64(len(a.Records))
	if n == 0 || a.After < at.Pruned || a.After+n > at.Seq {
		return false, nil
	}
	rows, err := tx.QueryContext(ctx, s.q.repeated, at.id, int64(a.After), int64(a.After+n))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var fence number
	c := newRecordScanner(&fence)
	i := 0
	for ; rows.Next(); i++ {
		r, err := c.record(rows.Scan)
		if err != nil {
			return false, err
		}
		if uint64(fence) != a.Fence || i >= len(a.Records) || !r.Equal(a.Records[i]) {
			return false, nil
		}
	}
	return i == len(a.Records), rows.Err()
}

// add stores a, which was checked.
func (s *Store) add(ctx context.Context, tx Tx, at *row, a journal.Append) error {
	after, begun := at.Seq, !at.exists()
	at.Seq += uint64(len(a.Records))
	at.touch()
	if a.Head != nil {
		at.Set(a.Head)
	}
	if !at.exists() { // the other rows need its id
		if err := s.save(ctx, tx, at); err != nil {
			return err
		}
	}
	for _, id := range a.Taken {
		if err := s.closeID(ctx, tx, at, id); err != nil {
			return err
		}
	}
	if !begun || len(a.Taken) > 0 {
		if err := s.save(ctx, tx, at); err != nil {
			return err
		}
	}
	if a.Head != nil {
		if err := s.stand(ctx, tx, at, a.Head.Queue); err != nil {
			return err
		}
	}
	return s.db.Insert(ctx, tx, Batch{Session: at.id, Fence: int64(a.Fence), At: at.Updated.UnixNano(),
		After: int64(after), Records: a.Records})
}

// closeID removes an item from the inbox, and closes its id.
func (s *Store) closeID(ctx context.Context, tx Tx, at *row, id string) error {
	result, err := tx.ExecContext(ctx, s.q.empty, at.id, id, []byte{})
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if n > 0 {
		at.Inbox--
		return nil
	}
	_, err = tx.ExecContext(ctx, s.q.close, at.id, id, []byte{})
	return err
}

func contextError(ctx context.Context, what, session string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("journal: %s %q: %w", what, session, err)
	}
	return nil
}
