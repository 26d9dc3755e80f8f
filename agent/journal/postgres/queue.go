package postgres

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

var _ journal.Queue = (*Store)(nil)

// Due implements [journal.Queue].
func (s *Store) Due(ctx context.Context, c journal.Claim, take func(journal.Head) bool) (journal.Queued, error) {
	return s.shared().Due(ctx, c, take)
}

// Claim implements [journal.Queue]. It is a transaction with an advisory lock of
// the schema, so that claims are made one after the other. Whoever finds nothing to claim by Due
// doesn't wait for it. It leaves out a session that another transaction is changing, for about a
// second.
func (s *Store) Claim(ctx context.Context, c journal.Claim, owner string, ttl time.Duration) (
	journal.Queued, journal.Lease, error) {
	return s.shared().Claim(ctx, c, owner, ttl)
}

// Delay implements [journal.Queue].
func (s *Store) Delay(ctx context.Context, l journal.Lease, until time.Time) error {
	return s.shared().Delay(ctx, l, until)
}

// Depths implements [journal.Queue].
func (s *Store) Depths(ctx context.Context) ([]journal.Depth, error) { return s.shared().Depths(ctx) }
