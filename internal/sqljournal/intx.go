package sqljournal

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
)

// In returns the store in a transaction of somebody else's: its changes are there when that is
// committed. wrap makes errors of statements those of the store. They are all
// [journal.ErrUnusable], because after one nothing more can be done in most transactions.
//
// Outside of it is the store of, which the host knows.
func (s *Store) In(tx Tx, wrap func(context.Context, error) error, of journal.Store) *Within {
	inner := *s
	inner.db = &inTx{s.db, tx, wrap}
	return &Within{&inner, of}
}

// A Within is a [Store] in a transaction.
type Within struct {
	*Store
	of journal.Store
}

// Outside returns the store that the host knows.
func (w *Within) Outside() journal.Store { return w.of }

// Transact is the method of [journal.Transactor].
func (s *Store) Transact(ctx context.Context, wrap func(context.Context, error) error,
	fn func(context.Context, journal.Store) error) error {
	var own error // of fn; it isn't the store's
	err := s.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		own = fn(ctx, s.In(tx, wrap, nil))
		return own
	})
	if own != nil {
		return own
	}
	return err
}

type inTx struct {
	Database
	tx   Tx
	wrap func(context.Context, error) error
}

// Write implements [Database].
func (d *inTx) Write(ctx context.Context, fn func(context.Context, Tx) error) error {
	return d.ended(ctx, fn(ctx, d.tx))
}

// Query implements [Database].
func (d *inTx) Query(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error {
	rows, err := d.tx.QueryContext(ctx, query, args...)
	if err == nil {
		err = Each(rows, each)
	}
	return d.ended(ctx, err)
}

// TryAppend implements [Database].
func (d *inTx) TryAppend(context.Context, journal.Append) (bool, error) { return false, nil }

// ended returns the error of a call.
func (d *inTx) ended(ctx context.Context, err error) error {
	if err == nil || !journal.Unclear(err) {
		return err
	}
	return fmt.Errorf("%w: %w", journal.ErrUnusable, d.wrap(ctx, err))
}
