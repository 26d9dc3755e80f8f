package portfolio

import (
	"context"
	"database/sql"
	"time"
)

// Lock locks an artifact for a holder, or renews the holder's lock. It lasts for ttl, in case the
// process dies. If somebody else holds it, the error is an [*Error] of the category Conflict.
func (s *Store) Lock(ctx context.Context, user, id, holder string, ttl time.Duration) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.unlocked(ctx, tx, user, id, holder); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE artifacts SET locked_by = ?, locked_until = ? WHERE id = ?", holder,
			s.now().Add(ttl).UnixMilli(), id)
		return err
	})
}

// Unlock ends the lock of a holder. Without one it does nothing.
func (s *Store) Unlock(ctx context.Context, id, holder string) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx,
			"UPDATE artifacts SET locked_by = '', locked_until = 0 WHERE id = ? AND locked_by = ?", id, holder)
		return err
	})
}

// unlocked returns an artifact of a user that nobody but holder has locked.
func (s *Store) unlocked(ctx context.Context, tx *sql.Tx, user, id, holder string) (Artifact, error) {
	a, err := one(tx.QueryRowContext(ctx, artifactColumns+"WHERE id = ? AND user_id = ?", id, user))
	if err != nil {
		return a, err
	}
	var by string
	var until int64
	if err := tx.QueryRowContext(ctx, "SELECT locked_by, locked_until FROM artifacts WHERE id = ?", id).Scan(&by,
		&until); err != nil {
		return a, err
	}
	if by != "" && by != holder && until >= s.now().UnixMilli() {
		return a, Errorf(Conflict, "This artifact is being worked on; wait until that has ended, or cancel it.")
	}
	return a, nil
}
