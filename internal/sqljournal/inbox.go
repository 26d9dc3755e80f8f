package sqljournal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Post implements [journal.Store].
func (s *Store) Post(ctx context.Context, session string, it journal.Item) error {
	if err := journal.ValidateSession(session); err != nil {
		return err
	}
	if err := it.Validate(); err != nil {
		return err
	}
	if err := contextError(ctx, "post to", session); err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, session)
		if err != nil {
			return err
		}
		if !at.exists() {
			return fmt.Errorf("%w: %q", journal.ErrNoSession, session)
		}
		for _, id := range append([]string{it.ID}, it.Closes...) {
			var taken number
			err := tx.QueryRowContext(ctx, s.q.taken, at.id, id).Scan(&taken)
			switch {
			case err == nil:
				return &journal.PostedError{Session: session, ID: id, Taken: taken != 0}
			case !errors.Is(err, sql.ErrNoRows):
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, s.q.post, at.id, it.ID, it.Kind, Nanos(it.Time), Blob(it.Data)); err != nil {
			return err
		}
		for _, id := range it.Closes {
			if _, err := tx.ExecContext(ctx, s.q.close, at.id, id, []byte{}); err != nil {
				return err
			}
		}
		at.Inbox++
		if err := s.save(ctx, tx, at); err != nil || s.q.posted == "" {
			return err
		}
		_, err = tx.ExecContext(ctx, s.q.posted, session)
		return err
	})
}

// Take implements [journal.Store].
func (s *Store) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	if err := journal.ValidateSession(session); err != nil {
		return nil, err
	}
	if err := contextError(ctx, "take from", session); err != nil {
		return nil, err
	}
	items, at, err := s.inbox(ctx, session, func(at *row) bool { return at.writable(fence) })
	switch {
	case err != nil:
		return nil, err
	case !at.writable(fence):
		return nil, at.conflict(at.Seq, fence)
	}
	return items, nil
}

// inbox returns the items of a session, and what of its row says who may write, if that passes ok.
func (s *Store) inbox(ctx context.Context, session string, ok func(*row) bool) (items []journal.Item, at *row,
	err error) {
	at = &row{Head: journal.Head{Session: session}}
	err = s.db.Query(ctx, s.q.inbox, []any{session}, func(scan func(...any) error) error {
		var (
			seq, have   number
			until, when instant
			id, kind    sql.NullString
			data        blob
		)
		if err := scan(&seq, &have, &at.Owner, &until, &id, &kind, &when, &data); err != nil {
			return err
		}
		at.Seq, at.Fence, at.Until = uint64(seq), uint64(have), time.Time(until)
		if !ok(at) || !id.Valid { // the session has no item
			return ErrStop
		}
		items = append(items, journal.Item{ID: id.String, Kind: kind.String, Time: time.Time(when), Data: data})
		return nil
	})
	return items, at, err
}

// Delete implements [journal.Store].
func (s *Store) Delete(ctx context.Context, session string, upTo uint64) error {
	if err := journal.ValidateSession(session); err != nil {
		return err
	}
	if err := contextError(ctx, "delete from", session); err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, session)
		if err != nil || !at.exists() {
			return err
		}
		if upTo == journal.All {
			for _, statement := range []string{s.q.dropAll[0], s.q.dropAll[1], s.q.drop} {
				if _, err := tx.ExecContext(ctx, statement, at.id); err != nil {
					return err
				}
			}
			return nil
		}
		if upTo = min(upTo, at.Seq); upTo <= at.Pruned {
			return nil
		}
		at.Pruned = upTo
		if err := s.save(ctx, tx, at); err != nil {
			// before the records are deleted, because the row takes its last number and time from
			// them
			return err
		}
		_, err = tx.ExecContext(ctx, s.q.prune, at.id, int64(upTo))
		return err
	})
}
