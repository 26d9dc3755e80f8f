package sqljournal

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

const (
	// firstPage and maxPage are the largest numbers of records in the first and in a later page,
	// pageBytes their approximate size in bytes.
	firstPage = 500
	maxPage   = 1000
	pageBytes = 4 << 20
)

// A recordScanner scans all rows into the same variables.
type recordScanner struct {
	seq, v number
	time   instant
	data   blob
	kind   string
	dest   []any
}

// newRecordScanner returns a scanner of the columns seq, those of more, time, kind, v and data.
func newRecordScanner(more ...any) *recordScanner {
	c := new(recordScanner)
	c.dest = append(append([]any{&c.seq}, more...), &c.time, &c.kind, &c.v, &c.data)
	return c
}

func (c *recordScanner) record(scan func(...any) error) (journal.Record, error) {
	err := scan(c.dest...)
	return journal.Record{Seq: uint64(c.seq), Time: time.Time(c.time), Kind: c.kind, V: int(c.v), Data: c.data}, err
}

// Read implements [journal.Store]. It yields the records that existed when the loop began.
func (s *Store) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := s.read(ctx, session, after, yield); err != nil {
			yield(journal.Record{}, err)
		}
	}
}

// read yields records, and returns the error to be yielded last, if any.
func (s *Store) read(ctx context.Context, session string, after uint64, yield func(journal.Record, error) bool) error {
	if err := journal.ValidateSession(session); err != nil {
		return err
	}
	if err := contextError(ctx, "read", session); err != nil {
		return err
	}
	at, err := s.find(ctx, session)
	if err != nil {
		return err
	}
	if after >= at.Seq {
		return contextError(ctx, "read", session)
	}
	if after < at.Pruned {
		return &journal.PrunedError{Session: session, After: after, UpTo: at.Pruned}
	}
	page := make([]journal.Record, 0, min(firstPage, at.Seq-after))
	for limit := firstPage; after < at.Seq; {
		var size int
		if page, size, err = s.page(ctx, at, after, limit, page[:0]); err != nil {
			return err
		}
		for _, r := range page {
			if err := contextError(ctx, "read", session); err != nil {
				return err
			}
			if !yield(r, nil) {
				return nil
			}
		}
		after += uint64(len(page))
		limit = max(1, min(maxPage, pageBytes/(size/len(page)+1)))
	}
	return contextError(ctx, "read", session)
}

// page returns the records after a number, at least one and at most limit, and the size of their
// data.
func (s *Store) page(ctx context.Context, at *row, after uint64, limit int, page []journal.Record) (_ []journal.Record,
	size int, err error) {
	upTo := min(after+uint64(limit), at.Seq)
	c := newRecordScanner()
	err = s.db.Query(ctx, s.q.page, []any{at.id, int64(after), int64(upTo)}, func(scan func(...any) error) error {
		r, err := c.record(scan)
		switch {
		case err != nil:
			return err
		case r.Seq != after+1+uint64(len(page)): // a record is missing
			return ErrStop
		}
		page = append(page, r)
		if size += len(r.Data); size >= pageBytes {
			return ErrStop
		}
		return nil
	})
	if err == nil && len(page) == 0 {
		err = s.missing(ctx, at, after)
	}
	return page, size, err
}

// missing returns the error for a record that was there when the read began: it was pruned, or the
// table is damaged.
func (s *Store) missing(ctx context.Context, was *row, after uint64) error {
	at, err := s.find(ctx, was.Session)
	switch {
	case err != nil:
		return err
	case at.id != was.id: // the session was deleted
		return &journal.PrunedError{Session: was.Session, After: after, UpTo: journal.All}
	case after < at.Pruned:
		return &journal.PrunedError{Session: was.Session, After: after, UpTo: at.Pruned}
	}
	return fmt.Errorf("journal: session %q: record %d of %d is missing from the table; the database is damaged",
		was.Session, after+1, at.Seq)
}

// Head implements [journal.Store].
func (s *Store) Head(ctx context.Context, session string) (journal.Head, error) {
	if err := journal.ValidateSession(session); err != nil {
		return journal.Head{}, err
	}
	if err := contextError(ctx, "head of", session); err != nil {
		return journal.Head{}, err
	}
	at, err := s.find(ctx, session)
	switch {
	case err != nil:
		return journal.Head{}, err
	case !at.exists():
		return journal.Head{}, fmt.Errorf("%w: %q", journal.ErrNoSession, session)
	}
	return at.Head, nil
}
