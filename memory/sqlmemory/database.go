package sqlmemory

import (
	"context"
	"database/sql"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqlrecall"
)

// A database runs the statements of a [sqlrecall.Store] on a file.
type database struct {
	busy time.Duration
	pool *sql.DB

	// writing has one token, for the writer, so that only processes compete for SQLite's lock.
	writing *semaphore.Weighted
}

var _ sqlrecall.Database = (*database)(nil)

// Write implements [sqlrecall.Database]. The transaction has SQLite's write lock from its start.
// Once it has begun it ignores the end of ctx, and do's context never ends: the statements are
// short, and an interrupted one could have been stored.
func (db *database) Write(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	if err := db.writing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer db.writing.Release(1)
	endless := context.WithoutCancel(ctx)
	var tx *sql.Tx
	err := sqlitefile.Retry(ctx, db.busy, func() (err error) {
		tx, err = db.pool.BeginTx(endless, nil)
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

// Read implements [sqlrecall.Database]. It runs do until it isn't busy.
func (db *database) Read(ctx context.Context, do func(ctx context.Context, db *sql.DB) error) error {
	return sqlitefile.Retry(ctx, db.busy, func() error { return do(ctx, db.pool) })
}

// Class implements [sqlrecall.Database].
func (db *database) Class(err error) error {
	return sqlitefile.Errors{Busy: ErrBusy, Full: errFull, ReadOnly: errReadOnly, Damaged: ErrDamaged}.Class(err)
}
