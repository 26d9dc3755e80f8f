package file

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Lease implements [journal.Store]. The time is the machine's, so processes agree on it; setting
// its clock moves the ends of leases.
func (st *Store) Lease(ctx context.Context, name, owner string, ttl time.Duration) (journal.Lease, error) {
	if err := journal.ValidateLease(name, owner, ttl); err != nil {
		return journal.Lease{}, err
	}
	var l journal.Lease
	err := st.do(ctx, "lease", name, true, func(s *session) (err error) {
		h := &s.head
		if h.Owner != "" && h.Owner != owner && time.Now().Before(h.Until) {
			return &journal.HeldError{Session: name, Owner: h.Owner, Until: h.Until}
		}
		last := h.Fence
		if last == 0 { // a session of that name may have been deleted
			if last, err = st.lastFence(ctx); err != nil {
				return err
			}
		}
		l, err = s.lease(last+1, owner, ttl)
		return err
	})
	return l, err
}

// Renew implements [journal.Store].
func (st *Store) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if err := journal.ValidateRenew(l, ttl); err != nil {
		return journal.Lease{}, err
	}
	var renewed journal.Lease
	err := st.do(ctx, "renew the lease of", l.Session, true, func(s *session) (err error) {
		if !s.writable(l.Fence) {
			return s.conflict(s.head.Seq, l.Fence)
		}
		renewed, err = s.lease(l.Fence, s.head.Owner, ttl)
		return err
	})
	return renewed, err
}

// lease writes a lease, or its renewal, that begins now.
func (s *session) lease(fence uint64, owner string, ttl time.Duration) (journal.Lease, error) {
	until := normalize(time.Now().Add(ttl))
	if err := s.commit(&change{Lease: &lease{Fence: fence, Owner: owner, Until: until}}); err != nil {
		return journal.Lease{}, err
	}
	return journal.Lease{Session: s.name, Owner: owner, Fence: fence, Until: until}, nil
}

// Release implements [journal.Store].
func (st *Store) Release(ctx context.Context, l journal.Lease) error {
	if err := journal.ValidateSession(l.Session); err != nil {
		return err
	}
	return st.do(ctx, "release", l.Session, true, func(s *session) error {
		if l.Fence == 0 || !s.writable(l.Fence) {
			return s.ensureSynced()
		}
		return s.commit(&change{Release: true})
	})
}

// Fences of a session rise by one. So that they still rise when a session was deleted and begins
// again, a log for all sessions holds the highest fence of any deleted one, as the fence of a
// lease. A session's first fence is above that.

// lastFence returns the highest fence of a deleted session.
func (st *Store) lastFence(ctx context.Context) (fence uint64, err error) {
	err = st.fences(ctx, false, func(s *session) error {
		fence = s.head.Fence
		return nil
	})
	return fence, err
}

// keepFence records the fence of a session that is being deleted.
func (st *Store) keepFence(ctx context.Context, fence uint64) error {
	return st.fences(ctx, true, func(s *session) error {
		if fence <= s.head.Fence {
			return s.ensureSynced()
		}
		return s.commit(&change{Lease: &lease{Fence: fence}})
	})
}

// fences runs fn on the log of fences, which is that of a session without a name. It is always
// synced, as deleting is.
func (st *Store) fences(ctx context.Context, write bool, fn func(*session) error) error {
	s := newSession(st, "")
	s.durable = true
	defer s.close()
	return s.call(ctx, write, fn)
}
