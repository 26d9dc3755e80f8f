package sessions

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Lease implements [journal.Store].
func (s *Store) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if err := journal.ValidateLease(session, owner, ttl); err != nil {
		return journal.Lease{}, err
	}
	return s.leasing(ctx, func(tx *sql.Tx) (*row, error) {
		now := time.Now()
		at, err := load(ctx, tx, session)
		if err != nil {
			return nil, err
		}
		if at.Owner != "" && at.Owner != owner && now.Before(at.Until) {
			return nil, &journal.HeldError{Session: session, Owner: at.Owner, Until: at.Until}
		}
		if !at.known {
			at.Updated = now
		}
		at.Owner, at.Until = owner, now.Add(ttl).Round(0).UTC()
		return at, tx.QueryRowContext(ctx, "UPDATE run_fence SET last = last + 1 RETURNING last").Scan(&at.Fence)
	})
}

// Renew implements [journal.Store].
func (s *Store) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if err := journal.ValidateRenew(l, ttl); err != nil {
		return journal.Lease{}, err
	}
	return s.leasing(ctx, func(tx *sql.Tx) (*row, error) {
		at, err := load(ctx, tx, l.Session)
		if err != nil {
			return nil, err
		}
		if !at.writable(l.Fence) {
			return nil, at.conflict(at.Seq, l.Fence)
		}
		at.Until = time.Now().Add(ttl).Round(0).UTC()
		return at, nil
	})
}

// leasing saves what change made of a session, and returns its lease.
func (s *Store) leasing(ctx context.Context, change func(*sql.Tx) (*row, error)) (l journal.Lease, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		at, err := change(tx)
		if err != nil {
			return err
		}
		l = journal.Lease{Session: at.Session, Owner: at.Owner, Fence: at.Fence, Until: at.Until}
		return at.save(ctx, tx)
	})
	if err != nil {
		return journal.Lease{}, err
	}
	return l, nil
}

// Release implements [journal.Store].
func (s *Store) Release(ctx context.Context, l journal.Lease) error {
	if err := journal.ValidateSession(l.Session); err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		at, err := load(ctx, tx, l.Session)
		if err != nil || !at.known || l.Fence == 0 || !at.writable(l.Fence) {
			return err
		}
		at.Owner, at.Until = "", time.Time{}
		return at.save(ctx, tx)
	})
}

// Post implements [journal.Store].
func (s *Store) Post(ctx context.Context, session string, it journal.Item) error {
	if err := journal.ValidateSession(session); err != nil {
		return err
	}
	if err := it.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		at, err := load(ctx, tx, session)
		if err != nil {
			return err
		}
		if !at.known {
			return fmt.Errorf("%w: %q", journal.ErrNoSession, session)
		}
		var taken bool
		err = tx.QueryRowContext(ctx, "SELECT taken FROM run_items WHERE session = ? AND id = ?", session, it.ID).Scan(&taken)
		switch {
		case err == nil:
			return &journal.PostedError{Session: session, ID: it.ID, Taken: taken}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO run_items (session, id, kind, time, data, taken) VALUES (?, ?, ?, ?, ?, 0)",
			session, it.ID, it.Kind, nanos(it.Time), blob(it.Data))
		return err
	})
}

// Take implements [journal.Store].
func (s *Store) Take(ctx context.Context, session string, fence uint64) (items []journal.Item, err error) {
	if err := journal.ValidateSession(session); err != nil {
		return nil, err
	}
	err = s.read(ctx, func(tx *sql.Tx) error {
		at, err := load(ctx, tx, session)
		if err != nil {
			return err
		}
		if !at.writable(fence) {
			return at.conflict(at.Seq, fence)
		}
		rows, err := tx.QueryContext(ctx, "SELECT id, kind, time, data FROM run_items WHERE session = ? AND NOT taken ORDER BY n", session)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var it journal.Item
			var posted sql.NullInt64
			var data sql.RawBytes
			if err := rows.Scan(&it.ID, &it.Kind, &posted, &data); err != nil {
				return err
			}
			it.Time, it.Data = instant(posted), bytes.Clone(data)
			items = append(items, it)
		}
		return rows.Err()
	})
	return items, err
}
