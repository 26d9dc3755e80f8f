package sqlmemory

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"time"
)

// oneTry is how long SQLite itself waits for another process, which it does without regard to a context.
const oneTry = 20 * time.Millisecond

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

// retry runs try until it isn't busy any more, for as long as Config.Busy says and ctx lasts. What fails when ctx has ended is said to
// fail of that, whichever way the driver puts it.
func (s *Store) retry(ctx context.Context, try func() error) error {
	for began := time.Now(); ; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := try()
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if !busy(err) || time.Since(began) >= s.busy {
			return err
		}
		timer := time.NewTimer(time.Millisecond + rand.N(4*time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
