package journal

import (
	"context"
	"time"
)

// Lease implements [Store].
func (m *MapStore) Lease(ctx context.Context, session, owner string, ttl time.Duration) (Lease, error) {
	if err := ready(ctx, "lease", session, ValidateLease(session, owner, ttl)); err != nil {
		return Lease{}, err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.sessions[session]
	if !known {
		s = newSession(session, normalize(now))
		m.enter(s)
	}
	if h := &s.head; h.Owner != "" && h.Owner != owner && now.Before(h.Until) {
		return Lease{}, &HeldError{Session: session, Owner: h.Owner, Until: normalize(h.Until)}
	}
	m.fence++
	s.head.Owner, s.head.Fence = owner, m.fence
	return s.extend(now.Add(ttl)), nil
}

// Renew implements [Store].
func (m *MapStore) Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	if err := ready(ctx, "renew the lease of", l.Session, ValidateRenew(l, ttl)); err != nil {
		return Lease{}, err
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.sessions[l.Session]
	if !known {
		s = newSession(l.Session, normalize(now))
	}
	if !s.leased(l) {
		return Lease{}, s.conflict(s.head.Seq, l.Fence)
	}
	return s.extend(now.Add(ttl)), nil
}

// Release implements [Store].
func (m *MapStore) Release(ctx context.Context, l Lease) error {
	if err := ready(ctx, "release", l.Session, ValidateSession(l.Session)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[l.Session]; s != nil && s.leased(l) {
		s.head.Owner, s.head.Until = "", time.Time{}
	}
	return nil
}

// leased reports whether l is the session's newest lease and wasn't released, even if it has ended.
// Fence 0 is no lease.
func (s *session) leased(l Lease) bool {
	return l.Fence != 0 && s.writable(l.Fence)
}

func (s *session) extend(until time.Time) Lease {
	s.head.Until = until
	h := &s.head
	return Lease{Session: h.Session, Owner: h.Owner, Fence: h.Fence, Until: normalize(h.Until)}
}
