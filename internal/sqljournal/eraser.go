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
		one := func(statement string, key any, data []byte, missing error) error {
			result, err := tx.ExecContext(ctx, statement, at.id, key, Blob(data))
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil || n == 1 {
				return err
			}
			return missing
		}
		for i := range r.Records {
			rec := &r.Records[i]
			if err := one(s.q.erasing.record, int64(rec.Seq), rec.Data, r.NotRewritten(rec.Seq, "")); err != nil {
				return err
			}
		}
		for i := range r.Items {
			it := &r.Items[i]
			if err := one(s.q.erasing.item, it.ID, it.Data, r.NotRewritten(0, it.ID)); err != nil {
				return err
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
