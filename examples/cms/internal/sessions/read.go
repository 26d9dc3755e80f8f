package sessions

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/agent/journal"
)

// page is how many records or heads are read at a time.
const page = 200

// Read implements [journal.Store].
func (s *Store) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := journal.ValidateSession(session); err != nil {
			yield(journal.Record{}, err)
			return
		}
		for last := after; ; {
			list, err := s.readPage(ctx, session, last)
			if err != nil {
				yield(journal.Record{}, err)
				return
			}
			for _, r := range list {
				if ctx.Err() != nil {
					break
				}
				if last = r.Seq; !yield(r, nil) {
					return
				}
			}
			if ctx.Err() != nil {
				yield(journal.Record{}, ended(ctx, ctx.Err()))
				return
			}
			if len(list) < page {
				return
			}
		}
	}
}

// readPage returns the next records after a number, unless they were pruned.
func (s *Store) readPage(ctx context.Context, session string, after uint64) (list []journal.Record, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		at, err := load(ctx, tx, session)
		if err != nil || after >= at.Seq {
			return err
		}
		if after < at.Pruned {
			return &journal.PrunedError{Session: session, After: after, UpTo: at.Pruned}
		}
		list, _, err = records(ctx, tx, session, after, page)
		return err
	})
	return list, err
}

// Head implements [journal.Store].
func (s *Store) Head(ctx context.Context, session string) (journal.Head, error) {
	var at *row
	if err := journal.ValidateSession(session); err != nil {
		return journal.Head{}, err
	}
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		at, err = load(ctx, tx, session)
		return err
	})
	switch {
	case err != nil:
		return journal.Head{}, err
	case !at.known:
		return journal.Head{}, fmt.Errorf("%w: %q", journal.ErrNoSession, session)
	}
	return at.Head, nil
}

// Heads implements [journal.Store].
func (s *Store) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		given := 0
		for last := f.After; ; {
			list, err := s.headPage(ctx, last)
			if err != nil {
				yield(journal.Head{}, err)
				return
			}
			for _, h := range list {
				last = h.Session
				if !f.Match(h) {
					continue
				}
				if ctx.Err() != nil {
					break
				}
				if !yield(h, nil) {
					return
				}
				if given++; f.Limit > 0 && given == f.Limit {
					return
				}
			}
			if ctx.Err() != nil {
				yield(journal.Head{}, ended(ctx, ctx.Err()))
				return
			}
			if len(list) < page {
				return
			}
		}
	}
}

func (s *Store) headPage(ctx context.Context, after string) (list []journal.Head, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT "+sessionColumns+" FROM run_sessions WHERE name > ? ORDER BY name LIMIT ?", after, page)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			h, err := scanHead(rows.Scan)
			if err != nil {
				return err
			}
			list = append(list, h)
		}
		return rows.Err()
	})
	return list, err
}

// Delete implements [journal.Store].
func (s *Store) Delete(ctx context.Context, session string, upTo uint64) error {
	if err := journal.ValidateSession(session); err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		at, err := load(ctx, tx, session)
		if err != nil || !at.known {
			return err
		}
		if upTo == journal.All {
			for _, statement := range []string{
				"DELETE FROM run_records WHERE session = ?", "DELETE FROM run_items WHERE session = ?", "DELETE FROM run_sessions WHERE name = ?",
			} {
				if _, err := tx.ExecContext(ctx, statement, session); err != nil {
					return err
				}
			}
			return nil
		}
		if upTo = min(upTo, at.Seq); upTo <= at.Pruned {
			return nil
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM run_records WHERE session = ? AND seq <= ?", session, int64(upTo)); err != nil {
			return err
		}
		at.Pruned = upTo
		return at.save(ctx, tx)
	})
}
