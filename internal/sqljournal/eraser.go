package sqljournal

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
)

// Rewrite is the method of [journal.Eraser].
func (s *Store) Rewrite(ctx context.Context, r journal.Rewrite) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if err := contextError(ctx, "rewrite", r.Session); err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		at, err := s.lock(ctx, tx, r.Session)
		if err != nil {
			return err
		}
		if !at.exists() || !at.writable(r.Fence) {
			return at.conflict(at.Seq, r.Fence)
		}
		for i := range r.Records {
			if seq := r.Records[i].Seq; seq <= at.Pruned || seq > at.Seq {
				return r.NotRewritten(seq, "")
			}
		}
		if err := s.db.Replace(ctx, tx, Batch{Session: at.id, Records: r.Records}); err != nil {
			return err
		}
		for _, it := range r.Items {
			result, err := tx.ExecContext(ctx, s.q.erasing.item, at.id, it.ID, Blob(it.Data))
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				return r.NotRewritten(0, it.ID)
			}
		}
		return nil
	})
}

// Inbox is the method of [journal.Eraser].
func (s *Store) Inbox(ctx context.Context, session string) ([]journal.Item, error) {
	if err := journal.ValidateSession(session); err != nil {
		return nil, err
	}
	if err := contextError(ctx, "inbox of", session); err != nil {
		return nil, err
	}
	items, _, err := s.inbox(ctx, session, func(*row) bool { return true })
	return items, err
}

// DropAllowances is the method of [journal.Eraser].
func (s *Store) DropAllowances(ctx context.Context, drop func(name, key string) bool) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("journal: dropping allowances: %w", err)
	}
	type allowance struct {
		name string
		key  []byte
	}
	var dropped []allowance
	err = s.db.Query(ctx, s.q.erasing.allowances, nil, func(scan func(...any) error) error {
		var a allowance
		var key blob
		if err := scan(&a.name, &key); err != nil {
			return err
		}
		if a.key = key; drop(a.name, string(a.key)) {
			dropped = append(dropped, a)
		}
		return nil
	})
	if err != nil || len(dropped) == 0 {
		return 0, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		for _, a := range dropped {
			if _, err := tx.ExecContext(ctx, s.q.erasing.drop, a.name, a.key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(dropped), nil
}
