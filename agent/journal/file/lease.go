package file

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Lease implements [journal.Store]. Time is the machine's, so that processes on it agree; a clock that is set moves the ends of leases.
func (st *Store) Lease(ctx context.Context, name, owner string, ttl time.Duration) (journal.Lease, error) {
	if err := journal.ValidateLease(name, owner, ttl); err != nil {
		return journal.Lease{}, err
	}
	var l journal.Lease
	err := st.do(ctx, "lease", name, true, func(s *session) (err error) {
		l, err = s.lease(owner, ttl)
		return err
	})
	return l, err
}

func (s *session) lease(owner string, ttl time.Duration) (journal.Lease, error) {
	now := time.Now()
	h := &s.head
	if h.Owner != "" && h.Owner != owner && now.Before(h.Until) {
		return journal.Lease{}, &journal.HeldError{Session: s.name, Owner: h.Owner, Until: h.Until}
	}
	fence := h.Fence + 1
	if h.Fence == 0 {
		last, err := s.store.lastFence()
		if err != nil {
			return journal.Lease{}, err
		}
		fence = last + 1
	}
	return s.extend(fence, owner, now, ttl)
}

// extend writes a lease from now on.
func (s *session) extend(fence uint64, owner string, now time.Time, ttl time.Duration) (journal.Lease, error) {
	until := plain(now.Add(ttl))
	var began int64
	if s.n == 0 {
		began = now.UnixNano()
	}
	buf := s.write()
	defer keepBuffer(buf)
	*buf = appendLease(*buf, s.n+1, fence, owner, until.UnixNano(), began)
	if err := s.commit(*buf); err != nil {
		return journal.Lease{}, err
	}
	s.leased(fence, owner, until, began)
	return journal.Lease{Session: s.name, Owner: owner, Fence: fence, Until: until}, nil
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
		renewed, err = s.extend(l.Fence, s.head.Owner, time.Now(), ttl)
		return err
	})
	return renewed, err
}

// Release implements [journal.Store].
func (st *Store) Release(ctx context.Context, l journal.Lease) error {
	if err := journal.ValidateSession(l.Session); err != nil {
		return err
	}
	return st.do(ctx, "release", l.Session, true, func(s *session) error {
		if l.Fence == 0 || !s.writable(l.Fence) {
			return s.settle()
		}
		buf := s.write()
		defer keepBuffer(buf)
		*buf = appendRelease(*buf, s.n+1, l.Fence)
		if err := s.commit(*buf); err != nil {
			return err
		}
		s.released()
		return nil
	})
}
