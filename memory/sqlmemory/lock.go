package sqlmemory

import (
	"context"
	"database/sql"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

// transact runs do in a transaction that has SQLite's write lock from its start. Once it has begun
// it ignores the end of ctx, and do's context never ends: the statements are short, and an
// interrupted one could have been stored.
func (s *Store) transact(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	if err := s.writing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.writing.Release(1)
	endless := context.WithoutCancel(ctx)
	var tx *sql.Tx
	err := s.retry(ctx, func() (err error) {
		tx, err = s.db.BeginTx(endless, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := do(endless, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// retry runs try until it isn't busy, for at most Config.Busy, or until ctx ends.
func (s *Store) retry(ctx context.Context, try func() error) error {
	return sqlitefile.Retry(ctx, s.busy, try)
}
