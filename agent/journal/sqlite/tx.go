package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

var _ journal.Transactor = (*Store)(nil)

// errOtherDatabase is the error of [Store.Tx] for a transaction in another file.
var errOtherDatabase = errors.New("sqlite: the transaction isn't in the file of the store; begin it in a " +
	"database that was opened with the same path")

var errNoTx = errors.New("sqlite: the transaction is nil")

// Tx returns the store in a transaction of the host's, which its calls change and don't end: what
// they have stored is there for others when the transaction is committed, and gone when it is
// rolled back. It is for agent.Agent.EnqueueIn: a run is queued with a row of the host's, or
// neither is.
//
// The transaction must be in the file of the store, by whatever driver; otherwise Tx refuses it. It
// should be one that may write (BEGIN IMMEDIATE): SQLite can refuse to let a transaction write that
// has only read before. While it is open no other call of the store that writes succeeds, so it
// should be short, and the goroutine that has it must not use the store itself. After an error the
// transaction should be rolled back. What Tx returns is used by one goroutine at a time, and not
// after the transaction has ended.
func (s *Store) Tx(ctx context.Context, tx *sql.Tx) (journal.Store, error) {
	if tx == nil {
		return nil, errNoTx
	}
	var path string
	err := tx.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path)
	if err != nil {
		return nil, wrapError(ctx, err)
	}
	if file, err := os.Stat(path); err != nil || !os.SameFile(file, s.db.file) {
		return nil, fmt.Errorf("%w: it is in %q, and the store in %q", errOtherDatabase, path, s.db.path)
	}
	return s.shared().In(sqljournal.Of(tx), wrapError, s), nil
}

// Transact implements [journal.Transactor].
func (s *Store) Transact(ctx context.Context, fn func(context.Context, journal.Store) error) error {
	return s.shared().Transact(ctx, wrapError, fn)
}
