package sqlmemory

import (
	"context"
	"database/sql"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

// transact runs do in a transaction that has SQLite's write lock from its start. Once it has begun it takes no notice of the end of
// ctx, and do's own context has none: the statements take little, and one that is interrupted may have been kept all the same.
func (s *Store) transact(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	endless := context.WithoutCancel(ctx)
	var tx *sql.Tx
	err := s.retry(ctx, func() (err error) {
		tx, err = s.db.BeginTx(endless, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := do(endless, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// retry runs try until it isn't busy any more, for as long as Config.Busy says and ctx lasts.
func (s *Store) retry(ctx context.Context, try func() error) error {
	return sqlitefile.Retry(ctx, s.busy, try)
}
