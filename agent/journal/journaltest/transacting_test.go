package journaltest

import (
	"context"
	"errors"
	"testing"

	"github.com/pawlkit/pawl/agent/journal"
)

// transacting is a store in memory whose transactions are made as a defect makes them.
type transacting struct {
	*journal.MapStore
	transact func(ctx context.Context, m *journal.MapStore, fn func(context.Context, journal.Store) error) error
}

func (s *transacting) Transact(ctx context.Context, fn func(context.Context, journal.Store) error) error {
	return s.transact(ctx, s.MapStore, fn)
}

func TestEveryDefectOfATransactorIsCaught(t *testing.T) {
	type function = func(context.Context, journal.Store) error
	for name, d := range map[string]struct {
		transact func(ctx context.Context, m *journal.MapStore, fn function) error
		check    func(*fixture)
	}{
		"nothing is kept": {func(ctx context.Context, _ *journal.MapStore, fn function) error {
			return fn(ctx, &journal.MapStore{})
		}, transactAll},
		"what failed is kept": {func(ctx context.Context, m *journal.MapStore, fn function) error {
			return fn(ctx, m)
		}, transactNothing},
		"the error is swallowed": {func(ctx context.Context, m *journal.MapStore, fn function) error {
			_ = fn(ctx, &journal.MapStore{})
			return nil
		}, transactNothing},
		"reads are of another store": {func(ctx context.Context, m *journal.MapStore, fn function) error {
			return fn(ctx, &blind{m, &journal.MapStore{}})
		}, transactReads},
		"errors lose their types": {func(ctx context.Context, m *journal.MapStore, fn function) error {
			if err := fn(ctx, m); err != nil {
				return errors.New(err.Error())
			}
			return nil
		}, transactRefused},
	} {
		t.Run(name, func(t *testing.T) {
			store := &transacting{&journal.MapStore{}, d.transact}
			if failureOf(t.Context(), check{name, d.check}, store) == "" {
				t.Fatal("the check passes")
			}
		})
	}
}

// blind has heads of another store.
type blind struct {
	*journal.MapStore
	heads *journal.MapStore
}

func (b *blind) Head(ctx context.Context, session string) (journal.Head, error) {
	return b.heads.Head(ctx, session)
}
