package sqljournal

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Lease implements [journal.Store].
func (s *Store) Lease(ctx context.Context, session, owner string, ttl time.Duration) (l journal.Lease, err error) {
	if err := journal.ValidateLease(session, owner, ttl); err != nil {
		return l, err
	}
	if err := contextError(ctx, "lease", session); err != nil {
		return l, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, session)
		if err != nil {
			return err
		}
		if at.Owner != "" && at.Owner != owner && at.now.Before(at.Until) {
			return &journal.HeldError{Session: session, Owner: at.Owner, Until: at.Until}
		}
		if !at.exists() {
			at.Updated = at.now
		}
		var fence number
		if err := tx.QueryRowContext(ctx, s.q.nextFence).Scan(&fence); err != nil {
			return err
		}
		at.Owner, at.Fence, at.Until = owner, uint64(fence), at.now.Add(ttl)
		l = at.lease()
		return s.save(ctx, tx, at)
	})
	if err != nil {
		return journal.Lease{}, err
	}
	return l, nil
}

// Renew implements [journal.Store].
func (s *Store) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (renewed journal.Lease, err error) {
	if err := journal.ValidateRenew(l, ttl); err != nil {
		return renewed, err
	}
	if err := contextError(ctx, "renew the lease of", l.Session); err != nil {
		return renewed, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, l.Session)
		if err != nil {
			return err
		}
		if !at.writable(l.Fence) {
			return at.conflict(at.Seq, l.Fence)
		}
		at.Until = at.now.Add(ttl)
		renewed = at.lease()
		return s.save(ctx, tx, at)
	})
	if err != nil {
		return journal.Lease{}, err
	}
	return renewed, nil
}

// Release implements [journal.Store].
func (s *Store) Release(ctx context.Context, l journal.Lease) error {
	if err := journal.ValidateSession(l.Session); err != nil {
		return err
	}
	if err := contextError(ctx, "release", l.Session); err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, l.Session)
		if err != nil || !at.exists() || l.Fence == 0 || !at.writable(l.Fence) {
			return err
		}
		at.Owner, at.Until = "", time.Time{}
		return s.save(ctx, tx, at)
	})
}

func (r *row) lease() journal.Lease {
	return journal.Lease{Session: r.Session, Owner: r.Owner, Fence: r.Fence, Until: r.Until}
}
